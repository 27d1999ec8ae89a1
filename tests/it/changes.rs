//! Two bundles → facts and findings, held against recorded servers, real releases and general laws.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crdwise::crd::{Bundle, Documents};
use crdwise::diff::{Options, diff};
use crdwise::fact::{Aspect, Certainty, Effect, Fact, Subject};
use crdwise::finding::Class;
use crdwise::rule::{Book, Rule};
use serde_json::Value;

pub fn shared(path: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path);
    // a clone may stand one folder deeper
    let deeper = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(path.strip_prefix(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared")).ok()?);
    [path, deeper].into_iter().find(|path| path.exists())
}

pub fn facts(old: &str, new: &str) -> Vec<Fact> {
    let (old, new) = (Documents::of_text("old.yaml", old), Documents::of_text("new.yaml", new));
    let (old, new) = (Bundle::read(&old), Bundle::read(&new));
    assert!(old.problems.is_empty() && new.problems.is_empty(), "{:?} {:?}", old.problems, new.problems);
    diff(&old, &new, &Options::default())
}

pub fn rule(fact: &Fact) -> &'static Rule {
    Book::builtin().judge(fact, "").first().map(|verdict| verdict.rule).expect("a rule for every fact")
}

fn class(facts: &[Fact]) -> Class {
    facts.iter().filter_map(|fact| rule(fact).class).max().unwrap_or(Class::None)
}

/// Edits that policies call breaks though no request fails: other types, merging, defaults, rules about changes, names.
fn declared(mutation: &str) -> bool {
    ["type-", "typed-", "any-", "list-", "default-", "cel-transition", "property-remove", "property-rename", "property-move"]
        .iter()
        .any(|prefix| mutation.starts_with(prefix))
}

#[test]
fn recorded_breaks_are_found_and_equal_rewrites_are_none() {
    let Some(path) = shared("vectors/compat/train.jsonl") else {
        println!("skipped: no vectors");
        return;
    };
    let text = std::fs::read_to_string(path).unwrap();
    let (mut breaks, mut equal, mut undecided) = (0, 0, 0);
    let (mut misses, mut alarms, mut noisy) = (Vec::new(), Vec::new(), Vec::new());
    let mut by_mutation: BTreeMap<String, u32> = BTreeMap::new();
    for line in text.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let facts = facts(&record["old"].to_string(), &record["new"].to_string());
        let mutations: Vec<&str> = record["mutations"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let observed = |flag: &str| record["observed"][flag].as_bool() == Some(true);
        let class = class(&facts);
        let told: Vec<String> = facts.iter().map(|f| format!("{}@{} {} {}", rule(f).id, f.path, f.aspect, f.effect)).collect();
        let line = format!("{} {mutations:?}: {told:?}", record["id"]);
        let broken = observed("writer_break_known") || observed("data_loss");
        if broken {
            breaks += 1;
            if class != Class::SemanticBreaking {
                misses.push(line.clone());
            }
        }
        if mutations.iter().all(|name| name.starts_with("eq:")) {
            equal += 1;
            if class != Class::None {
                noisy.push(line.clone());
            }
        }
        if class == Class::SemanticBreaking && facts.iter().any(|f| f.evidence.certainty == Certainty::Undecided) {
            undecided += 1;
        }
        let excused = broken || observed("default_change") || mutations.iter().any(|name| declared(name));
        if class == Class::SemanticBreaking && !excused {
            for mutation in mutations.iter().filter(|name| !name.starts_with("eq:")) {
                *by_mutation.entry((*mutation).to_owned()).or_default() += 1;
            }
            alarms.push(line);
        }
    }
    let records = text.lines().count();
    println!(
        "{records} records: {breaks} breaks, {} missed; {equal} equal rewrites, {} not none; {} alarms; {undecided} undecided",
        misses.len(),
        noisy.len(),
        alarms.len()
    );
    println!("alarms by mutation: {by_mutation:?}");
    if std::env::var_os("SHOW").is_some() {
        println!("misses\n{}\nnoisy\n{}\nalarms\n{}", misses.join("\n"), noisy.join("\n"), alarms.join("\n"));
    }
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

const _: Option<(Aspect, Effect, Subject)> = None;
