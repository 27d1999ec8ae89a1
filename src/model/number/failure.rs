//! Finds the keywords of a domain that a number violates, with the server's messages.

use crate::go::fmt;

use super::{NumberDomain, NumberFormat, NumberKind, Value, below, go_int64, is_float_multiple, is_multiple};

/// A keyword that a number violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    MultipleOf,
    /// A factor that isn't positive: the server reads it as an integer where it compares integers, so `0.5` is 0.
    Factor,
    Minimum,
    Maximum,
    /// The number, or the bound it is compared with, can't be represented in the node's type and format.
    Range,
}

/// A violated keyword, with the message that the server puts after the field's name. That of [`Broken::Range`] comes before it, and
/// for [`Broken::Factor`] it is just the factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberFailure {
    pub broken: Broken,
    pub words: String,
}

impl NumberDomain {
    /// What the value violates besides its type, in the server's order; empty if it is accepted.
    pub fn failures(&self, value: Value) -> Vec<NumberFailure> {
        let mut found = Vec::new();
        let fits = match value {
            Value::Int(int) => self.format != Some(NumberFormat::Int32) || i32::try_from(int).is_ok(),
            Value::Float(float) => self.represents(float),
        };
        if !fits {
            found.push(self.out_of_range("Checked"));
        }
        if let Some(factor) = self.multiple_of {
            // A constraint that the type can't represent is still checked, as a float.
            let native = self.constraint(factor, "MultipleOf", &mut found);
            let (holds, shown) = match value {
                Value::Int(int) if native => (is_multiple(int, go_int64(factor)), go_int64(factor).to_string()),
                _ => (is_float_multiple(value.float(), factor), fmt::float(factor)),
            };
            let is_positive = if native && matches!(value, Value::Int(_)) { go_int64(factor) > 0 } else { factor > 0.0 };
            if !is_positive {
                found.push(NumberFailure { broken: Broken::Factor, words: shown });
            } else if !holds {
                found.push(NumberFailure { broken: Broken::MultipleOf, words: format!("should be a multiple of {shown}") });
            }
        }
        if let Some(min) = self.minimum {
            let native = self.constraint(min, "Minimum boundary", &mut found);
            let strictly = self.exclusive_minimum;
            let (holds, shown) = match value {
                Value::Int(int) if native => (below(go_int64(min), int, strictly), go_int64(min).to_string()),
                _ => (below(min, value.float(), strictly), fmt::float(min)),
            };
            if !holds {
                let words = if strictly { "greater than" } else { "greater than or equal to" };
                found.push(NumberFailure { broken: Broken::Minimum, words: format!("should be {words} {shown}") });
            }
        }
        if let Some(max) = self.maximum {
            let native = self.constraint(max, "Maximum boundary", &mut found);
            let strictly = self.exclusive_maximum;
            let (holds, shown) = match value {
                Value::Int(int) if native => (below(int, go_int64(max), strictly), go_int64(max).to_string()),
                _ => (below(value.float(), max, strictly), fmt::float(max)),
            };
            if !holds {
                let words = if strictly { "less than" } else { "less than or equal to" };
                found.push(NumberFailure { broken: Broken::Maximum, words: format!("should be {words} {shown}") });
            }
        }
        found
    }

    /// Keywords whose value can't be represented in the node's type and format, so that the server rejects every number.
    pub fn unusable(&self) -> impl Iterator<Item = Broken> {
        let bounds = [(Broken::MultipleOf, self.multiple_of), (Broken::Minimum, self.minimum), (Broken::Maximum, self.maximum)];
        bounds.into_iter().filter(|(_, bound)| bound.is_some_and(|bound| !self.represents(bound))).map(|(broken, _)| broken)
    }

    fn constraint(&self, bound: f64, what: &str, found: &mut Vec<NumberFailure>) -> bool {
        let native = self.represents(bound);
        if !native {
            found.push(self.out_of_range(what));
        }
        native
    }

    fn out_of_range(&self, what: &str) -> NumberFailure {
        let kind = match self.kind {
            NumberKind::Integer => "integer",
            NumberKind::Number => "number",
            NumberKind::Untyped => "",
        };
        let format = match self.format {
            Some(NumberFormat::Int32) => "with format int32",
            Some(NumberFormat::Int64) => "with format int64",
            Some(NumberFormat::Float) => "with format float",
            Some(NumberFormat::Double) => "with format double",
            Some(NumberFormat::Text) | None => "(default format)",
        };
        NumberFailure { broken: Broken::Range, words: format!("{what} value must be of type {kind} {format} in") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_match_acceptance() {
        let bounds = [None, Some(0.5), Some(2.0), Some(-3.0), Some(1e16), Some(1e20), Some(-1.5)];
        let values =
            [Value::Int(0), Value::Int(2), Value::Int(-3), Value::Int(i64::MAX), Value::Float(0.5), Value::Float(2.0), Value::Float(1e30)];
        let formats = [None, Some(NumberFormat::Int32), Some(NumberFormat::Float)];
        for (kind, format) in
            [NumberKind::Integer, NumberKind::Number, NumberKind::Untyped].into_iter().flat_map(|k| formats.map(|f| (k, f)))
        {
            for (minimum, maximum) in bounds.into_iter().flat_map(|a| bounds.map(|b| (a, b))) {
                for (exclusive, multiple_of) in [(false, None), (true, Some(0.5)), (false, Some(2.0))] {
                    let (exclusive_minimum, exclusive_maximum) = (exclusive, exclusive);
                    let domain = NumberDomain { kind, minimum, exclusive_minimum, maximum, exclusive_maximum, multiple_of, format };
                    for value in values {
                        let typed = kind != NumberKind::Integer || !matches!(value, Value::Float(0.5 | 1e30));
                        assert_eq!(domain.accepts_value(value), typed && domain.failures(value).is_empty(), "{domain:?} {value:?}");
                    }
                }
            }
        }
    }
}
