//! `copy`: copies the value of one field to a second one.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::{NamePath, get, take};
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, lost, move_is_lossless};
use crate::find::conversion::path_through_steps::rebased;
use crate::find::conversion::shape_edit::{always_below, attach, declared, loosen_above, never_exists, remove_with_parents};
use crate::model::FieldPath;
use crate::model::fact::{Aspect, Effect, Fact};
use crate::model::schema::Shape;

use super::parse::StepNode;
use super::put_value::put_value;
use super::value_change::can_put;
use super::{Conflict, Ends, MAY_FAIL, Op, OperationFields, Overlap, StepFailure, StepKind};

#[derive(Debug)]
struct Copy {
    ends: Ends,
}

/// The inverse: removes the copy.
#[derive(Debug)]
struct RemoveCopy {
    ends: Ends,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(Copy { ends: step.ends()? }))
}

/// The step in Go.
const GO: &str = r#"
func copyValue(c any, inner []path, conflict conflictRule) (any, error) {
	value, ok := get(c, inner[0])
	if !ok {
		return c, nil
	}
	return putValue(c, inner[len(inner)-1], deepCopy(value), conflict)
}
"#;

impl StepKind for Copy {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Several { reads: vec![&self.ends.from], writes: vec![&self.ends.to] }
    }

    fn paths(&self) -> Vec<&FieldPath> {
        self.ends.paths()
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(RemoveCopy { ends: self.ends.clone() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let (Some(from), Some(to)) = (inner.first(), inner.last()) else { return Ok(()) };
        match get(container, from).cloned() {
            Some(value) => put_value(container, to, value, conflict),
            None => Ok(()),
        }
    }

    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        rebased(path, &self.ends.to, &self.ends.from)
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO, call: "copyValue(c, INNER, CONFLICT)".to_owned() })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        let Ends { from, to } = &self.ends;
        if never_exists(shape, from) || self.ends.in_place() {
            return Some(());
        }
        if self.ends.overlap() {
            return None;
        }
        let always = always_below(shape, container, from);
        let child = declared(shape, from)?.clone();
        loosen_above(shape, to)?;
        attach(shape, container, to, child, always)
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        move_is_lossless(shape, container, &self.ends.from, &self.ends.to)
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        let Ends { from, to } = &self.ends;
        if never_exists(shape, from) || can_put(from, to, shape, conflict) { Ok(()) } else { Err(MAY_FAIL.to_owned()) }
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.ends.from) || self.ends.in_place()
    }

    /// Triggers don't decide it, because an object may have both fields, with equal or different values.
    fn decided_by_triggers(&self) -> bool {
        false
    }

    /// After a copy, the removed field is still there, so the step doesn't cover its removal.
    fn covers(&self, change: &Fact, at: &Overlap) -> bool {
        at.covers_by_default(change) && (change.aspect, change.effect) != (Aspect::Presence, Effect::Removed)
    }
}

/// The step in Go.
const GO_REMOVE: &str = r#"
func removeCopy(c any, inner []path) (any, error) {
	take(c, inner[len(inner)-1])
	return c, nil
}
"#;

impl StepKind for RemoveCopy {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::read(&self.ends.to)
    }

    fn paths(&self) -> Vec<&FieldPath> {
        self.ends.paths()
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Copy { ends: self.ends.clone() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], _conflict: Conflict) -> Result<(), StepFailure> {
        if let Some(to) = inner.last() {
            take(container, to);
        }
        Ok(())
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO_REMOVE, call: "removeCopy(c, INNER)".to_owned() })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        remove_with_parents(shape, container, &self.ends.to)
    }

    fn lossless(&self, shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        let Ends { from, to } = &self.ends;
        if !never_exists(shape, to) {
            return lost(format!("`{to}` may differ from `{from}`"));
        }
        if never_exists(shape, from) { Ok(()) } else { lost(format!("`{to}` would be added although it was never set")) }
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Ok(())
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.ends.to)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::both_ways;

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- copy: {from: spec.a, to: spec.b}", "", json!({"a": 1}), json!({"a": 1, "b": 1}));
    }
}
