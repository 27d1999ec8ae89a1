//! Where a field was before some steps, and where it is after them.

use crate::model::FieldPath;

use super::step::Op;

/// Replaces the prefix `old` of a path with `new`.
pub(crate) fn rebased(path: &FieldPath, old: &FieldPath, new: &FieldPath) -> Option<FieldPath> {
    let rest = path.steps().strip_prefix(old.steps())?;
    Some(new.join(rest))
}

/// Where the value at `path` was before these operations.
pub(crate) fn origin(done: &[Op], path: &FieldPath) -> FieldPath {
    done.iter().rev().fold(path.clone(), |path, op| op.origin(&path).unwrap_or(path))
}

/// Where the value at `path` is after these operations.
pub(crate) fn destination(to_do: &[Op], path: &FieldPath) -> FieldPath {
    to_do.iter().fold(path.clone(), |path, op| op.inverse().and_then(|inverse| inverse.origin(&path)).unwrap_or(path))
}
