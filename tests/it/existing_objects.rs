//! `--objects`: exactly the objects that a change breaks are named, in every format.

use std::fmt::Write as _;
use std::process::{Command, Output};

const OBJECTS: usize = 1_000;
const BROKEN: [usize; 3] = [17, 500, 999];

fn crd(maximum: u32) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.example.org}}\nspec:\n  \
         group: example.org\n  names: {{kind: Widget, plural: widgets}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    \
         storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            \
         type: object\n            properties:\n              size: {{type: integer, maximum: {maximum}}}\n"
    )
}

/// A dump of a cluster in which three objects exceed the limit of the new CRD.
fn dump() -> String {
    let mut text = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    for n in 0..OBJECTS {
        let size = if BROKEN.contains(&n) { 98_765 } else { 1 };
        let _ = write!(
            text,
            "- apiVersion: example.org/v1\n  kind: Widget\n  metadata:\n    name: w{n:04}\n    namespace: shop\n    managedFields:\n    \
             - {{manager: argocd, operation: Apply, fieldsType: FieldsV1, fieldsV1: {{\"f:spec\": {{\"f:size\": {{}}}}}}}}\n  \
             spec: {{size: {size}}}\n"
        );
    }
    text
}

fn review(format: &str) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("a file");
    write("old.yaml", crd(100_000));
    write("new.yaml", crd(50_000));
    write("dump.yaml", dump());
    Command::new(env!("CARGO_BIN_EXE_crdwise"))
        .args(["review", "old.yaml", "new.yaml", "--objects", "dump.yaml", "--format", format])
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs")
}

fn names() -> Vec<String> {
    BROKEN.iter().map(|n| format!("shop/w{n:04}")).collect()
}

#[test]
fn three_of_a_thousand_objects_are_named() {
    for format in ["human", "json", "html"] {
        let output = review(format);
        assert_eq!(output.status.code(), Some(1), "{format}");
        // The HTML page escapes slashes.
        let text = String::from_utf8(output.stdout).expect("text").replace("&#x2f;", "/");
        // A list may be wrapped.
        let flat = text.replace("\n  │", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for name in names() {
            assert!(flat.contains(&name), "{format}: {name}\n{text}");
        }
        for n in (0..OBJECTS).filter(|n| !BROKEN.contains(n)) {
            assert!(!text.contains(&format!("w{n:04}")), "{format}: w{n:04} is fine");
        }
        assert!(!text.contains("98765") && !text.contains("98_765"), "{format}: values are not printed");
        if format != "json" {
            assert!(flat.contains("3 existing objects affected") && flat.contains("managed by argocd"), "{format}: {text}");
        }
    }
}

#[test]
fn the_report_counts_the_effects_on_objects() {
    let report: serde_json::Value = serde_json::from_slice(&review("json").stdout).expect("a report");
    assert_eq!(report["objects"]["checked"], OBJECTS);
    assert_eq!(report["objects"]["hit"], 3);
    assert_eq!(report["objects"]["unexplained"], serde_json::json!([]));
    let findings = report["findings"].as_array().expect("findings");
    let hit: Vec<_> = findings.iter().filter(|finding| finding["objects"]["count"] == 3).collect();
    assert_eq!(hit.len(), 1);
    assert_eq!((&hit[0]["path"], &hit[0]["rule"]), (&"spec.size".into(), &"bound-narrowed".into()));
    assert_eq!(hit[0]["objects"]["names"], serde_json::json!(names()));
    assert_eq!(hit[0]["objects"]["managers"], serde_json::json!([{"name": "argocd", "objects": 3}]));
}

fn review_with(more: &[&str], dump: &str, old: u32) -> Output {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).expect("a file");
    write("old.yaml", crd(old));
    write("new.yaml", crd(50_000));
    write("dump.yaml", dump.to_owned());
    Command::new(env!("CARGO_BIN_EXE_crdwise"))
        .args(["review", "old.yaml", "new.yaml", "--objects", "dump.yaml"])
        .args(more)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs")
}

#[test]
fn values_are_shown_on_request() {
    let asked = review_with(&["--object-values", "--format", "json"], &dump(), 100_000);
    let report: serde_json::Value = serde_json::from_slice(&asked.stdout).expect("a report");
    let findings = report["findings"].as_array().expect("findings");
    let hit = findings.iter().find(|finding| finding["objects"]["count"] == 3).expect("a finding");
    let values: Vec<_> = names().iter().map(|name| serde_json::json!({"object": name, "path": "spec.size", "value": "98765"})).collect();
    assert_eq!(hit["objects"]["values"], serde_json::json!(values));
    let text = String::from_utf8(review_with(&["--object-values"], &dump(), 100_000).stdout).expect("text");
    assert!(text.replace("\n  │", " ").contains("shop/w0017 (spec.size: 98765)"), "{text}");
}

#[test]
fn exit_zero_and_fail_on_never_apply_to_objects_too() {
    for (more, code) in [(vec![], 1), (vec!["--exit-zero"], 0), (vec!["--fail-on", "never"], 0)] {
        assert_eq!(review_with(&more, &dump(), 100_000).status.code(), Some(code), "{more:?}");
    }
    // Unreadable input still fails.
    for more in [vec![], vec!["--exit-zero"]] {
        assert_eq!(review_with(&more, "kind: [", 100_000).status.code(), Some(3), "{more:?}");
    }
}
