//! The check on a pull request: what was released, what moved, pre-existing findings, and a run without arguments.

use crate::repository::Scratch;

/// A CRD with these properties of `spec`, and these lines under `metadata`.
fn crd(properties: &str, metadata: &str) -> String {
    named_crd("widgets", properties, metadata)
}

fn named_crd(plural: &str, properties: &str, metadata: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {plural}.shop.example.com
{metadata}spec:
  group: shop.example.com
  names: {{plural: {plural}, kind: {}}}
  scope: Namespaced
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {{{properties}}}
",
        plural.to_uppercase()
    )
}

const SIZE: &str = "size: {type: string}";
const BOTH: &str = "size: {type: string}, colour: {type: string}";
const FILE: &str = "config/crd/widgets.yaml";

fn version(release: &str) -> String {
    format!("  annotations: {{shop.example.com/bundle-version: {release}}}\n")
}

#[track_caller]
fn says(scratch: &Scratch, arguments: &[&str], code: i32, parts: &[&str]) -> String {
    let (exit, out, error) = scratch.run(arguments);
    let all = format!("{out}{error}");
    assert_eq!(exit, code, "{arguments:?}\n{all}");
    for part in parts {
        assert!(all.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{arguments:?} doesn't say {part:?}\n{all}");
    }
    all
}

#[test]
fn a_break_of_what_no_release_contains_is_a_note() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(SIZE, ""));
    scratch.git(&["tag", "-a", "-m", "r", "v0.1.0"]);
    scratch.commit(FILE, &crd(BOTH, ""));
    scratch.git(&["tag", "-a", "-m", "r", "v0.2.0-rc.1"]);
    scratch.commit(FILE, &crd(SIZE, ""));
    // `colour` was added after v0.1.0, and a release candidate isn't a release.
    let json = says(&scratch, &["review", "HEAD~1:config/crd", "HEAD:config/crd", "--format", "json"], 0, &["\"released\": false"]);
    assert!(json.contains("\"release\": \"v0.1.0\""), "{json}");
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 0, &["v0.1.0"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--released", "none"], 1, &["field-removed"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--released", "v0.2.0-rc.1"], 1, &["field-removed"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--released", "v9"], 3, &["v9"]);
    // What the release has is broken, whatever else was added.
    scratch.commit(FILE, &crd("colour: {type: string}", ""));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 1, &["field-re"]);
}

#[test]
fn the_next_version_follows_the_last_release() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(SIZE, ""));
    scratch.git(&["tag", "v1.4.2"]);
    scratch.commit(FILE, &crd(BOTH, ""));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 0, &["next version: 1.4.3 or later (patch; 1.4.2 before)"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--released", "none"], 0, &["pass --old-version"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--released", "HEAD~1"], 0, &["pass --old-version"]);
    // A version in the CRDs is the project's own word, whatever its tags say.
    scratch.commit(FILE, &crd(SIZE, &version("v0.3.0")));
    scratch.commit(FILE, &crd(BOTH, &version("v0.4.0")));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 0, &["0.3.1 or later (patch; 0.3.0 before)"]);
}

#[test]
fn a_release_is_found_on_a_branch_and_under_a_prefix() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(SIZE, ""));
    scratch.git(&["tag", "v0.1.0"]);
    scratch.git(&["checkout", "-q", "-b", "release-0.2"]);
    scratch.git(&["mv", "config/crd", "config/other"]);
    scratch.commit("config/other/widgets.yaml", &crd(BOTH, ""));
    scratch.git(&["tag", "-a", "-m", "r", "widgets-v0.2.0"]);
    scratch.git(&["checkout", "-q", "main"]);
    scratch.commit(FILE, &crd(BOTH, ""));
    scratch.commit(FILE, &crd(SIZE, ""));
    // The release isn't reachable from here, and has the CRD in another directory.
    let json = says(&scratch, &["review", "HEAD~1:config/crd", "HEAD:config/crd", "--format", "json"], 1, &["field-removed"]);
    assert!(json.contains("\"release\": \"widgets-v0.2.0\"") && json.contains("\"released\": true"), "{json}");
}

#[test]
fn without_a_tag_everything_counts_as_released() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(BOTH, ""));
    scratch.commit(FILE, &crd(SIZE, ""));
    let said = says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 1, &["everything counts as released"]);
    assert_eq!(said.matches("everything counts as released").count(), 1, "{said}");
    scratch.commit(FILE, &crd(BOTH, ""));
    let quiet = says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 0, &["COMPATIBLE"]);
    assert!(!quiet.contains("released"), "{quiet}");
}

#[test]
fn an_unchanged_declared_version_is_not_a_release() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(SIZE, &version("v1.2.0")));
    scratch.commit(FILE, &crd(BOTH, &version("v1.2.0")));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 0, &["version-bump-pending", "1.2.1"]);
    scratch.commit(FILE, &crd(SIZE, &version("v1.2.1")));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--policy", "guidelines"], 1, &["version-bump-too-small", "1.3.0"]);
    scratch.commit(FILE, &crd(SIZE, &version("v1.1.0")));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 1, &["bundle-version-decreased", "swap"]);
    // The command line takes precedence over the annotation.
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--new-version", "1.3.0"], 0, &["from the command line is used"]);
    scratch.git(&["tag", "v1.1.0"]);
    scratch.commit(FILE, &crd(BOTH, &version("v1.1.0")));
    says(&scratch, &["review", "config/crd", "--against-tag", "v*"], 1, &["version-bump-too-small"]);
}

#[test]
fn crds_that_move_are_found_by_name() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(BOTH, ""));
    scratch.git(&["mv", "config", "deploy"]);
    scratch.commit("README", "moved");
    says(&scratch, &["review", "HEAD~1:deploy/crd", "HEAD:deploy/crd"], 0, &["NO API CHANGE"]);
    says(&scratch, &["review", "deploy/crd", "--against", "HEAD~1"], 0, &["NO API CHANGE"]);
    says(&scratch, &["review", "HEAD~1:config/crd", "HEAD:config/crd"], 0, &["NO API CHANGE"]);
    // A CRD that was moved and broken is reported as broken.
    scratch.git(&["mv", "deploy", "charts"]);
    scratch.commit("charts/crd/widgets.yaml", &crd(SIZE, ""));
    says(&scratch, &["review", "charts/crd", "--against", "HEAD~1"], 1, &["field-removed"]);
    // With one of two directories as input, the CRD that was moved out still exists.
    scratch.commit("config/crd/gadgets.yaml", &named_crd("gadgets", SIZE, ""));
    scratch.commit("config/crd/gizmos.yaml", &named_crd("gizmos", SIZE, ""));
    scratch.git(&["mv", "config/crd/gizmos.yaml", "charts/crd/gizmos.yaml"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD"], 0, &["NO API CHANGE"]);
}

#[test]
fn an_old_side_that_is_empty_or_unreadable() {
    let scratch = Scratch::new();
    scratch.commit("README", "a");
    scratch.commit(FILE, &crd(SIZE, ""));
    // The first CRD of a project.
    says(&scratch, &["review", "HEAD~1:config/crd", "HEAD:config/crd"], 0, &["crd-added"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 0, &["crd-added"]);
    // A wrong path must not look like the first CRD.
    scratch.write("empty/values.yaml", "a: 1\n");
    says(&scratch, &["review", "empty", "config/crd"], 3, &["no CRD was found in empty", "--old-may-be-empty"]);
    says(&scratch, &["review", "empty", "config/crd", "--old-may-be-empty"], 0, &["crd-added"]);
    says(&scratch, &["review", "nowhere", "config/crd"], 3, &["nowhere"]);
    says(&scratch, &["review", "HEAD~1:nowhere", "HEAD:nowhere"], 3, &["no CRD was found in HEAD:nowhere"]);
    // A change that fixes an unreadable old side passes.
    scratch.commit(FILE, &format!("{}kind: CustomResourceDefinition\n", crd(SIZE, "")));
    scratch.commit(FILE, &crd(SIZE, ""));
    says(&scratch, &["review", "HEAD~1:config/crd", "HEAD:config/crd"], 0, &["can't be read completely", "incomplete:"]);
    says(&scratch, &["review", "HEAD~1:config/crd", "HEAD:config/crd", "--format", "env"], 0, &["complete=false"]);
    says(&scratch, &["review", "HEAD:config/crd", "HEAD~1:config/crd"], 3, &["appears twice"]);
    says(&scratch, &["review", "HEAD~1:config/crd", "HEAD~1:config/crd"], 3, &["appears twice"]);
}

#[test]
fn pre_existing_refusals_do_not_fail_the_change() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd("size: {type: string, pattern: '('}", ""));
    scratch.commit(FILE, &crd("size: {type: string, pattern: '('}, colour: {type: string}", ""));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 0, &["COMPATIBLE"]);
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1", "--all"], 0, &["pre-existing"]);
    // The mistake moves with a renamed field.
    scratch.commit(FILE, &crd("length: {type: string, pattern: '('}, colour: {type: string}", ""));
    let (_, json, _) = scratch.run(&["review", "config/crd", "--against", "HEAD~1", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    let refused: Vec<_> = report["findings"].as_array().unwrap().iter().filter(|finding| finding["family"] == "server").collect();
    assert!(!refused.is_empty() && refused.iter().all(|finding| finding["status"] == "pre-existing"), "{json}");
    assert!(refused.iter().all(|finding| finding["message"].as_str().unwrap().contains("still rejects the update")), "{json}");
    // A new mistake fails.
    scratch.commit(FILE, &crd("length: {type: string, pattern: '('}, colour: {type: string, pattern: '['}", ""));
    says(&scratch, &["review", "config/crd", "--against", "HEAD~1"], 1, &["colour"]);
}

#[test]
fn a_ci_job_that_names_no_base_is_compared_with_the_default_branch() {
    let scratch = Scratch::new();
    scratch.commit(FILE, &crd(BOTH, ""));
    let job = |variables: &[(&str, &str)]| {
        let output = scratch.command(&["review"]).envs(variables.iter().copied()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = job(&[("CI", "true")]);
    assert!(code == Some(2) && said.contains("doesn't name the base"), "{said}");
    scratch.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
    scratch.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    assert_eq!(job(&[("CI", "true")]).0, Some(2));
    scratch.commit(FILE, &crd(SIZE, ""));
    let (code, said) = job(&[("CI", "true")]);
    assert!(code == Some(1) && said.contains("against origin/HEAD"), "{said}");
    let (code, said) = job(&[("CHANGE_TARGET", "main")]);
    assert!(code == Some(1) && said.contains("against origin/main"), "{said}");
    assert_eq!(job(&[]).0, Some(0));
}

#[test]
fn a_bare_run_finds_the_crds_of_the_repository() {
    let scratch = Scratch::new();
    scratch.write(FILE, &crd(SIZE, ""));
    says(&scratch, &["review"], 3, &["there is no commit yet to compare with", "crdwise lint"]);
    std::fs::remove_dir_all(scratch.path().join("config")).unwrap();
    scratch.write("README", "a");
    scratch.commit("README", "a");
    says(&scratch, &["review"], 3, &["no CRD was found in this repository"]);
    scratch.commit(FILE, &crd(BOTH, ""));
    scratch.commit("charts/shop/crds/gadgets.yaml", &named_crd("gadgets", SIZE, ""));
    says(&scratch, &["review"], 0, &["reviewing", "config/crd", "charts/shop/crds", "against HEAD", "NO API CHANGE"]);
    says(&scratch, &["lint"], 0, &["checking", "config/crd"]);
    scratch.write(FILE, &crd(SIZE, ""));
    says(&scratch, &["review"], 1, &["field-removed"]);
}
