//! Where a field stood before some steps, and where it stands after them.

use crate::model::FieldPath;

use super::step::Op;

/// `path` with its beginning `old` replaced by `new`.
fn rebased(path: &FieldPath, old: &FieldPath, new: &FieldPath) -> Option<FieldPath> {
    let rest = path.steps().strip_prefix(old.steps())?;
    Some(rest.iter().cloned().fold(new.clone(), |path, hop| path.child(hop)))
}

/// Where the value at `path` comes from, if the operation brought it there.
fn before(op: &Op, path: &FieldPath) -> Option<FieldPath> {
    match op {
        Op::Wrap { from, to } => rebased(path, &to.items(), from).or_else(|| rebased(path, to, from)),
        Op::Unwrap { from, to } => rebased(path, to, &from.items()),
        Op::MapToList { from, to, .. } => rebased(path, &to.items(), &from.values()).or_else(|| rebased(path, to, from)),
        Op::ListToMap { from, to, .. } => rebased(path, &to.values(), &from.items()).or_else(|| rebased(path, to, from)),
        Op::Copy { from, to } => rebased(path, to, from),
        Op::Split { from, into, .. } => into.iter().any(|part| path.starts_with(part)).then(|| from.clone()),
        Op::Merge { parts, to, .. } => path.starts_with(to).then(|| parts.first().cloned()).flatten(),
        _ => {
            let (from, to) = op.ends()?;
            rebased(path, to, from)
        }
    }
}

/// Where the value at `path` stands before these operations were done.
pub(crate) fn origin(done: &[Op], path: &FieldPath) -> FieldPath {
    done.iter().rev().fold(path.clone(), |path, op| before(op, &path).unwrap_or(path))
}

/// Where the value at `path` stands after these operations.
pub(crate) fn destination(to_do: &[Op], path: &FieldPath) -> FieldPath {
    to_do.iter().fold(path.clone(), |path, op| op.inverse().and_then(|inverse| before(&inverse, &path)).unwrap_or(path))
}
