//! What gets lost between versions, in addition to the recorded stories of a server.

use crate::find::lint::inspect;
use crate::find::review_context::ReviewContext;
use crate::model::fact::{Effect, Fact, Word};
use crate::model::{Bundle, Documents};
use crate::testing::HEAD;

const FREE: &str = "{type: object, x-kubernetes-preserve-unknown-fields: true}";
const ANYTHING: &str = "{x-kubernetes-preserve-unknown-fields: true}";
const FIELDS: &str = "{type: object, properties: {q: {type: integer}}}";
const NOTHING: [&str; 0] = [];
const STRING: &str = "{type: string}";

fn facts(text: &str) -> Vec<Fact> {
    let documents = Documents::of_text("crd.yaml", text);
    let bundle = Bundle::read(&documents);
    assert!(bundle.problems.is_empty(), "{:?}\n{text}", bundle.problems);
    inspect(&bundle, &ReviewContext::NONE)
}

fn version(name: &str, flags: &str, schema: &str) -> String {
    format!(
        "    - {{name: {name}, {flags}, schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {{type: object, properties: {{o: {schema}}}}}}}}}}}}}\n"
    )
}

/// A CRD with two served versions of `spec.o`; the first is the storage version.
fn two(stored: &str, other: &str) -> String {
    let (stored, other) = (version("v1", "served: true, storage: true", stored), version("v2", "served: true, storage: false", other));
    format!("{HEAD}  versions:\n{stored}{other}")
}

fn lossy(text: &str) -> Vec<String> {
    let facts = facts(text);
    let lossy = facts.iter().filter(|fact| fact.effect == Effect::Lossy);
    // A schema may also be lossy by itself, which is reported without a time.
    lossy.filter_map(|fact| Some(format!("{}@{} {}", fact.aspect, fact.path, fact.words.get(&Word::When)?))).collect()
}

fn losses(stored: &str, other: &str) -> Vec<String> {
    lossy(&two(stored, other))
}

fn list(items: &str) -> String {
    format!("{{type: array, items: {items}}}")
}

fn map(values: &str) -> String {
    format!("{{type: object, additionalProperties: {values}}}")
}

/// An object that preserves unknown fields and declares `x`.
fn with_x(x: &str) -> String {
    format!("{{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {{x: {x}}}}}")
}

#[test]
fn an_embedded_resource_loses_its_metadata_where_it_is_a_plain_object() {
    let plain = "{type: object, properties: {spec: {type: object, properties: {x: {type: integer}}}}}";
    let embedded = plain.replacen("{type", "{x-kubernetes-embedded-resource: true, type", 1);
    let lost = |when: &str| ["apiVersion", "kind", "metadata"].map(|name| format!("presence@spec.o.{name} {when}")).to_vec();
    assert_eq!(losses(plain, &embedded), lost("at once"));
    assert_eq!(losses(&embedded, plain), lost("next write"));
    assert_eq!(losses(&embedded, &embedded), NOTHING);
    let kept = plain.replacen("{type", "{x-kubernetes-preserve-unknown-fields: true, type", 1);
    assert_eq!(losses(&kept, &embedded), NOTHING);
    // Strings have no content.
    assert_eq!(
        losses(&map("true"), &embedded.replacen("{type", "{x-kubernetes-preserve-unknown-fields: true, type", 1))[..1],
        ["properties@spec.o.metadata at once"]
    );
    // The field is declared, but not its content.
    let string = "{type: string}";
    let named = format!(
        "{{type: object, properties: {{apiVersion: {string}, kind: {string}, metadata: {{type: object}}, spec: {{type: object}}}}}}"
    );
    let embedded = named.replacen("{type", "{x-kubernetes-embedded-resource: true, type", 1);
    assert_eq!(losses(&named, &embedded), ["properties@spec.o.metadata at once"]);
}

#[test]
fn objects_are_emptied_where_another_version_has_another_type() {
    assert_eq!(losses(STRING, FIELDS), ["properties@spec.o at once"]);
    assert_eq!(losses(FIELDS, STRING), ["properties@spec.o next write"]);
    assert_eq!(losses(&list(STRING), &list(FIELDS)), ["properties@spec.o[] at once"]);
    assert_eq!(losses(STRING, "{type: object}"), NOTHING);
    assert_eq!(losses(STRING, "{type: integer}"), NOTHING);
    assert_eq!(losses(STRING, ANYTHING), ["properties@spec.o at once"]);
}

#[test]
fn objects_of_a_list_are_emptied_in_the_list() {
    assert_eq!(losses(STRING, &list(FIELDS)), ["properties@spec.o[] at once"]);
    assert_eq!(losses(STRING, &list(&list(FIELDS))), ["properties@spec.o[][] at once"]);
    assert_eq!(losses(FIELDS, &list(FIELDS)), ["properties@spec.o next write", "properties@spec.o[] at once"]);
    assert_eq!(losses(&map("true"), &map(&list(FIELDS))), ["properties@spec.o{}[] at once"]);
}

#[test]
fn an_object_that_keeps_everything_contains_no_lists() {
    assert_eq!(losses(&list(FIELDS), FREE), ["properties@spec.o at once"]);
}

#[test]
fn fields_preserved_by_one_version_are_pruned_by_another() {
    assert_eq!(losses(&with_x(FIELDS), FREE), ["properties@spec.o.x at once"]);
    assert_eq!(losses(&with_x("{type: object}"), FREE), ["properties@spec.o.x at once"]);
    assert_eq!(losses(&with_x(&list(FIELDS)), FREE), ["properties@spec.o.x[] at once"]);
    assert_eq!(losses(&map(FIELDS), FREE), ["properties@spec.o{} at once"]);
    assert_eq!(losses(&map("true"), FREE), ["properties@spec.o{} at once"]);
    assert_eq!(losses(FIELDS, ANYTHING), ["properties@spec.o at once"]);
    assert_eq!(losses(&list(FIELDS), ANYTHING), ["properties@spec.o[] at once"]);
    // A closed object in a closed object: each needs the flag itself.
    let nested = format!("{{type: object, properties: {{x: {FIELDS}}}}}");
    assert_eq!(losses(&nested, FREE), ["properties@spec.o.x at once", "properties@spec.o at once"]);
    assert_eq!(losses(&with_x(&with_x(STRING)), FREE), NOTHING);
    assert_eq!(losses(&map(FREE), FREE), NOTHING);
}

#[test]
fn a_scalar_that_another_version_only_preserves_is_kept() {
    assert_eq!(losses(&with_x(STRING), FREE), NOTHING);
    assert_eq!(losses(&with_x(&list(STRING)), FREE), NOTHING);
    assert_eq!(losses(&map(STRING), FREE), NOTHING);
}

#[test]
fn fields_that_only_the_storage_version_preserves_are_not_reported() {
    for closed in [FIELDS, &with_x(FIELDS), &map(FIELDS), &map("true")] {
        assert_eq!(losses(FREE, closed), NOTHING);
        assert_eq!(losses(ANYTHING, closed), NOTHING);
    }
}

#[test]
fn an_object_that_keeps_nothing_loses_nothing() {
    assert_eq!(losses(&map("true"), &map("{type: object}")), NOTHING);
    assert_eq!(losses(&map("true"), &map(FIELDS)), ["properties@spec.o{} at once"]);
}

#[test]
fn objects_stored_at_an_unserved_version_lose_its_fields() {
    let [had, has] = ["{type: object, properties: {q: {type: integer}, r: {type: integer}}}", FIELDS];
    let crd = |old: &str, new: &str, stored: &str| {
        let [old, new] = [version("v1", "served: false, storage: false", old), version("v2", "served: true, storage: true", new)];
        format!("{HEAD}  versions:\n{old}{new}status: {{storedVersions: {stored}}}\n")
    };
    assert_eq!(lossy(&crd(had, has, "[v1, v2]")), ["presence@spec.o.r next write"]);
    assert_eq!(lossy(&crd(had, has, "[v2]")), NOTHING);
    // Objects written through it never had the field.
    assert_eq!(lossy(&crd(has, had, "[v1, v2]")), NOTHING);
    // Nobody reads or writes through it, so its validation doesn't matter.
    let mixed = |text: &str| facts(text).iter().filter(|fact| fact.effect == Effect::Mixed).count();
    assert_eq!(mixed(&crd(FIELDS, &FIELDS.replace("integer", "string"), "[v1, v2]")), 0);
}

/// What two versions declare differently for `spec.o`, with the certainty.
fn mixed(first: &str, other: &str) -> Vec<String> {
    let facts = facts(&two(first, other));
    let mixed = facts.iter().filter(|fact| fact.effect == Effect::Mixed);
    mixed.map(|fact| format!("{}@{} {}", fact.aspect, fact.path, fact.evidence.certainty.name())).collect()
}

#[test]
fn equivalent_constraints_are_no_difference() {
    let same = [
        ("{type: integer, minimum: 1}", "{type: integer, minimum: 0, exclusiveMinimum: true}"),
        ("{type: string, enum: [a, b]}", "{type: string, enum: [b, a]}"),
        ("{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", "{x-kubernetes-int-or-string: true}"),
        ("{type: string, maxLength: 5}", "{type: string, allOf: [{maxLength: 5}]}"),
        ("{type: string, minLength: 0, pattern: ''}", STRING),
        ("{type: string, format: date-time}", "{type: string, allOf: [{format: date-time}]}"),
    ];
    for (first, other) in same {
        assert_eq!(mixed(first, other), NOTHING, "{first} {other}");
        assert_eq!(mixed(other, first), NOTHING, "{other} {first}");
    }
    assert_eq!(mixed("{type: integer, minimum: 1}", "{type: integer, minimum: 1, exclusiveMinimum: true}"), ["accepted@spec.o proved"]);
    assert_eq!(mixed("{type: string, enum: [a, b]}", "{type: string, enum: [a]}"), ["accepted@spec.o proved"]);
}

#[test]
fn rules_are_compared_by_meaning() {
    let with = |rules: &str| format!("{{type: object, properties: {{q: {{type: integer}}}}, x-kubernetes-validations: [{rules}]}}");
    let rule = with("{rule: self.q > 1, message: m}");
    assert_eq!(mixed(&rule, &with("{rule: self.q > 1, message: n}")), NOTHING);
    assert_eq!(mixed(&rule, &with("{rule: (1 < self.q)}")), NOTHING);
    assert_eq!(mixed(&rule, &with("{rule: self.q > 2}")), ["accepted@spec.o proved"]);
    let transition = |text: &str| with(&format!("{{rule: {text}}}"));
    assert_eq!(mixed(&transition("self.q == oldSelf.q"), &transition("(self.q == oldSelf.q)")), NOTHING);
    assert_eq!(mixed(&transition("self.q == oldSelf.q"), &transition("self.q >= oldSelf.q")), ["accepted@spec.o undecided"]);
}

#[test]
fn defaults_are_compared_once_completed() {
    let with = |default: &str| format!("{{type: object, properties: {{x: {{type: string, default: a}}}}, default: {default}}}");
    assert_eq!(mixed(&with("{}"), &with("{x: a}")), NOTHING);
    assert_eq!(mixed(&with("{}"), &with("{x: b}")), ["default@spec.o proved"]);
}

#[test]
fn the_order_of_map_keys_does_not_matter() {
    let keyed = |keys: &str| {
        format!(
            "{{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: {keys}, items: {{type: object, required: [j, k], properties: {{j: {STRING}, k: {STRING}}}}}}}"
        )
    };
    assert_eq!(mixed(&keyed("[j, k]"), &keyed("[k, j]")), NOTHING);
    assert_eq!(mixed(&keyed("[j, k]"), &keyed("[k]")), ["map-keys@spec.o proved"]);
}

#[test]
fn an_object_without_a_type_is_not_another_type() {
    assert_eq!(mixed(FREE, ANYTHING), ["accepted@spec.o proved"]);
    assert_eq!(mixed(STRING, ANYTHING), ["type@spec.o proved"]);
}
