//! Release steps: subresources, versions that are added, removed, served and unserved, and the storage version.

use crate::judge::finding::Class;
use crate::judge::rule::Book;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Mark, Subject, Word};
use crate::testing::HEAD;

use super::{facts, judged};

/// A version: its name, further attributes, and its root schema.
type Version<'v> = (&'v str, &'v str, &'v str);

const SERVED: &str = "served: true, storage: false";
const STORED: &str = "served: true, storage: true";
const UNSERVED: &str = "served: false, storage: false";
const KEPT: &str = "served: false, storage: true";

fn crd(versions: &[Version<'_>]) -> String {
    let one = |(name, more, root): &Version<'_>| {
        let root = root.replace("PUF", "x-kubernetes-preserve-unknown-fields: true");
        format!("    - {{name: {name}, {more}, schema: {{openAPIV3Schema: {root}}}}}\n")
    };
    format!("{HEAD}  versions:\n{}", versions.iter().map(one).collect::<String>())
}

fn spec(properties: &str) -> String {
    format!("{{type: object, properties: {{spec: {{type: object, properties: {{{properties}}}}}}}}}")
}

#[track_caller]
fn check(old: &[Version<'_>], new: &[Version<'_>], class: Class, rules: &[&str]) {
    let found = judged(&facts(&crd(old), &crd(new)));
    assert_eq!((found.0, found.1.iter().map(String::as_str).collect::<Vec<_>>()), (class, rules.to_vec()), "{old:?} -> {new:?}");
}

#[test]
fn a_status_subresource_affects_nobody_without_a_status() {
    let with = "served: true, storage: true, subresources: {status: {}}";
    let (none, some) = ("{type: object}", "{type: object, properties: {status: {type: object, PUF}}}");
    let widened = "status-subresource-added-without-status@";
    check(&[("v1", STORED, none)], &[("v1", with, none)], Class::Additive, &[widened]);
    check(&[("v1", STORED, none)], &[("v1", with, some)], Class::Additive, &[widened, "field-added@status"]);
    check(&[("v1", STORED, some)], &[("v1", with, some)], Class::SemanticBreaking, &["status-subresource-added@"]);
    let open = "{type: object, PUF}";
    check(&[("v1", STORED, open)], &[("v1", with, open)], Class::SemanticBreaking, &["status-subresource-added@"]);
}

#[test]
fn values_that_the_new_storage_version_preserves_are_not_lost() {
    let (full, less) = (spec("a: {type: string}, b: {type: string}"), spec("a: {type: string}"));
    let open = less.replace("{type: object, properties: {a:", "{type: object, PUF, properties: {a:");
    for (to, class, rule) in [(&open, Class::Additive, "storage-moved@"), (&less, Class::SemanticBreaking, "storage-moved-lossy@")] {
        check(&[("v1", STORED, &full), ("v2", SERVED, to)], &[("v1", SERVED, &full), ("v2", STORED, to)], class, &[rule]);
    }
}

#[test]
fn a_storage_version_loses_only_what_the_old_crd_kept() {
    let (plain, nullable) = (spec("a: {type: string}"), spec("a: {type: string, nullable: true}"));
    // A null was dropped before, so nobody has one.
    let old = [("v1", STORED, plain.as_str()), ("v2", SERVED, plain.as_str())];
    let found = facts(&crd(&old), &crd(&[("v1", SERVED, &nullable), ("v2", STORED, &plain)]));
    assert!(!found.iter().any(|fact| (fact.aspect, fact.effect) == (Aspect::Storage, Effect::Lossy)), "{found:?}");
    // A field that the new storage version drops is shown by an object.
    let (full, less) = (spec("a: {type: string}, b: {type: string}"), spec("a: {type: string}"));
    let lossy = facts(&crd(&[("v1", STORED, &full), ("v2", SERVED, &less)]), &crd(&[("v1", SERVED, &full), ("v2", STORED, &less)]));
    let moved = lossy.iter().find(|fact| (fact.aspect, fact.effect) == (Aspect::Storage, Effect::Lossy)).expect("a loss");
    let object = &moved.evidence.witness.as_ref().expect("an object").object;
    assert!(object["spec"]["b"].is_string(), "{object}");
}

#[test]
fn changes_of_a_version_are_not_repeated_for_the_storage() {
    let (full, less) = (spec("a: {type: string}, b: {type: string}"), spec("a: {type: string}"));
    // Both versions drop the field in the same step.
    check(
        &[("v1", STORED, &full), ("v2", SERVED, &full)],
        &[("v1", SERVED, &less), ("v2", STORED, &less)],
        Class::SemanticBreaking,
        &["field-removed@spec.b", "field-removed@spec.b"],
    );
    // Clients of the old version must move, and learn about the field.
    let new = ("v2", STORED, less.as_str());
    check(
        &[("v1", STORED, &full)],
        &[("v1", UNSERVED, &full), new],
        Class::SemanticBreaking,
        &["version-unserved@", "field-removed@spec.b"],
    );
    let gone = facts(&crd(&[("v1", STORED, &full)]), &crd(&[new]));
    assert_eq!(judged(&gone).1, ["version-removed-stored@", "field-removed@spec.b"]);
    let moved = |fact: &&Fact| (fact.aspect, fact.effect) == (Aspect::Storage, Effect::Moved);
    assert!(gone.iter().find(moved).is_some_and(|fact| fact.is(Mark::Gone)), "{gone:?}");
}

#[test]
fn only_a_served_version_refuses_objects() {
    let (plain, strict) = (spec("a: {type: string}"), spec("a: {type: string, enum: [x]}"));
    let other = ("v2", STORED, "{type: object}");
    let step = |was: &'static str, is: &'static str, old: &str, new: &str| {
        let check = judged(&facts(&crd(&[("v1", was, old), other]), &crd(&[("v1", is, new), other])));
        check.1
    };
    assert_eq!(step(UNSERVED, SERVED, &plain, &strict), ["version-served-again@"]);
    assert_eq!(step(SERVED, UNSERVED, &plain, &strict), ["version-unserved@"]);
    assert_eq!(step(UNSERVED, UNSERVED, &plain, &strict), ["schema-rewritten@spec.a"]);
    assert_eq!(step(UNSERVED, UNSERVED, &plain, &spec("a: {type: integer}")), ["schema-rewritten@spec.a"]);
    // Values stored at it are still pruned.
    assert_eq!(step(UNSERVED, UNSERVED, &plain, &spec("a: {type: object}")), ["type-changed@spec.a"]);
    assert_eq!(step(SERVED, UNSERVED, &plain, &spec("")), ["version-unserved@", "field-removed@spec.a"]);
    assert_eq!(step(UNSERVED, SERVED, &plain, &spec("")), ["field-removed@spec.a"]);
    // Its endpoints are added with it.
    let with = "served: true, storage: false, subresources: {scale: {specReplicasPath: .spec.a, statusReplicasPath: .spec.a}}";
    assert_eq!(step(UNSERVED, with, &plain, &plain), ["version-served-again@"]);
}

#[test]
fn the_last_step_of_a_removal_affects_nobody() {
    let (v1, v2) = (("v1", UNSERVED, "{type: object}"), ("v2", STORED, "{type: object}"));
    check(&[v1, v2], &[v2], Class::SemanticBreaking, &["version-removed-unmigrated@"]);
    let known = |stored: &str| judged(&facts(&format!("{}status: {{storedVersions: [{stored}]}}\n", crd(&[v1, v2])), &crd(&[v2])));
    assert!(known("v2").1.contains(&"version-removed-unserved@".to_owned()), "{:?}", known("v2"));
    assert_eq!(known("v1, v2"), (Class::SemanticBreaking, vec!["version-removed-stored@".to_owned()]));
    let open = facts(&crd(&[v1, v2]), &crd(&[v2]));
    assert!(open.iter().any(|fact| fact.affects.contains(Affected::Stored)), "{open:?}");
    // Clients of a served version, or stored objects, are affected.
    check(&[("v1", SERVED, "{type: object}"), v2], &[v2], Class::SemanticBreaking, &["version-removed@"]);
    let moved = [("v1", KEPT, "{type: object}"), ("v2", SERVED, "{type: object}")];
    check(&moved, &[v2], Class::SemanticBreaking, &["version-removed-stored@"]);
}

#[test]
fn a_new_version_is_compared_with_the_older_one_as_it_is_now() {
    let (one, two) = (spec("a: {type: string}"), spec("a: {type: string}, b: {type: string}"));
    let step = |old: &str, now: &str, new: &str| {
        let facts = facts(&crd(&[("v1", STORED, old)]), &crd(&[("v1", STORED, now), ("v2", SERVED, new)]));
        facts
            .into_iter()
            .filter(|fact| fact.subject == Subject::NewVersion)
            .map(|fact| (fact.effect, fact.path.to_string()))
            .collect::<Vec<_>>()
    };
    let b = |effect| vec![(effect, "spec.b".to_owned())];
    assert_eq!(step(&one, &two, &two), []);
    assert_eq!(step(&two, &one, &one), []);
    assert_eq!(step(&one, &two, &one), b(Effect::Removed));
    assert_eq!(step(&two, &one, &two), b(Effect::Added));
    assert_eq!(step(&two, &two, &one), b(Effect::Removed));
}

#[test]
fn removing_a_channel_keeps_the_resource() {
    let named = |channel: &str, root: &str| {
        let marked = format!("example.com, annotations: {{gateway.networking.k8s.io/channel: {channel}}}}}\nspec:");
        format!("---\n{}", crd(&[("v1", STORED, root)]).replacen("example.com}\nspec:", &marked, 1))
    };
    let (one, two) = (spec("a: {type: string}"), spec("a: {type: string}, b: {type: string}"));
    let old = format!("{}{}", named("standard", &one), named("experimental", &two));
    assert_eq!(judged(&facts(&old, &named("standard", &one))), (Class::SemanticBreaking, vec!["field-removed@spec.b".to_owned()]));
    // A loss in both channels is reported once.
    let less = judged(&facts(&old, &named("standard", &spec(""))));
    assert_eq!(less.1.iter().filter(|rule| *rule == "field-removed@spec.a").count(), 1, "{less:?}");
    assert!(less.1.contains(&"field-removed@spec.b".to_owned()), "{less:?}");
}

#[test]
fn a_renamed_field_of_another_type_is_one_change() {
    let (old, new) = (spec("name: {type: string}"), spec("names: {type: array, items: {type: string}}"));
    check(&[("v1", STORED, &old)], &[("v1", STORED, &new)], Class::SemanticBreaking, &["field-renamed@spec.name"]);
}

#[test]
fn conditions_on_a_new_name_are_part_of_the_rename() {
    let told = "description: The text that the widget shows to everybody";
    let old = spec(&format!("content: {{type: string, maxLength: 50, {told}}}"));
    let new = spec(&format!("contentCache: {{type: string, maxLength: 30, format: byte, {told}}}"));
    check(&[("v1", STORED, &old)], &[("v1", STORED, &new)], Class::SemanticBreaking, &["field-renamed@spec.content"]);
    let found = facts(&crd(&[("v1", STORED, &old)]), &crd(&[("v1", STORED, &new)]));
    assert_eq!(found[0].words.get(&Word::Differing).map(String::as_str), Some("format, maxLength"));
    // So is a default, of the field or inside it.
    let old = spec(&format!("content: {{type: object, {told}, properties: {{a: {{type: string}}}}}}"));
    let new = spec(&format!("contentCache: {{type: object, {told}, default: {{}}, properties: {{a: {{type: string, default: b}}}}}}"));
    check(&[("v1", STORED, &old)], &[("v1", STORED, &new)], Class::SemanticBreaking, &["field-renamed@spec.content"]);
    let found = facts(&crd(&[("v1", STORED, &old)]), &crd(&[("v1", STORED, &new)]));
    assert_eq!(found[0].words.get(&Word::Differing).map(String::as_str), Some("default"));
    let old = spec(&format!("content: {{type: string, maxLength: 50, {told}}}"));
    let new = spec(&format!("contentCache: {{type: string, maxLength: 30, {told}}}"));
    // What is below the old name may have been kept under the new one.
    let kept = |root: &str| root.replace("spec: {", "spec: {PUF, ");
    let rules = judged(&facts(&crd(&[("v1", STORED, &kept(&old))]), &crd(&[("v1", STORED, &kept(&new))]))).1;
    assert!(rules.contains(&"bound-narrowed@spec.content".to_owned()), "{rules:?}");
}

#[test]
fn a_required_field_that_only_gets_a_default_is_never_absent() {
    let root = |a: &str, more: &str| format!("{{type: object, properties: {{spec: {{type: object, properties: {{a: {a}}}{more}}}}}}}");
    let (old, new) = (root("{type: string}", ", required: [a]"), root("{type: string, default: z}", ""));
    check(&[("v1", STORED, &old)], &[("v1", STORED, &new)], Class::Additive, &["default-added-to-required@spec.a"]);
}

#[test]
fn a_message_states_only_what_the_fact_shows() {
    let message = |fact: &Fact| Book::builtin().choose(fact, "").expect("a rule for every fact").texts(fact).0;
    let accepted = |effect| message(&Fact::new(Subject::Field, Aspect::Accepted, effect, "widgets.shop.example.com"));
    assert!(accepted(Effect::Narrowed).contains("rejects values that it accepted before"));
    assert!(accepted(Effect::Undecided).contains("may reject values that it accepted before"));
    let strategy = |effect| {
        let fact = Fact::new(Subject::Crd, Aspect::ConversionStrategy, effect, "widgets.shop.example.com");
        message(&fact.word(Word::Old, "None").word(Word::New, "Other"))
    };
    assert!(strategy(Effect::Removed).contains("no longer converted by a webhook"));
    assert!(!strategy(Effect::Changed).contains("webhook"));
}

#[test]
fn versions_with_the_same_name_are_paired_in_order() {
    let twice = format!(
        "{HEAD}  versions: [{{name: v1, served: true, storage: false}}, {{name: v1, schema: &a {{openAPIV3Schema: {{type: object}}}}}}, {{name: v2, served: true, storage: true, schema: *a}}]\n"
    );
    assert!(facts(&twice, &twice).is_empty(), "{:?}", facts(&twice, &twice));
}
