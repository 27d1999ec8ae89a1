//! Properties of every bundle: it has no changes compared with itself; order, files and threads change nothing.

use std::path::Path;
use std::process::Command;

use crate::recorded::{project, releases};

fn review(arguments: &[&std::ffi::OsStr], threads: &str) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_crdwise"))
        .args(["review", "--format=json"])
        .args(arguments)
        .env("RAYON_NUM_THREADS", threads)
        .output()
        .expect("the program runs");
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Correctly refused, by name: not YAML until rendered, a duplicate key.
const REFUSED: &[&str] = &["rook-helm-templated", "knative-v1.12.0"];

#[test]
fn a_bundle_against_itself_is_silent() {
    let mut wrong = Vec::new();
    // Configurations, baselines and conversions of the cases apply to both sides of a change.
    let case = project().join("testdata/cases");
    for bundle in releases().into_iter().flatten().filter(|bundle| !bundle.starts_with(&case)) {
        let (code, text) = review(&[bundle.as_os_str(), bundle.as_os_str()], "2");
        let refused = REFUSED.iter().any(|name| bundle.components().any(|part| part.as_os_str() == *name));
        let report: serde_json::Value = serde_json::from_str(&text).expect("a report");
        let fresh = report["findings"].as_array().expect("findings").iter().filter(|f| f["status"] == "new").count();
        if code != if refused { 3 } else { 0 } || fresh > 0 || report["verdict"] != "none" {
            wrong.push(format!("{}: exit {code}, {fresh} new findings, verdict {}", bundle.display(), report["verdict"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn threads_and_runs_change_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (old, new) = (root.join("testdata/demo/old"), root.join("testdata/demo/new"));
    let first = review(&[old.as_os_str(), new.as_os_str()], "1");
    for threads in ["1", "2", "5"] {
        assert_eq!(first, review(&[old.as_os_str(), new.as_os_str()], threads));
    }
}

#[test]
fn a_report_conforms_to_its_schema() {
    let schema: serde_json::Value = serde_json::from_str(include_str!("../../src/judge/report.schema.json")).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a valid schema");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let demo = review(&[root.join("testdata/demo/old").as_os_str(), root.join("testdata/demo/new").as_os_str()], "2").1;
    let lint = Command::new(env!("CARGO_BIN_EXE_crdwise"))
        .args(["lint", "--format=json"])
        .arg(root.join("testdata/broken/26-typed.yaml"))
        .output();
    for text in [demo, String::from_utf8(lint.expect("runs").stdout).expect("UTF-8")] {
        let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let errors: Vec<String> = validator.iter_errors(&report).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
    }
}
