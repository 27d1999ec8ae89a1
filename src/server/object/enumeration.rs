//! Equality as the server compares values: for `enum`, after conversion to the type of the listed value.

use serde_json::{Number, Value};

/// Whether a value equals a listed one.
///
/// The conversion is Go's: a float is truncated before comparing it with an integer, and an integer becomes the character with that
/// code before comparing it with a string. Null equals nothing, not even a listed null.
pub(super) fn enum_allows(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(value), Value::Number(allowed)) => match (integer(value), integer(allowed)) {
            (Some(a), Some(b)) => a == b,
            (Some(a), None) => allowed.as_f64() == Some(a as f64),
            (None, Some(b)) => value.as_f64().is_some_and(|a| a as i64 == b),
            (None, None) => value.as_f64() == allowed.as_f64(),
        },
        (Value::Number(value), Value::String(allowed)) => integer(value).is_some_and(|code| {
            let c = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
            allowed.chars().eq([c])
        }),
        _ => same(value, allowed),
    }
}

/// An integer as the server represents it: numbers that don't fit 64 bits are floats there.
fn integer(number: &Number) -> Option<i64> {
    number.as_i64()
}

/// Whether two values have the same data; `1` and `1.0` differ.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (integer(a), integer(b)) {
            (Some(a), Some(b)) => a == b,
            (None, None) => a.as_f64() == b.as_f64(),
            _ => false,
        },
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| same(value, other)))
        }
        _ => a == b,
    }
}

/// Whether a list contains the same value twice.
pub(super) fn has_duplicates(items: &[Value]) -> bool {
    let mut seen = std::collections::HashSet::new();
    items.iter().any(|item| !seen.insert(item.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn enum_values_are_compared_after_conversion() {
        assert!(enum_allows(&json!(2), &json!(2)));
        assert!(enum_allows(&json!(2.0), &json!(2)));
        assert!(enum_allows(&json!(2.7), &json!(2)), "a float is cut");
        assert!(!enum_allows(&json!(2), &json!(2.5)));
        assert!(enum_allows(&json!(97), &json!("a")), "a number becomes its character");
        assert!(!enum_allows(&json!("2"), &json!(2)));
        assert!(!enum_allows(&json!(null), &json!(null)));
        assert!(!enum_allows(&json!({"a": 1}), &json!({"a": 1.0})));
    }
}
