//! Shared parts of the steps that convert a single value, in place or while moving it.

use serde_json::Value;

use crate::find::conversion::address::{NamePath, get_mut, take};
use crate::find::conversion::lossless::{Obstacle, declared_or_absent, move_is_lossless, moves_nothing_back};
use crate::find::conversion::shape_edit::{
    always_below, attach, declared, detach_with_parents, loosen_above, never_exists, prefix, replace,
};
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;
use crate::model::{FieldPath, PathStep};

use super::put_value::put_value;
use super::{Conflict, Ends, MAY_FAIL, StepFailure};

/// Changes a value. If the change returns null, the value is removed.
pub(super) fn change_value(
    container: &mut Value,
    inner: &[NamePath],
    conflict: Conflict,
    change: impl Fn(&Value) -> Result<Value, StepFailure>,
) -> Result<(), StepFailure> {
    let (Some(from), Some(to)) = (inner.first(), inner.last()) else { return Ok(()) };
    let Some(value) = get_mut(container, from) else { return Ok(()) };
    let was_null = value.is_null();
    let result = change(value)?;
    if from == to && (was_null || !result.is_null()) {
        *value = result;
        return Ok(());
    }
    take(container, from);
    if result.is_null() && !was_null { Ok(()) } else { put_value(container, to, result, conflict) }
}

/// Changes the schema of a value. The change also returns whether every value is kept, so that none disappears.
pub(super) fn change_schema(
    ends: &Ends,
    shape: &mut Shape,
    container: usize,
    change: impl FnOnce(Shape) -> Option<(Shape, bool)>,
) -> Option<()> {
    let Ends { from, to } = ends;
    if never_exists(shape, from) {
        return Some(());
    }
    let always = always_below(shape, container, from);
    loosen_above(shape, from)?;
    if ends.in_place() {
        let (child, sure) = change(declared(shape, from)?.clone())?;
        if matches!(from.steps().last(), Some(PathStep::Key(_))) {
            return replace(shape, from, child, always && sure);
        }
        *shape.at_mut(from.steps())? = child;
        return Some(());
    }
    if ends.overlap() {
        return None;
    }
    loosen_above(shape, to)?;
    let (child, sure) = change(detach_with_parents(shape, container, from)?)?;
    attach(shape, container, to, child, always && sure)
}

/// Proves that the inverse undoes a change, if the condition holds for the schema of the value.
pub(super) fn lossless_if(
    ends: &Ends,
    shape: &Shape,
    container: usize,
    condition: impl FnOnce(&Shape) -> Result<(), Obstacle>,
) -> Result<(), Obstacle> {
    let child = declared_or_absent(shape, &ends.from);
    if let Ok(None) = child {
        return moves_nothing_back(shape, &ends.from, &ends.to);
    }
    // What preserving the value can't solve comes first.
    let moved = if ends.in_place() { Ok(()) } else { move_is_lossless(shape, container, &ends.from, &ends.to) };
    match moved {
        Err(obstacle) if !obstacle.preservable => return Err(obstacle),
        _ => {}
    }
    child?.map_or(Ok(()), condition)?;
    moved
}

/// Proves that a change succeeds, if the condition holds for the schema of the value. The condition gets `None` if the schema isn't
/// known.
pub(super) fn succeeds_if(
    ends: &Ends,
    shape: &Shape,
    conflict: Conflict,
    condition: impl FnOnce(Option<&Shape>) -> bool,
) -> Result<(), String> {
    let Ends { from, to } = ends;
    let child = declared(shape, from).filter(|child| !child.int_or_string);
    let sure = never_exists(shape, from) || (condition(child) && can_put(from, to, shape, conflict));
    if sure { Ok(()) } else { Err(MAY_FAIL.to_owned()) }
}

/// Whether a value can always be written to its target: the target is free, and all its parents are objects.
pub(super) fn can_put(from: &FieldPath, to: &FieldPath, shape: &Shape, conflict: Conflict) -> bool {
    let free = || conflict != Conflict::Error || never_exists(shape, to);
    let reachable = || {
        (1..to.steps().len()).all(|depth| {
            let above = prefix(to, depth);
            let holder = if matches!(to.steps().get(depth), Some(PathStep::Items)) { Type::Array } else { Type::Object };
            declared(shape, &above).map_or_else(|| never_exists(shape, &above), |node| node.ty == Some(holder))
        })
    };
    from == to || (free() && reachable())
}

/// Whether a change does nothing: the value never exists, or it stays in place and the condition holds for its schema.
pub(super) fn noop_if(ends: &Ends, shape: &Shape, condition: impl FnOnce(Option<&Shape>) -> bool) -> bool {
    never_exists(shape, &ends.from) || (ends.in_place() && condition(declared(shape, &ends.from)))
}

/// The type of a value, if the schema allows only one. The server accepts lists for strings with a format.
pub(super) fn only_type(child: Option<&Shape>) -> Option<Type> {
    child.filter(|child| !child.int_or_string && (child.ty != Some(Type::String) || child.format.is_none())).and_then(|child| child.ty)
}

/// Whether null is a possible value.
pub(super) fn may_be_null(child: Option<&Shape>) -> bool {
    child.is_none_or(|child| child.nullable)
}
