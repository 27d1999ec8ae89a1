//! Which old value belongs to which new one: what an update didn't touch is forgiven.

use serde_json::{Map, Value};

use super::enumeration::same;
use super::node::{List, Node};

/// A new value with the old one at the same place.
#[derive(Clone, Copy)]
pub(super) struct Twin<'a> {
    pub old: &'a Value,
    pub new: &'a Value,
    pub node: &'a Node,
}

impl<'a> Twin<'a> {
    /// Only a declared key that both have can be followed.
    pub fn key(self, name: &str) -> Option<Self> {
        let (old, new) = (self.old.as_object()?.get(name)?, self.new.as_object()?.get(name)?);
        Some(Twin { old, new, node: self.node.field(name)? })
    }

    /// Only items of a map list can be followed, by their keys.
    pub fn index(self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        let old = by_key(&self.node.list, self.old.as_array()?, new)?;
        Some(Twin { old, new, node: self.node.items.as_deref()? })
    }

    /// Whether nothing changed here, as far as can be followed: an undeclared key counts as a change.
    pub fn is_unchanged(self) -> bool {
        match (self.old, self.new) {
            (Value::Array(old), Value::Array(new)) => {
                old.len() == new.len()
                    && match self.node.list {
                        List::Map(_) => (0..new.len()).all(|index| self.index(index).is_some_and(Twin::is_unchanged)),
                        List::Atomic | List::Set => old.iter().zip(new).all(|(old, new)| same(old, new)),
                    }
            }
            (Value::Object(old), Value::Object(new)) => {
                old.len() == new.len() && new.keys().all(|key| self.key(key).is_some_and(Twin::is_unchanged))
            }
            (old, new) => same(old, new),
        }
    }
}

/// The first item of a map list that has the keys of `item`.
pub(super) fn by_key<'v>(list: &List, items: &'v [Value], item: &Value) -> Option<&'v Value> {
    let List::Map(keys) = list else { return None };
    let wanted = item.as_object()?;
    items.iter().find(|candidate| candidate.as_object().is_some_and(|candidate| has_keys(candidate, wanted, keys)))
}

fn has_keys(candidate: &Map<String, Value>, wanted: &Map<String, Value>, keys: &[Box<str>]) -> bool {
    keys.iter().all(|key| match (candidate.get(&**key), wanted.get(&**key)) {
        (Some(a), Some(b)) => !a.is_array() && !a.is_object() && !a.is_null() && same(a, b),
        _ => false,
    })
}
