//! Checks a default like the server does when a CRD is created: as written, against its own node.

use crate::model::schema::Shape;

use super::error::{FieldError, FieldErrorKind};
use super::node::CompiledNode;
use super::path::Trail;
use super::types::ReadPurpose;
use super::{Compiled, embedded, prune};

/// Returns the errors in the default of this node; paths are relative to the default value.
///
/// Nested defaults aren't applied first, and duplicates in sets and maps aren't checked.
pub fn default_of_schema(shape: &Shape) -> Vec<FieldError> {
    let Some(default) = shape.default.as_ref().filter(|default| !default.is_null()) else { return Vec::new() };
    let node = CompiledNode::compile(shape, ReadPurpose::Default);
    let mut value = default.clone();
    let mut errors = Vec::new();
    let root = Trail::Root;
    if !prune::unknown(&mut value.clone(), &node, shape.embedded).is_empty() {
        errors.push(FieldError::invalid(&root, FieldErrorKind::Unknown, default, "must not have unknown fields"));
    }
    if let Some(error) = embedded::read(&mut value, &node, &root, &mut Vec::new()) {
        errors.push(error);
        return errors;
    }
    let before = errors.len();
    embedded::check(&value, &node, &root, &mut errors);
    if errors.len() == before {
        errors.extend(Compiled { root: node, trace: false }.validate_default(&value));
    }
    errors
}
