//! How far the judgement on rules agrees with recorded verdicts of a real server:
//! `cargo run --example cel_vectors -- ../shared`.

#![allow(clippy::disallowed_macros, reason = "a report on standard output is all that this program does")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crdwise::cel::check::Problem;
use crdwise::cel::judge::{RuleError, judge};
use crdwise::schema::{Schema, Shape};
use crdwise::validate::Compiled;
use crdwise::yaml::{Budget, parse};
use serde_json::Value;

fn main() {
    let shared = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "../shared".into()));
    lint(&shared);
    update(&shared);
    compat(&shared);
    corpus(&shared.join("corpus"));
}

fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Runs `f` on the shape of each version's schema.
fn shapes(crd: &Value, mut f: impl FnMut(&Shape)) {
    for document in parse(&crd.to_string().into(), &Budget::default()) {
        let Ok(tree) = document.tree else { continue };
        let Some(versions) = tree.root().get("spec").and_then(|s| s.get("versions")) else { continue };
        for version in versions.items() {
            if let Some(schema) = version.get("schema").and_then(|s| s.get("openAPIV3Schema")) {
                f(&Shape::of(&Schema::new(schema)));
            }
        }
    }
}

fn refused(crd: &Value) -> (bool, bool, Vec<String>) {
    let (mut refused, mut unsure, mut why) = (false, false, vec![]);
    shapes(crd, |shape| {
        let judgement = judge(shape);
        refused |= judgement.refused();
        for (site, rule, error) in judgement.errors() {
            unsure |= error.is_doubt();
            why.push(format!("{}#{}: {error}", site.site.path, rule.index));
        }
        if judgement.exceeds_total() {
            why.push(format!("total {}", judgement.total_cost));
        }
    });
    (refused, unsure, why)
}

fn about_cel(record: &Value) -> bool {
    record.to_string().contains("x-kubernetes-validations")
}

fn lint(shared: &Path) {
    let (mut right, mut all) = (0, 0);
    for record in records(&shared.join("vectors/lint/train.jsonl")).iter().filter(|r| about_cel(r)) {
        let errors = record["errors"].as_array().cloned().unwrap_or_default();
        let ours = errors.iter().any(|e| {
            let field = e["field"].as_str().unwrap_or("");
            let detail = e["detail"].as_str().unwrap_or("");
            (field.contains("x-kubernetes-validations") && !detail.contains("structural")) || detail.contains("rule cost total")
        });
        all += 1;
        let (refused, unsure, why) = refused(&record["crd"]);
        if refused == ours && !unsure {
            right += 1;
        } else {
            println!("lint {} {}: server {ours}, we {refused} unsure {unsure}: {why:?}", record["id"], record["about"]);
        }
    }
    println!("lint: {right} of {all} agree");
}

fn update(shared: &Path) {
    let (mut right, mut all) = (0, 0);
    for record in records(&shared.join("vectors/update/train.jsonl")).iter().filter(|r| about_cel(r)) {
        all += 1;
        let detail = record["errors"].to_string();
        let single = detail.contains("estimated rule cost exceeds");
        let total = detail.contains("rule cost total");
        let compile = detail.contains("compilation failed") || detail.contains("uncorrelatable");
        let (mut our_single, mut our_total, mut our_compile) = (false, false, false);
        shapes(&record["new"], |shape| {
            let judgement = judge(shape);
            our_total |= judgement.exceeds_total();
            for (_, _, error) in judgement.errors() {
                our_single |= matches!(error, RuleError::RuleCost { .. });
                our_compile |= matches!(error, RuleError::Rule(_) | RuleError::Uncorrelated { .. });
            }
        });
        // The single limit is waived where the schema didn't change.
        let waived = record["old"]["spec"]["versions"][0]["schema"] == record["new"]["spec"]["versions"][0]["schema"];
        our_single &= !waived;
        if (single, total, compile) == (our_single, our_total, our_compile) {
            right += 1;
        } else {
            println!(
                "update {} {}: server {single} {total} {compile}, we {our_single} {our_total} {our_compile}",
                record["id"], record["about"]
            );
        }
    }
    println!("update: {right} of {all} agree");
}

/// Objects, judged by the whole request path.
fn compat(shared: &Path) {
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records(&shared.join("vectors/compat/train.jsonl")).iter().filter(|r| about_cel(r)) {
        for side in ["old", "new"] {
            let mut compiled = None;
            shapes(&record[side], |shape| compiled = Some(Compiled::new(shape)));
            let Some(compiled) = compiled else { continue };
            for object in record["objects"].as_array().into_iter().flatten() {
                let accepted = object[side]["accepted"] == true;
                let outcome = compiled.request(object["object"].clone());
                let key = match (accepted, outcome.accepted(), outcome.undecided.is_empty()) {
                    (_, _, false) => "undecided",
                    (true, true, _) => "both accept",
                    (false, false, _) => "both reject",
                    (true, false, _) => "WRONG server accepts",
                    (false, true, _) => "WRONG server rejects",
                };
                *tally.entry(key).or_default() += 1;
                if key.starts_with("WRONG") {
                    println!("{key} {} {side} {} {:?} {}", record["id"], object["object"], outcome.errors, object[side]["errors"]);
                }
            }
        }
    }
    println!("compat: {tally:?}");
}

/// Every rule of CRDs that real clusters took.
fn corpus(root: &Path) {
    let mut files = vec![];
    collect(root, &mut files);
    files.sort();
    let (mut rules, mut refused, mut unsure, mut schemas, mut over) = (0, 0, 0, 0, 0);
    let started = std::time::Instant::now();
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        if !text.contains("x-kubernetes-validations") {
            continue;
        }
        for document in parse(&text.into(), &Budget::default()) {
            let Ok(tree) = document.tree else { continue };
            let Some(versions) = tree.root().get("spec").and_then(|s| s.get("versions")) else { continue };
            for version in versions.items() {
                let Some(schema) = version.get("schema").and_then(|s| s.get("openAPIV3Schema")) else { continue };
                let shape = Shape::of(&Schema::new(schema));
                let judgement = judge(&shape);
                schemas += usize::from(!judgement.sites.is_empty());
                rules += judgement.sites.iter().map(|s| s.rules.len()).sum::<usize>();
                over += usize::from(judgement.exceeds_total());
                if judgement.exceeds_total() {
                    println!("total {} in {}", judgement.total_cost, file.display());
                }
                for (site, rule, error) in judgement.errors() {
                    let doubt = matches!(error, RuleError::Rule(Problem::Unsure { .. }) | RuleError::Message(Problem::Unsure { .. }));
                    if doubt {
                        unsure += 1
                    } else {
                        refused += 1
                    }
                    println!("{} {} #{} {error}\n    {}", file.display(), site.site.path, rule.index, rule.rule.rule.trim());
                }
            }
        }
    }
    println!(
        "corpus: {rules} rules in {schemas} schemas, {refused} refused, {unsure} unsure, {over} over the total limit, {:?}",
        started.elapsed()
    );
}

fn collect(root: &Path, out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "yaml" || e == "yml" || e == "json") {
            out.push(path);
        }
    }
}
