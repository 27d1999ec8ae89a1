//! Cases beside those of the rule pages: what the old bundle had already, orders, and depth.

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
fn hazards_of_the_old_bundle_are_old() {
    let (empty, filled) = (with_field("{type: object}"), with_field("{type: object, properties: {a: {type: object}}}"));
    assert_eq!(compared(&empty, &empty), [("properties/missing".to_owned(), true)]);
    assert_eq!(compared(&empty, &filled), [("properties/missing".to_owned(), false)]);
}

#[test]
fn facts_come_in_one_order() {
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
    // Whether or not the depth budget takes it: it must not end the process.
    let found = inspect(&bundle, &ReviewContext::NONE).len();
    assert!(found > 0 || !bundle.problems.is_empty());
}
