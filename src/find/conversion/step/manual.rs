//! `manual`: a conversion that no program can do, with guidance for the person who does it.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::{NamePath, get};
use crate::find::conversion::generate::{GoStep, quoted};
use crate::find::conversion::lossless::Obstacle;
use crate::find::conversion::search::Wanted;
use crate::model::FieldPath;
use crate::model::fact::{Effect, Fact};
use crate::model::schema::Shape;

use super::parse::{PathRole, StepNode};
use super::{Conflict, Op, OperationFields, Overlap, StepFailure, StepKind};

#[derive(Debug, Clone)]
pub(crate) struct Manual {
    pub path: FieldPath,
    /// The change to the field.
    pub effect: Effect,
    pub guidance: String,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let path = step.path_at(step.node.get("path")?, PathRole::Value)?;
    let effect = step.text("effect").and_then(Effect::parse)?;
    Some(Arc::new(Manual { path, effect, guidance: step.text("guidance")?.to_owned() }))
}

/// The step in Go.
const GO: &str = r#"
func manualStep(c any, inner []path, gone bool, guidance string) (any, error) {
	if value, _ := get(c, inner[0]); gone && value != nil {
		return nil, errors.New("needs a manual step: " + guidance)
	}
	return c, nil
}
"#;

impl StepKind for Manual {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::read(&self.path)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(self.clone()))
    }

    /// Refuses an object with a value in a field that is removed.
    fn apply(&self, container: &mut Value, inner: &[NamePath], _conflict: Conflict) -> Result<(), StepFailure> {
        let gone = matches!(self.effect, Effect::Removed | Effect::Renamed | Effect::Moved);
        let present = inner.first().and_then(|path| get(container, path)).is_some_and(|value| !value.is_null());
        if gone && present { Err(StepFailure::Manual(self.guidance.clone())) } else { Ok(()) }
    }

    fn go(&self) -> Result<GoStep, String> {
        let gone = matches!(self.effect, Effect::Removed | Effect::Renamed | Effect::Moved);
        Ok(GoStep { source: GO, call: format!("manualStep(c, INNER, {gone}, {})", quoted(&self.guidance)) })
    }

    fn output_schema(&self, _shape: &mut Shape, _container: usize) -> Option<()> {
        Some(())
    }

    fn lossless(&self, _shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        Ok(())
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Ok(())
    }

    fn is_noop(&self, _shape: &Shape) -> bool {
        true
    }

    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        Vec::new()
    }

    /// The manifest states which change the guidance is for.
    fn covers(&self, change: &Fact, at: &Overlap) -> bool {
        at.reads && self.effect == change.effect
    }

    fn manual(&self) -> Option<&Manual> {
        Some(self)
    }
}
