//! A shape and an operation come in; the shape of all that the operation makes of its objects goes out.
//!
//! The image takes at least everything that the operation can give, and in simple cases nothing else. So what holds for all
//! of the image holds for every converted object.

use std::sync::Arc;

use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::model::schema::shape::{Bounds, Count, Extra, ListType, Type};

use super::address::Region;
use super::rename_references::{follow, forget};
use super::shape_edit::{always_below, anything, attach, declared, detach, detach_with_parents, literal};
use super::step::Op;
use super::step::keyed::Keying;
use super::step::parts::PartType;
use super::step::retype::Scalar;
use super::step::scale::Factor;
use super::step::values::Table;

/// What an operation makes of the objects of a shape.
pub(crate) fn image(op: &Op, shape: &Shape) -> Shape {
    let mut shape = shape.clone();
    let Some(region) = Region::of(&op.paths()) else { return shape };
    let container = region.prefix.steps().len();
    // Where there is nothing to act on, nothing changes.
    let _ = change(op, &mut shape, container);
    shape
}

fn change(op: &Op, shape: &mut Shape, container: usize) -> Option<()> {
    match op {
        Op::Manual { .. } | Op::Add { value: None, .. } => None,
        Op::Move { from, to } => {
            let always = always_below(shape, container, from);
            follow(shape, from, to);
            let child = detach_with_parents(shape, container, from)?;
            attach(shape, container, to, child, always)
        }
        Op::Copy { from, to } => {
            let always = always_below(shape, container, from);
            let child = declared(shape, from)?.clone();
            forget(shape, to);
            attach(shape, container, to, child, always)
        }
        Op::Uncopy { to, .. } => {
            forget(shape, to);
            detach_with_parents(shape, container, to).map(|_| ())
        }
        Op::Drop { path, .. } | Op::Unset { path, .. } => {
            forget(shape, path);
            detach(shape, path).map(|_| ())
        }
        Op::Undefault { path, .. } => {
            forget(shape, path);
            let (crate::model::Step::Key(name), above) = path.steps().split_last()? else { return None };
            shape.at_mut(above)?.required.remove(&**name);
            Some(())
        }
        Op::Add { path, value: Some(value) } | Op::Default { path, value } => {
            let child = match declared(shape, path) {
                Some(child) => with_value(child, value),
                None => literal(value, shape),
            };
            forget(shape, path);
            detach(shape, path);
            attach(shape, container, path, child, true)
        }
        Op::Set { path, value } => {
            let child = literal(value, shape);
            forget(shape, path);
            detach(shape, path);
            attach(shape, container, path, child, true)
        }
        Op::Split { from, into, form } => {
            let always = always_below(shape, container, from);
            forget(shape, from);
            detach_with_parents(shape, container, from)?;
            for (path, ty) in into.iter().zip(&form.types) {
                let ty = if *ty == PartType::Integer { Type::Integer } else { Type::String };
                let child = Shape { ty: Some(ty), ..Shape::any(shape.at) };
                attach(shape, container, path, child, always)?;
            }
            Some(())
        }
        Op::Merge { parts, to, form } => {
            let always = parts.iter().all(|part| always_below(shape, container, part));
            for part in parts {
                forget(shape, part);
                detach_with_parents(shape, container, part);
            }
            let child = Shape { ty: Some(Type::String), pattern: Some(form.template.pattern().into()), ..Shape::any(shape.at) };
            attach(shape, container, to, child, always)
        }
        Op::Wrap { from, to } => replace(shape, container, from, to, |child| {
            if from == to && child.ty == Some(Type::Array) {
                return Some((child, true));
            }
            let at = child.at;
            let single = Count { min: 1, max: Some(1) };
            Some((Shape { ty: Some(Type::Array), item_count: single, items: Some(Arc::new(bare(child))), ..Shape::any(at) }, true))
        }),
        Op::Unwrap { from, to } => replace(shape, container, from, to, |child| {
            let never_empty = child.item_count.min > 0;
            if from == to && child.ty != Some(Type::Array) {
                return Some((child, true));
            }
            Some((Arc::unwrap_or_clone(child.items?), never_empty))
        }),
        Op::MapToList { from, to, keying } => replace(shape, container, from, to, |child| Some((listed(&child, keying)?, true))),
        Op::ListToMap { from, to, keying } => replace(shape, container, from, to, |child| Some((mapped(&child, keying)?, true))),
        Op::MapValues { from, to, table } => replace(shape, container, from, to, |child| Some((by_table(child, table), true))),
        Op::Scale { from, to, factor } => replace(shape, container, from, to, |child| Some((scaled(child, *factor), true))),
        Op::Retype { from, to, was, becomes } => replace(shape, container, from, to, |child| Some((retyped(child, *was, *becomes), true))),
        Op::Cel { from, to, .. } => replace(shape, container, from, to, |child| Some((anything(&child), false))),
    }
}

/// Takes a node, makes another of it, and puts that where it belongs. The change says whether there is always one.
fn replace(
    shape: &mut Shape,
    container: usize,
    from: &FieldPath,
    to: &FieldPath,
    change: impl FnOnce(Shape) -> Option<(Shape, bool)>,
) -> Option<()> {
    let always = always_below(shape, container, from);
    forget(shape, from);
    if matches!(from.steps().last(), Some(crate::model::Step::Key(_))) {
        let child = if from == to { detach(shape, from)? } else { detach_with_parents(shape, container, from)? };
        let (child, sure) = change(child)?;
        return attach(shape, container, to, child, always && sure);
    }
    let node = shape.at_mut(from.steps())?;
    let (child, _) = change(node.clone())?;
    *node = child;
    Some(())
}

/// A node without what it says of its own absence.
fn bare(shape: Shape) -> Shape {
    Shape { default: None, nullable: false, ..shape }
}

/// The node, with one more value that it takes.
fn with_value(child: &Shape, value: &serde_json::Value) -> Shape {
    let mut child = Shape { default: None, ..child.clone() };
    if let Some(values) = &mut child.enum_values {
        if !values.contains(value) {
            values.push(value.clone());
        }
        return child;
    }
    if plain(&child) && fits_type(&child, value) { child } else { Shape { ty: child.ty, ..anything(&child) } }
}

/// Whether a node has nothing to say but its type.
fn plain(shape: &Shape) -> bool {
    shape.bounds == Bounds::default()
        && shape.length == Count::default()
        && shape.item_count == Count::default()
        && shape.property_count == Count::default()
        && shape.pattern.is_none()
        && shape.format.is_none()
        && shape.required.is_empty()
        && !shape.unique_items
        && no_conditions(shape)
        && shape.properties.is_empty()
        && shape.items.is_none()
}

fn no_conditions(shape: &Shape) -> bool {
    shape.all_of.is_empty() && shape.any_of.is_empty() && shape.one_of.is_empty() && shape.not.is_none() && shape.rules.is_empty()
}

fn fits_type(shape: &Shape, value: &serde_json::Value) -> bool {
    literal(value, shape).ty == shape.ty
}

/// A map's values as items with their key.
fn listed(map: &Shape, keying: &Keying) -> Option<Shape> {
    let Extra::Values(values) = &map.extra else { return None };
    let text = Shape { ty: Some(Type::String), ..Shape::any(map.at) };
    let mut item = match &keying.value {
        Some(field) => {
            let mut item = Shape { ty: Some(Type::Object), ..Shape::any(map.at) };
            item.properties.insert(field.clone(), Arc::new(bare((**values).clone())));
            item.required.insert(field.clone());
            item
        }
        None => Shape { rules: Vec::new(), ..bare((**values).clone()) },
    };
    item.property_count = Count::default();
    item.properties.insert(keying.key.clone(), Arc::new(text));
    item.required.insert(keying.key.clone());
    Some(Shape {
        ty: Some(Type::Array),
        item_count: map.property_count,
        items: Some(Arc::new(item)),
        list_type: ListType::Map,
        map_keys: vec![keying.key.clone()],
        ..Shape::any(map.at)
    })
}

fn mapped(list: &Shape, keying: &Keying) -> Option<Shape> {
    let mut item = list.items.as_deref()?.clone();
    item.properties.remove(&keying.key);
    item.required.remove(&keying.key);
    item.property_count = Count::default();
    let dropped = !no_conditions(&item);
    let value = match &keying.value {
        Some(field) => Arc::unwrap_or_clone(item.properties.remove(field)?),
        None if dropped => Shape { all_of: Vec::new(), any_of: Vec::new(), one_of: Vec::new(), not: None, rules: Vec::new(), ..item },
        None => item,
    };
    Some(Shape { ty: Some(Type::Object), extra: Extra::Values(Arc::new(value)), property_count: list.item_count, ..Shape::any(list.at) })
}

fn by_table(child: Shape, table: &Table) -> Shape {
    let finite = match (&child.enum_values, child.ty) {
        (Some(values), _) => Some(values.clone()),
        (None, Some(Type::Boolean)) => Some(vec![false.into(), true.into()]),
        _ => None,
    };
    let Some(values) = finite else {
        // Texts that the table doesn't name stay, those that it gives are added.
        let fits = plain(&child) && table.pairs.iter().all(|(_, new)| fits_type(&child, new));
        return if fits { child } else { anything(&child) };
    };
    let mut images: Vec<serde_json::Value> = Vec::new();
    for value in values {
        if let Ok(image) = table.look_up(&value)
            && !images.contains(&image)
        {
            images.push(image);
        }
    }
    let types: Vec<Option<Type>> = images.iter().map(|value| literal(value, &child).ty).collect();
    let ty = types.first().copied().flatten().filter(|first| types.iter().all(|ty| *ty == Some(*first)));
    let default = child.default.as_ref().and_then(|default| table.look_up(default).ok());
    Shape { ty, enum_values: Some(images), nullable: child.nullable, default, preserve_unknown: ty.is_none(), ..Shape::any(child.at) }
}

fn scaled(child: Shape, factor: Factor) -> Shape {
    let bound = |bound: Option<f64>| {
        let bound = bound?;
        let whole = bound.fract() == 0.0 && bound.abs() < 9.0e15;
        let value = if whole { serde_json::Value::from(bound as i64) } else { serde_json::Value::from(bound) };
        factor.apply(&value).ok()?.as_f64()
    };
    let whole_factor = factor.multiply % factor.divide == 0;
    let step = child.bounds.multiple_of.or((child.ty == Some(Type::Integer)).then_some(1.0));
    let multiple_of = step.filter(|_| whole_factor).map(|step| step * (factor.multiply / factor.divide) as f64);
    let bounds = Bounds {
        minimum: bound(child.bounds.minimum),
        maximum: bound(child.bounds.maximum),
        exclusive_minimum: child.bounds.exclusive_minimum && whole_factor,
        exclusive_maximum: child.bounds.exclusive_maximum && whole_factor,
        multiple_of,
    };
    let each = |values: &Vec<serde_json::Value>| values.iter().filter_map(|value| factor.apply(value).ok()).collect();
    Shape {
        ty: child.ty,
        nullable: child.nullable,
        enum_values: child.enum_values.as_ref().map(each),
        default: child.default.as_ref().and_then(|default| factor.apply(default).ok()),
        bounds,
        ..Shape::any(child.at)
    }
}

/// Integers as they are written.
pub(crate) const INTEGER: &str = "^(0|-?[1-9][0-9]*)$";

fn retyped(child: Shape, was: Scalar, becomes: Scalar) -> Shape {
    let ty = match becomes {
        Scalar::String => Type::String,
        Scalar::Integer => Type::Integer,
        Scalar::Number => Type::Number,
        Scalar::Boolean => Type::Boolean,
    };
    let each = |values: &Vec<serde_json::Value>| {
        values.iter().filter_map(|value| super::step::retype::retype(value, was, becomes).ok()).collect::<Vec<_>>()
    };
    let enum_values = match (&child.enum_values, was, becomes) {
        (Some(values), _, _) => Some(each(values)),
        (None, Scalar::Boolean, Scalar::String) => Some(vec!["false".into(), "true".into()]),
        (None, Scalar::Boolean, Scalar::Integer | Scalar::Number) => Some(vec![0.into(), 1.into()]),
        _ => None,
    };
    let pattern = (was == Scalar::Integer && becomes == Scalar::String && enum_values.is_none()).then(|| INTEGER.into());
    let bounds = if was == Scalar::Integer && becomes == Scalar::Number { child.bounds.clone() } else { Bounds::default() };
    let default = child.default.as_ref().and_then(|default| super::step::retype::retype(default, was, becomes).ok());
    if child.int_or_string {
        return Shape { default, ..anything(&child) };
    }
    Shape { ty: Some(ty), nullable: child.nullable, enum_values, pattern, bounds, default, ..Shape::any(child.at) }
}
