use serde_json::{Value, json};

use super::super::{Preference, RuleCache, Solver, Term};
use super::{ruled, shape};
use crate::compare::Budget;

fn verdict(schema: &Value, value: &Value) -> Option<bool> {
    Solver::new(Preference::Small, &Budget::of_each()).evaluator().term(&Term::Node(&shape(schema)), value)
}

#[test]
fn unknown_is_neither_true_nor_false() {
    // Go has no lookahead.
    let unknown = json!({"pattern": "(?=a)b"});
    let text = |composition: Value| {
        let mut schema = json!({"type": "string"});
        schema.as_object_mut().unwrap().extend(composition.as_object().unwrap().clone());
        schema
    };
    assert_eq!(verdict(&text(unknown.clone()), &json!("b")), None);
    assert_eq!(verdict(&text(json!({"not": unknown})), &json!("b")), None);
    assert_eq!(verdict(&text(json!({"anyOf": [unknown, {"maxLength": 1}]})), &json!("b")), Some(true));
    assert_eq!(verdict(&text(json!({"anyOf": [unknown, {"minLength": 2}]})), &json!("b")), None);
    assert_eq!(verdict(&text(json!({"allOf": [unknown, {"minLength": 2}]})), &json!("b")), Some(false));
    assert_eq!(verdict(&text(json!({"oneOf": [unknown, {"maxLength": 1}]})), &json!("b")), None);
    assert_eq!(verdict(&text(json!({"oneOf": [unknown, {"maxLength": 1}, {"maxLength": 2}]})), &json!("b")), Some(false));
}

#[test]
fn a_null_is_only_checked_for_nullability() {
    let schema = json!({"type": "integer", "nullable": true, "minimum": 5, "not": {}});
    assert_eq!(verdict(&schema, &json!(null)), Some(true));
    assert_eq!(verdict(&json!({"type": "integer"}), &json!(null)), Some(false));
}

#[test]
fn rules_are_run() {
    let schema = ruled(json!({"type": "string"}), &["self.substring(1) == 'bc'"]);
    assert_eq!(verdict(&schema, &json!("abc")), Some(true));
    assert_eq!(verdict(&schema, &json!("abd")), Some(false));
    let broken = shape(&ruled(json!({"type": "string"}), &["self +"]));
    assert_eq!(RuleCache::within(&Budget::of_each()).verdict(&broken.rules[0], &broken, &json!("a")), None);
}
