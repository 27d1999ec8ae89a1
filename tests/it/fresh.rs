//! A second set of recorded verdicts that wasn't used during development: each is reviewed or linted as a user would.

use std::collections::BTreeSet;

use crdwise::{
    Affected, Book, Certainty, Class, DEFAULT_POLICY, Documents, Finding, Judgement, Policy, Report, Side, Status, lint, review,
};
use serde_json::Value;

use crate::recorded::{committed, id, records};

/// Records of the complete set whose verdict is known to be wrong. A fix must remove its record from here.
const WRONG: &[&str] = &[];

/// How many equivalent rewrites in the complete set aren't recognised as such.
const UNRECOGNISED: usize = 8;

fn judged(old: Option<&Value>, new: &Value) -> Report {
    let policy = Policy::find(DEFAULT_POLICY).expect("the default policy");
    let judgement = Judgement::new(Book::builtin(), &policy);
    let new = Documents::of_text("new.json", &new.to_string());
    let new = Side::new("new", &new);
    match old {
        None => lint(&new, &judgement),
        Some(old) => {
            let old = Documents::of_text("old.json", &old.to_string());
            review(&Side::new("old", &old), &new, &judgement)
        }
    }
}

/// The findings because of which the server refuses the CRD. Mistakes that the old CRD also has don't fail a review, but state that
/// the server refuses them.
fn refusals(report: &Report) -> Vec<&Finding> {
    let refuses = |finding: &&Finding| finding.status == Status::New || finding.message.contains("still rejects the update");
    report.findings.iter().filter(|finding| finding.affects.contains(Affected::Refused)).filter(refuses).collect()
}

/// Checks that every record is judged like the server did, except those known to be wrong, which must be wrong.
fn agree(records: &[Value], accepted: impl Fn(&Value) -> bool, report: impl Fn(&Value) -> Report) {
    let mut wrong = Vec::new();
    for record in records {
        let report = report(record);
        let refused = refusals(&report);
        let agrees = refused.is_empty() == accepted(record);
        if agrees == WRONG.contains(&&*id(record)) {
            let rules: Vec<&str> = refused.iter().map(|finding| &*finding.rule).collect();
            wrong.push(format!("{} {}: server accepted={}, here refused by {rules:?}", id(record), record["about"], accepted(record)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), records.len(), wrong.join("\n"));
}

#[test]
fn created_crds_are_judged_as_the_server_judges_them() {
    agree(&records("fresh-lint"), |record| record["observed"]["accepted"] == true, |record| judged(None, &record["crd"]));
}

#[test]
fn updated_crds_are_judged_as_the_server_judges_them() {
    agree(
        &records("fresh-updates"),
        |record| record["observed"]["accepted"] == true,
        |record| judged(Some(&record["old"]), &record["new"]),
    );
}

/// Only the default version; the others are tested in `server/`.
#[test]
fn crds_are_judged_as_kubernetes_1_36_judges_them() {
    let of_kind = |kind: &str| committed("servers").into_iter().filter(|record| record["kind"] == kind).collect::<Vec<_>>();
    let accepted = |record: &Value| record["verdicts"]["1.36"]["accepted"] == true;
    let (creations, updates) = (of_kind("crd-create"), of_kind("crd-update"));
    assert!(!creations.is_empty() && !updates.is_empty());
    agree(&creations, accepted, |record| judged(None, &record["crd"]));
    agree(&updates, accepted, |record| judged(Some(&record["old"]), &record["new"]));
}

/// Whether every object that shows a break has a whole number written as `2.0`, which clients don't send: see the disagreement
/// `review-alarm-02`, which is about the same pair.
fn only_by_fractions_of_zero(record: &Value) -> bool {
    fn has_one(value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_some_and(|x| number.is_f64() && x.fract() == 0.0),
            Value::Array(list) => list.iter().any(has_one),
            Value::Object(map) => map.values().any(has_one),
            _ => false,
        }
    }
    let objects = record["objects"].as_array().into_iter().flatten();
    let breaks = |object: &&Value| object["old"]["accepted"] == true && object["new"]["accepted"] == false;
    let shown: Vec<&Value> = objects.filter(breaks).collect();
    !shown.is_empty() && shown.iter().all(|object| has_one(&object["object"]))
}

#[test]
fn pairs_are_reviewed_as_the_server_showed() {
    let chosen: BTreeSet<String> = committed("fresh-pairs").iter().map(id).collect();
    let (mut breaks, mut equal, mut unrecognised, mut wrong) = (0, 0, 0, Vec::new());
    for record in records("fresh-pairs") {
        let observed = |flag: &str| record["observed"][flag] == true;
        let intended = |label: &Value| label.as_str().is_some_and(|label| label.starts_with("eq:") || label.ends_with("eq"));
        let report = judged(Some(&record["old"]), &record["new"]);
        let verdict = report.verdict.expect("a review has a verdict");
        let mut say = |what: &str| wrong.push(format!("{} {}: {what}, verdict {verdict}", id(&record), record["about"]));
        let unshown = |finding: &&Finding| {
            let hurt = [Affected::Writers, Affected::Stored, Affected::Data].into_iter().any(|one| finding.affects.contains(one));
            hurt && finding.version.is_some() && finding.certainty == Certainty::Proved && finding.witness.is_none()
        };
        if let Some(finding) = report.findings.iter().filter(|finding| finding.class == Some(Class::SemanticBreaking)).find(unshown) {
            say(&format!("{} is proved without an object", finding.rule));
        }
        if (observed("writer_break_known") || observed("data_loss")) && !only_by_fractions_of_zero(&record) {
            breaks += 1;
            if (verdict == Class::SemanticBreaking) == WRONG.contains(&&*id(&record)) {
                say("a break was seen");
            }
        } else if record["about"].as_array().is_some_and(|labels| labels.iter().all(intended)) {
            equal += 1;
            unrecognised += usize::from(verdict != Class::None);
            if verdict != Class::None && chosen.contains(&id(&record)) {
                say("an equal rewrite");
            }
        }
    }
    assert!(breaks > 0 && equal > 0 && wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unrecognised <= UNRECOGNISED, "{unrecognised} of {equal} equal rewrites are not recognised");
}
