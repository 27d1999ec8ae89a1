//! The numbers that a formula accepts, as number domains.

use serde_json::Value;

use crate::model::number::NumberDomain;

use super::Kind;

/// At least `bound`, compared exactly: an integer isn't compared with a truncated bound.
pub(crate) fn at_least(kind: Kind, bound: f64, strict: bool) -> NumberDomain {
    if kind == Kind::Int {
        let least = if strict { bound.floor() + 1.0 } else { bound.ceil() };
        if strict && least == bound {
            // The next integer isn't a float.
            return NumberDomain { minimum: Some(bound), exclusive_minimum: true, ..NumberDomain::default() };
        }
        return NumberDomain { minimum: Some(least), ..NumberDomain::default() };
    }
    NumberDomain { minimum: Some(bound), exclusive_minimum: strict, ..NumberDomain::default() }
}

pub(crate) fn at_most(kind: Kind, bound: f64, strict: bool) -> NumberDomain {
    if kind == Kind::Int {
        let most = if strict { bound.ceil() - 1.0 } else { bound.floor() };
        if strict && most == bound {
            return NumberDomain { maximum: Some(bound), exclusive_maximum: true, ..NumberDomain::default() };
        }
        return NumberDomain { maximum: Some(most), ..NumberDomain::default() };
    }
    NumberDomain { maximum: Some(bound), exclusive_maximum: strict, ..NumberDomain::default() }
}

pub(crate) fn exactly(bound: f64) -> NumberDomain {
    NumberDomain { minimum: Some(bound), maximum: Some(bound), ..NumberDomain::default() }
}

pub(crate) fn divisible(by: i64) -> NumberDomain {
    NumberDomain { multiple_of: Some(by as f64), ..NumberDomain::default() }
}

pub(crate) fn accepts(domain: &NumberDomain, value: &Value) -> bool {
    matches!(value, Value::Number(number) if domain.accepts(number))
}
