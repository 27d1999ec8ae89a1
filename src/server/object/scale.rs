//! The fields that the scale subresource reads: replica counts must be in range, the selector must be a string.

use std::sync::Arc;

use serde_json::Value;

use crate::model::schema::Shape;
use crate::model::schema::shape::{NumberBounds, Type};
use crate::model::{FieldPath, PathStep, Version};

use super::error::{FieldError, FieldErrorKind, FieldErrorType, Naming};
use super::path::ObjectPath;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    Replicas,
    Selector,
}

/// The key of the path that a write to the subresource sets.
const SPEC_REPLICAS: &str = "specReplicasPath";

/// Why a write to the scale subresource can't be made.
#[derive(Debug)]
pub(super) enum ScaleError {
    NoSubresource,
    Refused(FieldError),
}

/// The paths of a version's scale subresource.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scale {
    fields: Vec<Field>,
}

#[derive(Debug, PartialEq, Eq)]
struct Field {
    /// As written in the CRD.
    text: String,
    path: FieldPath,
    reads: Reads,
    /// Whether it is also checked for a write of the status.
    status: bool,
}

impl Scale {
    pub fn of(version: &Version<'_>) -> Self {
        let Some(node) = version.scale_subresource() else { return Scale::default() };
        let keys = [
            (SPEC_REPLICAS, Reads::Replicas, false),
            ("statusReplicasPath", Reads::Replicas, true),
            ("labelSelectorPath", Reads::Selector, true),
        ];
        let field = |(key, reads, status)| {
            let text = node.text(key)?.to_owned();
            let path = names(&text).fold(FieldPath::root(), |path, name| path.key(name));
            Some(Field { text, path, reads, status })
        };
        Scale { fields: keys.into_iter().filter_map(field).collect() }
    }

    /// Paths that another scale subresource doesn't read, or reads as something else.
    pub fn paths_not_in<'s>(&'s self, other: &Scale) -> impl Iterator<Item = &'s FieldPath> {
        let known = |field: &&Field| other.fields.iter().any(|one| one.path == field.path && one.reads == field.reads);
        let new: Vec<&FieldPath> = self.fields.iter().filter(|field| !known(field)).map(|field| &field.path).collect();
        new.into_iter()
    }

    pub fn reads(&self, path: &FieldPath) -> bool {
        self.fields.iter().any(|field| field.path == *path)
    }

    /// What the value at a path must be, whatever its schema declares.
    pub fn demand(&self, path: &FieldPath) -> Option<Shape> {
        self.fields.iter().find(|field| field.path == *path).map(|field| field.reads.demand())
    }

    /// Adds to a root what the server requires besides the schema. As a clause it also applies to nulls that were kept, and to
    /// undeclared values.
    pub fn narrow(&self, root: &mut Shape) {
        root.all_of.extend(self.fields.iter().map(|field| {
            field.path.steps().iter().rev().fold(field.reads.demand(), |inner, step| match step {
                PathStep::Key(name) => Shape { properties: [(name.to_string(), Arc::new(inner))].into(), ..Shape::default() },
                PathStep::Items | PathStep::Values => inner,
            })
        }));
    }

    /// The first complaint of the server about an object.
    pub fn complaint(&self, object: &Value) -> Option<String> {
        let mut errors = Vec::new();
        self.check(object, &mut errors);
        errors.first().map(|error| format!("{}: {}", error.field, error.message))
    }

    /// The object with the replica count of a write to the scale subresource: a `Scale`, or the object as it would be.
    pub(super) fn scaled(&self, old: &Value, wanted: &Value) -> Result<Value, ScaleError> {
        let field = self.fields.iter().find(|field| !field.status).ok_or(ScaleError::NoSubresource)?;
        let is_scale = wanted.get("kind").is_some_and(|kind| kind == "Scale");
        let path = if is_scale { ".spec.replicas" } else { &field.text };
        let replicas = names(path).try_fold(wanted, |value, name| value.get(name)).cloned().unwrap_or_else(|| Value::from(0));
        if replicas.as_i64().is_some_and(|count| count < 0) {
            let path = ObjectPath::root().key("spec").key("replicas");
            let words = "must be greater than or equal to 0";
            return Err(ScaleError::Refused(FieldError::new(
                path,
                Naming::Dotted,
                FieldErrorKind::Scale,
                FieldErrorType::Invalid,
                Some(&replicas),
                words,
            )));
        }
        let mut scaled = old.clone();
        put(&mut scaled, names(&field.text), replicas);
        Ok(scaled)
    }

    pub(super) fn check(&self, object: &Value, errors: &mut Vec<FieldError>) {
        self.check_fields(object, &|_| true, errors);
    }

    /// Checks a write to the status subresource.
    pub(super) fn check_status(&self, object: &Value, errors: &mut Vec<FieldError>) {
        self.check_fields(object, &|field| field.status, errors);
    }

    fn check_fields(&self, object: &Value, which: &dyn Fn(&Field) -> bool, errors: &mut Vec<FieldError>) {
        for field in self.fields.iter().filter(|field| which(field)) {
            let path = names(&field.text).fold(ObjectPath::root(), |path, name| path.key(name));
            let Some(value) = path.get(object) else { continue };
            let words = match (field.reads, value.as_i64()) {
                (Reads::Selector, _) if !value.is_string() => "must be a string",
                (Reads::Selector, _) => continue,
                (Reads::Replicas, None) => "must be an integer",
                (Reads::Replicas, Some(count)) if count < 0 => "should be a non-negative integer",
                (Reads::Replicas, Some(count)) if count > i64::from(i32::MAX) => "should be less than or equal to 2147483647",
                (Reads::Replicas, Some(_)) => continue,
            };
            let mut error = FieldError::new(path, Naming::Dotted, FieldErrorKind::Scale, FieldErrorType::Invalid, Some(value), words);
            error.field.clone_from(&field.text);
            errors.push(error);
        }
    }
}

impl Reads {
    fn demand(self) -> Shape {
        match self {
            Reads::Replicas => {
                let bounds = NumberBounds { minimum: Some(0.0), maximum: Some(f64::from(i32::MAX)), ..NumberBounds::default() };
                Shape { ty: Some(Type::Integer), bounds, ..Shape::default() }
            }
            Reads::Selector => Shape { ty: Some(Type::String), ..Shape::default() },
        }
    }
}

/// Writes a value at a path, creating missing objects.
fn put<'n>(value: &mut Value, mut names: impl Iterator<Item = &'n str>, leaf: Value) {
    let Some(name) = names.next() else {
        *value = leaf;
        return;
    };
    if !value.is_object() {
        *value = Value::Object(serde_json::Map::new());
    }
    if let Some(map) = value.as_object_mut() {
        put(map.entry(name).or_insert(Value::Null), names, leaf);
    }
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.trim_start_matches('.').split('.')
}
