//! An API with four releases in a real repository: findings that need more than two releases, and which configuration applies.

use serde_json::Value;

use crate::repository::Scratch;

const FILE: &str = "config/crd/widgets.yaml";

/// A CRD whose `spec` has these fields, one per line.
fn crd(fields: &[&str]) -> String {
    let mut text = String::from(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
",
    );
    for field in fields {
        text.push_str(&format!("                {field}\n"));
    }
    text
}

const SIZE: &str = "size: {type: integer}";
const COLOUR: &str = "colour: {type: string}";
const COLOUR_GOES: &str = "colour: {type: string, description: 'Deprecated: use paint instead.'}";
const OTHER_COLOUR: &str = "colour: {type: integer, description: 'The number of a colour.'}";

fn release(scratch: &Scratch, tag: &str, fields: &[&str]) {
    scratch.write("RELEASE", tag);
    scratch.commit(FILE, &crd(fields));
    scratch.git(&["tag", tag]);
}

/// The rules and severities of new findings at `spec.colour`.
fn at_colour(scratch: &Scratch, arguments: &[&str]) -> Vec<(String, String)> {
    let (_, out, error) = scratch.run(&[&["review"], arguments, &["--format", "json"]].concat());
    let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{error}"));
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = report["findings"].as_array().expect("findings");
    findings
        .iter()
        .filter(|finding| finding["path"] == "spec.colour" && finding["status"] == "new")
        .map(|finding| (text(finding, "rule"), text(finding, "severity")))
        .collect()
}

fn has(found: &[(String, String)], rule: &str, severity: &str) -> bool {
    found.iter().any(|(name, level)| name == rule && level == severity)
}

#[test]
fn a_removal_waits_for_three_releases() {
    let scratch = Scratch::new();
    release(&scratch, "v1.0.0", &[SIZE, COLOUR]);
    release(&scratch, "v1.1.0", &[SIZE, COLOUR_GOES]);
    release(&scratch, "v1.2.0", &[SIZE, COLOUR_GOES]);
    release(&scratch, "v1.3.0", &[SIZE, COLOUR_GOES]);
    release(&scratch, "v2.0.0", &[SIZE]);
    // Two releases with the deprecation: one in the history, and the old one.
    let early = at_colour(&scratch, &["v1.2.0:config/crd", "v2.0.0:config/crd", "--history", "v1.0.0", "v1.1.0"]);
    assert!(has(&early, "removed-too-early", "warning") && has(&early, "field-removed", "error"), "{early:?}");
    let kubevirt = ["config/crd", "--against", "v1.2.0", "--policy", "kubevirt", "--history", "v1.0.0", "v1.1.0"];
    assert!(has(&at_colour(&scratch, &kubevirt), "removed-too-early", "error"));
    // Three releases.
    let ripe = at_colour(&scratch, &["config/crd", "--against", "v1.3.0", "--history", "v1.0.0", "v1.1.0", "v1.2.0"]);
    assert!(ripe.iter().all(|(rule, _)| rule != "removed-too-early") && has(&ripe, "field-removed", "error"), "{ripe:?}");
    // Without a history, this is unknown.
    let unknown = at_colour(&scratch, &["config/crd", "--against", "v1.2.0"]);
    assert!(unknown.iter().all(|(rule, _)| rule != "removed-too-early"), "{unknown:?}");
    let (code, _, error) = scratch.run(&["review", "config/crd", "--against", "v1.3.0", "--history", "v9.9.9"]);
    assert!(code == 3 && error.contains("v9.9.9"), "{error}");
}

#[test]
fn a_name_does_not_come_back_with_another_meaning() {
    let scratch = Scratch::new();
    release(&scratch, "v1.0.0", &[SIZE, COLOUR]);
    release(&scratch, "v2.0.0", &[SIZE]);
    release(&scratch, "v2.1.0", &[SIZE, OTHER_COLOUR]);
    let reused = at_colour(&scratch, &["config/crd", "--against", "v2.0.0", "--history", "v1.0.0"]);
    assert!(has(&reused, "name-reused", "warning") && has(&reused, "field-added", "info"), "{reused:?}");
    release(&scratch, "v2.2.0", &[SIZE, COLOUR]);
    let back = at_colour(&scratch, &["config/crd", "--against", "v2.0.0", "--history", "v1.0.0"]);
    assert!(back.iter().all(|(rule, _)| rule != "name-reused"), "{back:?}");
}

#[test]
fn the_configuration_is_that_of_its_revision() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(&[SIZE, COLOUR]));
    scratch.git(&["tag", "v1.0.0"]);
    scratch.write("crdwise.yaml", "waivers:\n  - {rule: field-removed, reason: nobody uses it}\n  - {rule: preserve-*, reason: not yet}\n");
    scratch.commit(FILE, &crd(&[SIZE]));
    scratch.git(&["tag", "v1.1.0"]);
    // Found above the input, and listed because it was added with the change.
    let (code, out, error) = scratch.run(&["review", "config/crd", "--against", "v1.0.0"]);
    assert!(code == 0 && out.contains("a waiver of field-removed came with this change"), "{out}{error}");
    assert!(out.contains("BREAKING:") && out.contains(" crdwise.yaml:3:") && out.contains("(line 2)"), "{out}");
    // The same at a revision.
    let (code, out, error) = scratch.run(&["review", "v1.0.0:config/crd", "v1.1.0:config/crd"]);
    assert!(code == 0 && out.contains(" v1.1.0:crdwise.yaml:3:") && out.contains("(line 2)"), "{out}{error}");
    // With the old configuration, the change fails.
    let (code, out, _) = scratch.run(&["review", "config/crd", "--against", "v1.0.0", "--config-from", "old"]);
    assert!(code == 1 && out.contains("policy-changed"), "{out}");
    // Once merged, it is no longer listed.
    scratch.commit(FILE, &crd(&[SIZE, "shape: {type: string}"]));
    let (code, out, _) = scratch.run(&["review", "config/crd", "--against", "v1.1.0"]);
    assert!(code == 0 && !out.contains("policy-changed"), "{out}");
    // A growing baseline is listed too.
    let (code, out, error) = scratch.run(&["baseline", "write", "config/crd", "--against", "v1.0.0"]);
    assert!(code == 0 && out.starts_with("crdwise-baseline.json: "), "{out}{error}");
    let (_, out, _) = scratch.run(&["review", "config/crd", "--against", "v1.1.0"]);
    assert!(out.contains("the baseline accepts"), "{out}");
}

#[test]
fn a_configuration_above_the_repository_is_ignored() {
    let outer = tempfile::tempdir().expect("a folder");
    std::fs::write(outer.path().join("crdwise.yaml"), "nonsense: true\n").expect("written");
    let inner = outer.path().join("repository");
    std::fs::create_dir_all(inner.join(".git")).expect("made");
    std::fs::create_dir_all(inner.join("crds")).expect("made");
    std::fs::write(inner.join("crds/widget.yaml"), crd(&[SIZE])).expect("written");
    let run = |dir: &std::path::Path, input: &str| {
        let program = std::process::Command::new(env!("CARGO_BIN_EXE_crdwise")).args(["lint", input]).current_dir(dir).output();
        program.expect("the program runs").status.code()
    };
    assert_eq!(run(&inner, "crds"), Some(0));
    assert_eq!(run(&inner.join("crds"), "."), Some(0));
    std::fs::write(inner.join("crdwise.yaml"), "nonsense: true\n").expect("written");
    assert_eq!(run(&inner, "crds"), Some(2));
    assert_eq!(run(&inner.join("crds"), "widget.yaml"), Some(2));
}
