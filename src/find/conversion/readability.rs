//! Stored values that no converter can read once the CRD is upgraded, because the new schema prunes them on every read.
//!
//! The finding, the manifest draft and the plan all use the texts in this file.

use crate::model::FieldPath;
use crate::model::schema::Shape;

use super::shape_edit::{declared, never_exists};

/// What to do about fields that can't be read after the upgrade.
pub const ADVICE: &str = "keep the field (declare it, or set `x-kubernetes-preserve-unknown-fields: true` on its parent), or convert the objects before the CRD is upgraded";

/// Why fields can't be converted afterwards.
pub fn reason(paths: &[&FieldPath]) -> String {
    let named: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    let it = if paths.len() == 1 { "it" } else { "them" };
    format!("{} can't be read after the CRD is upgraded, because the server prunes {it}", named.join(", "))
}

/// Whether objects of the old schema can have a value at this path that the new schema prunes.
pub(crate) fn is_pruned(old: &Shape, new: &Shape, path: &FieldPath) -> bool {
    declared(old, path).is_some() && never_exists(new, path)
}
