use serde_json::{Value, json};

use super::{accepted, equal, open, pruned, refused, ruled, sat, stored_differently, unsat};

fn map(more: Value) -> Value {
    let mut schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    schema
}

fn keys(value: &Value) -> Vec<&String> {
    value.as_object().unwrap().keys().collect()
}

#[test]
fn keys_are_counted() {
    assert_eq!(keys(&sat(refused(&map(json!({"maxProperties": 3})), &map(json!({"maxProperties": 2}))))).len(), 3);
    assert_eq!(keys(&sat(accepted(&map(json!({"minProperties": 2}))))).len(), 2);
    unsat(accepted(&map(json!({"required": ["a", "b"], "maxProperties": 1}))));
    // Only declared keys are kept, so there are never more of them.
    let declared = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let mut counted = declared.clone();
    counted["maxProperties"] = json!(1);
    equal(&declared, &counted);
}

#[test]
fn more_keys_than_can_be_generated_are_undecided() {
    sat(accepted(&map(json!({"minProperties": 500}))));
    open(accepted(&map(json!({"minProperties": 600}))));
}

#[test]
fn a_key_that_is_pruned_can_not_be_required() {
    unsat(accepted(&json!({"type": "object", "required": ["a"]})));
    sat(accepted(&json!({"type": "object", "required": ["a"], "x-kubernetes-preserve-unknown-fields": true})));
}

#[test]
fn a_default_fulfils_what_is_required() {
    let field = |more: Value| {
        let mut schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    assert_eq!(sat(refused(&field(json!({})), &field(json!({"required": ["a"]})))), json!({}));
    let defaulted = json!({"properties": {"a": {"type": "integer", "default": 1}}, "required": ["a"]});
    unsat(refused(&field(json!({})), &field(defaulted.clone())));
    let stored = sat(stored_differently(&field(json!({})), &field(defaulted)));
    assert!(stored.get("a").is_none_or(Value::is_null), "{stored}");
}

#[test]
fn names_of_keys_follow_the_rules_about_them() {
    let schema = ruled(map(json!({"minProperties": 1})), &["self.all(k, k.matches('^x[0-9]$'))"]);
    let found = sat(accepted(&schema));
    assert!(keys(&found).iter().all(|key| key.len() == 2 && key.starts_with('x')), "{found}");
    // There are only ten such names.
    let found = accepted(&ruled(map(json!({"minProperties": 11})), &["self.all(k, k.matches('^x[0-9]$'))"]));
    assert!(!matches!(found, super::Search::Found(_)), "{found:?}");
}

#[test]
fn a_key_that_one_side_drops_needs_no_allowed_name_there() {
    let map = |values: Value| ruled(json!({"type": "object", "additionalProperties": values}), &["self.exists(k, k != 'x')"]);
    let (defaulted, plain) = (map(json!({"type": "string", "default": "ab"})), map(json!({"type": "string"})));
    // The new side drops the null, and then no key is left.
    let found = sat(refused(&defaulted, &plain));
    assert!(found.as_object().unwrap().iter().all(|(key, value)| key == "x" || value.is_null()), "{found}");
    unsat(refused(&plain, &defaulted));
}

#[test]
fn values_of_a_map_have_their_own_conditions() {
    let values = |most: i64| json!({"type": "object", "additionalProperties": {"type": "integer", "maximum": most}});
    let lost = sat(refused(&values(9), &values(8)));
    assert_eq!(lost.as_object().unwrap().values().collect::<Vec<_>>(), [&json!(9)]);
    unsat(refused(&values(8), &values(9)));
}

#[test]
fn a_removed_field_is_pruned_and_not_refused() {
    let fields = |names: &[&str]| {
        let properties: serde_json::Map<String, Value> = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties})
    };
    unsat(refused(&fields(&["a", "b"]), &fields(&["a"])));
    assert!(sat(pruned(&fields(&["a", "b"]), &fields(&["a"]))).get("b").is_some());
    unsat(pruned(&fields(&["a"]), &fields(&["a", "b"])));
}

#[test]
fn fields_that_must_be_refused_are_decided_first() {
    // The list is too long to be built, but the other field couldn't be refused anyway.
    let fields = |most: i64| {
        let list = json!({"type": "array", "minItems": 6_000, "items": {"type": "integer"}});
        json!({"type": "object", "required": ["list"], "properties": {"list": list, "number": {"type": "integer", "maximum": most}}})
    };
    unsat(refused(&fields(5), &fields(9)));
    open(refused(&fields(9), &fields(5)));
}
