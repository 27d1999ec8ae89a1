use serde_json::{Value, json};

use super::super::{Rules, Solver, Taste};
use super::{ruled, shape};
use crate::compare::Budget;
use crate::server::object::{enum_lists, list_type_holds};

fn verdict(schema: &Value, value: &Value) -> Option<bool> {
    Solver::new(Taste::Small, &Budget::of_each()).judge().shape(&shape(schema), value, true)
}

#[test]
fn members_of_an_enum_are_compared_after_conversion() {
    assert!(enum_lists(&json!(65), &json!("A")) && !enum_lists(&json!("A"), &json!(65)));
    assert!(enum_lists(&json!(1.5), &json!(1)) && !enum_lists(&json!(2), &json!(1)));
    assert!(!enum_lists(&json!(null), &json!(null)), "nobody may send a null that an enum lists");
}

#[test]
fn items_of_a_keyed_list_are_told_apart_by_their_keys() {
    let keyed = shape(&json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a", "b"],
        "items": {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}}}}));
    let holds = |items: Value| list_type_holds(keyed.list_type, &keyed.map_keys, items.as_array().unwrap());
    assert!(holds(json!([{"a": "1", "b": "1"}, {"a": "1", "b": "2"}])));
    assert!(!holds(json!([{"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "1", "c": "2"}])));
    assert!(!holds(json!([{"a": "1"}, {"a": "1"}])), "a key that is missing is missing in both");
    assert!(!holds(json!(["x"])), "only objects have keys");
}

#[test]
fn what_is_not_known_is_neither_true_nor_false() {
    // Go has no lookahead.
    let unknown = json!({"pattern": "(?=a)b"});
    let text = |junctors: Value| {
        let mut schema = json!({"type": "string"});
        schema.as_object_mut().unwrap().extend(junctors.as_object().unwrap().clone());
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
fn a_null_is_looked_at_by_nobody_else() {
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
    assert_eq!(Rules::default().verdict(&broken.rules[0], &broken, &json!("a")), None);
}
