//! Numbers: which ones a schema accepts, finding a number with given properties, and comparing two sets of numbers.
//!
//! The server distinguishes whether a number was *written* as an integer (`2`) or not (`2.0`, `2e0`, or too large for 64 bits), and
//! treats the two differently. So does [`Value`]. Searches find only what clients send, see [`is_sent_as_integer`].

mod failure;
mod float;
mod goal;
mod integer;

use serde_json::Number;

#[cfg(test)]
use super::relation::{Comparison, Search};
use crate::go::strfmt::Format;

pub use failure::Broken;
pub use goal::NumberGoal;

/// The `type` of a number schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum NumberKind {
    Integer,
    Number,
    /// No type: inside `allOf`, `anyOf`, `oneOf` and `not`, where the surrounding node has the type.
    #[default]
    Untyped,
}

/// The `format` of a number schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberFormat {
    Int32,
    Int64,
    Float,
    Double,
    /// A string format without a type, which no number satisfies.
    Text,
}

impl NumberFormat {
    /// The format as the server uses it. `None` if it ignores it.
    pub fn of(kind: NumberKind, name: &str) -> Option<NumberFormat> {
        match (kind, name) {
            (NumberKind::Integer, "int32") => Some(NumberFormat::Int32),
            (NumberKind::Integer, "int64") => Some(NumberFormat::Int64),
            (NumberKind::Number, "float") => Some(NumberFormat::Float),
            (NumberKind::Number, "double") => Some(NumberFormat::Double),
            (NumberKind::Untyped, name) => Format::of(name).map(|_| NumberFormat::Text),
            _ => None,
        }
    }
}

/// A set of numbers described by a schema's keywords. Bounds are floats, as the server stores them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NumberDomain {
    pub kind: NumberKind,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    pub multiple_of: Option<f64>,
    pub format: Option<NumberFormat>,
}

/// A number as the server decodes it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    Int(i64),
    Float(f64),
}

impl Value {
    pub fn of(number: &Number) -> Value {
        match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().unwrap_or(f64::INFINITY)),
        }
    }

    pub fn number(self) -> Option<Number> {
        match self {
            Value::Int(int) => Some(int.into()),
            Value::Float(float) => Number::from_f64(float),
        }
    }

    fn float(self) -> f64 {
        match self {
            Value::Int(int) => int as f64,
            Value::Float(float) => float,
        }
    }

    /// Whether the server considers the value a member of an enum. It converts the value to the type of the member, so `2.5` equals
    /// an enum's `2`.
    pub fn is_in(self, members: &[Number]) -> bool {
        members.iter().any(|member| match (self, Value::of(member)) {
            (Value::Int(int), Value::Int(member)) => int == member,
            (Value::Float(float), Value::Int(member)) => go_int64(float) == member,
            (value, Value::Float(member)) => value.float() == member,
        })
    }
}

impl NumberDomain {
    pub fn accepts(&self, number: &Number) -> bool {
        self.accepts_value(Value::of(number))
    }

    /// Runs the checks of the server's validator, in its arithmetic.
    pub fn accepts_value(&self, value: Value) -> bool {
        if self.format == Some(NumberFormat::Text) {
            return false;
        }
        let typed = match (self.kind, value) {
            (NumberKind::Integer, Value::Float(float)) => is_json_integer(float),
            _ => true,
        };
        let fits = match value {
            Value::Int(int) => self.format != Some(NumberFormat::Int32) || i32::try_from(int).is_ok(),
            Value::Float(float) => self.represents(float),
        };
        typed
            && fits
            && self.multiple_of.is_none_or(|factor| {
                self.represents(factor)
                    && match value {
                        Value::Int(int) => is_multiple(int, go_int64(factor)),
                        Value::Float(float) => is_float_multiple(float, factor),
                    }
            })
            && self.maximum.is_none_or(|max| {
                self.represents(max)
                    && match value {
                        Value::Int(int) => below(int, go_int64(max), self.exclusive_maximum),
                        Value::Float(float) => below(float, max, self.exclusive_maximum),
                    }
            })
            && self.minimum.is_none_or(|min| {
                self.represents(min)
                    && match value {
                        Value::Int(int) => below(go_int64(min), int, self.exclusive_minimum),
                        Value::Float(float) => below(min, float, self.exclusive_minimum),
                    }
            })
    }

    /// Whether a float can be represented in the node's type and format. A bound that can't be makes every value invalid, for
    /// example `minimum: 0.5` on an integer.
    fn represents(&self, float: f64) -> bool {
        // The server uses the shortest decimal digits, which makes `-2^63` out of range.
        let digits = || float.to_string();
        match (self.kind, self.format) {
            (NumberKind::Integer, _) if float.fract() != 0.0 => false,
            (NumberKind::Integer, Some(NumberFormat::Int32)) if float.abs() <= MAX_SAFE => i32::try_from(float as i64).is_ok(),
            (NumberKind::Integer, _) if float.abs() <= MAX_SAFE => true,
            (NumberKind::Integer, Some(NumberFormat::Int32)) => digits().parse::<i32>().is_ok(),
            (NumberKind::Integer, _) => digits().parse::<i64>().is_ok(),
            (_, Some(NumberFormat::Float)) => digits().parse::<f32>().is_ok_and(f32::is_finite),
            _ => true,
        }
    }

    /// Compares the two sets, with a number for each side that only this side accepts.
    #[cfg(test)]
    pub fn order(&self, other: &NumberDomain) -> Comparison<Number> {
        let minus = |a: &NumberDomain, b: &NumberDomain| -> Search<Number> {
            NumberGoal { within: vec![a], outside: vec![b], ..NumberGoal::default() }.find()
        };
        Comparison::of(minus(self, other), minus(other, self), Search::Impossible)
    }
}

fn below<T: PartialOrd>(a: T, b: T, strictly: bool) -> bool {
    if strictly { a < b } else { a <= b }
}

fn is_multiple(int: i64, factor: i64) -> bool {
    factor > 0 && int % factor == 0
}

fn is_float_multiple(float: f64, factor: f64) -> bool {
    let quotient = match factor {
        _ if factor <= 0.0 => return false,
        _ if factor < 1.0 => 1.0 / factor * float,
        _ => float / factor,
    };
    is_json_integer(quotient)
}

/// The largest integer up to which every integer can be represented as a float.
const MAX_SAFE: f64 = ((1u64 << 53) - 1) as f64;

/// The first integer that is too large for 64 bits.
const END: f64 = 9_223_372_036_854_775_808.0;

/// Whether clients send a float as an integer. `kubectl`, like everything that marshals JSON with Go, writes `2.0` as `2`. Only a
/// hand-written request has the fraction, which servers treat differently, and it proves nothing about what users do.
pub fn is_sent_as_integer(float: f64) -> bool {
    float.fract() == 0.0 && (-END..END).contains(&float)
}

/// A number as clients send it.
pub(crate) fn as_sent(float: f64) -> serde_json::Value {
    if is_sent_as_integer(float) { (float as i64).into() } else { float.into() }
}

/// Writes all numbers of a value as clients send them.
pub(crate) fn write_as_sent(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) if number.is_f64() => *value = number.as_f64().map_or(serde_json::Value::Null, as_sent),
        serde_json::Value::Array(items) => items.iter_mut().for_each(write_as_sent),
        serde_json::Value::Object(map) => map.values_mut().for_each(write_as_sent),
        _ => {}
    }
}

/// Converts to 64 bits like Go on amd64: a value that doesn't fit becomes the smallest integer.
pub(crate) fn go_int64(float: f64) -> i64 {
    if (-END..END).contains(&float) { float as i64 } else { i64::MIN }
}

/// Whether the server treats a float as an integer: within the safe range, and for positive numbers up to a relative error of
/// 10^-9.
pub fn is_json_integer(float: f64) -> bool {
    let whole = float.trunc();
    if !(-MAX_SAFE..=MAX_SAFE).contains(&float) {
        return false;
    }
    float == whole || whole > 0.0 && (float - whole) / (float + whole) < 1e-9
}

#[cfg(test)]
mod tests;
