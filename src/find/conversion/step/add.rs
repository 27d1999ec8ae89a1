//! `add`: adds a field that the old version doesn't have. Its inverse is `drop`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::{GoStep, go_literal};
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::find::conversion::search::Wanted;
use crate::find::conversion::shape_edit::never_exists;
use crate::model::FieldPath;
use crate::model::fact::{Aspect, Effect, Fact};
use crate::model::schema::Shape;

use super::default::{always_present, fills_on_both, with_default};
use super::drop::{Drop, Inverse};
use super::parse::StepNode;
use super::put_value::put_if_missing;
use super::{Conflict, Op, OperationFields, Overlap, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct Add {
    pub path: FieldPath,
    /// The value to write where the field is missing; without one, the step only names the field.
    pub value: Option<Value>,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(Add { path: step.field("path")?, value: step.json("value") }))
}

/// The step in Go.
const GO: &str = r#"
func addField(c any, inner []path, value any) (any, error) {
	if len(inner) > 0 {
		putIfMissing(c, inner[0], value)
	}
	return c, nil
}
"#;

impl StepKind for Add {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::written(&self.path)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Drop { path: self.path.clone(), inverse: Inverse::Add(self.value.clone()) }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], _conflict: Conflict) -> Result<(), StepFailure> {
        if let (Some(value), Some(path)) = (&self.value, inner.first()) {
            put_if_missing(container, path, value);
        }
        Ok(())
    }

    fn go(&self) -> Result<GoStep, String> {
        let call = match &self.value {
            Some(value) => format!("addField(c, INNER, {})", go_literal(value)),
            None => "addField(c, nil, nil)".to_owned(),
        };
        Ok(GoStep { source: GO, call })
    }

    fn output_schema(&self, shape: &mut Shape, _container: usize) -> Option<()> {
        match &self.value {
            Some(value) => with_default(shape, &self.path, value),
            None => Some(()),
        }
    }

    fn lossless(&self, shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        if never_exists(shape, &self.path) { Ok(()) } else { lost(format!("`{}` may already have a value", self.path)) }
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Ok(())
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        self.value.is_none() || always_present(shape, &self.path)
    }

    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        self.value.iter().map(|_| (&self.path, Wanted::Missing)).collect()
    }

    fn acts_on_both(&self, old: &Shape, new: &Shape) -> bool {
        self.value.as_ref().is_some_and(|value| fills_on_both(&self.path, value, old, new))
    }

    /// A field that is required now needs a value.
    fn covers(&self, change: &Fact, at: &Overlap) -> bool {
        let needs_value = matches!((change.aspect, change.effect), (Aspect::Presence | Aspect::Required, Effect::Added));
        at.covers_by_default(change) && (self.value.is_some() || !needs_value)
    }

    fn needs_parent(&self) -> bool {
        true
    }
}
