//! Generates valid bodies (objects without apiVersion, kind and metadata) for the root schema of a resource, deterministically.

use std::rc::Rc;

use serde_json::Value;

use crate::model::number::as_sent;
use crate::model::relation::Search;
use crate::model::schema::shape::{CountRange, Extra, Type};
use crate::model::schema::{Shape, is_meta};
use crate::model::{FieldPath, PathStep};

use super::Budget;
use super::solver::{Formula, Goal, Pin, PinTarget, Preference, Solver};

/// The most objects that [`around`] generates.
const MAX_AROUND: usize = 600;
/// Which part of the work of a comparison the search for them may take.
const AROUND_PART: usize = 10;
/// Which part of it the searches for all schemas together may take.
const ALL_AROUND_PART: usize = 6;
/// Larger sizes are not generated.
const MAX_SIZE: u64 = 200;

/// The smallest body that the schema accepts, if one was found.
pub fn smallest(root: &Shape) -> Option<Value> {
    BodyMaker::new(root, Preference::Small, &Budget::shared()).make(None)
}

/// A body with every field that can be set.
pub fn filled(root: &Shape) -> Option<Value> {
    filled_within(root, &Budget::shared())
}

pub(super) fn filled_within(root: &Shape, budget: &Budget) -> Option<Value> {
    BodyMaker::new(root, Preference::Full, budget).make(None)
}

/// The smallest body with this value at a path; a list on the path gets one item, a map one key.
pub fn embed(root: &Shape, path: &FieldPath, value: &Value) -> Option<Value> {
    embed_within(root, path, value, &Budget::of_each())
}

pub(super) fn embed_within(root: &Shape, path: &FieldPath, value: &Value, budget: &Budget) -> Option<Value> {
    let pin = Pin { steps: path.steps(), target: PinTarget::Value(value) };
    BodyMaker::new(root, Preference::Small, budget).make(Some(pin))
}

/// Bodies at the boundaries of the schema: each field at its minimum and maximum, each enum value, each count, omitted fields and
/// null fields. At most `MAX_AROUND`, and fewer for a schema of thousands of fields, for which each takes long, and if the work is
/// shared by many schemas.
pub fn around(root: &Shape, share: usize) -> Vec<Value> {
    let mut wishes = Vec::new();
    collect(root, &FieldPath::root(), &mut wishes);
    let mut maker = BodyMaker::new(root, Preference::Small, &Budget::shared().part(AROUND_PART.max(share.saturating_mul(ALL_AROUND_PART))));
    let mut bodies: Vec<Value> = Vec::new();
    let full = filled(root);
    let pinned = wishes.iter().filter_map(|wish| {
        let target = match &wish.what {
            What::Meets(formula) => PinTarget::Meets(formula),
            What::Missing => PinTarget::Missing,
            What::Null => PinTarget::Null,
        };
        maker.make(Some(Pin { steps: wish.path.steps(), target }))
    });
    for body in full.into_iter().chain(smallest(root)).chain(pinned) {
        if !bodies.contains(&body) {
            bodies.push(body);
        }
        if bodies.len() >= MAX_AROUND {
            break;
        }
    }
    bodies
}

/// One solver for many bodies of one schema.
pub(super) struct BodyMaker<'s> {
    solver: Solver<'s>,
    goal: Goal<'s>,
}

impl<'s> BodyMaker<'s> {
    pub(super) fn new(root: &'s Shape, preference: Preference, budget: &Budget) -> Self {
        BodyMaker::with(Solver::new(preference, budget), root)
    }

    pub(super) fn with(solver: Solver<'s>, root: &'s Shape) -> Self {
        BodyMaker { solver: solver.with_roots(&[root]), goal: Goal::of(root, true) }
    }

    pub(super) fn make(&mut self, pin: Option<Pin<'s>>) -> Option<Value> {
        self.solver.refill();
        let goal = Goal { pin, ..self.goal.clone() };
        match self.solver.solve(&goal) {
            Search::Found(value) => (self.solver.meets(&goal, &value) == Some(true)).then_some(value),
            Search::Impossible | Search::Undecided(_) => None,
        }
    }
}

/// Something that a body should contain.
struct Wish {
    path: FieldPath,
    what: What,
}

enum What {
    Meets(Rc<Formula>),
    Missing,
    Null,
}

/// Collects the boundaries of a node and of everything below it.
fn collect(shape: &Shape, path: &FieldPath, wishes: &mut Vec<Wish>) {
    if wishes.len() >= 4 * MAX_AROUND {
        return;
    }
    if !path.is_root() {
        let mut wish = |what| wishes.push(Wish { path: path.clone(), what });
        own(shape).into_iter().for_each(|formula| wish(What::Meets(Rc::new(formula))));
        if matches!(path.steps().last(), Some(PathStep::Key(_))) {
            wish(What::Missing);
        }
        if shape.nullable {
            wish(What::Null);
        }
    }
    for (path, child) in shape.children_at(path).filter(|(at, _)| !path.is_root() || !at.head().is_some_and(is_meta)) {
        collect(child, &path, wishes);
    }
}

/// The values that the keywords of a node make worth trying.
fn own(shape: &Shape) -> Vec<Formula> {
    let mut wanted = Vec::new();
    let values = shape.enum_values.iter().flatten().filter(|value| !value.is_null());
    wanted.extend(values.take(16).cloned().map(Formula::Equals));
    let number = shape.int_or_string || matches!(shape.ty, Some(Type::Integer | Type::Number));
    if number {
        let bounds = [shape.bounds.minimum, shape.bounds.maximum].into_iter().flatten();
        for bound in bounds.flat_map(|bound| [bound - 1.0, bound, bound + 1.0]).chain([0.0, 1.0]) {
            wanted.push(Formula::Equals(as_sent(bound)));
        }
    }
    let counted = match shape.ty {
        Some(Type::String) => Some(shape.length),
        Some(Type::Array) => Some(shape.item_count),
        Some(Type::Object) if matches!(shape.extra, Extra::Values(_) | Extra::Any) => Some(shape.property_count),
        _ => None,
    };
    if let Some(CountRange { min, max }) = counted {
        let high = max.filter(|max| *max <= MAX_SIZE);
        for size in [Some(min), Some(min.saturating_add(1)), high].into_iter().flatten() {
            wanted.push(Formula::All(vec![Rc::new(Formula::MinSize(size)), Rc::new(Formula::MaxSize(size))]));
        }
    }
    if shape.ty == Some(Type::Boolean) {
        wanted.extend([Formula::Equals(false.into()), Formula::Equals(true.into())]);
    }
    if wanted.is_empty() {
        wanted.push(Formula::Const(true));
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::shape;

    #[test]
    fn whole_numbers_are_generated_as_clients_send_them() {
        let number = serde_json::json!({"type": "number", "minimum": 2, "maximum": 2.5, "exclusiveMaximum": true, "multipleOf": 2});
        let root = shape(&serde_json::json!({"type": "object", "properties": {"x": number}}));
        // The server compares integers with a truncated bound, so it refuses 2.
        assert_eq!(around(&root, 1), [serde_json::json!({})]);
    }

    #[test]
    fn a_body_with_every_field_takes_no_more_than_its_budget() {
        let rules: Vec<_> = (0..50).map(|rule| serde_json::json!({"rule": format!("self.a < {rule} || self.b > {rule}")})).collect();
        let fields = serde_json::json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
        let root = shape(&serde_json::json!({"type": "object", "properties": fields, "x-kubernetes-validations": rules}));
        assert!(filled(&root).is_some());
        assert_eq!(filled_within(&root, &Budget::shared().part(usize::MAX)), None);
    }
}
