//! Pairs of schemas: the comparison holds for objects, and the example of a finding shows what it states.

use serde_json::{Value, json};

use super::choices::Choices;
use super::recommended;
use super::schemas::{pair, value};
use crate::compare::{Budget, Relation, around, filled, order_roots};
use crate::judge::finding::Class;
use crate::judge::review::{Judgement, Side, review};
use crate::judge::rule::Book;
use crate::model::Documents;
use crate::model::fact::{Certainty, Outcome};
use crate::server::object::Compiled;
use crate::testing::contradiction::contradiction;
use crate::testing::shape;

/// Fuzzes the comparison of schemas, looking for objects that contradict it.
pub fn comparison(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let (old, new) = pair(&mut choices);
    let (a, b) = (shape(&old), shape(&new));
    let (before, after) = (Compiled::new(&a), Compiled::new(&b));
    let order = order_roots(&a, &b, &Budget::shared());
    let mut objects: Vec<Value> = around(&a, 1).into_iter().chain(around(&b, 1)).collect();
    objects.extend([&a, &b].into_iter().filter_map(filled));
    objects.extend((0..4).map(|_| json!({"x": value(&mut choices, 3), "y": value(&mut choices, 1)})));
    let wrong = contradiction(&order, &before, &after, &objects);
    assert!(wrong.is_none(), "{}\n{old}\n{new}", wrong.unwrap_or_default());
    let same = order_roots(&a, &shape(&old), &Budget::shared());
    assert_eq!(same.relation, Relation::Equal, "{old}");
    findings(&old, &new, &before, &after);
}

fn crd(schema: &Value) -> Documents {
    let crd = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "items.vec.example.com"},
        "spec": {"group": "vec.example.com", "scope": "Namespaced", "names": {"plural": "items", "kind": "Item"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
    });
    Documents::of_text("crd.json", &crd.to_string())
}

/// Sends the example of each proved finding to both schemas.
fn findings(old: &Value, new: &Value, before: &Compiled, after: &Compiled) {
    let documents = [crd(old), crd(new)];
    let sides = [Side::new("old", &documents[0]), Side::new("new", &documents[1])];
    let judgement = Judgement::new(Book::builtin(), recommended());
    let report = review(&sides[0], &sides[1], &judgement);
    for finding in &report.findings {
        let Some(witness) = finding.witness.as_ref().filter(|witness| witness.previous.is_none()) else { continue };
        let said = || format!("{} {}: {}\n{}\n{old}\n{new}", finding.rule, finding.path, finding.message, witness.object);
        let (first, second) = (before.request(witness.object.clone()), after.request(witness.object.clone()));
        assert_eq!(witness.old == Outcome::Accepted, first.accepted(), "{}", said());
        match witness.new {
            Outcome::Rejected => assert!(!second.accepted(), "{}", said()),
            Outcome::Pruned => assert!(!second.pruned.is_empty() || first.stored != second.stored, "{}", said()),
            _ => {}
        }
    }
    let unproved = report.findings.iter().find(|finding| {
        finding.class == Some(Class::SemanticBreaking)
            && finding.certainty == Certainty::Proved
            && finding.affects.needs_object()
            && finding.witness.is_none()
    });
    if let Some(finding) = unproved.filter(|finding| !finding.path.is_empty()) {
        panic!("proved without an object: {} {}\n{old}\n{new}", finding.rule, finding.message);
    }
}
