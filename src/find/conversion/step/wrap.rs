//! `wrap`: turns a value into a list of one item. Its inverse is `unwrap`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::{NamePath, take};
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::find::conversion::output_schema::without_absence;
use crate::find::conversion::path_through_steps::rebased;
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::model::schema::shape::{CountRange, Type};

use super::parse::StepNode;
use super::put_value::put_value;
use super::unwrap::Unwrap;
use super::value_change::{change_schema, lossless_if, may_be_null, noop_if, only_type, succeeds_if};
use super::{Conflict, Ends, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct Wrap {
    pub ends: Ends,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(Wrap { ends: step.ends()? }))
}

/// The step in Go.
const GO: &str = r#"
func wrapValue(c any, inner []path, conflict conflictRule) (any, error) {
	from, to := inner[0], inner[len(inner)-1]
	value, ok := take(c, from)
	if !ok {
		return c, nil
	}
	if list, isList := value.([]any); isList && reflect.DeepEqual(from, to) {
		return putValue(c, to, list, conflict)
	}
	if value == nil {
		return c, nil
	}
	return putValue(c, to, []any{value}, conflict)
}
"#;

impl StepKind for Wrap {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Unwrap { ends: self.ends.swapped() }))
    }

    /// A list already in this place is the result of an earlier conversion and is left unchanged.
    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let (Some(from), Some(to)) = (inner.first(), inner.last()) else { return Ok(()) };
        match take(container, from) {
            None => Ok(()),
            Some(list @ Value::Array(_)) if from == to => put_value(container, to, list, conflict),
            Some(Value::Null) => Ok(()),
            Some(value) => put_value(container, to, Value::Array(vec![value]), conflict),
        }
    }

    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        let Ends { from, to } = &self.ends;
        rebased(path, &to.items(), from).or_else(|| rebased(path, to, from))
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO, call: "wrapValue(c, INNER, CONFLICT)".to_owned() })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |child| {
            // Null is removed.
            let sure = !child.nullable;
            if self.ends.in_place() && child.ty == Some(Type::Array) {
                return Some((without_absence(child), sure));
            }
            if self.ends.in_place() && child.ty.is_none() && !child.int_or_string {
                return None;
            }
            let one = CountRange { min: 1, max: Some(1) };
            let items = Some(Arc::new(without_absence(child)));
            Some((Shape { ty: Some(Type::Array), item_count: one, items, ..Shape::default() }, sure))
        })
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        let from = &self.ends.from;
        lossless_if(&self.ends, shape, container, |child| {
            if child.nullable {
                return lost(format!("null at `{from}` is lost"));
            }
            if self.ends.in_place() && child.ty.is_none_or(|ty| ty == Type::Array) {
                return lost(format!("`{from}` may be a list already"));
            }
            Ok(())
        })
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        succeeds_if(&self.ends, shape, conflict, |_| true)
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        noop_if(&self.ends, shape, |child| only_type(child) == Some(Type::Array) && !may_be_null(child))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{because, both_ways, check_laws};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- wrap: {from: spec.ref, to: spec.refs}", "", json!({"ref": {"n": 1}}), json!({"refs": [{"n": 1}]}));
        both_ways("- wrap: {from: spec.ref, to: spec.ref}", "", json!({"ref": "x"}), json!({"ref": ["x"]}));
    }

    #[test]
    fn values_and_lists_of_one() {
        let (old, new) = (
            "required: [ref], {ref: {type: string}}",
            "required: [refs], {refs: {type: array, minItems: 1, maxItems: 16, items: {type: string}}}",
        );
        let laws = check_laws(old, new, "- wrap: {from: spec.ref, to: spec.refs}", "", "pppxpp");
        assert!(because(&laws.returns_back).contains("spec.refs"));
        check_laws(old, new, "- wrap: {from: spec.ref, to: spec.refs}", "preserve: {annotation: shop.example.com/kept}", "pppppp");
        let single = "required: [refs], {refs: {type: array, minItems: 1, maxItems: 1, items: {type: string}}}";
        check_laws(old, single, "- wrap: {from: spec.ref, to: spec.refs}", "", "pppppp");
        check_laws(single, old, "- unwrap: {from: spec.refs, to: spec.ref}", "", "pppppp");
        check_laws(
            "{ref: {type: string}}",
            "{ref: {type: array, minItems: 1, maxItems: 1, items: {type: string}}}",
            "- wrap: {from: spec.ref, to: spec.ref}",
            "",
            "pppppp",
        );
    }
}
