//! Computes the schema of converted objects, as far as all kinds of steps share it.
//!
//! The schema accepts at least every object that a step can produce, and in simple cases no others. So anything true of all its
//! objects is true of every converted object.

use serde_json::Value;

use crate::model::schema::Shape;
use crate::model::schema::shape::{CountRange, NumberBounds, Type};

use super::address::Containers;
use super::shape_edit::literal;
use super::step::Op;

/// Computes the schema of the objects that an operation produces from objects of a schema; `None` if it isn't known.
pub(crate) fn output_schema(op: &Op, mut shape: Shape) -> Option<Shape> {
    let containers = Containers::of(&op.paths())?;
    op.output_schema(&mut shape, containers.prefix.steps().len())?;
    Some(shape)
}

/// The schema of a value that is present: without a default, and not null.
pub(crate) fn without_absence(shape: Shape) -> Shape {
    Shape { default: None, nullable: false, ..shape }
}

/// The schema of the same objects with keys added or removed: without conditions on an object as a whole.
pub(crate) fn without_conditions(shape: &Shape) -> Shape {
    Shape {
        property_count: CountRange::default(),
        enum_values: None,
        all_of: Vec::new(),
        any_of: Vec::new(),
        one_of: Vec::new(),
        not: None,
        rules: Vec::new(),
        ..without_absence(shape.clone())
    }
}

/// The schema extended to accept one more value.
pub(crate) fn with_value(child: &Shape, value: &Value) -> Shape {
    let mut child = Shape { default: None, ..child.clone() };
    if !fits_type(&child, value) {
        return Shape::anything();
    }
    let has_parts = matches!(value, Value::Array(list) if !list.is_empty()) || matches!(value, Value::Object(map) if !map.is_empty());
    if has_parts || !has_only_type(&child) {
        return Shape { ty: child.ty, ..Shape::anything() };
    }
    child.rules.clear();
    if let Some(values) = &mut child.enum_values
        && !values.contains(value)
    {
        values.push(value.clone());
    }
    child
}

/// Whether a schema restricts nothing but the type of its values.
pub(crate) fn has_only_type(shape: &Shape) -> bool {
    shape.bounds == NumberBounds::default()
        && shape.length == CountRange::default()
        && shape.item_count == CountRange::default()
        && shape.property_count == CountRange::default()
        && shape.pattern.is_none()
        && shape.format.is_none()
        && shape.required.is_empty()
        && !shape.unique_items
        && shape.all_of.is_empty()
        && shape.any_of.is_empty()
        && shape.one_of.is_empty()
        && shape.not.is_none()
        && shape.rules.is_empty()
        && shape.properties.is_empty()
        && shape.items.is_none()
}

pub(crate) fn fits_type(shape: &Shape, value: &Value) -> bool {
    let ty = literal(value).ty;
    ty == shape.ty || (ty == Some(Type::Integer) && shape.ty == Some(Type::Number))
}
