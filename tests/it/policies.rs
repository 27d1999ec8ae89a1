//! What policies make of changes whose maturity or channel is not that of a single field.

use crdwise::{Affected, Book, Bump, Documents, Family, Finding, Judgement, Kind, Policy, Report, Severity, Side, review};
use serde_json::{Value, json};

struct Sort<'a> {
    version: &'a str,
    channel: Option<&'a str>,
    release: &'a str,
    fields: &'a [&'a str],
}

const PLAIN: Sort<'_> = Sort { version: "v1", channel: None, release: "v1.0.0", fields: &["a", "b"] };

fn crd(sort: &Sort<'_>) -> Value {
    let fields: serde_json::Map<String, Value> = sort.fields.iter().map(|&name| (name.to_owned(), json!({"type": "string"}))).collect();
    let root = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
    let version = json!({"name": sort.version, "served": true, "storage": true, "schema": {"openAPIV3Schema": root}});
    let mut marks = json!({"shop.example.com/bundle-version": sort.release});
    if let Some(channel) = sort.channel {
        marks["shop.example.com/channel"] = json!(channel);
    }
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
           "metadata": {"name": "widgets.shop.example.com", "annotations": marks},
           "spec": {"group": "shop.example.com", "names": {"plural": "widgets", "kind": "Widget"}, "scope": "Namespaced",
                    "versions": [version]}})
}

fn report(policy: &str, old: &[Value], new: &[Value]) -> Report {
    let text = |items: &[Value]| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let (old, new) = (Documents::of_text("old.json", &text(old)), Documents::of_text("new.json", &text(new)));
    let policy = Policy::find(policy).unwrap();
    review(&Side::new("old", &old), &Side::new("new", &new), &Judgement::new(Book::builtin(), &policy))
}

fn found<'r>(report: &'r Report, rule: &str) -> Option<&'r Finding> {
    report.findings.iter().find(|finding| finding.rule == rule)
}

#[track_caller]
fn judged(report: &Report, rule: &str) -> (Severity, Bump) {
    let finding = found(report, rule).unwrap_or_else(|| panic!("no {rule} in {:?}", report.findings));
    (finding.severity, finding.bump)
}

#[test]
fn a_whole_crd_is_as_mature_as_the_best_of_its_versions() {
    for policy in ["kubevirt", "kubernetes"] {
        for (version, expected) in [
            ("v1alpha1", (Severity::Warning, Bump::Minor)),
            ("v1beta1", (Severity::Error, Bump::Major)),
            ("v1", (Severity::Error, Bump::Major)),
        ] {
            let old = crd(&Sort { version, ..PLAIN });
            assert_eq!(judged(&report(policy, std::slice::from_ref(&old), &[]), "crd-removed"), expected, "{policy} {version}");
            let mut new = old.clone();
            new["spec"]["names"]["listKind"] = json!("Ws");
            assert_eq!(judged(&report(policy, &[old], &[new]), "list-kind-changed"), expected, "{policy} {version}");
        }
    }
    let mut both = crd(&Sort { version: "v1", ..PLAIN });
    let mut alpha = both["spec"]["versions"][0].clone();
    (alpha["name"], alpha["storage"]) = (json!("v1alpha1"), json!(false));
    both["spec"]["versions"].as_array_mut().unwrap().push(alpha);
    assert_eq!(judged(&report("kubevirt", &[both.clone()], &[]), "crd-removed").0, Severity::Error);
    both["spec"]["versions"][0]["served"] = json!(false);
    assert_eq!(judged(&report("kubevirt", &[both], &[]), "crd-removed").0, Severity::Warning);
}

#[test]
fn a_name_that_claims_no_maturity_excuses_nothing() {
    for version in ["stable", "v1-2", "v01", "alpha1"] {
        let (old, new) = (crd(&Sort { version, ..PLAIN }), crd(&Sort { version, fields: &["a"], ..PLAIN }));
        assert_eq!(judged(&report("kubevirt", &[old], &[new]), "field-removed"), (Severity::Error, Bump::Major), "{version}");
    }
}

#[test]
fn a_break_is_judged_by_the_channel_that_it_left() {
    let pair = |from, to| {
        let old = crd(&Sort { channel: from, ..PLAIN });
        report("gep-922", &[old], &[crd(&Sort { channel: to, fields: &["a"], release: "v1.1.0", ..PLAIN })])
    };
    let (standard, experimental) = (Some("standard"), Some("experimental"));
    for (from, to, expected) in [
        (standard, experimental, Severity::Error),
        (None, experimental, Severity::Error),
        (experimental, standard, Severity::Warning),
        (experimental, None, Severity::Warning),
        (experimental, experimental, Severity::Warning),
        (standard, standard, Severity::Error),
    ] {
        let report = pair(from, to);
        assert_eq!(judged(&report, "field-removed").0, expected, "{from:?} → {to:?}");
        // "MUST provide conversion between API versions (excluding experimental fields)"
        assert_eq!(found(&report, "conversion-undefined").is_some(), expected == Severity::Error, "{from:?} → {to:?}");
    }
}

#[test]
fn metadata_asks_for_no_release_and_graduation_for_a_minor_one() {
    let old = || crd(&Sort { channel: Some("experimental"), ..PLAIN });
    let mut labelled = old();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    let bump = |new: Value| report("gep-922", &[old()], &[new]).bump.unwrap().required;
    assert_eq!(bump(labelled.clone()), Bump::None);
    let same = report("gep-922", &[old()], &[labelled]);
    assert_eq!(found(&same, "metadata-changed").map(|finding| finding.kind), Some(Kind::Metadata));
    assert!(found(&same, "version-bump-too-small").is_none());
    assert_eq!(bump(crd(&Sort { channel: Some("experimental"), release: "v1.0.1", ..PLAIN })), Bump::None);
    assert_eq!(bump(crd(&Sort { channel: Some("standard"), release: "v1.1.0", ..PLAIN })), Bump::Minor);
    let back = report("gep-922", &[crd(&Sort { channel: Some("standard"), ..PLAIN })], &[old()]);
    assert_eq!(back.bump.unwrap().required, Bump::None);
}

#[test]
fn only_findings_of_the_server_refuse() {
    let old = crd(&PLAIN);
    for (at, value) in [("kind", json!("Gadget")), ("scope", json!("Cluster"))] {
        let mut new = old.clone();
        let place = if at == "kind" { &mut new["spec"]["names"]["kind"] } else { &mut new["spec"]["scope"] };
        *place = value;
        let report = report("guidelines", std::slice::from_ref(&old), &[new]);
        assert!(found(&report, "resource-identity-changed").is_some() && found(&report, "identity-immutable").is_some());
        for finding in &report.findings {
            assert_eq!(finding.family == Family::Server, finding.affects.contains(Affected::Refused), "{}", finding.rule);
        }
    }
}
