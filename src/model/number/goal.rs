//! Finds a number with given properties, or proves that there is none.

use serde_json::Number;

use super::{NumberDomain, Value, float, integer};
use crate::model::relation::Search;

/// The properties that a number must have, all at once.
#[derive(Debug, Clone, Default)]
pub struct NumberGoal<'a> {
    /// Each of these accepts it.
    pub within: Vec<&'a NumberDomain>,
    /// None of these accepts it.
    pub outside: Vec<&'a NumberDomain>,
    /// It is in each of these enums.
    pub allowed: Vec<&'a [Number]>,
    /// It is in none of these enums.
    pub excluded: Vec<&'a [Number]>,
}

impl NumberGoal<'_> {
    pub fn accepts(&self, value: Value) -> bool {
        self.within.iter().all(|domain| domain.accepts_value(value))
            && !self.outside.iter().any(|domain| domain.accepts_value(value))
            && self.admits(value)
    }

    /// Whether the enums allow the value.
    pub(super) fn admits(&self, value: Value) -> bool {
        self.allowed.iter().all(|members| value.is_in(members)) && !self.excluded.iter().any(|members| value.is_in(members))
    }

    pub(super) fn members(&self) -> impl Iterator<Item = Value> + '_ {
        let lists = self.allowed.iter().chain(&self.excluded);
        lists.flat_map(|members| members.iter().map(Value::of))
    }

    /// Finds a number written as an integer.
    pub fn find_integer(&self) -> Search<i64> {
        integer::find(self)
    }

    /// Finds a number written with a fraction.
    pub fn find_float(&self) -> Search<Number> {
        written(float::find(self).map(Value::Float))
    }

    /// Finds a number that satisfies the goal: a small integer if there is one, or else a short fraction.
    #[cfg(test)]
    pub fn find(&self) -> Search<Number> {
        let integer = integer::find(self).map(Value::Int);
        let found = match integer {
            Search::Found(_) => integer,
            open => Search::any([float::find(self).map(Value::Float), open]),
        };
        written(found)
    }
}

fn written(found: Search<Value>) -> Search<Number> {
    found.and_then(|value| match value.number() {
        Some(number) => Search::Found(number),
        None => Search::Undecided("the number can't be represented".into()),
    })
}
