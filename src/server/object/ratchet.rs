//! Ratcheting: which old value belongs to which new one, so that errors in what an update didn't touch are tolerated.

use serde_json::{Map, Value};

use crate::model::kubernetes::Feature;
use crate::model::schema::Shape;
use crate::model::schema::shape::{Extra, ListType};

use super::enumeration::same;
use super::error::FieldError;
use super::path::ObjectPath;

/// An error that an update may keep, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerated {
    pub error: FieldError,
    pub because: Tolerance,
}

/// Why an update may keep an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tolerance {
    /// The value here, which holds what is wrong, is the same as before.
    Unchanged(ObjectPath),
    /// Some list of the old object had duplicates already; the server then looks for none in the new one.
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

/// A new value with the old one at the same place (Kubernetes calls it a correlated object).
#[derive(Clone, Copy)]
pub(super) struct Correlated<'a> {
    pub old: &'a Value,
    pub new: &'a Value,
    pub shape: &'a Shape,
    /// What a server must have to tolerate what is unchanged.
    pub by: Feature,
}

impl<'a> Correlated<'a> {
    /// Only a declared key that both have can be followed.
    pub fn key(self, name: &str) -> Option<Self> {
        let (old, new) = (self.old.as_object()?.get(name)?, self.new.as_object()?.get(name)?);
        Some(Correlated { old, new, shape: value_shape(self.shape, name)?, ..self })
    }

    /// Only items of a map list can be followed, by their keys.
    pub fn index(self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        let old = by_key(self.shape, self.old.as_array()?, new)?;
        Some(Correlated { old, new, shape: self.shape.items.as_deref()?, ..self })
    }

    /// Whether the server tolerates what is wrong here: nothing changed.
    pub fn is_tolerated(self) -> bool {
        self.is_unchanged() && self.shape.kubernetes.has(self.by)
    }

    /// Whether nothing changed here, as far as can be followed: an undeclared key counts as a change.
    pub fn is_unchanged(self) -> bool {
        match (self.old, self.new) {
            (Value::Array(old), Value::Array(new)) => {
                old.len() == new.len()
                    && match self.shape.list_type {
                        ListType::Map => (0..new.len()).all(|index| self.index(index).is_some_and(Correlated::is_unchanged)),
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

/// The schema of a key's value: a declared property, or that of all map values.
pub(super) fn value_shape<'s>(shape: &'s Shape, name: &str) -> Option<&'s Shape> {
    match (shape.property(name), &shape.extra) {
        (Some(property), _) => Some(property),
        (None, Extra::Values(values)) => Some(values),
        _ => None,
    }
}

/// The first item of a map list that has the keys of `item`.
pub(super) fn by_key<'v>(list: &Shape, items: &'v [Value], item: &Value) -> Option<&'v Value> {
    if list.list_type != ListType::Map {
        return None;
    }
    let wanted = item.as_object()?;
    items.iter().find(|candidate| candidate.as_object().is_some_and(|candidate| has_keys(candidate, wanted, &list.map_keys)))
}

fn has_keys(candidate: &Map<String, Value>, wanted: &Map<String, Value>, keys: &[String]) -> bool {
    keys.iter().all(|key| match (candidate.get(key), wanted.get(key)) {
        (Some(a), Some(b)) => !a.is_array() && !a.is_object() && !a.is_null() && same(a, b),
        _ => false,
    })
}
