//! How the work of a comparison grows with its input, measured in conditions of the budget.

use serde_json::{Value, json};

use crate::compare::{Budget, order_roots};
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
