//! Recorded stories of several versions: every loss that the server showed is reported for its path, and nothing else is.

use crate::judge::finding::Finding;
use crate::judge::policy::Policy;
use crate::judge::review::{Judgement, Side, lint, review};
use crate::judge::rule::Book;
use crate::model::fact::Affected;
use crate::model::{Documents, FieldPath, PathStep};
use serde_json::Value;

use crate::testing::recorded::records;

fn judged(old: Option<&Value>, new: &Value) -> Vec<Finding> {
    let policy = Policy::find("kubernetes").expect("a policy");
    let judgement = Judgement::new(Book::builtin(), &policy);
    let new = Documents::of_text("new.json", &new.to_string());
    let new = Side::new("new", &new);
    match old {
        None => lint(&new, &judgement).findings,
        Some(old) => {
            let old = Documents::of_text("old.json", &old.to_string());
            review(&Side::new("old", &old), &new, &judgement).findings
        }
    }
}

/// Converts `.spec.l[k=1].x` in a record to a field path.
fn path(text: &str) -> FieldPath {
    let mut path = FieldPath::root();
    for part in text.trim_start_matches('.').split('.') {
        let name = part.split('[').next().unwrap_or_default();
        path.push(PathStep::Key(name.into()));
        if part.contains('[') {
            path.push(PathStep::Items);
        }
    }
    path
}

/// Whether a finding at `reported` covers `lost`: it is that field, or the object, map or list whose keys or items are lost.
fn covers(reported: &str, lost: &FieldPath) -> bool {
    let Some(reported) = FieldPath::parse(reported) else { return false };
    let (reported, lost) = (reported.steps(), lost.steps());
    let meets = |(reported, lost): (&PathStep, &PathStep)| reported == lost || (*reported == PathStep::Values && *lost != PathStep::Items);
    !reported.is_empty() && (reported.len()..=reported.len() + 1).contains(&lost.len()) && reported.iter().zip(lost).all(meets)
}

/// All states of the CRD in a record, in order.
fn states(record: &Value) -> Vec<Value> {
    let mut states = vec![record["crd"].clone()];
    for step in record["steps"].as_array().into_iter().flatten().filter(|step| step["op"] == "update-crd") {
        let mut next = states.last().expect("one at least").clone();
        next["spec"]["versions"] = step["versions"].clone();
        states.push(next);
    }
    states
}

#[test]
fn every_recorded_loss_is_reported() {
    let records = records("cross");
    let mut wrong = Vec::new();
    let (mut losses, mut reported) = (0, 0);
    for record in &records {
        let states = states(record);
        let mut findings: Vec<Finding> = states.iter().flat_map(|state| judged(None, state)).collect();
        for pair in states.windows(2) {
            findings.extend(judged(Some(&pair[0]), &pair[1]));
        }
        findings.retain(|finding| finding.affects.contains(Affected::Data));
        let lost = record["lost"].as_array().cloned().unwrap_or_default();
        for loss in &lost {
            losses += 1;
            let at = path(loss["path"].as_str().unwrap_or_default());
            let step = record["steps"][loss["step"].as_u64().unwrap_or(1) as usize - 1]["version"].as_str().unwrap_or_default();
            // Reading through the version that has the field shows a loss from an earlier step.
            let named = |finding: &&Finding| loss["seen"] == "read" || states.len() > 1 || finding.message.contains(step);
            match findings.iter().filter(|finding| covers(&finding.path, &at)).find(named) {
                Some(_) => reported += 1,
                None => wrong.push(format!("{} {}: {loss} is not reported: {findings:#?}", record["id"], record["about"])),
            }
        }
        let loud = |finding: &&Finding| finding.rule.contains("-lost-");
        if let (true, 1, Some(finding)) = (lost.is_empty(), states.len(), findings.iter().find(loud)) {
            wrong.push(format!("{} {}: nothing was lost, but this is reported: {finding:#?}", record["id"], record["about"]));
        }
    }
    println!("{reported} of {losses} losses reported");
    assert!(losses > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
