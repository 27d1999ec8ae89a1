//! `unwrap`: turns a list of one item into that item. Its inverse is `wrap`.

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
use super::value_change::{change_schema, lossless_if, may_be_null, noop_if, only_type, succeeds_if};
use super::wrap::Wrap;
use super::{Conflict, Ends, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct Unwrap {
    pub ends: Ends,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(Unwrap { ends: step.ends()? }))
}

/// The step in Go.
const GO: &str = r#"
func unwrapValue(c any, inner []path, conflict conflictRule) (any, error) {
	from, to := inner[0], inner[len(inner)-1]
	value, ok := take(c, from)
	if !ok || value == nil {
		return c, nil
	}
	list, isList := value.([]any)
	switch {
	case isList && len(list) == 0:
		return c, nil
	case isList:
		return putValue(c, to, list[0], conflict)
	case reflect.DeepEqual(from, to):
		return putValue(c, to, value, conflict)
	}
	return nil, fmt.Errorf("expected a list, found %v", value)
}
"#;

impl StepKind for Unwrap {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Wrap { ends: self.ends.swapped() }))
    }

    /// Takes the first item; an empty list removes the field.
    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let (Some(from), Some(to)) = (inner.first(), inner.last()) else { return Ok(()) };
        match take(container, from) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(items)) => match items.into_iter().next() {
                Some(first) => put_value(container, to, first, conflict),
                None => Ok(()),
            },
            Some(value) if from == to => put_value(container, to, value, conflict),
            Some(other) => Err(StepFailure::ty("a list", &other)),
        }
    }

    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        rebased(path, &self.ends.to, &self.ends.from.items())
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO, call: "unwrapValue(c, INNER, CONFLICT)".to_owned() })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |child| {
            let sure = !child.nullable;
            match child.ty {
                Some(Type::Array) => {
                    let item = Arc::unwrap_or_clone(child.items?);
                    Some((Shape { default: None, ..item }, sure && child.item_count.min > 0))
                }
                Some(_) if self.ends.in_place() => Some((without_absence(child), sure)),
                _ => None,
            }
        })
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        let from = &self.ends.from;
        lossless_if(&self.ends, shape, container, |child| {
            let single = child.ty == Some(Type::Array) && child.item_count == CountRange { min: 1, max: Some(1) };
            let item = child.items.as_deref().filter(|item| single && !child.nullable && !item.nullable);
            let Some(item) = item else { return lost(format!("`{from}` may have no item, or more than one")) };
            if self.ends.in_place() && item.ty.is_none_or(|ty| ty == Type::Array) {
                return lost(format!("an item of `{from}` may be a list"));
            }
            Ok(())
        })
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        succeeds_if(&self.ends, shape, conflict, |child| match child.and_then(|child| child.ty) {
            Some(Type::Array) => true,
            ty => self.ends.in_place() && ty.is_some(),
        })
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        noop_if(&self.ends, shape, |child| only_type(child).is_some_and(|ty| ty != Type::Array) && !may_be_null(child))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{PRESERVE, both_ways};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- unwrap: {from: spec.refs, to: spec.ref}", "", json!({"refs": [1]}), json!({"ref": 1}));
    }

    #[test]
    fn lost_values_are_preserved() {
        both_ways("- unwrap: {from: spec.refs, to: spec.ref}", PRESERVE, json!({"refs": [1, 2, 3]}), json!({"ref": 1}));
        both_ways("- unwrap: {from: spec.refs, to: spec.ref}", PRESERVE, json!({"refs": []}), json!({}));
    }
}
