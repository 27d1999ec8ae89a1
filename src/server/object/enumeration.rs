//! Equality as the server compares values: for `enum`, after conversion to the type of the listed value.

use std::collections::HashSet;

use serde_json::{Number, Value};

use crate::model::number::go_int64;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

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
            (None, Some(b)) => value.as_f64().is_some_and(|a| go_int64(a) == b),
            (None, None) => value.as_f64() == allowed.as_f64(),
        },
        (Value::Number(value), Value::String(allowed)) => integer(value).is_some_and(|code| allowed.chars().eq([character(code)])),
        _ => same(value, allowed),
    }
}

/// Whether a value equals any of the listed ones.
pub(super) fn any_allows(value: &Value, listed: &[Value]) -> bool {
    match value {
        Value::String(text) => listed.iter().any(|allowed| allowed.as_str() == Some(text)),
        value => listed.iter().any(|allowed| enum_allows(value, allowed)),
    }
}

/// Returns the values of an enum, if only these are accepted. The conversion may let others pass: a fraction of a listed integer, or
/// the code of a listed character.
pub(crate) fn only_listed(shape: &Shape) -> Option<&[Value]> {
    let values = shape.enum_values.as_deref()?;
    let takes_fractions = shape.int_or_string || matches!(shape.ty, None | Some(Type::Number));
    let takes_codes = shape.int_or_string || matches!(shape.ty, None | Some(Type::Number | Type::Integer));
    let lets_others_pass = |value: &Value| match value {
        Value::Number(number) => takes_fractions && integer(number).is_some(),
        Value::String(text) => takes_codes && text.chars().nth(1).is_none(),
        _ => false,
    };
    (!values.iter().any(lets_others_pass)).then_some(values)
}

/// An index of a long enum, to look up many values.
#[derive(Debug)]
pub(super) struct EnumIndex {
    texts: HashSet<String>,
    integers: HashSet<i64>,
    /// Listed values that are neither strings nor integers.
    others: Vec<Value>,
}

/// Up to this many listed values are compared one by one.
const SHORT: usize = 32;

impl EnumIndex {
    /// Returns `None` for a short list.
    pub fn of(listed: &[Value]) -> Option<Self> {
        if listed.len() <= SHORT {
            return None;
        }
        let mut index = EnumIndex { texts: HashSet::new(), integers: HashSet::new(), others: Vec::new() };
        for value in listed {
            match value {
                Value::String(text) => drop(index.texts.insert(text.clone())),
                Value::Number(number) if integer(number).is_some() => index.integers.extend(integer(number)),
                other => index.others.push(other.clone()),
            }
        }
        Some(index)
    }

    /// Whether [`enum_allows`] holds for any listed value.
    pub fn allows(&self, value: &Value) -> bool {
        let listed = match value {
            Value::String(text) => self.texts.contains(text),
            Value::Number(number) => match (integer(number), number.as_f64()) {
                (Some(code), _) => self.integers.contains(&code) || self.texts.contains(&character(code).to_string()),
                (None, Some(float)) => self.integers.contains(&go_int64(float)),
                (None, None) => false,
            },
            _ => false,
        };
        listed || self.others.iter().any(|allowed| enum_allows(value, allowed))
    }
}

/// The character that Go converts an integer to.
fn character(code: i64) -> char {
    u32::try_from(code).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
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
    let mut seen = HashSet::new();
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
        assert!(enum_allows(&json!(1e300), &json!(i64::MIN)) && !enum_allows(&json!(1e300), &json!(i64::MAX)), "it doesn't fit 64 bits");
        assert!(!enum_allows(&json!(2), &json!(2.5)));
        assert!(enum_allows(&json!(97), &json!("a")), "a number becomes its character");
        assert!(!enum_allows(&json!("2"), &json!(2)));
        assert!(!enum_allows(&json!(null), &json!(null)));
        assert!(!enum_allows(&json!({"a": 1}), &json!({"a": 1.0})));
    }

    #[test]
    fn an_index_answers_like_the_list() {
        let mut listed: Vec<Value> = (0..SHORT).map(|number| json!(format!("v{number}"))).collect();
        assert!(EnumIndex::of(&listed).is_none(), "not worth it");
        listed.extend([json!(2), json!(-3), json!(2.5), json!("a"), json!("ab"), json!(null), json!(true), json!([1]), json!({"a": 1})]);
        let index = EnumIndex::of(&listed).unwrap();
        let asked = [
            json!("v1"),
            json!("w"),
            json!("a"),
            json!(97),
            json!(98),
            json!(2),
            json!(2.0),
            json!(2.7),
            json!(2.5),
            json!(-3.2),
            json!(1e300),
            json!(null),
            json!(true),
            json!(false),
            json!([1]),
            json!([2]),
            json!({"a": 1}),
            json!({"a": 1.0}),
            json!(-1),
            json!("\u{fffd}"),
        ];
        for value in asked {
            let one_by_one = listed.iter().any(|allowed| enum_allows(&value, allowed));
            assert_eq!((index.allows(&value), any_allows(&value, &listed)), (one_by_one, one_by_one), "{value}");
        }
    }
}
