//! Inputs on which crdwise once disagreed with a running server; each file records what the server did.

use std::path::{Path, PathBuf};
use std::process::Command;

use crdwise::{Affected, Book, Certainty, Class, DEFAULT_POLICY, Documents, Judgement, Policy, Ratchet, Report, Side, lint, review};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/server/disagreements")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(format!("{name}.yaml"))).expect("a file")
}

/// The files whose names start with a prefix, without their extension.
fn files(prefix: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the folder").map(|entry| entry.expect("an entry").file_name());
    let names = entries.filter_map(|name| Some(name.to_str()?.strip_suffix(".yaml")?.to_owned()));
    let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort_unstable();
    assert!(!names.is_empty());
    names
}

/// A document in the file, by the name after its `---`.
fn part<'t>(text: &'t str, name: &str) -> &'t str {
    let rest = text.split_once(&format!("--- # {name}\n")).expect("a part").1;
    rest.split_once("\n--- # ").map_or(rest, |(part, _)| part)
}

/// Whether the server accepted the input of a file.
fn accepted(text: &str) -> bool {
    let answer = text.lines().find_map(|line| line.strip_prefix("# server: ")).expect("the server's answer");
    answer.starts_with("accepts")
}

fn reviewed(name: &str) -> Report {
    let text = text(name);
    let policy = Policy::find(DEFAULT_POLICY).expect("the default policy");
    let judgement = Judgement::new(Book::builtin(), &policy);
    let (old, new) = (Documents::of_text("old.yaml", part(&text, "old")), Documents::of_text("new.yaml", part(&text, "new")));
    review(&Side::new("old", &old), &Side::new("new", &new), &judgement)
}

#[test]
fn the_same_objects_before_and_after_are_no_change() {
    for name in files("review-alarm").into_iter().chain(files("review-additive")) {
        let report = reviewed(&name);
        let of = |class: Class| report.findings.iter().filter(move |finding| finding.class == Some(class));
        let proved: Vec<&str> =
            of(Class::SemanticBreaking).filter(|finding| finding.certainty == Certainty::Proved).map(|finding| &*finding.rule).collect();
        assert!(proved.is_empty(), "{name}: {proved:?}");
        assert_eq!(report.verdict, Some(Class::None), "{name}");
    }
}

#[test]
fn every_break_is_shown_by_an_object() {
    for name in files("review-missed") {
        let report = reviewed(&name);
        assert_eq!(report.verdict, Some(Class::SemanticBreaking), "{name}");
        assert!(report.findings.iter().any(|finding| finding.witness.is_some()), "{name}");
    }
}

#[test]
fn updates_are_tolerated_as_the_server_tolerates_them() {
    for (name, ratchet) in [
        ("review-ratchet-01-list-type", Ratchet::Always),
        ("review-ratchet-02-cel-rule-that-errs", Ratchet::Never),
        ("review-ratchet-03-unknown-keys", Ratchet::Never),
    ] {
        let report = reviewed(name);
        let found = report.findings.iter().find(|finding| finding.class == Some(Class::SemanticBreaking)).expect("a break");
        assert_eq!(found.ratchet, Some(ratchet), "{name}");
    }
}

#[test]
fn crds_are_refused_as_the_server_refuses_them() {
    for name in files("lint") {
        let text = text(&name);
        let policy = Policy::find(DEFAULT_POLICY).expect("the default policy");
        let judgement = Judgement::new(Book::builtin(), &policy);
        let documents = Documents::of_text("crd.yaml", part(&text, "crd"));
        let report = lint(&Side::new("crd", &documents), &judgement);
        let refused: Vec<&str> =
            report.findings.iter().filter(|finding| finding.affects.contains(Affected::Refused)).map(|finding| &*finding.message).collect();
        assert_eq!(refused.is_empty(), accepted(&text), "{name}: {refused:?}");
    }
}

#[test]
fn objects_are_refused_as_the_server_refuses_them() {
    for name in files("validate") {
        let text = text(&name);
        let scratch = tempfile::tempdir().expect("a directory");
        for part_name in ["crd", "object"] {
            std::fs::write(scratch.path().join(format!("{part_name}.yaml")), part(&text, part_name)).expect("a file");
        }
        let run = Command::new(env!("CARGO_BIN_EXE_crdwise"))
            .args(["validate", "object.yaml", "--crd", "crd.yaml"])
            .current_dir(scratch.path())
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&run.stdout);
        assert_eq!(run.status.code(), Some(i32::from(!accepted(&text))), "{name}: {said}");
        assert_eq!(said.contains("null, which its schema doesn't allow"), name.contains("null-dropped"), "{name}: {said}");
    }
}
