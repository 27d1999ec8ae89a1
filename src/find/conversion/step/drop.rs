//! `drop`: removes a field that the new version doesn't have. Its inverse is `add`; the inverse of `set` is also a `drop`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::find::conversion::shape_edit::{always_exists, declared, detach, loosen_above, never_exists};
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::server::object::only_listed;

use super::add::Add;
use super::parse::StepNode;
use super::put_value::remove;
use super::set::Set;
use super::{Conflict, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct Drop {
    pub path: FieldPath,
    pub inverse: Inverse,
}

/// The step that a `drop` is the inverse of.
#[derive(Debug)]
pub(super) enum Inverse {
    /// Adds the field again, with this value if there is one.
    Add(Option<Value>),
    /// Sets the field to this value.
    Set(Value),
}

impl Inverse {
    fn value(&self) -> Option<&Value> {
        match self {
            Inverse::Add(value) => value.as_ref(),
            Inverse::Set(value) => Some(value),
        }
    }
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(Drop { path: step.field("path")?, inverse: Inverse::Add(step.json("restore")) }))
}

/// The step in Go.
const GO: &str = r#"
func dropField(c any, inner []path) (any, error) {
	if object, name, ok := parentOf(c, inner[0]); ok {
		delete(object, name)
	}
	return c, nil
}
"#;

impl StepKind for Drop {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::read(&self.path)
    }

    fn inverse(&self) -> Option<Op> {
        let path = self.path.clone();
        Some(match &self.inverse {
            Inverse::Add(value) => Arc::new(Add { path, value: value.clone() }),
            Inverse::Set(value) => Arc::new(Set { path, value: value.clone() }),
        })
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], _conflict: Conflict) -> Result<(), StepFailure> {
        inner.iter().for_each(|path| remove(container, path));
        Ok(())
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep { source: GO, call: "dropField(c, INNER)".to_owned() })
    }

    fn output_schema(&self, shape: &mut Shape, _container: usize) -> Option<()> {
        if never_exists(shape, &self.path) {
            return Some(());
        }
        loosen_above(shape, &self.path)?;
        detach(shape, &self.path).map(|_| ())
    }

    /// Holds only if the field always has the value that the inverse writes.
    fn lossless(&self, shape: &Shape, _container: usize) -> Result<(), Obstacle> {
        let (path, restore) = (&self.path, self.inverse.value());
        if never_exists(shape, path) {
            return if restore.is_none() { Ok(()) } else { lost(format!("`{path}` would be added although it was never set")) };
        }
        let only = declared(shape, path).is_some_and(|child| {
            let single = only_listed(child).is_some_and(|values| values.len() == 1 && values.first() == restore);
            single && !child.nullable && (always_exists(shape, path) || child.default.as_ref() == restore)
        });
        if only { Ok(()) } else { lost(format!("the value of `{path}` is dropped")) }
    }

    fn restores_exactly(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.path) || always_exists(shape, &self.path)
    }

    fn never_fails(&self, _shape: &Shape, _container: usize, _conflict: Conflict) -> Result<(), String> {
        Ok(())
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.path)
    }

    fn drops_field(&self) -> bool {
        matches!(self.inverse, Inverse::Add(_))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{PRESERVE, because, both_ways, check_laws};

    #[test]
    fn lost_values_are_preserved() {
        both_ways("- drop: {path: spec.ref.ns}", PRESERVE, json!({"ref": {"n": 1, "ns": "x"}}), json!({"ref": {"n": 1}}));
        both_ways("- drop: {path: spec.ref.ns, restore: d}", PRESERVE, json!({"ref": {"n": 1}}), json!({"ref": {"n": 1}}));
    }

    #[test]
    fn dropped_and_added_values() {
        let (old, new) = ("{a: {type: string}, k: {type: string}}", "{k: {type: string}}");
        let laws = check_laws(old, new, "- drop: {path: spec.a}", "", "ppxppp");
        assert!(because(&laws.returns).starts_with("`spec.a` is lost"));
        check_laws(old, new, "- drop: {path: spec.a}", "preserve: {annotation: shop.example.com/kept}", "pppppp");
        // Without a step, the server prunes the field anyway.
        check_laws(old, new, "", "", "ppxppp");
        let laws = check_laws(new, old, "- add: {path: spec.a}", "", "pppxpp");
        assert!(because(&laws.returns_back).starts_with("`spec.a` is lost"));
        check_laws(new, old, "- add: {path: spec.a}", "preserve: {annotation: shop.example.com/kept}", "pppppp");
    }
}
