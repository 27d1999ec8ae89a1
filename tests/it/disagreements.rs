//! Pairs on which a review once disagreed with a running server; each file says what the server did.

use crdwise::{Book, Certainty, Class, DEFAULT_POLICY, Documents, Judgement, Policy, Ratchet, Report, Side, review};

fn reviewed(name: &str) -> Report {
    let path = format!("{}/testdata/server/disagreements/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("a file");
    let part = |from: &str, to: &str| {
        let rest = text.split_once(from).expect("a part").1;
        rest.split_once(to).expect("another part").0.to_owned()
    };
    let (old, new) = (part("--- # old\n", "--- # new\n"), part("--- # new\n", "--- # object\n"));
    let policy = Policy::find(DEFAULT_POLICY).expect("the default policy");
    let judgement = Judgement::new(Book::builtin(), &policy);
    let (old, new) = (Documents::of_text("old.yaml", &old), Documents::of_text("new.yaml", &new));
    review(&Side::new("old", &old), &Side::new("new", &new), &judgement)
}

#[test]
fn nothing_that_the_server_accepts_is_proved_to_break() {
    for name in [
        "review-alarm-01-embedded-name-empty",
        "review-alarm-02-witness-with-integral-float",
        "review-alarm-03-cel-on-map-values-to-minLength",
        "review-alarm-04-implied-by-cel-isIP",
        "review-alarm-05-implied-by-cel-size-in",
        "review-alarm-06-implied-by-cel-required",
        "review-alarm-07-unreachable-node",
        "review-alarm-08-embedded-minProperties",
    ] {
        let report = reviewed(name);
        let breaks = report.findings.iter().filter(|finding| finding.class == Some(Class::SemanticBreaking));
        let proved: Vec<&str> = breaks.filter(|finding| finding.certainty == Certainty::Proved).map(|finding| &*finding.rule).collect();
        assert!(proved.is_empty(), "{name}: {proved:?}");
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
fn bounds_are_floats() {
    assert_eq!(reviewed("review-missed-01-bound-beyond-2p53").verdict, Some(Class::SemanticBreaking));
}
