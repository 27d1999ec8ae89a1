//! `default`: fills in a value where a field is missing.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::{GoStep, go_literal};
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::find::conversion::output_schema::with_value;
use crate::find::conversion::search::Wanted;
use crate::find::conversion::shape_edit::{always_exists, declared, holds_null, known, literal, loosen_above, never_exists, replace};
use crate::model::FieldPath;
use crate::model::schema::Shape;

use super::parse::StepNode;
use super::put_value::{parent, put_if_missing};
use super::{Conflict, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
struct Default {
    path: FieldPath,
    value: Value,
}

/// The inverse: removes the field where it has the default value.
#[derive(Debug)]
struct RemoveDefault {
    path: FieldPath,
    value: Value,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(Default { path: step.field("path")?, value: step.json("value")? }))
}

/// The step in Go.
const GO: &str = r#"
func defaultField(c any, inner []path, value any) (any, error) {
	putIfMissing(c, inner[0], value)
	return c, nil
}
"#;

impl StepKind for Default {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::written(&self.path)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(RemoveDefault { path: self.path.clone(), value: self.value.clone() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], _conflict: Conflict) -> Result<(), StepFailure> {
        inner.iter().for_each(|path| put_if_missing(container, path, &self.value));
        Ok(())
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO, call: format!("defaultField(c, INNER, {})", go_literal(&self.value)) })
    }

    fn output_schema(&self, shape: &mut Shape, _container: usize) -> Option<()> {
        with_default(shape, &self.path, &self.value)
    }

    fn restores_exactly(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.path)
    }

    fn lossless(&self, shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        let Default { path, value } = self;
        if never_exists(shape, path) {
            return Ok(());
        }
        match declared(shape, path) {
            Some(child) if child.default.as_ref() == Some(value) && !child.nullable => Ok(()),
            _ => lost(format!("a missing `{path}` can't be distinguished from one with the value {value}")),
        }
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Ok(())
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        always_present(shape, &self.path)
    }

    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        vec![(&self.path, Wanted::Missing)]
    }

    fn acts_on_both(&self, old: &Shape, new: &Shape) -> bool {
        fills_on_both(&self.path, &self.value, old, new)
    }

    fn is_default(&self) -> bool {
        true
    }

    fn needs_parent(&self) -> bool {
        true
    }
}

/// The step in Go.
const GO_REMOVE: &str = r#"
func removeDefault(c any, inner []path, value any) (any, error) {
	if object, name, ok := parentOf(c, inner[0]); ok && reflect.DeepEqual(object[name], value) {
		delete(object, name)
	}
	return c, nil
}
"#;

impl StepKind for RemoveDefault {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::read(&self.path)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Default { path: self.path.clone(), value: self.value.clone() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], _conflict: Conflict) -> Result<(), StepFailure> {
        if let Some((map, name)) = inner.first().and_then(|path| parent(container, path))
            && map.get(&name) == Some(&self.value)
        {
            map.remove(&name);
        }
        Ok(())
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO_REMOVE, call: format!("removeDefault(c, INNER, {})", go_literal(&self.value)) })
    }

    fn output_schema(&self, shape: &mut Shape, _container: usize) -> Option<()> {
        if never_exists(shape, &self.path) {
            return Some(());
        }
        loosen_above(shape, &self.path)?;
        let child = Shape { default: None, ..declared(shape, &self.path)?.clone() };
        replace(shape, &self.path, child, false)
    }

    fn lossless(&self, shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        let RemoveDefault { path, value } = self;
        match declared(shape, path) {
            None if never_exists(shape, path) => Ok(()),
            Some(child) if !child.nullable && (always_exists(shape, path) || child.default.as_ref() == Some(value)) => Ok(()),
            _ => lost(format!("a missing `{path}` would become {value}")),
        }
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Ok(())
    }

    fn restores_exactly(&self, shape: &Shape) -> bool {
        always_exists(shape, &self.path)
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.path)
    }

    fn is_default(&self) -> bool {
        true
    }
}

/// Computes the schema of objects in which the missing field was filled in.
pub(super) fn with_default(shape: &mut Shape, path: &FieldPath, value: &Value) -> Option<()> {
    if holds_null(value) {
        return None;
    }
    let child = match declared(shape, path) {
        Some(child) => with_value(child, value),
        None if never_exists(shape, path) => literal(value),
        None => Shape { nullable: true, ..Shape::anything() },
    };
    put(shape, path, child)
}

/// The schema after a value was written to a field, if its parent exists.
pub(super) fn put(shape: &mut Shape, path: &FieldPath, child: Shape) -> Option<()> {
    if never_exists(shape, &path.parent()?) {
        return Some(());
    }
    loosen_above(shape, path)?;
    replace(shape, path, child, true)
}

/// Whether a field has a value whenever its parent exists, so that the default is never used.
pub(super) fn always_present(shape: &Shape, path: &FieldPath) -> bool {
    always_exists(shape, path) && declared(shape, path).is_some_and(|child| !child.nullable)
}

/// Whether the step may fill in a value in objects valid in both versions, because the new one doesn't have the same default.
pub(super) fn fills_on_both(path: &FieldPath, value: &Value, old: &Shape, new: &Shape) -> bool {
    let parent = path.parent().unwrap_or_default();
    let both = known(old, &parent).is_some() && known(new, &parent).is_some();
    let same = declared(new, path).is_some_and(|child| child.default.as_ref() == Some(value) && !child.nullable);
    both && !same && !always_present(old, path) && !always_present(new, path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::laws::LawVerdict;
    use crate::find::conversion::testing::{PRESERVE, because, both_ways, check_laws, laws};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- default: {path: spec.n, value: 3}", "", json!({}), json!({"n": 3}));
    }

    #[test]
    fn lost_values_are_preserved() {
        both_ways("- default: {path: spec.n, value: 3}", PRESERVE, json!({"n": 3}), json!({"n": 3}));
    }

    #[test]
    fn defaults_that_differ_are_ambiguous() {
        // A missing field means something else now.
        let laws = check_laws(
            "{m: {type: string, default: a}}",
            "{m: {type: string, default: b}}",
            "- default: {path: spec.m, value: a}",
            "",
            "pppxpx",
        );
        assert!(because(&laws.blind).contains("spec.m"));
    }

    #[test]
    fn a_value_that_the_field_refuses_is_not_proved_valid() {
        for (field, value) in [
            ("{type: string}", "1"),
            ("{type: string, enum: [a]}", "1"),
            ("{type: string, enum: [a, b], pattern: '^a$'}", "b"),
            ("{type: object, additionalProperties: {type: string}}", "{a: 1}"),
            ("{type: array, items: {type: string}}", "[1]"),
        ] {
            let schema = format!("{{m: {field}}}");
            for steps in [1, 2] {
                let steps = format!("- default: {{path: spec.m, value: {value}}}\n").repeat(steps);
                let laws = laws(&schema, &schema, &steps, "");
                assert!(!matches!(laws.valid, LawVerdict::Proved), "{field} {value}: {:?}", laws.valid);
            }
        }
    }

    #[test]
    fn a_value_that_the_field_takes_is_proved_valid() {
        for (field, value) in
            [("{type: string, enum: [a, b]}", "b"), ("{type: number}", "1"), ("{type: object, additionalProperties: {type: string}}", "{}")]
        {
            let schema = format!("{{m: {field}}}");
            let laws = laws(&schema, &schema, &format!("- default: {{path: spec.m, value: {value}}}\n"), "");
            assert!(matches!(laws.valid, LawVerdict::Proved), "{field} {value}: {:?}", laws.valid);
        }
    }

    #[test]
    fn values_of_two_equal_steps_are_not_both_preserved() {
        let field = "{a: {type: string}}";
        let default = "- default: {path: spec.a, value: x}";
        // Restoring a missing value doesn't keep the next conversion from filling it in.
        check_laws(field, field, default, PRESERVE, "pppptx");
        let both = format!("{default}\n- mapValues: {{path: spec.a, values: {{x: z}}}}\n{default}");
        check_laws(field, field, &both, PRESERVE, "tttxtx");
    }
}
