//! `set`: gives a field a fixed value, replacing any other. Its inverse is a `drop`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::{GoStep, go_literal};
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::find::conversion::search::Wanted;
use crate::find::conversion::shape_edit::{always_exists, declared, holds_null, known, literal, never_exists};
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::server::object::only_listed;

use super::default::put;
use super::drop::{Drop, Inverse};
use super::parse::StepNode;
use super::put_value::parent;
use super::{Conflict, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct Set {
    pub path: FieldPath,
    pub value: Value,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(Set { path: step.field("path")?, value: step.json("value")? }))
}

/// The step in Go.
const GO: &str = r#"
func setField(c any, inner []path, value any) (any, error) {
	if object, name, ok := parentOf(c, inner[0]); ok {
		object[name] = value
	}
	return c, nil
}
"#;

impl StepKind for Set {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::written(&self.path)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Drop { path: self.path.clone(), inverse: Inverse::Set(self.value.clone()) }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], _conflict: Conflict) -> Result<(), StepFailure> {
        if let Some((map, name)) = inner.first().and_then(|path| parent(container, path)) {
            map.insert(name, self.value.clone());
        }
        Ok(())
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO, call: format!("setField(c, INNER, {})", go_literal(&self.value)) })
    }

    fn output_schema(&self, shape: &mut Shape, _container: usize) -> Option<()> {
        if holds_null(&self.value) {
            return None;
        }
        let child = literal(&self.value);
        put(shape, &self.path, child)
    }

    fn lossless(&self, shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        if never_exists(shape, &self.path) { Ok(()) } else { lost(format!("`{}` may already have a value", self.path)) }
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Ok(())
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        let values = declared(shape, &self.path).and_then(only_listed);
        let single = values.is_some_and(|values| values == [self.value.clone()]);
        single && always_exists(shape, &self.path) && declared(shape, &self.path).is_some_and(|child| !child.nullable)
    }

    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        vec![(&self.path, Wanted::Missing), (&self.path, Wanted::Sent)]
    }

    fn acts_on_both(&self, old: &Shape, new: &Shape) -> bool {
        let parent = self.path.parent().unwrap_or_default();
        let both = known(old, &parent).is_some() && known(new, &parent).is_some();
        both && !(always_exists(new, &self.path) && known(old, &self.path).is_none())
    }

    fn needs_parent(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{PRESERVE, both_ways, check_laws};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- set: {path: spec.mode, value: Fast}", "", json!({}), json!({"mode": "Fast"}));
    }

    #[test]
    fn lost_values_are_preserved() {
        both_ways("- set: {path: spec.n, value: 3}", PRESERVE, json!({"n": 4}), json!({"n": 3}));
    }

    #[test]
    fn a_required_constant_is_added() {
        // A required field that only the new version has.
        check_laws(
            "{k: {type: string}}",
            "required: [m], {m: {type: string, enum: [x]}, k: {type: string}}",
            "- set: {path: spec.m, value: x}",
            "",
            "pppppp",
        );
    }
}
