//! How the work of a comparison grows with its input, measured in conditions of the budget.

use serde_json::{Value, json};

use crate::compare::solver::{Goal, Pin, PinTarget, Preference, Solver};
use crate::compare::{Budget, order_roots};
use crate::model::PathStep;
use crate::testing::shape;

/// `allOf` with this many choices between two required fields.
fn choices(count: usize) -> Value {
    let fields: serde_json::Map<String, Value> = (0..200).map(|number| (format!("f{number}"), json!({"type": "string"}))).collect();
    let either =
        |number: usize| json!({"anyOf": [{"required": [format!("f{}", 2 * number)]}, {"required": [format!("f{}", 2 * number + 1)]}]});
    json!({"type": "object", "properties": fields, "allOf": (0..count).map(either).collect::<Vec<_>>()})
}

fn work(count: usize) -> usize {
    let budget = Budget::shared();
    order_roots(&shape(&choices(count - 1)), &shape(&choices(count)), &budget);
    budget.spent()
}

#[test]
fn comparisons_are_not_repeated() {
    let (some, more) = (work(25), work(50));
    // Twice as many choices, each checked against twice as much: four times the work, not eight times.
    assert!(some > 100 && more < 6 * some, "{some} and {more} conditions");
}

/// A list with a rule that looks at all combinations of this many items.
fn combined(depth: usize) -> Value {
    let rule = (0..depth).rev().fold("x0 >= 0".to_owned(), |body, level| format!("self.all(x{level}, {body})"));
    json!({"type": "array", "minItems": 6, "maxItems": 6, "items": {"type": "integer"}, "x-kubernetes-validations": [{"rule": rule}]})
}

#[test]
fn rules_that_are_run_count() {
    let run = |depth: usize| {
        let budget = Budget::shared();
        order_roots(&shape(&combined(depth)), &shape(&json!({"type": "array", "maxItems": 5, "items": {"type": "integer"}})), &budget);
        budget.spent()
    };
    let (few, many) = (run(1), run(5));
    assert!(many > few + 1_000, "{few} and {many} steps");
}

#[test]
fn long_rules_are_not_analysed() {
    let long = |last: usize| (0..=last).map(|number| format!("self != 'v{number}'")).collect::<Vec<_>>().join(" && ");
    assert!(crate::compare::limits::analysed(&long(20)).is_some() && crate::compare::limits::analysed(&long(200)).is_none());
}

/// `oneOf` of `oneOf` …, with a different range of integers in each of the 2^depth leaves.
fn exclusive_ranges(depth: u32, first: &mut i64) -> Value {
    if depth == 0 {
        *first += 3;
        return json!({"minimum": *first, "maximum": *first + 1});
    }
    json!({"oneOf": [exclusive_ranges(depth - 1, first), exclusive_ranges(depth - 1, first)]})
}

#[test]
fn thousands_of_choices_do_not_exhaust_the_stack() {
    let number = |first: i64| {
        let mut schema = exclusive_ranges(12, &mut { first });
        schema["type"] = json!("integer");
        shape(&schema)
    };
    let (old, new) = (number(0), number(1));
    let compared = order_roots(&old, &new, &Budget::shared());
    assert_ne!((compared.loses, compared.gains), (Some(false), Some(false)));
}

/// Objects in objects, each with a default that the next one completes, if they have defaults.
fn nested(depth: usize, pattern: &str, defaults: bool) -> Value {
    let leaf = json!({"type": "string", "pattern": pattern});
    (0..depth).fold(leaf, |inner, level| {
        let mut object = json!({"type": "object", "properties": {"b": inner, format!("a{level}"): {"type": "string"}}});
        if defaults {
            object["default"] = json!({});
            object["properties"][format!("a{level}")]["default"] = json!("x");
        }
        object
    })
}

#[test]
fn defaults_that_are_filled_in_count() {
    let run = |defaults: bool| {
        let budget = Budget::shared();
        order_roots(&shape(&nested(30, "^a*$", defaults)), &shape(&nested(30, "^b*$", defaults)), &budget);
        budget.spent()
    };
    let (without, with) = (run(false), run(true));
    // On each of the 30 levels, a default of up to 60 values may be filled in.
    assert!(with > without + 10_000, "{without} and {with} conditions");
}

#[test]
fn fields_that_nothing_is_said_about_cost_nothing() {
    let one_of = |count: usize| {
        let fields: serde_json::Map<String, Value> = (0..count).map(|number| (format!("f{number}"), json!({"type": "string"}))).collect();
        let object = shape(&json!({"type": "object", "properties": fields}));
        let budget = Budget::shared();
        let pin = Some(Pin { steps: &[PathStep::Key("f0".into())], target: PinTarget::Sent });
        let found = Solver::new(Preference::Small, &budget).solve(&Goal { pin, ..Goal::of(&object, false) });
        (found.found(), budget.spent())
    };
    let (sent, work) = one_of(10);
    assert!(sent == Some(json!({"f0": ""})) && work > 0);
    assert_eq!(one_of(1_000), (sent, work));
}
