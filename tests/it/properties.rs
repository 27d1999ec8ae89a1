//! What holds for every bundle: compared with itself it is silent; order, files and threads change nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bundles of our own, and real ones where they stand beside the project.
fn bundles() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![root.join("testdata/demo/old"), root.join("testdata/demo/new")];
    let corpus = root.join("../shared/corpus");
    let Ok(projects) = fs::read_dir(&corpus) else {
        eprint_note();
        return found;
    };
    for project in projects.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
        // The largest is for the benchmark; the others say as much in a debug build.
        if project.ends_with("provider-upjet-aws") {
            continue;
        }
        for tag in fs::read_dir(project).expect("a project").flatten().map(|entry| entry.path()).filter(|path| path.is_dir()) {
            let channels: Vec<PathBuf> = fs::read_dir(&tag).expect("a tag").flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect();
            if channels.is_empty() { found.push(tag) } else { found.extend(channels) }
        }
    }
    found.sort();
    found
}

#[allow(clippy::disallowed_macros, reason = "a skipped test says so")]
fn eprint_note() {
    eprintln!("note: no corpus beside the project; only its own bundles are used");
}

fn review(arguments: &[&std::ffi::OsStr], threads: &str) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_crdwise"))
        .args(["review", "--format=json"])
        .args(arguments)
        .env("RAYON_NUM_THREADS", threads)
        .output()
        .expect("the program runs");
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).expect("UTF-8"))
}

/// Right refusals, by name: not YAML until rendered, a duplicate key, a CRD twice.
const REFUSED: &[&str] = &["rook-helm-templated", "knative-v1.12.0", "openshift-api-variants-dup"];

#[test]
fn a_bundle_against_itself_is_silent() {
    let mut wrong = Vec::new();
    for bundle in bundles() {
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
fn a_report_is_what_its_schema_says() {
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
