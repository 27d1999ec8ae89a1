//! Cases in addition to the rule pages: pre-existing facts, ordering, and depth.

use crate::find::review_context::ReviewContext;
use crate::model::fact::Fact;
use crate::model::{Bundle, Documents};
use crate::testing::HEAD;

use super::{inspect, review};

fn facts(text: &str) -> Vec<Fact> {
    let documents = Documents::of_text("crd.yaml", text);
    let bundle = Bundle::read(&documents);
    assert!(bundle.problems.is_empty(), "{:?}\n{text}", bundle.problems);
    inspect(&bundle, &ReviewContext::NONE)
}

/// A CRD with one version, whose root schema is given in flow style.
fn with_root(schema: &str) -> String {
    format!("{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n")
}

/// The same with the schema of `spec.f`.
fn with_field(schema: &str) -> String {
    with_root(&format!("{{type: object, properties: {{spec: {{type: object, properties: {{f: {schema}}}}}}}}}"))
}

fn compared(old: &str, new: &str) -> Vec<(String, bool)> {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    review(&Bundle::read(&old), &Bundle::read(&new), &ReviewContext::NONE)
        .iter()
        .map(|fact| (format!("{}/{}", fact.aspect, fact.effect), fact.pre_existing))
        .collect()
}

#[test]
fn hazards_of_the_old_bundle_are_pre_existing() {
    let (empty, filled) = (with_field("{type: object}"), with_field("{type: object, properties: {a: {type: object}}}"));
    assert_eq!(compared(&empty, &empty), [("properties/missing".to_owned(), true)]);
    assert_eq!(compared(&empty, &filled), [("properties/missing".to_owned(), false)]);
}

/// A CRD with these versions: name, `served`, `storage` and the schema of `spec.f`, if the version has it.
fn with_versions(versions: &[(&str, bool, bool, &str)]) -> String {
    let version = |&(name, served, storage, field): &(&str, bool, bool, &str)| {
        let spec = format!("{{type: object, properties: {{a: {{type: string}}{field}}}}}");
        let root = format!("{{type: object, properties: {{spec: {spec}}}}}");
        format!("    - {{name: {name}, served: {served}, storage: {storage}, schema: {{openAPIV3Schema: {root}}}}}\n")
    };
    format!("{HEAD}  versions:\n{}", versions.iter().map(version).collect::<String>())
}

#[test]
fn a_loss_is_pre_existing_although_the_named_version_was_removed() {
    let (lacks, has, other) = ("", ", f: {type: string}", ", f: {type: string, default: x}");
    // The first of the versions through which the field is lost is named.
    let three = [("v1alpha1", true, false, has), ("v1beta1", true, false, has), ("v1", true, true, lacks)];
    let lost = |old: bool| vec![("presence/lossy".to_owned(), old)];
    assert_eq!(compared(&with_versions(&three), &with_versions(&three[1..])), lost(true));
    let unserved = [("v1alpha1", false, false, has), three[1], three[2]];
    assert_eq!(compared(&with_versions(&three), &with_versions(&unserved)), lost(true));
    // A loss that starts with this change in a version that stays is new.
    let before = [("v1alpha1", true, false, has), ("v1beta1", true, false, lacks), ("v1", true, true, lacks)];
    assert_eq!(compared(&with_versions(&before), &with_versions(&three[1..])), lost(false));
    let differ = [("v1alpha1", true, false, has), ("v1beta1", true, false, other), ("v1", true, true, has)];
    let said = vec![("default/mixed".to_owned(), true)];
    assert_eq!(compared(&with_versions(&differ), &with_versions(&differ[1..])), said);
    let both = [("v1beta1", true, false, other), ("v1", true, true, other)];
    let before = [differ[0], both[0], both[1]];
    assert_eq!(compared(&with_versions(&before), &with_versions(&differ[1..])), [("default/mixed".to_owned(), false)]);
}

#[test]
fn facts_have_a_fixed_order() {
    let text = [with_field("{type: object}"), with_field("{minLength: 1}").replace("widgets", "gadgets")].join("---\n");
    let once = format!("{:?}", facts(&text));
    assert!((0..4).all(|_| format!("{:?}", facts(&text)) == once));
}

#[test]
fn the_deepest_document_fits_the_stack() {
    let mut schema = "{type: string, default: x}".to_owned();
    for level in 0..93 {
        schema = if level % 3 == 0 {
            format!("{{type: array, items: {schema}, anyOf: [{{minItems: 1}}]}}")
        } else {
            format!("{{type: object, properties: {{a: {schema}}}, x-kubernetes-validations: [{{rule: 'true'}}]}}")
        };
    }
    let documents = Documents::of_text("crd.yaml", &with_field(&schema));
    let bundle = Bundle::read(&documents);
    // Whether or not the depth budget allows it, it must not end the process.
    let found = inspect(&bundle, &ReviewContext::NONE).len();
    assert!(found > 0 || !bundle.problems.is_empty());
}
