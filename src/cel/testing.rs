//! Shapes and nodes out of JSON, for tests.

use std::sync::Arc;

use serde_json::Value;

use super::decl::Decl;
use crate::input::yaml::{Budget, parse};
use crate::model::schema::{Schema, Shape};

/// The shape of a schema written as JSON.
pub fn shape(schema: &Value) -> Shape {
    let documents = parse(&schema.to_string().into(), &Budget::default());
    let tree = documents.first().and_then(|document| document.tree.as_ref().ok()).expect("a schema");
    Shape::of(&Schema::new(tree.root()))
}

pub fn decl(schema: &Value) -> Arc<Decl> {
    Arc::new(Decl::of(&shape(schema), false))
}
