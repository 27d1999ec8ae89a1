//! Pairs of small bundles and the facts between them.

use crate::crd::{Bundle, Documents};
use crate::fact::Fact;
use crate::finding::Class;
use crate::rule::Book;

use super::{Options, diff};

const HEAD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
";

fn facts(old: &str, new: &str) -> Vec<Fact> {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    let (old, new) = (Bundle::read(&old), Bundle::read(&new));
    assert!(old.problems.is_empty() && new.problems.is_empty(), "{:?} {:?}", old.problems, new.problems);
    diff(&old, &new, &Options::default())
}

/// A CRD with one version, whose root schema is given in flow style.
fn with_root(schema: &str) -> String {
    format!("{HEAD}  versions:\n    - {{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {schema}}}}}\n")
}

/// The class of all facts, and the rules and paths of those that have it.
fn judged(facts: &[Fact]) -> (Class, Vec<String>) {
    let rules: Vec<_> = facts
        .iter()
        .map(|fact| {
            let rule = Book::builtin().judge(fact, "").first().map(|verdict| verdict.rule).expect("a rule for every fact");
            (rule.class.unwrap_or(Class::None), format!("{}@{}", rule.id, fact.path))
        })
        .collect();
    let class = rules.iter().map(|(class, _)| *class).max().unwrap_or(Class::None);
    (class, rules.into_iter().filter(|(one, _)| *one == class).map(|(_, rule)| rule).collect())
}

#[track_caller]
fn roots(old: &str, new: &str, class: Class, rules: &[&str]) {
    let found = judged(&facts(&with_root(old), &with_root(new)));
    assert_eq!((found.0, found.1.iter().map(String::as_str).collect::<Vec<_>>()), (class, rules.to_vec()), "{old} -> {new}");
}

/// Schemas of `spec` in flow style; `PUF` stands for what preserves unknown fields.
#[track_caller]
fn specs(old: &str, new: &str, class: Class, rules: &[&str]) {
    let root = |spec: &str| {
        format!("{{type: object, properties: {{spec: {}}}}}", spec.replace("PUF", "x-kubernetes-preserve-unknown-fields: true"))
    };
    roots(&root(old), &root(new), class, rules);
}

#[track_caller]
fn breaks(old: &str, new: &str, rules: &[&str]) {
    specs(old, new, Class::SemanticBreaking, rules);
}

#[track_caller]
fn adds(old: &str, new: &str, rules: &[&str]) {
    specs(old, new, Class::Additive, rules);
}

#[test]
fn what_is_required_is_told_where_declarations_go() {
    let old = "{type: object, properties: {a: {type: integer}}}";
    for open in ["PUF", "additionalProperties: true", "additionalProperties: {type: integer}"] {
        breaks(old, &format!("{{type: object, {open}, required: [a]}}"), &["required-added@spec.a"]);
        let required = "{type: object, properties: {a: {type: integer}}, required: [a]}";
        adds(required, &format!("{{type: object, {open}, required: [a]}}"), &[match open {
            "PUF" => "preserve-unknown-fields-added@spec",
            _ => "map-values-widened@spec",
        }]);
    }
    breaks("{type: object, additionalProperties: {type: integer}}", "{type: object, properties: {a: {type: integer}}, required: [a]}", &[
        "map-values-narrowed@spec",
        "required-added@spec.a",
    ]);
}
