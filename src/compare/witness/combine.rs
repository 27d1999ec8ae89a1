//! Combines an object that the old side accepts with one that the new side refuses: an object that breaks often has parts of both.

use serde_json::Value;

use crate::compare::sampling::Sampler;
use crate::model::PathStep;

/// How many objects of each kind are kept to be combined.
const MAX_KEPT: usize = 24;

/// The last objects, or updates, that the old side accepted or the new side refused.
pub(super) struct Combiner<T> {
    /// Accepted by the old side.
    accepted: Vec<T>,
    /// Refused by the new side because of the change.
    refused: Vec<T>,
    noted: usize,
}

impl<T> Default for Combiner<T> {
    fn default() -> Self {
        Combiner { accepted: Vec::new(), refused: Vec::new(), noted: 0 }
    }
}

impl<T: Clone> Combiner<T> {
    pub(super) fn note(&mut self, tried: &T, accepted: bool, refused: bool) {
        self.noted += 1;
        let place = self.noted % MAX_KEPT;
        for list in [(accepted, &mut self.accepted), (refused, &mut self.refused)].into_iter().filter_map(|(is, list)| is.then_some(list)) {
            match list.len() < MAX_KEPT {
                true => list.push(tried.clone()),
                false => list.get_mut(place).into_iter().for_each(|kept| *kept = tried.clone()),
            }
        }
    }

    /// An accepted object with some parts of a refused one; `combine` gets both, and a number that chooses the parts.
    pub(super) fn combined(&self, sampler: &mut Sampler<'_>, combine: impl Fn(&T, &T, u64) -> Option<T>) -> Option<T> {
        let ((first, _), (second, choice)) = (sampler.pick(&self.accepted)?, sampler.pick(&self.refused)?);
        combine(first, second, choice)
    }
}

/// Replaces some fields of the first object, at the path, by those of the second one. The same `choice` replaces the same fields.
pub(super) fn with_fields_of(first: &Value, second: &Value, path: &[PathStep], choice: u64) -> Option<Value> {
    let mut combined = first.clone();
    let (mut at, mut other) = (&mut combined, second);
    for step in path {
        (at, other) = match step {
            PathStep::Items => (at.get_mut(0)?, other.get(0)?),
            PathStep::Values => (at.get_mut("key")?, other.get("key")?),
            PathStep::Key(key) => (at.get_mut(&**key)?, other.get(&**key)?),
        };
    }
    let (Value::Object(map), Value::Object(other)) = (at, other) else { return None };
    let bit = |key: &str| key.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % u64::BITS;
    let chosen = |key: &str| (choice >> bit(key)) & 1 == 1;
    map.retain(|key, _| !chosen(key));
    map.extend(other.iter().filter(|(key, _)| chosen(key)).map(|(key, value)| (key.clone(), value.clone())));
    Some(combined)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_come_from_either_object() {
        let (first, second) = (json!({"spec": {"a": 1, "b": 1}}), json!({"spec": {"b": 2, "c": 2}}));
        let path = [PathStep::Key("spec".into())];
        let combined = |choice| with_fields_of(&first, &second, &path, choice);
        assert_eq!((combined(0), combined(u64::MAX)), (Some(first.clone()), Some(second.clone())));
        let all: Vec<_> = (0..64).filter_map(|bit| combined(1 << bit)).collect();
        assert!(all.contains(&json!({"spec": {"a": 1, "b": 2}})) && all.contains(&json!({"spec": {"a": 1, "b": 1, "c": 2}})));
        assert_eq!(with_fields_of(&json!({}), &second, &path, 1), None);
    }
}
