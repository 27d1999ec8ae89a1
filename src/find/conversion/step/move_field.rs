//! `rename` and `move`: give a value another name or place.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::{NamePath, take};
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, move_is_lossless};
use crate::find::conversion::rename_references::rename_references;
use crate::find::conversion::shape_edit::{always_below, attach, detach_with_parents, loosen_above, loosen_nodes_above, never_exists};
use crate::model::fact::{Aspect, Effect, Fact};
use crate::model::schema::Shape;

use super::parse::StepNode;
use super::put_value::put_value;
use super::value_change::{noop_if, succeeds_if};
use super::{Conflict, Ends, Op, OperationFields, Overlap, StepFailure, StepKind};

#[derive(Debug)]
struct Move {
    ends: Ends,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let ends = step.ends()?;
    if ends.in_place() {
        step.wrong(step.node, "`from` and `to` are the same");
    }
    if step.name == "rename" && ends.from.parent() != ends.to.parent() {
        step.wrong(step.node.get("to").unwrap_or(step.node), "`rename` keeps the parent of a field; use `move` to change it");
    }
    Some(Arc::new(Move { ends }))
}

/// The step in Go.
const GO: &str = r#"
func moveValue(c any, inner []path, conflict conflictRule) (any, error) {
	value, ok := take(c, inner[0])
	if !ok {
		return c, nil
	}
	return putValue(c, inner[len(inner)-1], value, conflict)
}
"#;

impl StepKind for Move {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Move { ends: self.ends.swapped() }))
    }

    /// Creates missing parents, and removes parents that become empty.
    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let (Some(from), Some(to)) = (inner.first(), inner.last()) else { return Ok(()) };
        match take(container, from) {
            Some(value) => put_value(container, to, value, conflict),
            None => Ok(()),
        }
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO, call: "moveValue(c, INNER, CONFLICT)".to_owned() })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        let Ends { from, to } = &self.ends;
        if never_exists(shape, from) {
            return Some(());
        }
        if self.ends.overlap() {
            return None;
        }
        let always = always_below(shape, container, from);
        loosen_above(shape, to)?;
        rename_references(shape, from, to);
        loosen_nodes_above(shape, from)?;
        let child = detach_with_parents(shape, container, from)?;
        attach(shape, container, to, child, always)
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        move_is_lossless(shape, container, &self.ends.from, &self.ends.to)
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        succeeds_if(&self.ends, shape, conflict, |_| true)
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        noop_if(&self.ends, shape, |_| false)
    }

    fn moves_value(&self) -> bool {
        true
    }

    /// A renamed field must be moved to its new name.
    fn covers(&self, change: &Fact, at: &Overlap) -> bool {
        let renamed = matches!((change.aspect, change.effect), (Aspect::Presence, Effect::Renamed | Effect::Moved));
        at.covers_by_default(change) && (at.writes_new_name || !renamed)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{because, both_ways, check_laws};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- rename: {from: spec.a, to: spec.b}", "", json!({"a": 1, "c": 2}), json!({"b": 1, "c": 2}));
        both_ways("- move: {from: spec.a, to: spec.x.y.a}", "", json!({"a": 1}), json!({"x": {"y": {"a": 1}}}));
        both_ways(
            "- move: {from: 'spec.l[].a', to: 'spec.l[].x.a'}",
            "",
            json!({"l": [{"a": 1}, {}]}),
            json!({"l": [{"x": {"a": 1}}, {}]}),
        );
    }

    #[test]
    fn renames_are_lossless() {
        let (old, new) = ("{a: {type: string}, c: {type: integer}}", "{b: {type: string}, c: {type: integer}}");
        check_laws(old, new, "- rename: {from: spec.a, to: spec.b}", "", "pppppp");
        // The old name has another meaning in the new version.
        let reused = "{a: {type: string}, b: {type: string}, c: {type: integer}}";
        let laws = check_laws(old, reused, "- rename: {from: spec.a, to: spec.b}", "", "pxpxpx");
        assert!(because(&laws.blind).contains("it is valid in both versions"), "{}", because(&laws.blind));
        // The old name now has another type, so its values can be told apart.
        check_laws("{a: {type: string}}", "{a: {type: integer}, b: {type: string}}", "- rename: {from: spec.a, to: spec.b}", "", "pxpxpp");
        // The new version only has the old name, so its value would be renamed when converting back.
        let laws = check_laws(
            "{c: {type: string}}",
            "{a: {type: string}, c: {type: string}}",
            "- rename: {from: spec.a, to: spec.b}",
            "",
            "pppxpp",
        );
        assert!(because(&laws.returns_back).contains("spec.a"), "{}", because(&laws.returns_back));
        check_laws(
            "{c: {type: string}}",
            "{a: {type: integer}, c: {type: string}}",
            "- scale: {from: spec.a, to: spec.b, multiply: 2}",
            "",
            "pppxpp",
        );
        // The new place accepts fewer values.
        let laws =
            check_laws("{a: {type: string}}", "{b: {type: string, maxLength: 3}}", "- rename: {from: spec.a, to: spec.b}", "", "xppppp");
        assert!(because(&laws.valid).contains("spec.b"), "{}", because(&laws.valid));
    }

    #[test]
    fn moves_are_lossless() {
        check_laws(
            "{a: {type: string}}",
            "{x: {type: object, properties: {a: {type: string}}}}",
            "- move: {from: spec.a, to: spec.x.a}",
            "",
            "pppxpp",
        );
        let always = "{x: {type: object, required: [a], properties: {a: {type: string}}}}";
        check_laws("{a: {type: string}}", always, "- move: {from: spec.a, to: spec.x.a}", "", "pppppp");
    }
}
