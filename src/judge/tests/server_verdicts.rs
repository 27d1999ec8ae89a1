//! Compares recorded verdicts of a running API server with the lint facts about the same documents.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::find::lint;
use crate::find::review_context::ReviewContext;
use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::judge::rule::{Book, FactView, Family};
use crate::model::fact::{Affected, Aspect, Fact, Mark, Word};
use crate::model::{Bundle, Documents};
use serde_json::Value;

use crate::testing;
use crate::testing::recorded::{LARGE, corpus, folders, id, project, records};

fn documents(texts: &[(&str, String)]) -> Documents {
    let files = texts.iter().map(|(name, text)| File::new(*name, text.as_str(), Origin::Stdin)).collect();
    Documents::parse(files, &YamlBudget::default())
}

fn refusals(facts: &[Fact]) -> Vec<&Fact> {
    facts.iter().filter(|fact| fact.affects.contains(Affected::Refused)).collect()
}

/// Each fact must be judged by one rule, and a refusal by one of the family `server`.
fn judged(facts: &[Fact]) {
    for fact in facts {
        let verdicts = Book::builtin().rules_for(&FactView::new(fact, ""));
        let rules: Vec<&str> = verdicts.iter().map(|verdict| &*verdict.rule.id).collect();
        assert_eq!(rules.len(), 1, "{}", describe(fact));
        let rule = verdicts.first().map(|verdict| verdict.rule).expect("one");
        let refused = fact.affects.contains(Affected::Refused);
        assert_eq!(rule.family == Family::Server, refused, "{} is judged by {rules:?}", describe(fact));
        assert!(rule.id != "unclassified-change", "{} has no rule", describe(fact));
    }
}

fn describe(fact: &Fact) -> String {
    format!(
        "({}, {}, {}) {} :: {}",
        fact.subject,
        fact.aspect,
        fact.effect,
        fact.field.as_deref().unwrap_or("-"),
        fact.words.get(&Word::Reason).map_or("", String::as_str)
    )
}

/// Whether our path points into the server's, ignoring quotes and spellings that don't name a node.
fn points_into(ours: &str, theirs: &str) -> bool {
    ours == theirs
        || ours.strip_prefix(theirs).is_some_and(|rest| rest.starts_with(['.', '[']))
        || theirs.strip_prefix(ours).is_some_and(|rest| rest.starts_with(['.', '[']))
}

#[derive(Default)]
struct Tally {
    agree: usize,
    missed: Vec<String>,
    invented: Vec<String>,
    named: usize,
    errors: usize,
    astray: Vec<String>,
}

impl Tally {
    fn take(&mut self, record: &Value, facts: &[&Fact]) {
        let id = format!("{} ({})", record["id"].as_str().unwrap_or(""), record["about"].as_str().unwrap_or(""));
        let accepted = record["accepted"].as_bool().unwrap_or(false);
        match (accepted, facts.is_empty()) {
            (true, true) | (false, false) => self.agree += 1,
            (false, true) => self.missed.push(format!("{id}: {}", record["errors"])),
            (true, false) => self.invented.push(format!("{id}: {}", facts.iter().map(|f| describe(f)).collect::<Vec<_>>().join(" | "))),
        }
        for error in record["errors"].as_array().into_iter().flatten() {
            let field = error["field"].as_str().unwrap_or("");
            if error["type"] == "DecodeError" || field == "<nil>" {
                continue;
            }
            self.errors += 1;
            if facts.iter().any(|fact| fact.field.as_deref().is_some_and(|ours| points_into(ours, field))) {
                self.named += 1;
            } else {
                self.astray.push(format!("{id}: {field}"));
            }
        }
    }

    fn print(&self, name: &str, total: usize) {
        println!("{name:<14} records {total:>4}  agree {:>4}  fields {:>4}/{:<4}", self.agree, self.named, self.errors);
        for line in &self.missed {
            println!("  missed:   {line}");
        }
        for line in &self.invented {
            println!("  invented: {line}");
        }
        for line in &self.astray {
            println!("  astray:   {line}");
        }
    }
}

fn is_cost(record: &Value) -> bool {
    record["about"].as_str().is_some_and(|about| about.contains("cost"))
}

#[test]
fn created_crds_are_judged_as_the_server_judges_them() {
    let mut tallies: BTreeMap<&str, (Tally, usize)> = BTreeMap::new();
    for record in records("lint") {
        let documents = documents(&[("crd.json", record["crd"].to_string())]);
        let bundle = Bundle::read(&documents);
        let facts = lint::inspect(&bundle, &ReviewContext::NONE);
        judged(&facts);
        let (tally, total) = tallies.entry(if is_cost(&record) { "lint, cost" } else { "lint" }).or_default();
        *total += 1;
        tally.take(&record, &refusals(&facts));
    }
    report(tallies);
}

/// CRDs that the server accepted for other tests: both sides of each comparison, and those of the recorded stories.
#[test]
fn accepted_crds_are_not_refused() {
    let mut crds: Vec<(String, Value, bool)> = Vec::new();
    for record in records("compat") {
        crds.extend(["old", "new"].map(|side| (format!("{} {side}", id(&record)), record[side].clone(), true)));
    }
    crds.extend(records("cross").iter().map(|record| (id(record), record["crd"].clone(), true)));
    for record in records("update") {
        crds.push((id(&record), record["old"].clone(), record["old_accepted_on_create"].as_bool().unwrap_or(true)));
    }
    let mut wrong = Vec::new();
    for (id, crd, accepted) in &crds {
        let documents = documents(&[("crd.json", crd.to_string())]);
        let facts = lint::inspect(&Bundle::read(&documents), &ReviewContext::NONE);
        let refused = refusals(&facts);
        if refused.is_empty() != *accepted {
            wrong.push(format!("{id}: {}", refused.iter().map(|fact| describe(fact)).collect::<Vec<_>>().join(" | ")));
        }
    }
    println!("{} CRDs, {} judged otherwise than by the server", crds.len(), wrong.len());
    assert!(!crds.is_empty() && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn updated_crds_are_judged_as_the_server_judges_them() {
    let mut tallies: BTreeMap<&str, (Tally, usize)> = BTreeMap::new();
    for record in records("update") {
        let mut old = record["old"].clone();
        old["status"]["storedVersions"] = record["stored_versions"].clone();
        let (old, new) = (documents(&[("old.json", old.to_string())]), documents(&[("new.json", record["new"].to_string())]));
        let facts = lint::review(&Bundle::read(&old), &Bundle::read(&new), &ReviewContext::NONE);
        judged(&facts);
        let stops: Vec<&Fact> = refusals(&facts).into_iter().filter(|fact| !fact.pre_existing || fact.is(Mark::RefusedAgain)).collect();
        let (tally, total) = tallies.entry(if is_cost(&record) { "update, cost" } else { "update" }).or_default();
        *total += 1;
        tally.take(&record, &stops);
    }
    report(tallies);
}

fn report(tallies: BTreeMap<&str, (Tally, usize)>) {
    for (name, (tally, total)) in &tallies {
        tally.print(name, *total);
    }
    assert!(!tallies.is_empty());
    for (name, (tally, total)) in &tallies {
        assert_eq!(tally.agree, *total, "{name}: every verdict is the server's");
        assert!(tally.named * 100 >= tally.errors * 95, "{name}: {} of {} errors are named", tally.named, tally.errors);
    }
}

/// Every CRD of the demo and the corpus was installed, so no server refuses it.
#[test]
fn released_crds_are_not_refused() {
    let demo = project().join("testdata/demo");
    let mut bundles = vec![demo.join("old"), demo.join("new")];
    bundles.extend(
        corpus()
            .iter()
            .flat_map(|corpus| folders(corpus))
            .filter(|project| !project.ends_with(LARGE))
            .flat_map(|project| folders(&project)),
    );
    not_refused(&bundles);
}

#[test]
#[ignore = "reads a bundle of 926 CRDs twice; needs the corpus"]
fn a_large_release_is_not_refused() {
    not_refused(&folders(&corpus().expect("the corpus").join(LARGE)));
}

fn not_refused(bundles: &[PathBuf]) {
    let mut refused = Vec::new();
    for folder in bundles {
        let documents = testing::documents(folder);
        let bundle = Bundle::read(&documents);
        let facts = lint::inspect(&bundle, &ReviewContext::NONE);
        judged(&facts);
        println!("{}: {} CRDs, {} facts", folder.display(), bundle.crds.len(), facts.len());
        // Servers did accept the old API when these were released.
        for fact in refusals(&facts).into_iter().filter(|fact| fact.aspect != Aspect::Api) {
            refused.push(format!("{} {} {:?} {} {}", folder.display(), fact.crd, fact.version, fact.path, describe(fact)));
        }
    }
    assert!(refused.is_empty(), "{} facts say that a released CRD is refused\n{}", refused.len(), refused.join("\n"));
}
