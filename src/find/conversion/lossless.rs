//! Proofs that a step followed by its inverse restores every object of a schema, as far as all kinds of steps share them.

use serde_json::Value;

use crate::model::FieldPath;
use crate::model::schema::Shape;

use super::address::Containers;
use super::shape_edit::{declared, has_required_property, never_exists, prefix};
use super::step::{Conflict, Op};

/// Why the inverse may not restore an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Obstacle {
    pub reason: String,
    /// Whether preserving the values in the object would solve it.
    pub preservable: bool,
    /// A value that may be lost.
    pub hint: Option<(FieldPath, Value)>,
}

impl Obstacle {
    pub fn new(reason: String) -> Self {
        Obstacle { reason, preservable: true, hint: None }
    }

    pub fn permanent(reason: String) -> Self {
        Obstacle { reason, preservable: false, hint: None }
    }
}

pub(crate) fn lost(reason: impl Into<String>) -> Result<(), Obstacle> {
    Err(Obstacle::new(reason.into()))
}

/// Like [`lost`], with an example value that may be lost.
pub(crate) fn lost_by(path: &FieldPath, value: impl Into<Value>, reason: impl Into<String>) -> Result<(), Obstacle> {
    Err(Obstacle { hint: Some((path.clone(), value.into())), ..Obstacle::new(reason.into()) })
}

/// Proves that `op` followed by its inverse is the identity on all objects of the schema, up to their normal form.
pub(crate) fn lossless(op: &Op, shape: &Shape) -> Result<(), Obstacle> {
    match Containers::of(&op.paths()) {
        Some(containers) => op.lossless(shape, containers.prefix.steps().len()),
        None => lost("its paths have no common parent"),
    }
}

/// Proves that the step succeeds on every object of the schema; otherwise returns why it may fail.
pub(crate) fn never_fails(op: &Op, shape: &Shape, conflict: Conflict) -> Result<(), String> {
    let container = Containers::of(&op.paths()).map_or(0, |containers| containers.prefix.steps().len());
    op.never_fails(shape, container, conflict)
}

/// The declared schema of a field; `None` if the field never has a value.
pub(crate) fn declared_or_absent<'s>(shape: &'s Shape, path: &FieldPath) -> Result<Option<&'s Shape>, Obstacle> {
    match declared(shape, path) {
        Some(child) => Ok(Some(child)),
        None if never_exists(shape, path) => Ok(None),
        None => Err(Obstacle::new(format!("`{path}` is not declared, so its values are not known"))),
    }
}

/// Checks that no path is inside another one.
pub(crate) fn are_apart<'p>(paths: impl Iterator<Item = &'p FieldPath>) -> Result<(), Obstacle> {
    let paths: Vec<&FieldPath> = paths.collect();
    for (index, path) in paths.iter().enumerate() {
        if let Some(other) = paths.iter().take(index).find(|other| path.starts_with(other) || other.starts_with(path)) {
            return Err(Obstacle::permanent(format!("`{other}` and `{path}` overlap")));
        }
    }
    Ok(())
}

/// Proves that moving back does nothing if `from` never has a value. If `to` could have a value anyway, that value would be moved
/// to `from`.
pub(crate) fn moves_nothing_back(shape: &Shape, from: &FieldPath, to: &FieldPath) -> Result<(), Obstacle> {
    if from == to || never_exists(shape, to) {
        return Ok(());
    }
    Err(Obstacle::permanent(format!("`{to}` may already have a value, which would be moved to `{from}`")))
}

/// Proves that a value moves to a free place, and that moving it back leaves nothing behind.
pub(crate) fn move_is_lossless(shape: &Shape, container: usize, from: &FieldPath, to: &FieldPath) -> Result<(), Obstacle> {
    if never_exists(shape, from) {
        return moves_nothing_back(shape, from, to);
    }
    if from.starts_with(to) || to.starts_with(from) {
        return Err(Obstacle::permanent(format!("`{from}` and `{to}` overlap")));
    }
    // An empty parent would be removed when the value moves back, and a null one replaced.
    for depth in container + 1..to.steps().len() {
        let parent = prefix(to, depth);
        let kept = match declared(shape, &parent) {
            Some(node) => has_required_property(node) && !node.nullable,
            None => never_exists(shape, &parent),
        };
        if !kept {
            return Err(Obstacle::permanent(format!("`{parent}` may be an empty object")));
        }
    }
    if !never_exists(shape, to) {
        return lost(format!("`{to}` may already have a value"));
    }
    Ok(())
}
