use serde_json::{Value, json};

use super::super::read::{ReadBy, completed, stored};
use super::{pruned, sat, shape, unsat};

/// What is stored, and whether something was lost.
fn kept(schema: Value, value: Value) -> (Value, bool) {
    let shape = shape(&schema);
    let mut lost = false;
    let read = stored(&value, ReadBy::shape_of(&shape), &mut lost);
    (read, lost)
}

#[test]
fn undeclared_keys_are_pruned_and_nulls_dropped() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "string", "nullable": true}}});
    assert_eq!(kept(schema.clone(), json!({"a": "x", "b": 1})), (json!({"a": "x"}), true));
    // A null doesn't count as a lost value.
    assert_eq!(kept(schema.clone(), json!({"a": null, "b": null})), (json!({}), false));
    assert_eq!(kept(schema, json!({"n": null})), (json!({"n": null}), false));
}

#[test]
fn undeclared_keys_are_kept_where_the_schema_says_so() {
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"c": {"type": "object"}}});
    assert_eq!(kept(open.clone(), json!({"b": {"x": [null]}})), (json!({"b": {"x": [null]}}), false));
    // But not below a declared key.
    assert_eq!(kept(open, json!({"c": {"x": 1}})), (json!({"c": {}}), true));
    // `additionalProperties: true` keeps the key and drops the content of objects below it.
    let any = json!({"type": "object", "additionalProperties": true});
    assert_eq!(kept(any, json!({"a": 1, "b": {"x": 1}})), (json!({"a": 1, "b": {}}), true));
}

#[test]
fn an_embedded_resource_keeps_its_metadata() {
    let schema = json!({"type": "object", "x-kubernetes-embedded-resource": true});
    let value = json!({"apiVersion": "v1", "kind": "X", "metadata": {"labels": {"a": "b"}}, "spec": {}});
    let (read, lost) = kept(schema, value);
    assert_eq!((&read["metadata"]["labels"]["a"], read.get("spec"), lost), (&json!("b"), None, true));
}

#[test]
fn defaults_are_set_from_the_outside_in() {
    let inner = json!({"type": "object", "properties": {"b": {"type": "integer", "default": 1}}});
    let outer = |default: Value| {
        let mut inner = inner.clone();
        inner["default"] = default;
        json!({"type": "object", "properties": {"a": inner}})
    };
    assert_eq!(kept(outer(json!({})), json!({})).0, json!({"a": {"b": 1}}));
    assert_eq!(kept(outer(json!({"b": 2})), json!({"a": null})).0, json!({"a": {"b": 2}}));
    assert_eq!(kept(outer(json!({"b": 2})), json!({"a": {}})).0, json!({"a": {"b": 1}}));
    assert_eq!(completed(&json!({}), &shape(&inner)), json!({"b": 1}));
}

#[test]
fn a_null_that_may_be_null_keeps_no_default() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "nullable": true, "default": 1}}});
    assert_eq!(kept(schema.clone(), json!({"a": null})).0, json!({"a": null}));
    assert_eq!(kept(schema, json!({})).0, json!({"a": 1}));
}

#[test]
fn a_search_finds_what_is_pruned() {
    let fields = json!({"a": {"type": "string"}});
    let open = json!({"type": "object", "properties": fields, "x-kubernetes-preserve-unknown-fields": true});
    let closed = json!({"type": "object", "properties": fields});
    let lost = sat(pruned(&open, &closed));
    assert!(lost.as_object().unwrap().keys().any(|key| key != "a"), "{lost}");
    unsat(pruned(&closed, &open));
}
