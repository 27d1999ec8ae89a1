//! What the scale subresource requires in addition to the schema.

use crate::judge::finding::Class;
use crate::model::fact::{Affected, Aspect, Word};
use crate::testing::HEAD;

use super::{facts, judged};

const SCALE: &str = "specReplicasPath: .spec.size, statusReplicasPath: .status.size";

/// A CRD whose `spec` has a field `n` with this schema, and with these paths of its scale subresource.
fn with(paths: &str, n: &str) -> String {
    let scale = if paths.is_empty() { String::new() } else { format!("subresources: {{scale: {{{paths}}}}}, ") };
    let root = format!("{{type: object, properties: {{spec: {{type: object, properties: {{size: {n}}}}}}}}}");
    format!("{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, {scale}schema: {{openAPIV3Schema: {root}}}}}\n")
}

#[track_caller]
fn check(old: (&str, &str), new: (&str, &str), class: Class, rules: &[&str]) {
    let found = judged(&facts(&with(old.0, old.1), &with(new.0, new.1)));
    assert_eq!((found.0, found.1.iter().map(String::as_str).collect::<Vec<_>>()), (class, rules.to_vec()), "{old:?} -> {new:?}");
}

#[test]
fn replicas_it_cannot_read_are_refused_when_it_is_added() {
    let refused = ["{type: integer}", "{type: integer, minimum: 0}", "{type: integer, format: int32}", "{type: string}", "{PUF}"];
    for n in refused.map(|n| n.replace("PUF", "x-kubernetes-preserve-unknown-fields: true")) {
        check(("", &n), (SCALE, &n), Class::SemanticBreaking, &["scale-subresource-narrowed@"]);
        let facts = facts(&with("", &n), &with(SCALE, &n));
        let fact = facts.iter().find(|fact| fact.aspect == Aspect::ScaleSubresource).expect("it came");
        assert!([Affected::Writers, Affected::Stored].iter().all(|&one| fact.affects.contains(one)), "{n}");
        let because = fact.evidence.witness.as_ref().map_or("", |witness| &witness.because);
        assert!(because.starts_with(".spec.size: Invalid value"), "{n}: {:?}", fact.evidence);
        assert_eq!(fact.words.get(&Word::Fields).map(String::as_str), Some("spec.size"));
    }
    let nullable = "{type: integer, nullable: true, minimum: 0, maximum: 5}";
    check(("", nullable), (SCALE, nullable), Class::SemanticBreaking, &["scale-subresource-narrowed@"]);
    for n in
        ["{type: integer, minimum: 0, maximum: 2147483647}", "{type: integer, minimum: 0, format: int32}", "{type: integer, enum: [1, 2]}"]
    {
        check(("", n), (SCALE, n), Class::Additive, &["scale-subresource-added@"]);
    }
}

#[test]
fn values_refused_by_the_schema_are_reported_once() {
    let (open, closed) = ("{type: integer}", "{type: integer, minimum: 0, maximum: 9}");
    check(("", open), (SCALE, closed), Class::SemanticBreaking, &["bound-narrowed@spec.size", "bound-narrowed@spec.size"]);
    let half = "{type: integer, minimum: 0}";
    check(("", open), (SCALE, half), Class::SemanticBreaking, &["scale-subresource-narrowed@", "bound-narrowed@spec.size"]);
    // A field that is added with the subresource had no readers before.
    let none = with("", open).replace("size: {type: integer}", "m: {type: integer}");
    let both = with(SCALE, open).replace("size: {type: integer}", "m: {type: integer}, size: {type: integer}");
    assert_eq!(
        judged(&facts(&none, &both)),
        (Class::Additive, vec!["scale-subresource-added@".to_owned(), "field-added@spec.size".to_owned()])
    );
}

/// A path added together with its field affects nobody; values refused by the field's own schema are reported there.
#[test]
fn a_selector_that_comes_with_its_field_is_additive() {
    let version = |paths: &str, fields: &str| {
        let root = format!("{{type: object, properties: {{status: {{type: object, {fields}}}}}}}");
        let scale = format!("subresources: {{status: {{}}, scale: {{{SCALE}{paths}}}}}");
        format!("{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, {scale}, schema: {{openAPIV3Schema: {root}}}}}\n")
    };
    let (size, both) = ("properties: {size: {type: integer}}", "properties: {size: {type: integer}, selector: {type: string}}");
    let selector = ", labelSelectorPath: .status.selector";
    let check = |old: &str, new: &str| judged(&facts(old, new));
    let additive = (Class::Additive, vec!["scale-subresource-added@".to_owned(), "field-added@status.selector".to_owned()]);
    assert_eq!(check(&version("", size), &version(selector, both)), additive);
    assert_eq!(check(&version(", labelSelectorPath: ''", size), &version(selector, both)), additive);
    let keeps = |fields: &str| format!("x-kubernetes-preserve-unknown-fields: true, {fields}");
    assert_eq!(
        check(&version("", &keeps(size)), &version(selector, &keeps(both))),
        (Class::SemanticBreaking, vec!["field-added-under-preserve@status.selector".to_owned()])
    );
    // A type that the subresource doesn't accept is refused only by the subresource.
    let number = keeps("properties: {size: {type: integer}, selector: {type: integer}}");
    let rules = check(&version("", &keeps(size)), &version(selector, &number)).1;
    assert!(rules.contains(&"scale-subresource-narrowed@".to_owned()), "{rules:?}");
}

#[test]
fn values_it_already_refuses_are_not_reported_for_the_schema() {
    let plain = "{type: integer}";
    for n in ["{type: integer, minimum: 0}", "{type: integer, format: int32}", "{type: integer, maximum: 3000000000}"] {
        check((SCALE, plain), (SCALE, n), Class::None, &["schema-rewritten@spec.size"]);
        check((SCALE, n), (SCALE, plain), Class::None, &["schema-rewritten@spec.size"]);
    }
    check((SCALE, plain), (SCALE, "{type: integer, minimum: 1}"), Class::SemanticBreaking, &["bound-narrowed@spec.size"]);
    check((SCALE, "{type: integer, minimum: 1}"), (SCALE, plain), Class::Additive, &["bound-widened@spec.size"]);
    // A null was dropped before, and is now kept and refused by the subresource.
    let nullable = "{type: integer, nullable: true}";
    check((SCALE, plain), (SCALE, nullable), Class::SemanticBreaking, &["null-handling-narrowed@spec.size"]);
    check((SCALE, nullable), (SCALE, plain), Class::Additive, &["null-handling-widened@spec.size"]);
}

#[test]
fn another_path_refuses_values_that_do_not_fit() {
    let selector = format!("{SCALE}, labelSelectorPath: .spec.size");
    let replicas = "specReplicasPath: .spec.m, statusReplicasPath: .status.size";
    check(
        (replicas, "{type: string}"),
        (&format!("{replicas}, labelSelectorPath: .spec.size"), "{type: string}"),
        Class::Additive,
        &["scale-subresource-added@"],
    );
    check(
        (replicas, "{type: object}"),
        (&format!("{replicas}, labelSelectorPath: .spec.size"), "{type: object}"),
        Class::SemanticBreaking,
        &["scale-subresource-narrowed@"],
    );
    check((&selector, "{type: integer}"), (SCALE, "{type: integer}"), Class::SemanticBreaking, &["scale-subresource-changed@"]);
    let facts = facts(&with(replicas, "{type: integer}"), &with(SCALE, "{type: integer}"));
    assert!(facts.iter().all(|fact| fact.affects.contains(Affected::Behaviour) && fact.affects.contains(Affected::Stored)), "{facts:?}");
}
