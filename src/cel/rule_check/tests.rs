use serde_json::{Value, json};

use super::*;
use crate::testing::shape;

/// The rules with errors, each with the field that the server reports.
fn members(schema: &Value) -> Vec<String> {
    let shape = shape(schema);
    let sites = check_rules(&shape, &StoredExpressions::default());
    let errors = sites.iter().flat_map(|site| site.rules.iter().flat_map(|rule| &rule.errors).map(move |error| (site, error)));
    errors.map(|(site, error)| format!("{} {}", site.site.path, member(error))).collect()
}

fn member(error: &CelRuleError) -> &'static str {
    match error {
        CelRuleError::Rule(_) | CelRuleError::Uncorrelated { .. } | CelRuleError::RuleCost { .. } => "rule",
        CelRuleError::Message(_) | CelRuleError::MessageCost { .. } => "messageExpression",
        CelRuleError::OptionalOldSelfUnused => "optionalOldSelf",
        CelRuleError::Untyped => "",
    }
}

fn ruled(mut schema: Value, rule: Value) -> Value {
    schema["x-kubernetes-validations"] = json!([rule]);
    schema
}

fn under(property: Value) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"f": property}}}})
}

#[test]
fn transition_rules_have_their_places() {
    let immutable = || json!({"rule": "self == oldSelf"});
    let item = ruled(json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string", "maxLength": 5}}}), immutable());
    let list = |list_type: Value| {
        under(
            json!({"type": "array", "maxItems": 5, "items": item, "x-kubernetes-list-type": list_type, "x-kubernetes-list-map-keys": ["k"]}),
        )
    };
    assert!(members(&list(json!("map"))).is_empty());
    assert_eq!(members(&list(json!("atomic"))), ["spec.f[] rule"]);
    assert_eq!(members(&list(json!(null))), ["spec.f[] rule"]);
    let map = under(json!({"type": "object", "maxProperties": 5, "additionalProperties": item}));
    assert!(members(&map).is_empty());
    let unused = under(ruled(json!({"type": "string"}), json!({"rule": "self != ''", "optionalOldSelf": false})));
    assert_eq!(members(&unused), ["spec.f optionalOldSelf"]);
}

#[test]
fn costs_multiply_and_add_up() {
    let matching = json!({"rule": "self.matches('^[a-z]+$')"});
    let strings = |max_items: Value, max_length: Value| {
        under(
            json!({"type": "array", "maxItems": max_items, "items": ruled(json!({"type": "string", "maxLength": max_length}), matching.clone())}),
        )
    };
    assert!(members(&strings(json!(100), json!(100))).is_empty());
    assert_eq!(members(&strings(json!(null), json!(100))), ["spec.f[] rule"]);
    assert_eq!(members(&strings(json!(100), json!(null))), ["spec.f[] rule"]);
    let costly = under(ruled(json!({"type": "array", "items": {"type": "integer"}}), json!({"rule": "self.all(x, self.all(y, x <= y))"})));
    assert_eq!(members(&costly), ["spec.f rule"]);
    let message = json!({"rule": "self.size() < 5", "messageExpression": "self.all(x, self.all(y, x <= y)) ? 'a' : 'b'"});
    let talkative = under(ruled(json!({"type": "array", "items": {"type": "integer"}}), message));
    assert_eq!(members(&talkative), ["spec.f messageExpression"]);
}

#[test]
fn nested_rules_see_the_same_types_as_outer_ones() {
    let unknown = |more: Value| {
        let mut schema = json!({"type": "object", "properties": {"a": {"x-kubernetes-preserve-unknown-fields": true, "properties": {
            "b": ruled(json!({"type": "string", "maxLength": 5}), json!({"rule": "self == 'x'"}))
        }}}});
        schema["x-kubernetes-validations"] = more;
        under(schema)
    };
    assert!(members(&unknown(json!([]))).is_empty());
    assert_eq!(members(&unknown(json!([{"rule": "true"}]))), ["spec.f.a.b "]);
    let embedded = |rule: &str, above: Value| {
        let labels = json!({"type": "object", "maxProperties": 5, "additionalProperties": {"type": "string"}});
        let metadata = ruled(json!({"type": "object", "properties": {"labels": labels}}), json!({"rule": rule}));
        let mut schema = json!({"type": "object", "x-kubernetes-embedded-resource": true, "properties": {"metadata": metadata}});
        schema["x-kubernetes-validations"] = above;
        under(schema)
    };
    let (labels, name) = ("self.labels.size() > 0", "has(self.name)");
    assert!(members(&embedded(labels, json!([]))).is_empty());
    assert_eq!(members(&embedded(labels, json!([{"rule": "true"}]))), ["spec.f.metadata rule"]);
    assert_eq!(members(&embedded(name, json!([]))), ["spec.f.metadata rule"]);
    assert!(members(&embedded(name, json!([{"rule": "true"}]))).is_empty());
}

#[test]
fn properties_of_maps_and_lists_count_as_often_as_their_elements() {
    let matched = || ruled(json!({"type": "string", "maxLength": 1000}), json!({"rule": "self.matches('^a+$')"}));
    let with = |mut schema: Value| {
        schema["properties"] = json!({"a": matched()});
        under(schema)
    };
    assert!(members(&with(json!({"type": "object"}))).is_empty());
    assert_eq!(members(&with(json!({"type": "object", "additionalProperties": true})))[..1], ["spec.f.a rule"]);
    assert!(members(&with(json!({"type": "object", "additionalProperties": true, "maxProperties": 2}))).is_empty());
    assert_eq!(members(&with(json!({"type": "array", "items": {"type": "string"}})))[..1], ["spec.f.a rule"]);
}

#[test]
fn rules_that_do_not_compile_do_not_use_old_self() {
    let broken = json!({"rule": "nope == oldSelf", "optionalOldSelf": true});
    assert_eq!(members(&under(ruled(json!({"type": "string"}), broken))), ["spec.f rule", "spec.f optionalOldSelf"]);
}

#[test]
fn rules_need_a_type() {
    assert_eq!(members(&under(ruled(json!({"x-kubernetes-preserve-unknown-fields": true}), json!({"rule": "true"})))), ["spec.f "]);
    assert!(members(&under(ruled(json!({"x-kubernetes-int-or-string": true}), json!({"rule": "self == 1"})))).is_empty());
    let root = ruled(json!({"type": "object"}), json!({"rule": "self.metadata.name.size() < 9 && self.kind != ''"}));
    assert!(members(&root).is_empty());
}

#[test]
fn items_and_values_take_the_elements_of_the_type_around_them() {
    let ruled_value = |rule: &str| ruled(json!({"type": "object", "properties": {"a": {"type": "string"}}}), json!({"rule": rule}));
    let below = |mut schema: Value| {
        schema["x-kubernetes-validations"] = json!([{"rule": "true"}]);
        members(&under(schema))
    };
    let values = |rule: &str| json!({"type": "array", "items": {"type": "string"}, "additionalProperties": ruled_value(rule)});
    assert_eq!(below(values("has(self.a)")), ["spec.f{} rule"]);
    assert!(below(values("self == ''")).is_empty());
    assert_eq!(below(json!({"type": "string", "additionalProperties": ruled_value("true")})), ["spec.f{} "]);
    assert_eq!(below(json!({"type": "object", "items": ruled_value("true")})), ["spec.f[] "]);
    assert!(members(&under(json!({"type": "string", "additionalProperties": ruled_value("has(self.a)")}))).is_empty());
}
