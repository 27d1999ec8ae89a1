//! Suites, generated cases and fixtures, where files are written and read again.

use crate::repository::Scratch;

const CRD: &str = include_str!("../../testdata/cases/test-generate-more/crds/widgets.yaml");
const SUITE: &str = include_str!("../../testdata/cases/test-generate-more/crds/widgets.shop.example.com.crdtest.yaml");
const SUITE_NAME: &str = "crds/widgets.shop.example.com.crdtest.yaml";

#[test]
fn generated_cases_are_appended_to_existing_suites() {
    let scratch = Scratch::new();
    scratch.write("crds/widgets.yaml", CRD);
    scratch.write(SUITE_NAME, SUITE);
    let (code, said, _) = scratch.run(&["test", "generate", "crds"]);
    assert_eq!(code, 0, "{said}");
    let text = std::fs::read_to_string(scratch.path().join(SUITE_NAME)).unwrap();
    let added = text.strip_prefix(SUITE).expect("cases, comments and order are kept");
    assert!(added.starts_with("  - name: "), "{added}");
    // A second run finds nothing to add.
    let (_, said, _) = scratch.run(&["test", "generate", "crds"]);
    assert!(said.starts_with("0 cases written to 0 files"), "{said}");
    assert_eq!(std::fs::read_to_string(scratch.path().join(SUITE_NAME)).unwrap(), text);
    let names: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("- name:")).map(str::trim).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len(), "{names:?}");
}

#[test]
fn a_suite_that_cannot_be_appended_to_is_left_alone() {
    let scratch = Scratch::new();
    scratch.write("crds/widgets.yaml", CRD);
    let closed = "cases: [{name: small, create: {spec: {size: 1}}, accepts: true}]\ncrd: widgets.shop.example.com\n";
    scratch.write(SUITE_NAME, closed);
    let (code, said, _) = scratch.run(&["test", "generate", "crds"]);
    assert_eq!(code, 0, "{said}");
    assert_eq!(std::fs::read_to_string(scratch.path().join(SUITE_NAME)).unwrap(), closed);
    assert!(scratch.path().join("crds/widgets.shop.example.com.generated.crdtest.yaml").exists());
}

#[test]
fn generated_cases_hold_on_every_variant() {
    let scratch = Scratch::new();
    let channel =
        |name: &str| CRD.replace("metadata: {", &format!("metadata: {{annotations: {{gateway.networking.k8s.io/channel: {name}}}, "));
    scratch.write("crds/standard.yaml", &channel("standard"));
    scratch.write(
        "crds/experimental.yaml",
        &channel("experimental").replace("maximum: 5", "maximum: 9").replace("maxLength: 8", "minLength: 1"),
    );
    let (code, said, error) = scratch.run(&["test", "generate", "crds"]);
    assert_eq!(code, 0, "{said}{error}");
    assert!(said.contains("; 0 of "), "{said}");
    let (code, said, _) = scratch.run(&["test", "crds"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn a_release_without_fixtures_is_reported() {
    let scratch = Scratch::new();
    scratch.commit("config/crd/widgets.yaml", CRD);
    scratch.git(&["tag", "v1.3.0"]);
    assert_eq!(scratch.run(&["fixtures", "write", "config/crd", "--dir", "fixtures/release-1.3"]).0, 0);
    let (code, said, warned) = scratch.run(&["test"]);
    assert_eq!((code, said.as_str(), warned.as_str()), (0, "fixtures of 1.3.0: 1 object, 0 failed\n", ""));
    scratch.commit("config/crd/widgets.yaml", &CRD.replace("maximum: 5", "maximum: 9"));
    scratch.git(&["tag", "v1.4.0"]);
    let (_, _, warned) = scratch.run(&["test"]);
    assert!(warned.contains("release 1.4.0 has no fixtures; write them with `crdwise fixtures write"), "{warned}");
    // A downgrade reads this release's objects with the CRDs of an earlier one.
    let (code, said, _) = scratch.run(&["test", "--downgrade", "v1.3.0:config/crd"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("objects of this release read by v1.3.0:config/crd: 1 object, 0 failed"), "{said}");
}
