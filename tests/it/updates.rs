//! Recorded creates, updates and status writes, through the command line: verdicts and messages are the server's.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Requests whose verdict or text is known to differ: a server that reuses a quantity it adds to, and the wording of two errors.
const DIFFERENT: &[&str] = &["cel-quantity-aliasing-big-good", "cel-macro-transformmapentry-bad", "cel-std-uint-bad"];
/// Shown values are shortened here.
const CUT: char = '…';

fn records() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let complete = root.join("../shared/vectors/servers/train.jsonl");
    let file = if complete.exists() { complete } else { root.join("testdata/server/servers.jsonl") };
    let text = fs::read_to_string(file).expect("recorded verdicts");
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

fn whole(crd: &Value, body: &Value) -> Value {
    let mut object = body.clone();
    let (group, version) = (&crd["spec"]["group"], &crd["spec"]["versions"][0]["name"]);
    object["apiVersion"] = json!(format!("{}/{}", group.as_str().unwrap(), version.as_str().unwrap()));
    object["kind"] = crd["spec"]["names"]["kind"].clone();
    if object.get("metadata").is_none() {
        object["metadata"] = json!({"name": "x"});
    }
    object
}

/// The remarks on the only object.
fn remarks(folder: &Path, record: &Value) -> Vec<(String, String)> {
    let write = |name: &str, value: &Value| fs::write(folder.join(name), value.to_string()).expect("a file");
    write("crd.json", &record["crd"]);
    write("object.json", &whole(&record["crd"], &record["object"]));
    let mut command = Command::new(env!("CARGO_BIN_EXE_crdwise"));
    command.current_dir(folder).args(["validate", "object.json", "--crd", "crd.json", "--json"]);
    if record["kind"] == "object-update" {
        write("previous.json", &whole(&record["crd"], &record["old_object"]));
        command.args(["--previous", "previous.json"]);
    }
    if let Some(subresource) = record["subresource"].as_str() {
        command.args(["--subresource", subresource]);
    }
    let output = command.output().expect("the program runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("a report");
    let text = |remark: &Value, key: &str| remark[key].as_str().unwrap_or_default().to_owned();
    let remarks = report["objects"][0]["remarks"].as_array().expect("remarks").iter();
    remarks.map(|remark| (text(remark, "what"), text(remark, "message"))).collect()
}

#[test]
fn recorded_requests_are_answered_as_the_server_answered_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut run, mut different) = (0, Vec::new());
    for record in records() {
        let verdict = &record["verdicts"]["1.36"];
        let is_request = record["kind"].as_str().is_some_and(|kind| kind.starts_with("object-"));
        let id = record["id"].as_str().unwrap_or_default();
        if !is_request || verdict["crd_refused_on_create"] == true || DIFFERENT.contains(&id) {
            continue;
        }
        run += 1;
        let remarks = remarks(folder.path(), &record);
        let of = |what: &'static str| remarks.iter().filter(move |remark| remark.0 == what).map(|remark| remark.1.as_str());
        let told: BTreeSet<String> = of("rejected").map(str::to_owned).collect();
        let text =
            |error: &Value| format!("{}: {}", error["field"].as_str().unwrap_or_default(), error["detail"].as_str().unwrap_or_default());
        let wanted: BTreeSet<String> = verdict["errors"].as_array().into_iter().flatten().map(text).collect();
        let same = told == wanted || told.iter().any(|text| text.contains(CUT));
        if told.is_empty() != (verdict["accepted"] == true) || !same {
            different.push(format!("{id}\n  here   {told:?}\n  server {wanted:?}"));
        }
        // Of tolerated errors, the server only warns about violated rules.
        for warning in verdict["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let warning = warning.trim_start_matches("299 - ").trim_matches('"').replace("\\\"", "\"");
            if !warning.starts_with("metadata.finalizers") && !of("tolerated").any(|text| text.starts_with(&warning)) {
                different.push(format!("{id}: no warning {warning}"));
            }
        }
    }
    assert!(run > 10, "{run} requests");
    assert!(different.is_empty(), "{} of {run} differ\n{}", different.len(), different.join("\n"));
}
