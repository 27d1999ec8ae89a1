//! Small pairs of schemas with a known verdict, chosen because comparing keywords alone gets them wrong.

use crdwise::{Book, Class, DEFAULT_POLICY, Documents, Judgement, Policy, Report, Side, review};
use serde_json::{Value, json};

fn crd(spec: &Value) -> String {
    let root = if spec.get("root").is_some() { spec["root"].clone() } else { json!({"type": "object", "properties": {"spec": spec}}) };
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": root}});
    let names = json!({"plural": "widgets", "kind": "Widget"});
    let spec = json!({"group": "shop.example.com", "names": names, "scope": "Namespaced", "versions": [version]});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
           "metadata": {"name": "widgets.shop.example.com"}, "spec": spec})
    .to_string()
}

fn report(old: &str, new: &str) -> Report {
    let (old, new) = (Documents::of_text("old.json", old), Documents::of_text("new.json", new));
    let policy = Policy::find(DEFAULT_POLICY).unwrap();
    review(&Side::new("old", &old), &Side::new("new", &new), &Judgement::new(Book::builtin(), &policy))
}

fn verdict(old: &Value, new: &Value) -> Class {
    report(&crd(old), &crd(new)).verdict.unwrap()
}

fn check(cases: &[(&str, Value, Value, Class)]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|(name, old, new, expected)| {
            let said = verdict(old, new);
            (said != *expected).then(|| format!("{name}: {said}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn with(mut schema: Value, more: Value) -> Value {
    schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    schema
}

fn rules(texts: &[&str]) -> Value {
    json!({"x-kubernetes-validations": texts.iter().map(|text| json!({"rule": text, "message": "a rule"})).collect::<Vec<_>>()})
}

const BREAKS: Class = Class::SemanticBreaking;

#[test]
fn a_rule_that_now_runs_on_create_refuses_more() {
    let number = |rule: &str| object(json!({"n": with(json!({"type": "integer"}), rules(&[rule]))}));
    let texts = |list: &[&str]| with(object(json!({"x": {"type": "string"}, "b": {"type": "string"}})), rules(list));
    check(&[
        ("oldSelf goes", number("self >= oldSelf && self >= 3"), number("self >= 3"), BREAKS),
        (
            "its other half runs alone",
            texts(&["self.b == oldSelf.b && has(self.x)"]),
            texts(&["self.b == oldSelf.b", "has(self.x)"]),
            BREAKS,
        ),
    ]);
}

#[test]
fn fields_read_by_a_rule_may_be_absent() {
    let text = json!({"type": "string"});
    let inner = with(object(json!({"y": text})), json!({"required": ["y"]}));
    let outer = |rule: &str| with(object(json!({"s": text, "x": inner})), with(json!({"required": ["s"]}), rules(&[rule])));
    let nested = |more: Value| object(json!({"a": {"type": "integer"}, "o": object(with(json!({"x": text}), more))}));
    let guarded = rules(&["!has(self.o.nw) || self.o.nw > 3"]);
    let named = |rule: &str| with(object(json!({"a": text, "b": text})), with(json!({"required": ["b"]}), rules(&[rule])));
    check(&[
        (
            "a required part of an optional object",
            outer("self.s.indexOf('a') >= 0"),
            outer("has(self.x.y) && self.s.indexOf('a') >= 0"),
            BREAKS,
        ),
        ("a new field of an optional object", nested(json!({})), with(nested(json!({"nw": {"type": "integer"}})), guarded), BREAKS),
        ("a name in a string", named("self.b.startsWith('self.a')"), named("self.b.startsWith('self.a') && has(self.a)"), BREAKS),
        ("a guard", named("self.b.indexOf('a') >= 0"), named("has(self.a) ? self.b.indexOf('a') >= 0 : true"), Class::Additive),
    ]);
}

#[test]
fn a_resource_has_more_than_it_declares() {
    let embedded = |properties: Value, more: Value| {
        let node = with(object(with(json!({"d": {"type": "integer"}}), properties)), json!({"x-kubernetes-embedded-resource": true}));
        object(json!({"e": with(node, more)}))
    };
    let plain = || embedded(json!({}), json!({}));
    let kind = || embedded(json!({"kind": {"type": "string", "enum": ["Y"]}}), json!({}));
    let metadata = |more: Value| embedded(json!({"metadata": with(json!({"type": "object"}), more)}), json!({}));
    let short = || json!({"properties": {"name": {"type": "string", "maxLength": 3}}});
    let root =
        |more: Value| json!({"root": object(json!({"metadata": with(json!({"type": "object"}), more), "spec": {"type": "object"}}))});
    check(&[
        ("a kind is demanded", plain(), kind(), BREAKS),
        ("no longer", kind(), plain(), Class::Additive),
        ("names are bounded", plain(), metadata(short()), BREAKS),
        ("labels are demanded", plain(), metadata(json!({"required": ["labels"]})), BREAKS),
        ("only declared", plain(), metadata(json!({})), Class::None),
        ("its own keys count", plain(), embedded(json!({}), json!({"maxProperties": 3})), BREAKS),
        ("those of metadata, too", metadata(json!({})), metadata(json!({"maxProperties": 1})), BREAKS),
        ("the object's own name", root(json!({})), root(short()), BREAKS),
        ("and back", root(short()), root(json!({})), Class::Additive),
    ]);
}

#[test]
fn waivers_do_not_extend_to_other_keywords_or_channels() {
    let prints = |report: &Report, rule: &str| -> Vec<String> {
        report.findings.iter().filter(|finding| finding.rule == rule).map(|finding| finding.fingerprint.clone()).collect()
    };
    let number = |more: Value| crd(&object(json!({"n": with(json!({"type": "integer"}), more)})));
    let bounded = report(&number(json!({})), &number(json!({"minimum": 0, "maximum": 9})));
    let [low, high] = prints(&bounded, "bound-narrowed").try_into().unwrap();
    assert_ne!(low, high);
    // Values are part of it: accepting one bound doesn't accept a stricter one.
    let of_minimum = |minimum: u8| prints(&report(&number(json!({})), &number(json!({"minimum": minimum}))), "bound-narrowed");
    assert_eq!(of_minimum(5), of_minimum(5));
    assert_ne!(of_minimum(5), of_minimum(6));
    let channels = |fields: [Value; 2]| {
        let one = |channel: &str, fields: Value| {
            let mut crd: Value = serde_json::from_str(&crd(&object(fields))).unwrap();
            crd["metadata"]["annotations"] = json!({"shop.example.com/channel": channel, "shop.example.com/bundle-version": "v1.0.0"});
            crd
        };
        let [standard, experimental] = fields;
        json!({"apiVersion": "v1", "kind": "List", "items": [one("standard", standard), one("experimental", experimental)]}).to_string()
    };
    let (whole, less) = (json!({"a": {"type": "string"}, "b": {"type": "string"}}), json!({"a": {"type": "string"}}));
    let gone = report(&channels([whole.clone(), whole]), &channels([less.clone(), less]));
    let [standard, experimental] = prints(&gone, "field-removed").try_into().unwrap();
    assert_ne!(standard, experimental);
}

#[test]
fn a_crd_that_preserves_as_a_whole_prunes_nothing() {
    let kept = json!({"x-kubernetes-preserve-unknown-fields": true});
    let text = json!({"type": "string"});
    let crd = |api: &str, open: bool, root: &Value| {
        let mut crd: Value = serde_json::from_str(&crd(&json!({"root": root}))).unwrap();
        crd["apiVersion"] = format!("apiextensions.k8s.io/{api}").into();
        crd["spec"]["preserveUnknownFields"] = open.into();
        crd.to_string()
    };
    let root = |spec: Value| object(json!({"spec": spec}));
    let (one, two) = (root(object(json!({"a": text}))), root(object(json!({"a": text, "b": text}))));
    let spelled_out = with(root(with(object(json!({"a": text})), kept.clone())), kept.clone());
    let cases = [
        ("a field that is declared now", ("v1", true, &one), ("v1", true, &two), BREAKS, "field-added-under-preserve"),
        ("in v1beta1", ("v1beta1", true, &one), ("v1beta1", true, &two), BREAKS, "field-added-under-preserve"),
        ("a field that is declared no more", ("v1", true, &two), ("v1", true, &one), BREAKS, "field-removed-under-preserve"),
        ("pruning begins", ("v1beta1", true, &one), ("v1", false, &one), BREAKS, "unknown-fields-pruned"),
        ("said node by node", ("v1beta1", true, &one), ("v1", false, &spelled_out), Class::None, "crd-api-changed"),
        ("and back", ("v1", false, &spelled_out), ("v1", true, &one), Class::None, "schema-rewritten"),
    ];
    for (name, old, new, class, rule) in cases {
        let report = report(&crd(old.0, old.1, old.2), &crd(new.0, new.1, new.2));
        let told: Vec<&str> = report.findings.iter().map(|finding| &*finding.rule).collect();
        assert_eq!(report.verdict, Some(class), "{name}: {told:?}");
        assert!(told.contains(&rule), "{name}: {told:?}");
    }
}

#[test]
fn redundant_rules_are_no_change() {
    let number = |more: Value| object(json!({"n": with(json!({"type": "integer", "minimum": 0, "maximum": 100}), more)}));
    check(&[
        ("beyond the bounds", number(json!({})), number(rules(&["self >= -5"])), Class::None),
        ("the bound itself", number(json!({})), number(rules(&["self >= 0"])), Class::None),
        ("a wider one", number(rules(&["self >= 0"])), number(rules(&["self >= -1"])), Class::None),
        ("nothing at all", number(json!({})), number(rules(&["true"])), Class::None),
        ("something", number(json!({})), number(rules(&["self >= 1"])), BREAKS),
    ]);
}

#[test]
fn a_default_that_is_always_refused_breaks() {
    let list = |default: Value| json!({"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}, "default": default});
    let item = |default: Value| object(json!({"l": {"type": "array", "items": {"type": "string", "nullable": true, "default": default}}}));
    let none = object(json!({}));
    check(&[
        ("an item twice", none.clone(), object(json!({"l": list(json!(["a", "a"]))})), BREAKS),
        ("each once", none.clone(), object(json!({"l": list(json!(["a", "b"]))})), Class::Additive),
        ("neither", none, object(json!({"p": {"x-kubernetes-int-or-string": true, "default": true}})), BREAKS),
        ("of items that may be null", item(json!("a")), item(json!("b")), Class::None),
    ]);
}

#[test]
fn many_keys_are_counted_like_few() {
    let map = |more: Value| object(json!({"m": with(json!({"type": "object", "additionalProperties": {"type": "integer"}}), more)}));
    let kept = |more: Value| object(json!({"m": with(json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}), more)}));
    let value = |least: u64, most: i64| {
        object(json!({"m": {"type": "object", "minProperties": least, "additionalProperties": {"type": "integer", "maximum": most}}}))
    };
    let least = |n: u64| json!({"minProperties": n});
    let most = |n: u64| json!({"maxProperties": n});
    check(&[
        ("fewer", map(most(100)), map(most(99)), BREAKS),
        ("more", map(most(100)), map(most(101)), Class::Additive),
        ("at least more", map(least(100)), map(least(101)), BREAKS),
        ("at least fewer", map(least(101)), map(least(100)), Class::Additive),
        ("undeclared ones", kept(most(100)), kept(most(90)), BREAKS),
        ("many values", value(100, 9), value(100, 8), BREAKS),
        ("more than are tried", map(most(100_000)), map(most(99_999)), BREAKS),
        ("counted by a rule", map(most(500)), map(with(most(500), rules(&["size(self) <= 400"]))), BREAKS),
        ("by another", map(with(most(500), rules(&["size(self) <= 100"]))), map(with(most(500), rules(&["size(self) <= 90"]))), BREAKS),
        ("by none", map(with(most(500), rules(&["size(self) <= 100"]))), map(most(500)), Class::Additive),
        ("that says nothing", map(most(500)), map(with(most(500), rules(&["size(self) <= 500"]))), Class::None),
    ]);
}

#[test]
fn one_item_may_be_enough() {
    let text = json!({"type": "string", "maxLength": 9});
    let list = |kind: Value, items: Value, texts: &[&str]| {
        let list = with(json!({"type": "array", "maxItems": 5, "items": items}), kind);
        with(object(json!({"l": list, "m": {"type": "string"}})), rules(texts))
    };
    let set = |texts: &[&str]| list(json!({"x-kubernetes-list-type": "set"}), text.clone(), texts);
    let item = json!({"type": "object", "required": ["name"], "properties": {"name": text}});
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    let map = |texts: &[&str]| list(keyed.clone(), item.clone(), texts);
    check(&[
        ("another item", set(&["'a' in self.l"]), set(&["'b' in self.l"]), BREAKS),
        ("a field beside it", set(&["'a' in self.l"]), set(&["'a' in self.l", "has(self.m)"]), BREAKS),
        ("of a keyed list", map(&["self.l.exists(x, x.name == 'a')"]), map(&["self.l.exists(x, x.name == 'b')"]), BREAKS),
    ]);
}

#[test]
fn values_of_required_map_keys_are_validated() {
    let map = |values: Value, more: Value| object(json!({"m": with(json!({"type": "object", "additionalProperties": values}), more)}));
    let one = json!({"required": ["d"], "maxProperties": 1});
    let number = |most: i64| json!({"type": "integer", "maximum": most});
    let text = |more: Value| with(json!({"type": "string", "maxLength": 2}), more);
    let named = rules(&["'cpu' in self && self.size() == 1"]);
    check(&[
        ("shorter", map(text(json!({})), one.clone()), map(text(json!({"maxLength": 1})), one.clone()), BREAKS),
        ("by a rule", map(number(9), one.clone()), map(with(number(9), rules(&["self < 3"])), one.clone()), BREAKS),
        ("named by a rule", map(number(9), named.clone()), map(number(5), named), BREAKS),
        ("no nulls", map(text(json!({"nullable": true})), one.clone()), map(text(json!({})), one), BREAKS),
    ]);
}

#[test]
fn a_word_in_a_string_is_not_a_transition() {
    let texts = |text: &str| with(object(json!({"a": {"type": "string"}, "b": {"type": "string"}})), rules(&[text]));
    let old = texts("self.a == 'x' && oldSelf.b == 'c'");
    check(&[
        ("runs on create", old, texts("self.a == 'x' || self.a == 'oldSelf'"), BREAKS),
        ("written otherwise", texts("self.a != 'oldSelf'"), texts("'oldSelf' != self.a"), Class::None),
    ]);
}
