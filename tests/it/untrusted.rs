//! A reviewed repository isn't trusted: its configuration, rules and baseline can't read anything outside it, exhaust resources, or
//! switch the gate off unnoticed.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use crate::repository::Scratch;

const CRD: &str = include_str!("../../testdata/demo/old/bookings.yaml");
const SECRET: &str = "token: s3cr3t: \"not yours\n";
const MANIFEST_WITH_A_MISTAKE: &str = "apiVersion: crdwise.dev/v1alpha1
kind: Conversion
metadata: {name: m}
resource: {group: shop.example.com, kind: Widget}
from: {version: v1}
to: {version: v2}
steps:
  - unknown: {token: s3cr3t}
";

/// A repository with a CRD, in a folder next to a file outside it.
fn repository() -> (tempfile::TempDir, Scratch) {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret"), SECRET).unwrap();
    let scratch = Scratch::new();
    scratch.commit("crd/bookings.yaml", CRD);
    (outside, scratch)
}

#[test]
fn nothing_outside_of_the_repository_is_read_or_shown() {
    let (outside, scratch) = repository();
    let secret = outside.path().join("secret");
    let path = secret.display().to_string();
    let up = format!("{}{path}", "../".repeat(20));
    let refused = |why: &str| {
        let (code, out, error) = scratch.run(&["lint", "crd"]);
        assert_eq!(code, 2, "{why}: {out}{error}");
        assert!(!out.contains("s3cr3t") && !error.contains("s3cr3t"), "{why}: {out}{error}");
        error
    };
    for key in ["baseline", "rules", "policies"] {
        scratch.write("crdwise.yaml", &format!("{key}: {path}\n"));
        assert!(refused(key).contains("is an absolute path"));
        scratch.write("crdwise.yaml", &format!("{key}: {up}\n"));
        assert!(refused(key).contains("is outside the repository"));
    }
    // A missing baseline must not be created outside either.
    scratch.write("crdwise.yaml", "baseline: ../made.yaml\n");
    let (code, _, error) = scratch.run(&["baseline", "write", "crd"]);
    assert!(code == 2 && error.contains("is outside the repository"), "{error}");
    // Links: a rule, a baseline, a folder of rules, the configuration itself.
    std::fs::create_dir(scratch.path().join("rules")).unwrap();
    symlink(&secret, scratch.path().join("rules/own.md")).unwrap();
    scratch.write("crdwise.yaml", "rules: rules\n");
    refused("a linked rule");
    symlink(&secret, scratch.path().join("accepted.yaml")).unwrap();
    scratch.write("crdwise.yaml", "baseline: accepted.yaml\n");
    assert!(refused("a linked baseline").contains("is outside the repository"));
    symlink(outside.path(), scratch.path().join("linked")).unwrap();
    scratch.write("crdwise.yaml", "policies: linked\n");
    assert!(refused("a linked folder").contains("is outside the repository"));
    std::fs::remove_file(scratch.path().join("crdwise.yaml")).unwrap();
    symlink(&secret, scratch.path().join("crdwise.yaml")).unwrap();
    assert!(refused("a linked configuration").contains("points outside the repository"));
    // crdwise looks for manifests itself; the user didn't name their folder.
    std::fs::remove_file(scratch.path().join("crdwise.yaml")).unwrap();
    std::fs::write(outside.path().join("manifest.yaml"), MANIFEST_WITH_A_MISTAKE).unwrap();
    symlink(outside.path(), scratch.path().join("conversions")).unwrap();
    for arguments in [&["review", "crd", "--against", "HEAD"][..], &["conversions", "check", "crd", "--against", "HEAD"]] {
        let (code, out, error) = scratch.run(arguments);
        assert!(code == 3 && error.contains("`conversions` is a symbolic link that points outside"), "{out}{error}");
        assert!(!out.contains("s3cr3t") && !error.contains("s3cr3t"), "{out}{error}");
    }
    std::fs::remove_file(scratch.path().join("conversions")).unwrap();
    symlink(&secret, scratch.path().join("crdwise.yaml")).unwrap();
    // A CRD that is a link to the outside isn't part of the bundle.
    std::fs::remove_file(scratch.path().join("crdwise.yaml")).unwrap();
    symlink(&secret, scratch.path().join("crd/linked.yaml")).unwrap();
    let (code, out, error) = scratch.run(&["lint", "crd"]);
    assert!(code == 3 && !out.contains("s3cr3t") && !error.contains("s3cr3t"), "{out}{error}");
}

/// A custom rule with this condition and message.
fn page(when: &str, message: &str) -> String {
    format!(
        "---\nid: own\ntitle: Own\nsince: 0.1.0\nfamily: change\nmatch: {{subject: field, aspect: maximum, effect: narrowed}}\n\
         when: \"{when}\"\nkind: tighten\nconversion: none\nmessage: \"{message}\"\nhelp: h\n---\n## What it does\nx\n\n## Why it matters\nx\n"
    )
}

#[test]
fn templates_and_conditions_of_rules_are_limited() {
    let (_, scratch) = repository();
    scratch.write("crd/bookings.yaml", &CRD.replace("maximum: 100", "maximum: 5"));
    scratch.write("crdwise.yaml", "rules: rules\n");
    let long = "a".repeat(5_000);
    for (when, message) in [
        ("true", "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}".to_owned()),
        ("true", "{{ path * 1000000000 }}".to_owned()),
        ("true", format!("{{{{ '{long}'|replace('a', '{long}') }}}}")),
        ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.matches('(a+)+b')", "m".to_owned()),
        (
            "[1,2,3,4,5,6,7,8,9].all(a, [1,2,3,4,5,6,7,8,9].all(b, [1,2,3,4,5,6,7,8,9].all(c, [1,2,3,4,5,6,7,8,9].all(d, [1,2,3,4,5,6,7,8,9].all(e, [1,2,3,4,5,6,7,8,9].all(f, [1,2,3,4,5,6,7,8,9].all(g, a > 0)))))))",
            "m".to_owned(),
        ),
        ("'x'.matches('((a{1,900}){1,900}){1,900}')", "m".to_owned()),
    ] {
        scratch.write("rules/own.md", &page(when, &message));
        let (code, out, error) = scratch.run(&["review", "crd", "--against", "HEAD"]);
        // An error in the page, or a review without it: never a crash, and never a huge page.
        assert!(matches!(code, 1 | 2), "{code} {when} {message:.60}: {error}");
        assert!(out.len() + error.len() < 1 << 20, "{when}: {} bytes", out.len() + error.len());
        // A rule that wasn't applied is never silent.
        assert!(!when.starts_with('[') || (code == 2 && error.contains("take too long")), "{code} {error}");
    }
}

#[test]
fn the_gate_is_not_switched_off_unnoticed() {
    let (_, scratch) = repository();
    scratch.commit("crdwise.yaml", "policy: recommended\n");
    scratch.write("crd/bookings.yaml", &CRD.replace("maximum: 100", "maximum: 5"));
    assert_eq!(scratch.run(&["review", "crd", "--against", "HEAD"]).0, 1);
    for configuration in [
        "fail-on: never\n",
        "rules: {bound-narrowed: info}\n",
        "paths: {exclude: 'crd/*'}\n",
        "waivers: [{rule: '*', reason: nobody minds}]\n",
        "maturity: [{path: '**', is: alpha}]\n",
    ] {
        scratch.write("crdwise.yaml", configuration);
        let (code, out, error) = scratch.run(&["review", "crd", "--against", "HEAD", "--all"]);
        let said = format!("{out}{error}");
        assert!(said.contains("policy-changed") || code != 0, "{configuration}: {said}");
        // With the old configuration, none of it applies.
        let (code, out, error) = scratch.run(&["review", "crd", "--against", "HEAD", "--config-from", "old"]);
        assert_eq!(code, 1, "{configuration}: {out}{error}");
    }
}
