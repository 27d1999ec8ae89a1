//! The same scalar as another JSON type: `80` becomes `"80"`.

use serde_json::{Number, Value};

use super::reason::Reason;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    String,
    Integer,
    Number,
    Boolean,
}

impl Scalar {
    pub const NAMES: [&'static str; 4] = ["string", "integer", "number", "boolean"];

    pub fn parse(text: &str) -> Option<Scalar> {
        Some(match text {
            "string" => Scalar::String,
            "integer" => Scalar::Integer,
            "number" => Scalar::Number,
            "boolean" => Scalar::Boolean,
            _ => return None,
        })
    }

    pub fn named(self) -> &'static str {
        match self {
            Scalar::String => "a string",
            Scalar::Integer => "an integer",
            Scalar::Number => "a number",
            Scalar::Boolean => "a boolean",
        }
    }

    pub fn holds(self, value: &Value) -> bool {
        match (self, value) {
            (Scalar::String, Value::String(_)) | (Scalar::Boolean, Value::Bool(_)) | (Scalar::Number, Value::Number(_)) => true,
            (Scalar::Integer, Value::Number(number)) => number.is_i64() || number.is_u64(),
            _ => false,
        }
    }
}

/// A value that is already of the new type stays.
pub(crate) fn retype(value: &Value, from: Scalar, to: Scalar) -> Result<Value, Reason> {
    if value.is_null() || (to.holds(value) && !(from.holds(value) && to != Scalar::Number)) {
        return Ok(value.clone());
    }
    if !from.holds(value) {
        return Err(Reason::ty(from.named(), value));
    }
    let unreadable = |text: &str| Reason::Unreadable(text.to_owned(), to.named());
    match (value, to) {
        (Value::String(text), Scalar::Integer) => text.parse::<i64>().map(Value::from).map_err(|_| unreadable(text)),
        (Value::String(text), Scalar::Number) => {
            if let Ok(whole) = text.parse::<i64>() {
                return Ok(Value::from(whole));
            }
            let float = text.parse::<f64>().ok().filter(|float| float.is_finite());
            float.and_then(Number::from_f64).map(Value::Number).ok_or_else(|| unreadable(text))
        }
        (Value::String(text), Scalar::Boolean) => text.parse::<bool>().map(Value::Bool).map_err(|_| unreadable(text)),
        (Value::Number(number), Scalar::Integer) => {
            // A fraction is not cut off: nobody could bring it back.
            let whole = number.as_f64().filter(|float| float.abs() < 9.0e15 && float.fract() == 0.0).map(|float| float as i64);
            number.as_i64().or(whole).map(Value::from).ok_or_else(|| unreadable(&number.to_string()))
        }
        (Value::Number(number), Scalar::String) => Ok(Value::String(number.to_string())),
        (Value::Number(number), Scalar::Boolean) => match number.as_i64() {
            Some(0) => Ok(Value::Bool(false)),
            Some(1) => Ok(Value::Bool(true)),
            _ => Err(unreadable(&number.to_string())),
        },
        (Value::Bool(flag), Scalar::String) => Ok(Value::String(flag.to_string())),
        (Value::Bool(flag), Scalar::Integer | Scalar::Number) => Ok(Value::from(i64::from(*flag))),
        _ => Ok(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_become_each_other() {
        let cases = [
            (json!(80), Scalar::Integer, Scalar::String, json!("80")),
            (json!("80"), Scalar::String, Scalar::Integer, json!(80)),
            (json!("80"), Scalar::Integer, Scalar::String, json!("80")),
            (json!(true), Scalar::Boolean, Scalar::String, json!("true")),
            (json!(2.0), Scalar::Number, Scalar::Integer, json!(2)),
            (json!(2), Scalar::Number, Scalar::String, json!("2")),
            (json!(5), Scalar::Integer, Scalar::Number, json!(5)),
        ];
        for (value, from, to, expected) in cases {
            assert_eq!(retype(&value, from, to), Ok(expected), "{value} {from:?} {to:?}");
        }
        assert!(retype(&json!("x"), Scalar::String, Scalar::Integer).is_err());
        assert!(retype(&json!(0.5), Scalar::Number, Scalar::Integer).is_err());
        assert!(retype(&json!([]), Scalar::String, Scalar::Integer).is_err());
    }
}
