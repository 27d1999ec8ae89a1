//! Recorded stories of several versions: every loss that the server showed is told for its path, and where none was shown, none is told.

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

/// `.spec.l[k=1].x` of a record, as a path of ours.
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

/// Whether a finding at `told` speaks of `lost`: it is that field, or the object, map or list whose keys or items are lost.
fn speaks_of(told: &str, lost: &FieldPath) -> bool {
    let Some(told) = FieldPath::parse(told) else { return false };
    let (told, lost) = (told.steps(), lost.steps());
    let meets = |(told, lost): (&PathStep, &PathStep)| told == lost || (*told == PathStep::Values && *lost != PathStep::Items);
    !told.is_empty() && (told.len()..=told.len() + 1).contains(&lost.len()) && told.iter().zip(lost).all(meets)
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
fn every_recorded_loss_is_told() {
    let records = records("cross");
    let mut wrong = Vec::new();
    let (mut losses, mut told) = (0, 0);
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
            // A read through the version that has the field shows a loss of an earlier step.
            let named = |finding: &&Finding| loss["seen"] == "read" || states.len() > 1 || finding.message.contains(step);
            match findings.iter().filter(|finding| speaks_of(&finding.path, &at)).find(named) {
                Some(_) => told += 1,
                None => wrong.push(format!("{} {}: {loss} is not told: {findings:#?}", record["id"], record["about"])),
            }
        }
        let loud = |finding: &&Finding| finding.rule.contains("-lost-");
        if let (true, 1, Some(finding)) = (lost.is_empty(), states.len(), findings.iter().find(loud)) {
            wrong.push(format!("{} {}: nothing was lost, and told is {finding:#?}", record["id"], record["about"]));
        }
    }
    println!("{told} of {losses} losses told");
    assert!(losses > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
