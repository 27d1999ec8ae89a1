//! Preserves values that a step loses, and restores them when the object is converted back.
//!
//! A value is restored only if it still fits: converting it must produce the object's current value. This way an edit made in the
//! meantime is never undone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::address::{ContainerLocation, NamePath, get, place, put, take};
use super::directed_step::DirectedStep;
use super::manifest::Direction;
use super::step::view;
use crate::model::{FieldPath, PathStep};
use crate::server::object::ObjectPath;

/// Where lost values are preserved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preserve {
    /// As JSON in an annotation of this name.
    Annotation(String),
    /// As an object in a separate field, which both versions must keep.
    Field(FieldPath),
}

/// The preserved values of one object, by step and container.
#[derive(Debug, Default)]
pub(crate) struct PreservedValues {
    /// Values for the version that is being converted to.
    to_restore: Map<String, Value>,
    /// Values of the version that is being converted from.
    to_store: Map<String, Value>,
    /// The object already contained values to store, so it was converted before.
    converted_before: bool,
    /// Preserved values that could not be restored.
    unfit: Vec<(ObjectPath, Value)>,
}

const OLD: &str = "old";
const NEW: &str = "new";

/// The keys under which a direction finds the values to restore, and stores those it loses.
pub(crate) fn sides(direction: Direction) -> (&'static str, &'static str) {
    if direction == Direction::Forward { (NEW, OLD) } else { (OLD, NEW) }
}

impl Preserve {
    /// The path to the preserved values in an object.
    pub fn names(&self) -> NamePath {
        match self {
            Preserve::Annotation(name) => vec!["metadata".into(), "annotations".into(), name.as_str().into()],
            Preserve::Field(path) => {
                path.steps().iter().filter_map(|step| if let PathStep::Key(name) = step { Some(name.clone()) } else { None }).collect()
            }
        }
    }

    pub fn is_annotation(&self) -> bool {
        matches!(self, Preserve::Annotation(_))
    }

    /// The top-level field that holds the values.
    pub fn top_level(&self) -> &str {
        match self {
            Preserve::Annotation(_) => "metadata",
            Preserve::Field(path) => match path.steps().first() {
                Some(PathStep::Key(name)) => name,
                _ => "",
            },
        }
    }

    fn read(&self, object: &Value) -> Map<String, Value> {
        let found = get(object, &self.names());
        let whole = match self {
            Preserve::Annotation(_) => found.and_then(Value::as_str).and_then(|text| serde_json::from_str(text).ok()),
            Preserve::Field(_) => found.cloned(),
        };
        match whole {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }

    /// Removes all preserved values from an object.
    pub fn clear(&self, object: &mut Value) {
        self.write(object, Map::new());
    }

    fn write(&self, object: &mut Value, values: Map<String, Value>) {
        if values.is_empty() {
            // Parents that only existed for the values are removed with them.
            take(object, &self.names());
            return;
        }
        let value = match self {
            Preserve::Annotation(_) => Value::String(Value::Object(values).to_string()),
            Preserve::Field(_) => Value::Object(values),
        };
        // If the metadata isn't a mapping, the object is invalid anyway.
        let _ = put(object, &self.names(), value);
    }
}

impl PreservedValues {
    pub fn load(preserve: &Preserve, object: &Value, direction: Direction) -> PreservedValues {
        let mut whole = preserve.read(object);
        let mut side = |name: &str| match whole.remove(name) {
            Some(Value::Object(map)) => map,
            _ => Map::new(),
        };
        let (restored, stored) = sides(direction);
        let (to_restore, to_store) = (side(restored), side(stored));
        PreservedValues { to_restore, converted_before: !to_store.is_empty(), to_store, unfit: Vec::new() }
    }

    /// The labels by which list items were identified when the values were preserved.
    pub fn labels(&self) -> impl Iterator<Item = &String> {
        self.to_restore.keys()
    }

    /// Writes the values to preserve into the object, and returns those that couldn't be restored.
    pub fn store(self, preserve: &Preserve, object: &mut Value, direction: Direction) -> Vec<(ObjectPath, Value)> {
        let mut not_restored = self.unfit;
        let left = self.to_restore.into_values().filter_map(|saved| first_saved(&saved));
        not_restored.extend(left.map(|value| (ObjectPath::root(), value)));
        let mut whole = Map::new();
        if !self.to_store.is_empty() {
            whole.insert(sides(direction).1.to_owned(), Value::Object(self.to_store));
        }
        preserve.write(object, whole);
        not_restored
    }

    /// Restores the values preserved for this container, if they still fit. Returns whether it did.
    pub fn restore(&mut self, step: &DirectedStep, at: &ContainerLocation, container: &mut Value) -> bool {
        if self.to_restore.is_empty() {
            return false;
        }
        let found = at.labels().iter().find_map(|label| self.to_restore.remove(&key(step, label)));
        let Some(Value::Array(saved)) = found else { return false };
        let first = first_saved(&Value::Array(saved.clone()));
        let saved: Vec<Option<Value>> = saved.into_iter().map(unpack).collect();
        if saved.len() != step.inner().len() || !step.can_write(container) {
            self.unfit.extend(first.map(|value| (at.path.clone(), value)));
            return false;
        }
        let fits = step.undone(&saved, container) == Some(view(container, step.inner()));
        if fits {
            step.assign(container, &saved);
        } else if !step.op.is_default() {
            self.unfit.extend(first.map(|value| (at.path.clone(), value)));
        }
        fits
    }

    /// Preserves the values from before a step if its inverse wouldn't restore them.
    pub fn remember(&mut self, step: &DirectedStep, at: &ContainerLocation, before: Vec<Option<Value>>, container: &Value) {
        let after = view(container, step.inner());
        let restored = step.undone(&after, container).as_ref() == Some(&before);
        let unchanged = after == before;
        if unchanged && restored {
            return;
        }
        let key = key(step, &at.label());
        // Later steps may have changed the fields by which a list item is identified.
        let known = self.to_store.contains_key(&key) || (self.converted_before && at.in_list());
        if restored {
            self.to_store.remove(&key);
        } else if !(unchanged && known) {
            self.to_store.insert(key, Value::Array(before.into_iter().map(pack).collect()));
        }
    }
}

/// Encodes a value as `[value]` and a missing one as `[]`, because null is a value.
fn pack(value: Option<Value>) -> Value {
    Value::Array(value.into_iter().collect())
}

fn unpack(value: Value) -> Option<Value> {
    match value {
        Value::Array(items) => items.into_iter().next(),
        _ => None,
    }
}

/// The first value that was preserved for a container.
fn first_saved(saved: &Value) -> Option<Value> {
    saved.as_array()?.iter().find_map(|packed| unpack(packed.clone()))
}

/// The key for preserved values: the step and the location of its first path.
fn key(step: &DirectedStep, label: &str) -> String {
    let field = field(step);
    let dot = if label.is_empty() || field.is_empty() || field.starts_with('[') { "" } else { "." };
    format!("{} {label}{dot}{field}", step.step.name)
}

/// The steps, by index, that share their [`key`] with another one: only one of them finds the values that it preserved.
pub(crate) fn indexes_of_shared_keys(steps: &[DirectedStep]) -> BTreeSet<usize> {
    let mut by_key: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for step in steps {
        by_key.entry((step.step.name, step.step.op.paths().first().map(ToString::to_string))).or_default().push(step.index);
    }
    by_key.into_values().filter(|indexes| indexes.len() > 1).flatten().collect()
}

/// The first path of a step, relative to its container.
pub(crate) fn field(step: &DirectedStep) -> String {
    step.inner().first().map(|names| place(&ObjectPath::root(), names).to_string()).unwrap_or_default()
}
