//! Shared parts of the steps that convert a single value, in place or while moving it.

use serde_json::Value;

use crate::find::conversion::address::{NamePath, get_mut, take};
use crate::find::conversion::lossless::{Obstacle, declared_or_absent, move_is_lossless, moves_nothing_back};
use crate::find::conversion::rename_references::drop_references;
use crate::find::conversion::shape_edit::{always_below, attach, declared, detach, detach_with_parents, never_exists, prefix};
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
    let always = always_below(shape, container, from);
    drop_references(shape, from);
    if matches!(from.steps().last(), Some(PathStep::Key(_))) {
        let child = if from == to { detach(shape, from)? } else { detach_with_parents(shape, container, from)? };
        let (child, sure) = change(child)?;
        return attach(shape, container, to, child, always && sure);
    }
    let node = shape.at_mut(from.steps())?;
    let (child, _) = change(node.clone())?;
    *node = child;
    Some(())
}

/// Proves that the inverse undoes a change, if the condition holds for the schema of the value.
pub(super) fn lossless_if(
    ends: &Ends,
    shape: &Shape,
    container: usize,
    condition: impl FnOnce(&Shape) -> Result<(), Obstacle>,
) -> Result<(), Obstacle> {
    let Some(child) = declared_or_absent(shape, &ends.from)? else { return moves_nothing_back(shape, &ends.from, &ends.to) };
    condition(child)?;
    if ends.in_place() { Ok(()) } else { move_is_lossless(shape, container, &ends.from, &ends.to) }
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
    let container = |node: &Shape| matches!(node.ty, Some(Type::Object | Type::Array));
    let reachable = || (1..to.steps().len()).all(|depth| declared(shape, &prefix(to, depth)).is_none_or(container));
    from == to || (free() && reachable())
}

/// Whether a change does nothing: the value never exists, or it stays in place and the condition holds for its schema.
pub(super) fn noop_if(ends: &Ends, shape: &Shape, condition: impl FnOnce(Option<&Shape>) -> bool) -> bool {
    never_exists(shape, &ends.from) || (ends.in_place() && condition(declared(shape, &ends.from)))
}

/// The type of a value, if the schema allows only one.
pub(super) fn only_type(child: Option<&Shape>) -> Option<Type> {
    child.filter(|child| !child.int_or_string).and_then(|child| child.ty)
}
