//! Finds the effect of a CRD upgrade on one object.

use super::Response;
use super::check_files::ObjectVerdict;
use super::differences::differences;
use super::enumeration::same;
use super::path::ObjectPath;

/// The effect of a CRD upgrade on an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upgrade {
    /// The old CRDs don't know the kind or version.
    New,
    /// The old CRDs already refuse it, or lose the same.
    AlreadyBroken,
    /// Accepted and kept as before.
    Unchanged,
    /// Accepted before, refused now.
    Rejected,
    /// Its kind or version is gone, or no longer served.
    Gone,
    /// Kept before, dropped now.
    Pruned(Vec<ObjectPath>),
    /// Stored with other values than before, because of other defaults or another handling of null.
    Changed(Vec<ObjectPath>),
}

impl Upgrade {
    pub fn is_break(&self) -> bool {
        matches!(self, Upgrade::Rejected | Upgrade::Gone | Upgrade::Pruned(_) | Upgrade::Changed(_))
    }
}

pub(super) fn upgrade(old: Result<Response, ObjectVerdict>, new: Result<&Response, &ObjectVerdict>) -> Upgrade {
    let Ok(old) = old else { return Upgrade::New };
    if !old.accepted() {
        return Upgrade::AlreadyBroken;
    }
    let Ok(new) = new else { return Upgrade::Gone };
    if !new.accepted() {
        return Upgrade::Rejected;
    }
    let pruned = pruned_now(&old, new);
    if !pruned.is_empty() {
        return Upgrade::Pruned(pruned);
    }
    let changed = changes(&old, new);
    if changed.is_empty() { Upgrade::Unchanged } else { Upgrade::Changed(changed) }
}

/// What is pruned now and was kept before.
pub(super) fn pruned_now(old: &Response, new: &Response) -> Vec<ObjectPath> {
    let known = |path: &&ObjectPath| !old.pruned.iter().any(|gone| path.starts_with(gone));
    new.pruned.iter().filter(known).cloned().collect()
}

/// The paths where an object is stored with different values than before.
pub(super) fn changes(old: &Response, new: &Response) -> Vec<ObjectPath> {
    let mut changed: Vec<ObjectPath> = differences(&old.stored, &new.stored, same).into_iter().map(|found| found.path).collect();
    // What only the new CRDs keep wasn't there before.
    changed.retain(|path| !old.pruned.iter().any(|gone| path.starts_with(gone) || gone.starts_with(path)));
    changed
}
