//! What shapes and formulas say of numbers, in the terms of the number domain.

use serde_json::Value;

use crate::model::number::{NumberDomain, NumberFormat, NumberKind};
use crate::model::schema::shape::{Shape, Type};

use super::kind::Kind;

/// What a shape asks of a number.
pub(crate) fn domains(shape: &Shape) -> Vec<NumberDomain> {
    let kind = match shape.ty {
        // Next to int-or-string a type doesn't restrict.
        _ if shape.int_or_string => NumberKind::Number,
        Some(Type::Integer) => NumberKind::Integer,
        Some(_) => NumberKind::Number,
        None => NumberKind::Untyped,
    };
    let bounds = &shape.bounds;
    let domain = NumberDomain {
        kind,
        minimum: bounds.minimum,
        exclusive_minimum: bounds.exclusive_minimum && bounds.minimum.is_some(),
        maximum: bounds.maximum,
        exclusive_maximum: bounds.exclusive_maximum && bounds.maximum.is_some(),
        multiple_of: bounds.multiple_of,
        format: shape.format.as_deref().and_then(|format| NumberFormat::of(kind, format)),
    };
    if shape.int_or_string {
        let whole = NumberDomain { kind: NumberKind::Integer, ..NumberDomain::default() };
        vec![whole, domain]
    } else {
        vec![domain]
    }
}

/// At least `bound`, exactly compared: an integer is not compared with a bound that was cut off.
pub(crate) fn at_least(kind: Kind, bound: f64, strict: bool) -> NumberDomain {
    if kind == Kind::Int {
        let least = if strict { bound.floor() + 1.0 } else { bound.ceil() };
        return NumberDomain { minimum: Some(least), ..NumberDomain::default() };
    }
    NumberDomain { minimum: Some(bound), exclusive_minimum: strict, ..NumberDomain::default() }
}

pub(crate) fn at_most(kind: Kind, bound: f64, strict: bool) -> NumberDomain {
    if kind == Kind::Int {
        let most = if strict { bound.ceil() - 1.0 } else { bound.floor() };
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
