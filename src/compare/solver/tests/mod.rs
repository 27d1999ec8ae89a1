//! Tests of each part of the solver, with schemas small enough to check by hand.
//!
//! A wrong "there is none" becomes a wrong proof, so every part is also tested with something that it can't decide, which must stay
//! undecided.

mod branch;
mod evaluate;
mod formula;
mod goal_cache;
mod linear;
mod list;
mod numbers;
mod object;
mod part;
mod probe;
mod read;
mod rules;
mod same;
mod scalar;
mod translate;

use serde_json::{Value, json};

use super::*;
use crate::testing::shape;

fn solve(goal: &Goal<'_>) -> Search<Value> {
    Solver::new(Preference::Small, &Budget::of_each()).solve(goal)
}

/// A value that the schema accepts and keeps.
fn accepted(schema: &Value) -> Search<Value> {
    solve(&Goal::of(&shape(schema), false))
}

fn between(old: &Value, new: &Value, accepted: bool, difference: Difference, both_keep: bool) -> Search<Value> {
    let (old, new) = (shape(old), shape(new));
    solve(&Goal {
        views: vec![
            SideView { read_by: ReadBy::shape_of(&old), faithful: true },
            SideView { read_by: ReadBy::shape_of(&new), faithful: both_keep },
        ],
        literals: vec![
            TermLiteral { view: 0, holds: true, term: Term::Node(&old) },
            TermLiteral { view: 1, holds: accepted, term: Term::Node(&new) },
        ],
        difference,
        pin: None,
        root: false,
    })
}

/// A value that the first schema accepts and keeps, and the second refuses.
fn refused(old: &Value, new: &Value) -> Search<Value> {
    between(old, new, false, Difference::None, false)
}

/// A value that both accept, but of which only the first keeps everything.
fn pruned(old: &Value, new: &Value) -> Search<Value> {
    between(old, new, true, Difference::Lost(1), false)
}

/// A value that both accept and keep, and store differently.
fn stored_differently(old: &Value, new: &Value) -> Search<Value> {
    between(old, new, true, Difference::Stored, true)
}

#[track_caller]
fn sat(found: Search<Value>) -> Value {
    match found {
        Search::Found(value) => value,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn unsat(found: Search<Value>) {
    assert!(matches!(found, Search::Impossible), "{found:?}");
}

#[track_caller]
fn open(found: Search<Value>) -> UndecidedReason {
    match found {
        Search::Undecided(reason) => reason,
        other => panic!("{other:?}"),
    }
}

/// Two schemas that accept the same values.
#[track_caller]
fn equal(a: &Value, b: &Value) {
    unsat(refused(a, b));
    unsat(refused(b, a));
}

/// A schema with CEL rules.
fn ruled(mut schema: Value, rules: &[&str]) -> Value {
    schema["x-kubernetes-validations"] = rules.iter().map(|rule| json!({"rule": rule})).collect();
    schema
}

#[test]
fn a_search_without_steps_left_is_undecided() {
    let shape = shape(&json!({"type": "integer"}));
    let goal = Goal::of(&shape, false);
    let mut solver = Solver::new(Preference::Small, &Budget::of_each());
    solver.steps = 1;
    assert_eq!(open(solver.solve(&goal)), UndecidedReason::Budget);
    solver.refill();
    sat(solver.solve(&goal));
}

#[test]
fn kinds_are_those_that_the_server_distinguishes() {
    let kinds = |schema: Value| Kinds::accepted_by(&shape(&schema));
    assert_eq!([json!(2), json!(2.0), json!(u64::MAX)].map(|value| Kind::of(&value)), [Kind::Int, Kind::Float, Kind::Float]);
    assert_eq!(kinds(json!({})), Kinds::ALL);
    assert_eq!(kinds(json!({"x-kubernetes-int-or-string": true})), Kinds::of(&[Kind::Int, Kind::Float, Kind::String]));
    assert_eq!(kinds(json!({"type": "boolean", "nullable": true})), Kinds::of(&[Kind::Bool, Kind::Null]));
    // With a format that it knows, the server doesn't check the type of lists.
    assert_eq!(kinds(json!({"type": "string", "format": "uuid"})), Kinds::of(&[Kind::String, Kind::Array]));
    assert_eq!(kinds(json!({"type": "string", "format": "no-such-format"})), Kinds::of(&[Kind::String]));
    assert_eq!(kinds(json!({"type": "integer", "format": "int32"})), Kinds::of(&[Kind::Int, Kind::Float]));
}

#[test]
fn full_objects_have_every_field_and_small_ones_only_required_fields() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}});
    let shape = shape(&schema);
    let goal = Goal::of(&shape, false);
    let keys = |preference: Preference| sat(Solver::new(preference, &Budget::of_each()).solve(&goal)).as_object().unwrap().len();
    assert_eq!((keys(Preference::Small), keys(Preference::Full)), (1, 2));
}

#[test]
fn a_pinned_value_is_in_the_result() {
    let schema = json!({"type": "object", "properties": {"l": {"type": "array", "items": {"type": "integer", "maximum": 9}}}});
    let shape = shape(&schema);
    let path = crate::model::FieldPath::root().key("l").items();
    let at = |value: &Value| {
        let pin = Some(Pin { steps: path.steps(), target: PinTarget::Value(value) });
        Solver::new(Preference::Small, &Budget::of_each()).solve(&Goal { pin, ..Goal::of(&shape, false) })
    };
    assert_eq!(sat(at(&json!(7))), json!({"l": [7]}));
    unsat(at(&json!(10)));
}

#[test]
fn a_pinned_value_may_have_a_key_that_is_required() {
    let map = |declared: Value| json!({"type": "object", "required": ["a"], "maxProperties": 1, "properties": declared, "additionalProperties": {"type": "integer"}});
    let path = crate::model::FieldPath::root().values();
    let value = json!(7);
    let found = |schema: &Value| {
        let shape = shape(schema);
        let pin = Some(Pin { steps: path.steps(), target: PinTarget::Value(&value) });
        Solver::new(Preference::Small, &Budget::of_each()).solve(&Goal { pin, ..Goal::of(&shape, false) })
    };
    assert_eq!(sat(found(&map(json!({})))), json!({"a": 7}));
    // A declared field isn't one of the other values.
    unsat(found(&map(json!({"a": {"type": "integer"}}))));
}
