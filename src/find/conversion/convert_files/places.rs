//! Places in a file that remarks about a converted object point to.

use crate::input::yaml::{Node, Span};
use crate::model::{FieldPath, PathStep};
use crate::server::object::{ObjectPath, ObjectStep};

use super::super::convert::AppliedStep;
use super::super::graph::Leg;
use super::super::manifest::{Direction, Reverse};
use super::super::path_through_steps::origin;
use super::super::step::Op;

/// `Widget shop/blue`, the way messages name an object.
pub(super) fn identity(node: Node<'_>) -> String {
    let word = |node: Node<'_>, key: &str| node.text(key).unwrap_or_default().to_owned();
    let metadata = |key: &str| node.get("metadata").map(|metadata| word(metadata, key)).unwrap_or_default();
    let (namespace, name) = (metadata("namespace"), metadata("name"));
    let slash = if namespace.is_empty() { "" } else { "/" };
    let text = format!("{} {namespace}{slash}{name}", word(node, "kind"));
    crate::input::shorten(text.trim_end(), 120).into_owned()
}

/// The span in the file of the value at a path of the converted object.
pub(super) fn span(node: Node<'_>, ops: &[Op], path: &ObjectPath) -> Span {
    let source = source(ops, path);
    let found = source.locate_key(node).unwrap_or_else(|| {
        let (found, taken) = source.locate(node);
        let whole = found.is_map() || found.is_seq();
        source.prefix(taken).locate_key(node).filter(|_| whole).unwrap_or(found)
    });
    // Underlining a whole object doesn't help, so underline its first line.
    if found.id() == node.id() { first_line(node) } else { found.span() }
}

pub(super) fn first_line(node: Node<'_>) -> Span {
    node.entry("apiVersion").map_or(node.span(), |entry| entry.key.span())
}

/// The path before the operations, with the list indices of the path after them.
fn source(ops: &[Op], path: &ObjectPath) -> ObjectPath {
    let general: FieldPath = origin(ops, &path.general());
    let mut indices = path.steps().iter().filter_map(|step| if let ObjectStep::Index(index) = step { Some(*index) } else { None });
    let mut entries = path.steps().iter().filter_map(|step| if let ObjectStep::Entry(name) = step { Some(name.clone()) } else { None });
    let mut found = ObjectPath::root();
    for step in general.steps() {
        found.push(match step {
            PathStep::Key(name) => ObjectStep::Key(name.clone()),
            PathStep::Items => ObjectStep::Index(indices.next().unwrap_or(0)),
            PathStep::Values => ObjectStep::Entry(entries.next().unwrap_or_default()),
        });
    }
    found
}

/// The deprecation notice for a step: within one API version, the old name of a field is deprecated.
pub(super) fn deprecated(leg: &Leg<'_>, applied: &AppliedStep) -> Option<(String, ObjectPath)> {
    if leg.direction == Direction::Back || !leg.manifest.in_place() {
        return None;
    }
    let step = leg.manifest.steps.get(applied.step)?;
    let op = &step.op;
    if op.drops_field() {
        let preserved = leg.manifest.preserve.is_some() && step.preserve && matches!(leg.manifest.reverse, Reverse::Auto);
        let fate = if preserved { "dropped, and preserved for converting back" } else { "dropped" };
        return Some((format!("`{}` is deprecated and has no replacement: it is {fate}", applied.path), applied.path.clone()));
    }
    let new: Vec<String> = op.replacements().into_iter().map(|path| format!("`{path}`")).collect();
    if new.is_empty() {
        return None;
    }
    Some((format!("`{}` is deprecated: use {}", applied.path, new.join(" and ")), applied.path.clone()))
}
