//! Ratcheting: matches new values with old ones, so that errors in values that an update didn't change are tolerated.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::model::kubernetes::Feature;
use crate::model::schema::Shape;
use crate::model::schema::shape::ListType;

use super::enumeration::same;
use super::error::FieldError;
use super::path::ObjectPath;

/// An error that an update may keep, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerated {
    pub error: FieldError,
    pub because: Tolerance,
}

/// Why an update may keep an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tolerance {
    /// This value, which contains the error, is unchanged.
    Unchanged(ObjectPath),
    /// Some list of the old object already had duplicates, so the server doesn't check the new one.
    DuplicatesBefore,
}

impl Tolerated {
    pub(super) fn below_field(self, name: &str) -> Self {
        let because = match self.because {
            Tolerance::Unchanged(path) => {
                let mut whole = ObjectPath::root().key(name);
                path.steps().iter().for_each(|step| whole.push(step.clone()));
                Tolerance::Unchanged(whole)
            }
            Tolerance::DuplicatesBefore => Tolerance::DuplicatesBefore,
        };
        Tolerated { error: self.error.below_field(name), because }
    }
}

impl std::fmt::Display for Tolerance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Tolerance::Unchanged(path) if path.is_root() => f.write_str("the update changes nothing"),
            Tolerance::Unchanged(path) => write!(f, "the update leaves `{path}` unchanged"),
            Tolerance::DuplicatesBefore => f.write_str("a list of the previous object already had duplicates"),
        }
    }
}

/// A new value with the old one at the same place (a correlated object in Kubernetes).
#[derive(Clone, Copy)]
pub(super) struct Correlated<'a> {
    pub old: &'a Value,
    pub new: &'a Value,
    pub shape: &'a Shape,
    /// The feature that a server needs to tolerate unchanged values.
    pub by: Feature,
}

impl<'a> Correlated<'a> {
    /// Only a declared key that both have can be matched.
    pub fn key(self, name: &str) -> Option<Self> {
        let (old, new) = (self.old.as_object()?.get(name)?, self.new.as_object()?.get(name)?);
        Some(Correlated { old, new, shape: self.shape.value_of(name)?, ..self })
    }

    /// The items of both lists.
    pub fn items(self) -> CorrelatedItems<'a> {
        let items = self.old.as_array().map(Vec::as_slice).unwrap_or_default();
        CorrelatedItems { list: self, old: KeyedItems::of(self.shape, items) }
    }

    /// Whether the server tolerates errors here because nothing changed.
    pub fn is_tolerated(self) -> bool {
        self.is_unchanged() && self.shape.kubernetes.has(self.by)
    }

    /// Whether nothing changed here, as far as values can be matched: an undeclared key counts as a change.
    pub fn is_unchanged(self) -> bool {
        match (self.old, self.new) {
            (Value::Array(old), Value::Array(new)) => {
                old.len() == new.len()
                    && match self.shape.list_type {
                        ListType::Map => {
                            let items = self.items();
                            (0..new.len()).all(|index| items.at(index).is_some_and(Correlated::is_unchanged))
                        }
                        ListType::Atomic | ListType::Set => old.iter().zip(new).all(|(old, new)| same(old, new)),
                    }
            }
            (Value::Object(old), Value::Object(new)) => {
                old.len() == new.len() && new.keys().all(|key| self.key(key).is_some_and(Correlated::is_unchanged))
            }
            (old, new) => same(old, new),
        }
    }
}

/// The items of an old list and of the new one.
pub(super) struct CorrelatedItems<'a> {
    list: Correlated<'a>,
    old: KeyedItems<'a>,
}

impl<'a> CorrelatedItems<'a> {
    /// Only items of a map list can be followed, by their keys.
    pub fn at(&self, index: usize) -> Option<Correlated<'a>> {
        let new = self.list.new.as_array()?.get(index)?;
        let old = self.old.like(new)?;
        Some(Correlated { old, new, shape: self.list.shape.items.as_deref()?, ..self.list })
    }
}

/// The items of a map list by their keys.
pub(super) struct KeyedItems<'v> {
    list: &'v Shape,
    items: &'v [Value],
    /// The first item with each combination of keys; only for a long list.
    index: Option<HashMap<String, &'v Value>>,
}

/// Up to this many items are compared one by one.
const SHORT: usize = 32;

impl<'v> KeyedItems<'v> {
    pub fn of(list: &'v Shape, items: &'v [Value]) -> Self {
        let index = (list.list_type == ListType::Map && items.len() > SHORT).then(|| {
            let mut index = HashMap::new();
            for item in items {
                if let Some(keys) = item.as_object().and_then(|item| written_keys(item, &list.map_keys)) {
                    index.entry(keys).or_insert(item);
                }
            }
            index
        });
        KeyedItems { list, items, index }
    }

    /// The first item that has the keys of `item`.
    pub fn like(&self, item: &Value) -> Option<&'v Value> {
        if self.list.list_type != ListType::Map {
            return None;
        }
        let (wanted, keys) = (item.as_object()?, &self.list.map_keys);
        match &self.index {
            Some(index) => index.get(&written_keys(wanted, keys)?).copied(),
            None => self.items.iter().find(|candidate| candidate.as_object().is_some_and(|candidate| has_keys(candidate, wanted, keys))),
        }
    }
}

/// The keys of an item as a text that is equal if [`same`] says so; `None` if one is missing or not a scalar.
fn written_keys(item: &Map<String, Value>, keys: &[String]) -> Option<String> {
    let mut written = String::new();
    for key in keys {
        match item.get(key)? {
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
            Value::Number(number) if number.as_i64().is_none() => written.push_str(&format!("{:?},", number.as_f64())),
            value => written.push_str(&format!("{value},")),
        }
    }
    Some(written)
}

fn has_keys(candidate: &Map<String, Value>, wanted: &Map<String, Value>, keys: &[String]) -> bool {
    keys.iter().all(|key| match (candidate.get(key), wanted.get(key)) {
        (Some(a), Some(b)) => !a.is_array() && !a.is_object() && !a.is_null() && same(a, b),
        _ => false,
    })
}
