use serde_json::{Value, json};

use super::{accepted, equal, refused, sat, unsat};

fn integer(more: Value) -> Value {
    let mut schema = json!({"type": "integer"});
    schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    schema
}

#[test]
fn any_of_fails_where_all_its_clauses_fail() {
    let either = json!({"type": "string", "anyOf": [{"maxLength": 2}, {"pattern": "^a"}]});
    let text = sat(refused(&json!({"type": "string"}), &either));
    let text = text.as_str().unwrap();
    assert!(text.chars().count() > 2 && !text.starts_with('a'), "{text}");
    unsat(refused(&either, &json!({"type": "string"})));
}

#[test]
fn one_of_fails_where_two_clauses_hold_or_none() {
    let clauses = json!([{"minimum": 0}, {"maximum": 10}]);
    let both = sat(refused(&integer(json!({"anyOf": clauses})), &integer(json!({"oneOf": clauses})))).as_i64().unwrap();
    assert!((0..=10).contains(&both), "{both}");
    let gap = json!([{"minimum": 10}, {"maximum": 0}]);
    equal(&integer(json!({"anyOf": gap})), &integer(json!({"oneOf": gap})));
    let none = sat(refused(&integer(json!({})), &integer(json!({"oneOf": gap})))).as_i64().unwrap();
    assert!((1..10).contains(&none), "{none}");
}

#[test]
fn not_negates_conditions() {
    equal(&integer(json!({"minimum": 3})), &integer(json!({"not": {"not": {"minimum": 3}}})));
    equal(&integer(json!({"minimum": 3})), &integer(json!({"not": {"maximum": 2}})));
    assert_eq!(sat(refused(&json!({"type": "string"}), &json!({"type": "string", "not": {"enum": ["a"]}}))), json!("a"));
    // De Morgan.
    equal(
        &integer(json!({"not": {"anyOf": [{"minimum": 5}, {"multipleOf": 2}]}})),
        &integer(json!({"allOf": [{"not": {"minimum": 5}}, {"not": {"multipleOf": 2}}]})),
    );
}

#[test]
fn contradictions_show_across_clauses() {
    unsat(accepted(&integer(json!({"minimum": 5, "anyOf": [{"maximum": 3}, {"maximum": 4}]}))));
    unsat(accepted(&integer(json!({"allOf": [{"minimum": 5}], "not": {"minimum": 4}}))));
    let fields = json!({"a": {"type": "integer"}, "b": {"type": "integer"}});
    let only = |one_of: Value| json!({"type": "object", "properties": fields, "oneOf": one_of});
    let found = sat(accepted(&only(json!([{"required": ["a"]}, {"required": ["b"]}]))));
    assert!(found.get("a").is_some() != found.get("b").is_some(), "{found}");
    unsat(accepted(&only(json!([{"required": ["a"]}, {"required": ["a"]}]))));
}

#[test]
fn many_alternatives_are_fine() {
    let digits: Vec<Value> = (0..40).map(|digit| json!({"enum": [digit]})).collect();
    equal(&integer(json!({"anyOf": digits})), &integer(json!({"minimum": 0, "maximum": 39})));
}

#[test]
fn a_contradiction_is_found_among_many_conditions() {
    let properties: serde_json::Map<String, Value> = (0..300).map(|number| (format!("f{number}"), json!({"type": "string"}))).collect();
    let required: Vec<String> = (0..300).map(|number| format!("f{number}")).collect();
    let object = |not: &[&str]| json!({"type": "object", "properties": properties, "required": required, "not": {"required": not}});
    for name in ["f0", "f63", "f64", "f150", "f299"] {
        unsat(accepted(&object(&[name])));
    }
    sat(accepted(&object(&["other"])));
}
