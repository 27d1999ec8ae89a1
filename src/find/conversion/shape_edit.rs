//! Edits of a schema: checks whether fields exist in its objects, and moves fields.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::schema::shape::{CountRange, Extra, ListType, Type};
use crate::model::schema::{Shape, is_meta};
use crate::model::{FieldPath, PathStep};
use crate::server::key_fate::{KeyFate, Pruning};

use super::output_schema::without_conditions;
use super::rename_references::drop_references;

/// The declared node at a path.
pub(crate) fn declared<'s>(shape: &'s Shape, path: &FieldPath) -> Option<&'s Shape> {
    shape.at(path.steps())
}

/// The node at a path, which may go through keys of maps.
pub(crate) fn known<'s>(shape: &'s Shape, path: &FieldPath) -> Option<&'s Shape> {
    path.steps().iter().try_fold(shape, |node, step| match step {
        PathStep::Key(name) => node.value_of(name),
        _ => node.at(std::slice::from_ref(step)),
    })
}

/// Whether objects of this schema may have undeclared keys.
pub(crate) fn open(shape: &Shape) -> bool {
    let closed = matches!(Pruning::of(shape).undeclared(), KeyFate::Pruned | KeyFate::Refused);
    !closed || shape.embedded || shape.ty != Some(Type::Object)
}

/// Whether no object of the schema can have a value at the path: it is undeclared, and the server prunes or refuses it.
pub(crate) fn never_exists(shape: &Shape, path: &FieldPath) -> bool {
    // Every object has metadata, whatever the schema declares.
    if path.head().is_some_and(is_meta) {
        return false;
    }
    let mut here = shape;
    for step in path.steps() {
        match step {
            PathStep::Key(name) => match here.property(name) {
                Some(next) => here = next,
                None => {
                    let gone = matches!(Pruning::of(here).key_fate(name), KeyFate::Pruned | KeyFate::Refused);
                    return gone && here.ty == Some(Type::Object);
                }
            },
            PathStep::Items => match here.items.as_deref() {
                Some(next) => here = next,
                None => return here.ty.is_some_and(|ty| ty != Type::Array),
            },
            PathStep::Values => match &here.extra {
                Extra::Values(next) => here = next,
                _ => return !open(here) && here.properties.is_empty(),
            },
        }
    }
    false
}

/// Whether the field exists whenever its parent does.
pub(crate) fn always_exists(shape: &Shape, path: &FieldPath) -> bool {
    let Some((PathStep::Key(name), above)) = path.steps().split_last() else { return false };
    shape
        .at(above)
        .is_some_and(|parent| parent.required.contains(&**name) && parent.property(name).is_some_and(|child| child.default.is_none()))
}

/// Whether the field and all parents below the container exist whenever the container does.
pub(crate) fn always_below(shape: &Shape, container: usize, path: &FieldPath) -> bool {
    (container + 1..=path.steps().len()).all(|depth| always_exists(shape, &prefix(path, depth)))
}

pub(crate) fn prefix(path: &FieldPath, depth: usize) -> FieldPath {
    FieldPath::root().join(path.steps().get(..depth).unwrap_or(path.steps()))
}

/// Drops the conditions on the nodes above a path that may not hold any more once a step changed the value there. Returns `None` if a
/// node above has a default: it would be applied to objects that the step didn't change.
pub(crate) fn loosen_above(shape: &mut Shape, path: &FieldPath) -> Option<()> {
    loosen_nodes_above(shape, path)?;
    drop_references(shape, path);
    Some(())
}

/// Like [`loosen_above`], but keeps the conditions that name fields.
pub(crate) fn loosen_nodes_above(shape: &mut Shape, path: &FieldPath) -> Option<()> {
    for (depth, step) in path.steps().iter().enumerate() {
        let Some(node) = shape.at_mut(path.steps().get(..depth)?) else { return Some(()) };
        if node.default.is_some() || node.embedded {
            return None;
        }
        node.enum_values = None;
        let below = match path.steps().get(depth + 1) {
            Some(PathStep::Key(name)) => Some(&**name),
            _ => None,
        };
        if matches!(step, PathStep::Items) {
            // Items stay distinguishable only by keys that the step doesn't change.
            if node.list_type != ListType::Map || below.is_none_or(|name| node.map_keys.iter().any(|key| key == name)) {
                node.list_type = ListType::Atomic;
                node.map_keys.clear();
            }
            node.unique_items = false;
        }
    }
    Some(())
}

/// Removes a property from its parent, and returns it.
pub(crate) fn detach(shape: &mut Shape, path: &FieldPath) -> Option<Shape> {
    let (PathStep::Key(name), above) = path.steps().split_last()? else { return None };
    let parent = shape.at_mut(above)?;
    parent.required.remove(&**name);
    parent.property_count = CountRange::default();
    parent.properties.remove(&**name).map(Arc::unwrap_or_clone)
}

/// Like [`detach`], for a step that also removes parents which become empty: inside the container, a parent is no longer required
/// unless it has other required fields.
pub(crate) fn detach_with_parents(shape: &mut Shape, container: usize, path: &FieldPath) -> Option<Shape> {
    // A parent that exists only together with the value is removed with it.
    let mut sure = always_exists(shape, path);
    let taken = detach(shape, path)?;
    for depth in (container + 1..path.steps().len()).rev() {
        let at = prefix(path, depth);
        let always = always_exists(shape, &at);
        let Some(parent) = declared(shape, &at) else { break };
        if has_required_property(parent) {
            break;
        }
        let gone = sure && parent.properties.is_empty() && !open(parent);
        let Some((PathStep::Key(name), above)) = at.steps().split_last() else { break };
        if let Some(holder) = shape.at_mut(above) {
            holder.required.remove(&**name);
            holder.property_count = CountRange::default();
            if gone {
                holder.properties.remove(&**name);
            }
        }
        sure = gone && always;
    }
    Some(taken)
}

/// The schema after a field is removed, with the parents inside the container that become empty.
pub(crate) fn remove_with_parents(shape: &mut Shape, container: usize, path: &FieldPath) -> Option<()> {
    if never_exists(shape, path) {
        return Some(());
    }
    loosen_above(shape, path)?;
    detach_with_parents(shape, container, path).map(|_| ())
}

/// Whether objects of the schema have at least one property, even before defaults are applied.
pub(crate) fn has_required_property(shape: &Shape) -> bool {
    shape.required.iter().any(|name| shape.property(name).is_some_and(|child| child.default.is_none()))
}

/// Adds a property and its missing parents. `always`: the value exists whenever the container does. Returns `None` if the parents may
/// not be objects, or have keys that the schema doesn't declare.
pub(crate) fn attach(shape: &mut Shape, container: usize, path: &FieldPath, child: Shape, always: bool) -> Option<()> {
    let (_, above) = path.steps().split_last()?;
    // If the step may write nothing, the existing value can remain.
    let exists = !never_exists(shape, path);
    let mut made = false;
    for depth in container..above.len() {
        let PathStep::Key(next) = path.steps().get(depth)? else { return None };
        let parent = shape.at_mut(path.steps().get(..depth)?)?;
        if !is_closed_object(parent) {
            return None;
        }
        parent.property_count = CountRange::default();
        if !parent.properties.contains_key(&**next) {
            parent.properties.insert(next.as_ref().to_owned(), Arc::new(Shape { ty: Some(Type::Object), ..Shape::default() }));
            if always || made {
                parent.required.insert(next.as_ref().to_owned());
            }
            made = true;
            continue;
        }
        let existed =
            parent.required.contains(&**next) && parent.property(next).is_some_and(|child| child.default.is_none() && !child.nullable);
        if always {
            parent.required.insert(next.as_ref().to_owned());
        }
        if let Some(child) = parent.properties.get_mut(&**next).filter(|_| !existed) {
            // The step may create it, with nothing but the value.
            let child = Arc::make_mut(child);
            *child = Shape { required: BTreeSet::new(), nullable: child.nullable, ..without_conditions(child) };
        }
    }
    // A parent created for the value exists only together with it.
    replace(shape, path, if exists { Shape { nullable: true, ..Shape::anything() } } else { child }, always || made)
}

/// Replaces the schema of a field. `always`: the field exists whenever its parent does. Returns `None` if the parent may not be an
/// object, or is a map.
pub(crate) fn replace(shape: &mut Shape, path: &FieldPath, child: Shape, always: bool) -> Option<()> {
    let (PathStep::Key(name), above) = path.steps().split_last()? else { return None };
    let parent = shape.at_mut(above)?;
    if parent.ty != Some(Type::Object) || parent.embedded || matches!(parent.extra, Extra::Values(_) | Extra::Any) {
        return None;
    }
    parent.property_count = CountRange::default();
    parent.properties.insert(name.as_ref().to_owned(), Arc::new(child));
    if always {
        parent.required.insert(name.as_ref().to_owned());
    } else {
        parent.required.remove(&**name);
    }
    Some(())
}

/// Whether a schema accepts only objects, with only the keys that it declares.
pub(crate) fn is_closed_object(shape: &Shape) -> bool {
    shape.ty == Some(Type::Object) && !open(shape) && !matches!(shape.extra, Extra::Values(_) | Extra::Any)
}

/// Whether a value may contain null, at any depth.
pub(crate) fn holds_null(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(holds_null),
        Value::Object(map) => map.values().any(holds_null),
        _ => false,
    }
}

/// The schema that accepts only this value.
pub(crate) fn literal(value: &serde_json::Value) -> Shape {
    use serde_json::Value;
    let ty = match value {
        Value::Null => None,
        Value::Bool(_) => Some(Type::Boolean),
        Value::Number(number) => Some(if number.is_i64() { Type::Integer } else { Type::Number }),
        Value::String(_) => Some(Type::String),
        Value::Array(_) => Some(Type::Array),
        Value::Object(_) => Some(Type::Object),
    };
    let mut shape = Shape { ty, enum_values: Some(vec![value.clone()]), ..Shape::default() };
    if let Value::Object(map) = value {
        shape.properties = map.iter().map(|(key, value)| (key.clone(), Arc::new(literal(value)))).collect();
        shape.required = map.keys().cloned().collect();
    }
    if matches!(value, Value::Array(_)) {
        shape.items = Some(Arc::new(Shape::anything()));
    }
    shape
}

/// Checks that `outer` keeps everything that objects of `inner` can have; the error is the first pruned path.
pub(crate) fn check_kept(inner: &Shape, outer: &Shape, at: &FieldPath) -> Result<(), FieldPath> {
    kept_below(inner, inner.preserve_unknown, &Pruning::of(outer), at)
}

/// `inner_keeps`: `inner` keeps undeclared keys, because of its own schema or that of the enclosing list.
fn kept_below(inner: &Shape, inner_keeps: bool, outer: &Pruning<&Shape>, at: &FieldPath) -> Result<(), FieldPath> {
    let root = at.is_root();
    let declared = match outer {
        Pruning::Nothing => return Ok(()),
        Pruning::EveryKey if holds_objects(inner) => return Err(at.clone()),
        Pruning::EveryKey => return Ok(()),
        Pruning::Schema { node, .. } => node,
    };
    // The server drops a null that isn't allowed.
    if inner.nullable && !declared.nullable && !root {
        return Err(at.clone());
    }
    for (name, child) in inner.properties.iter().filter(|(name, _)| !(root && is_meta(name))) {
        let here = at.key(name);
        match outer.key_fate(name) {
            KeyFate::Pruned | KeyFate::Refused => return Err(here),
            fate => fate.below().map_or(Ok(()), |below| kept_below(child, child.preserve_unknown, &below, &here))?,
        }
    }
    if inner.embedded && !root && !declared.embedded && !matches!(outer.undeclared(), KeyFate::Kept) {
        return Err(at.clone());
    }
    let undeclared = Pruning::Schema { node: inner, keeps: inner_keeps }.undeclared();
    match (undeclared, outer.undeclared()) {
        (KeyFate::Pruned | KeyFate::Refused, _) | (KeyFate::Emptied, KeyFate::Emptied) => {}
        (KeyFate::MapValue(a), KeyFate::MapValue(b)) => check_kept(a, b, &at.values())?,
        (KeyFate::MapValue(_) | KeyFate::Emptied, KeyFate::Kept) if declared.properties.is_empty() => {}
        (KeyFate::Kept, KeyFate::Kept) if declared.properties.keys().all(|name| inner.properties.contains_key(name)) => {}
        (KeyFate::Kept, _) => return Err(at.clone()),
        _ => return Err(at.values()),
    }
    match &inner.items {
        Some(items) => kept_below(items, inner_keeps || items.preserve_unknown, &outer.items(), &at.items()),
        None => Ok(()),
    }
}

/// Whether a field accepts every object: declared without conditions, or below a field that preserves unknown fields.
pub(crate) fn holds_anything(shape: &Shape, path: &FieldPath) -> bool {
    let object =
        |node: &Shape| node.ty.is_none_or(|ty| ty == Type::Object) && !node.embedded && node.required.is_empty() && has_no_conditions(node);
    for depth in 1..=path.steps().len() {
        if declared(shape, &prefix(path, depth)).is_none() {
            return declared(shape, &prefix(path, depth - 1))
                .is_some_and(|parent| matches!(Pruning::of(parent).undeclared(), KeyFate::Kept));
        }
    }
    declared(shape, path).is_some_and(|node| {
        let inside = match Pruning::of(node).undeclared() {
            KeyFate::MapValue(values) => object(values) && values.properties.is_empty() && values.preserve_unknown,
            // Objects inside `additionalProperties: true` lose their fields.
            fate => matches!(fate, KeyFate::Kept),
        };
        object(node) && node.properties.is_empty() && inside
    })
}

/// Whether a schema has no conditions on an object as a whole.
pub(crate) fn has_no_conditions(node: &Shape) -> bool {
    node.property_count == CountRange::default()
        && node.enum_values.is_none()
        && node.all_of.is_empty()
        && node.any_of.is_empty()
        && node.one_of.is_empty()
        && node.not.is_none()
        && node.rules.is_empty()
}

fn holds_objects(shape: &Shape) -> bool {
    !matches!(shape.ty, Some(Type::String | Type::Integer | Type::Number | Type::Boolean))
}
