//! How policies judge changes whose maturity or channel isn't that of a single field.

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
fn a_name_without_maturity_counts_as_stable() {
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
fn metadata_needs_no_release_and_graduation_a_minor_one() {
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
        let change = found(&report, "resource-identity-changed").expect("the change");
        let refused = found(&report, "identity-immutable").expect("the refusal");
        assert_eq!(refused.cause, std::slice::from_ref(&change.fingerprint), "{at}");
        for finding in &report.findings {
            assert_eq!(finding.family == Family::Server, finding.affects.contains(Affected::Refused), "{}", finding.rule);
        }
    }
}

/// A CRD with one version and these schemas of `spec` and `status`.
fn with(version: &str, spec: Value, status: Value) -> Value {
    let mut crd = crd(&Sort { version, ..PLAIN });
    let fields = &mut crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    *fields = json!({"spec": {"type": "object", "properties": spec}, "status": {"type": "object", "properties": status}});
    crd
}

/// How the default policy judges a change of `spec.f` in a version.
#[track_caller]
fn in_spec(version: &str, old: Value, new: Value, rule: &str) -> Severity {
    let field = |schema: Value| if schema.is_null() { json!({}) } else { json!({"f": schema}) };
    judged(&report("recommended", &[with(version, field(old), json!({}))], &[with(version, field(new), json!({}))]), rule).0
}

/// The same for `status.f` in v1.
#[track_caller]
fn in_status(old: Value, new: Value, rule: &str) -> Severity {
    let field = |schema: Value| if schema.is_null() { json!({}) } else { json!({"f": schema}) };
    judged(&report("recommended", &[with("v1", json!({}), field(old))], &[with("v1", json!({}), field(new))]), rule).0
}

#[test]
fn the_recommended_policy_fails_breaks_of_writers_objects_and_data() {
    let text = || json!({"type": "string"});
    let short = || json!({"type": "string", "maxLength": 3});
    for version in ["v1alpha1", "v1beta1", "v1"] {
        assert_eq!(in_spec(version, text(), short(), "bound-narrowed"), Severity::Error, "{version}");
        assert_eq!(in_spec(version, text(), json!({"type": "integer"}), "type-changed"), Severity::Error, "{version}");
        assert_eq!(in_spec(version, text(), Value::Null, "field-removed"), Severity::Error, "{version}");
        assert_eq!(in_spec(version, short(), text(), "bound-widened"), Severity::Info, "{version}");
        assert_eq!(in_spec(version, Value::Null, text(), "field-added"), Severity::Info, "{version}");
    }
    let report = report("recommended", &[crd(&PLAIN)], &[]);
    assert_eq!(judged(&report, "crd-removed"), (Severity::Error, Bump::Major));
}

#[test]
fn the_recommended_policy_warns_about_removal_from_status() {
    let text = || json!({"type": "string"});
    assert_eq!(in_status(text(), Value::Null, "field-removed"), Severity::Warning);
    assert_eq!(in_status(Value::Null, text(), "field-added"), Severity::Info);
    assert_eq!(in_status(text(), json!({"type": "string", "maxLength": 3}), "bound-narrowed"), Severity::Error);
    assert_eq!(in_status(text(), json!({"type": "integer"}), "type-changed"), Severity::Error);
    assert_eq!(in_status(text(), json!({"type": "string", "default": "x"}), "default-added"), Severity::Error);
    let named = |name: &str| {
        with("v1", json!({}), json!({name: {"type": "string", "description": "How many replicas are ready.", "maxLength": 9}}))
    };
    assert_eq!(judged(&report("recommended", &[named("readyReplica")], &[named("readyReplicas")]), "field-renamed").0, Severity::Warning);
}

#[test]
fn the_recommended_policy_warns_about_merge_and_reader_changes() {
    let list = |kind: &str| json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": kind});
    assert_eq!(in_spec("v1", list("set"), list("atomic"), "list-type-changed"), Severity::Warning);
    // Duplicates that were accepted are now refused.
    assert_eq!(in_spec("v1", list("atomic"), list("set"), "list-type-changed"), Severity::Error);
    let widened = in_spec("v1", json!({"type": "integer"}), json!({"type": "number"}), "type-widened");
    assert!(widened <= Severity::Warning, "{widened:?}");
}

#[test]
fn the_recommended_policy_fails_defaults_unless_they_mean_nothing() {
    let with_default = |ty: &str, default: Option<Value>| {
        let mut schema = json!({"type": ty});
        match ty {
            "array" => schema["items"] = json!({"type": "string"}),
            "object" => schema["properties"] = json!({"a": {"type": "string"}}),
            _ => {}
        }
        if let Some(default) = default {
            schema["default"] = default;
        }
        schema
    };
    for (ty, default, expected) in [
        ("string", json!(""), Severity::Info),
        ("integer", json!(0), Severity::Info),
        ("boolean", json!(false), Severity::Info),
        ("array", json!([]), Severity::Info),
        ("object", json!({}), Severity::Error),
        ("string", json!("x"), Severity::Error),
        ("integer", json!(1), Severity::Error),
        ("boolean", json!(true), Severity::Error),
        ("array", json!(["x"]), Severity::Error),
    ] {
        let (without, default) = (with_default(ty, None), with_default(ty, Some(default)));
        assert_eq!(in_spec("v1", without.clone(), default.clone(), "default-added"), expected, "added: {default}");
        assert_eq!(in_spec("v1", default.clone(), without, "default-removed"), expected, "removed: {default}");
    }
    let text = |default: &str| with_default("string", Some(json!(default)));
    assert_eq!(in_spec("v1", text("x"), text(""), "default-changed"), Severity::Error);
    assert_eq!(in_spec("v1", text(""), text("x"), "default-changed"), Severity::Error);
}

/// A CRD with versions of these names; each is served unless its name ends with `!`, and the last one is the storage version.
fn versions(names: &[&str]) -> Value {
    let mut crd = crd(&PLAIN);
    let version = crd["spec"]["versions"][0].clone();
    let named = |(index, name): (usize, &&str)| {
        let mut version = version.clone();
        version["name"] = json!(name.trim_end_matches('!'));
        version["served"] = json!(!name.ends_with('!'));
        version["storage"] = json!(index + 1 == names.len());
        version
    };
    crd["spec"]["versions"] = names.iter().enumerate().map(named).collect();
    crd
}

#[test]
fn the_recommended_policy_keeps_versions() {
    let pair = |old: &[&str], new: &[&str], rule: &str| judged(&report("recommended", &[versions(old)], &[versions(new)]), rule).0;
    for old in ["v1alpha1", "v1beta1"] {
        assert_eq!(pair(&[old, "v1"], &["v1"], "version-removed"), Severity::Error, "{old}");
        assert_eq!(pair(&[old, "v1"], &[&format!("{old}!"), "v1"], "version-unserved"), Severity::Error, "{old}");
        assert_eq!(pair(&[old], &["v1"], "version-removed-stored"), Severity::Error, "{old}");
    }
    // Never less severe than a guideline.
    assert_eq!(pair(&["v1beta1!", "v1"], &["v1"], "version-removed-unmigrated"), Severity::Warning);
    assert_eq!(pair(&["v1"], &["v1beta1", "v1"], "version-added"), Severity::Info);
    assert_eq!(pair(&["v1beta1!", "v1"], &["v1beta1", "v1"], "version-served-again"), Severity::Info);
}

#[test]
fn a_removed_storage_version_is_one_finding_and_a_refusal() {
    let report = report("recommended", &[versions(&["v1beta1"])], &[versions(&["v1"])]);
    let removed = found(&report, "version-removed-stored").expect("the change");
    let refused = found(&report, "stored-version-removed").expect("the refusal");
    assert_eq!((refused.cause.as_slice(), removed.cause.len()), ([removed.fingerprint.clone()].as_slice(), 0));
    assert_eq!(refused.version, removed.version);
    let alone = report.findings.iter().filter(|finding| finding.severity == Severity::Error && finding.cause.is_empty());
    assert_eq!(alone.map(|finding| &*finding.rule).collect::<Vec<_>>(), ["version-removed-stored"]);
}

#[test]
fn guidelines_are_never_errors_under_the_recommended_policy() {
    let mut old = versions(&["v1beta1", "v1"]);
    let mut new = versions(&["v1beta1", "v1", "v2"]);
    old["metadata"]["annotations"] = json!({});
    new["metadata"]["annotations"] = json!({});
    new["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": "a", "name": "b"}}}});
    new["spec"]["versions"][2]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = json!({"a_b": {"type": "string"}});
    let report = report("recommended", &[old], &[new]);
    let guidelines = |finding: &&Finding| matches!(finding.family, Family::Guideline | Family::Convention);
    let found: Vec<&Finding> = report.findings.iter().filter(guidelines).collect();
    assert!(found.len() > 3, "{found:?}");
    for finding in found {
        assert!(finding.severity < Severity::Error, "{}: {}", finding.rule, finding.message);
    }
}

#[test]
fn a_declared_version_fails_only_if_it_is_too_low() {
    let release = |release, fields| crd(&Sort { release, fields, ..PLAIN });
    let pair = |to| report("recommended", &[release("v1.0.0", &["a", "b"])], &[release(to, &["a"])]);
    assert_eq!(judged(&pair("v1.0.0"), "version-bump-pending").0, Severity::Info);
    assert_eq!(judged(&pair("v1.0.1"), "version-bump-too-small").0, Severity::Error);
    assert_eq!(judged(&pair("v0.9.0"), "bundle-version-decreased").0, Severity::Error);
    assert!(found(&pair("v1.1.0"), "version-bump-too-small").is_none());
}
