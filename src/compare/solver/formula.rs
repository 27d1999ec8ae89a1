//! Conditions that schema keywords can't express: translated CEL rules, and the solver's own requirements (equal to this, different
//! from that).

use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use super::Kinds;

/// A condition on a value after defaulting. An atom is false for values of a kind that it doesn't apply to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Formula {
    Const(bool),
    All(Vec<Rc<Formula>>),
    Any(Vec<Rc<Formula>>),
    Not(Rc<Formula>),
    /// The value is of one of these kinds.
    Is(Kinds),
    /// The same JSON value; numbers are compared by value.
    Equals(Value),
    /// A number, compared exactly.
    AtLeast {
        bound: f64,
        strict: bool,
    },
    AtMost {
        bound: f64,
        strict: bool,
    },
    /// An integer divisible by this.
    Divisible(i64),
    /// At least this many code points, items or keys.
    MinSize(u64),
    MaxSize(u64),
    /// A string that matches a Go regular expression.
    Matches(Arc<str>),
    /// A key that exists and isn't null.
    Has(Rc<str>),
    /// A key that exists, null or not.
    Key(Rc<str>),
    /// If the key exists and isn't null, its value satisfies this.
    Field(Rc<str>, Rc<Formula>),
    /// Every item of a list, or every value of a map.
    Each(Rc<Formula>),
    /// Every key of a map.
    Keys(Rc<Formula>),
}

impl Formula {
    pub(crate) fn negated(self: &Rc<Self>) -> Rc<Formula> {
        match &**self {
            Formula::Not(inner) => Rc::clone(inner),
            Formula::Const(b) => Rc::new(Formula::Const(!b)),
            _ => Rc::new(Formula::Not(Rc::clone(self))),
        }
    }

    pub(crate) fn all(parts: impl IntoIterator<Item = Rc<Formula>>) -> Rc<Formula> {
        Self::join(parts, true)
    }

    pub(crate) fn any(parts: impl IntoIterator<Item = Rc<Formula>>) -> Rc<Formula> {
        Self::join(parts, false)
    }

    fn join(parts: impl IntoIterator<Item = Rc<Formula>>, neutral: bool) -> Rc<Formula> {
        let mut kept: Vec<Rc<Formula>> = Vec::new();
        for part in parts {
            match &*part {
                Formula::Const(b) if *b == neutral => {}
                Formula::Const(_) => return part,
                _ if kept.contains(&part) => {}
                _ => kept.push(part),
            }
        }
        match kept.len() {
            0 => Rc::new(Formula::Const(neutral)),
            1 => kept.remove(0),
            _ if neutral => Rc::new(Formula::All(kept)),
            _ => Rc::new(Formula::Any(kept)),
        }
    }
}

/// Whether two JSON values are equal, comparing numbers by value.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => x == y,
            _ => x.as_f64() == y.as_f64(),
        },
        (Value::Array(x), Value::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(x, y)| equal(x, y)),
        (Value::Object(x), Value::Object(y)) => x.len() == y.len() && x.iter().all(|(key, x)| y.get(key).is_some_and(|y| equal(x, y))),
        _ => a == b,
    }
}

pub(crate) fn divisible(value: &Value, by: i64) -> bool {
    by != 0 && value.as_i64().is_some_and(|n| n.checked_rem(by) == Some(0))
}

/// The size that [`Formula::MinSize`] counts.
pub(crate) fn size(value: &Value) -> Option<u64> {
    let size = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(map) => map.len(),
        _ => return None,
    };
    u64::try_from(size).ok()
}
