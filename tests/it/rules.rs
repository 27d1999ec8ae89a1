//! Every page of `rules/` is what it must be: complete, consistent, and true by its own examples.

use std::collections::BTreeSet;

use crdwise::conversion::Conversions;
use crdwise::crd::Documents;
use crdwise::finding::{Finding, Severity};
use crdwise::policy::Policy;
use crdwise::review::{self, Judgement, Manifests, Side};
use crdwise::rule::example::{Example, examples};
use crdwise::rule::{Book, Family, Kind, PAGES, Rule};

fn pages() -> impl Iterator<Item = (&'static crdwise::rule::Page, Rule)> {
    PAGES.iter().filter(|page| page.folder != "policy").map(|page| match Rule::parse(page.text) {
        Ok(rule) => (page, rule),
        Err(error) => panic!("rules/{}/{}.md: {error} at byte {}", page.folder, page.stem, error.span.start),
    })
}

#[test]
fn each_page_is_whole() {
    let mut wrong = Vec::new();
    for (page, rule) in pages() {
        let mut say = |what: &str| wrong.push(format!("rules/{}/{}.md: {what}", page.folder, page.stem));
        if rule.id != page.stem {
            say("the id is not the file's name");
        }
        let folder = match rule.family {
            Family::Change => "change",
            Family::Conversion => "conversion",
            _ => "lint",
        };
        if page.folder != folder {
            say(&format!("a rule of family {} belongs into rules/{folder}", rule.family));
        }
        if (rule.family == Family::Change) == (rule.kind == Kind::Lint) {
            say("changes have a kind of change, all others `lint`");
        }
        if rule.family != Family::Change && rule.severity.is_none() {
            say("needs a severity");
        }
        if rule.family == Family::Server && rule.severity != Some(Severity::Error) {
            say("what a server refuses is an error");
        }
        for section in ["## What it does", "## Why it matters", "## Example", "## How to fix"] {
            if !rule.body.contains(section) {
                say(&format!("lacks the section {section:?}"));
            }
        }
        for text in [&rule.message, &rule.help] {
            if text.contains('\n') || text.trim_end().ends_with('.') {
                say("message and help are one line without a full stop");
            }
        }
        if rule.message.chars().count() > 320 {
            say("the message is longer than 320 characters");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn policies_speak_of_every_kind_and_of_rules_that_exist() {
    for name in Policy::names() {
        let page = crdwise::rule::Page::find("policy", name).expect("listed");
        let policy = Policy::parse(page.text).unwrap_or_else(|error| panic!("rules/policy/{name}.md: {error}"));
        assert_eq!(policy.id, name);
        let spoken: BTreeSet<Kind> = policy.kinds().collect();
        let missing: Vec<&Kind> = Kind::ALL.iter().filter(|kind| **kind != Kind::Lint && !spoken.contains(kind)).collect();
        assert!(missing.is_empty(), "{name} says nothing of {missing:?}");
        for rule in policy.rule_names() {
            assert!(Book::builtin().get(rule).is_some(), "{name} speaks of rule `{rule}`, which doesn't exist");
        }
    }
}

/// Judged by the default policy, with nothing switched off.
fn run(example: &Example) -> Vec<Finding> {
    let policy = Policy::find(crdwise::policy::DEFAULT).expect("the default policy");
    let conversions = example.conversion.as_ref().map(|block| Conversions::of_text("conversion.yaml", &block.text));
    let unusable: Vec<_> = conversions.iter().flat_map(|all| &all.unusable).collect();
    assert!(unusable.is_empty(), "line {}: {unusable:?}", example.line);
    let manifests = Manifests { now: conversions.as_ref(), before: None };
    let judgement = Judgement { conversions: manifests, ..Judgement::new(Book::builtin(), &policy) };
    let new = Documents::of_text("new.yaml", &example.new.text);
    let new = Side::new("new", &new);
    assert!(new.bundle.problems.is_empty(), "line {}: {:?}", example.line, new.bundle.problems);
    match &example.old {
        None => review::lint(&new, &judgement).findings,
        Some(old) => {
            let old = Documents::of_text("old.yaml", &old.text);
            let old = Side::new("old", &old);
            assert!(old.bundle.problems.is_empty(), "line {}: {:?}", example.line, old.bundle.problems);
            review::review(&old, &new, &judgement).findings
        }
    }
}

#[test]
fn examples_are_true() {
    let mut wrong = Vec::new();
    for (page, rule) in pages() {
        let mut say = |line: usize, what: String| {
            wrong.push(format!("rules/{}/{}.md, example at line {line} below the front matter: {what}", page.folder, page.stem))
        };
        let examples = examples(&rule.body);
        if rule.id == "unclassified-change" {
            continue;
        }
        if !examples.iter().any(Example::fires) || !examples.iter().any(|example| !example.fires()) {
            say(0, "one example must fire and one must stay quiet".into());
        }
        for example in &examples {
            let findings = run(example);
            for (line, id) in &example.new.marks {
                if !findings.iter().any(|f| f.rule == *id && f.after.as_ref().is_some_and(|spot| spot.line == *line)) {
                    let got: Vec<_> = findings.iter().map(|f| (&*f.rule, f.after.as_ref().map(|s| s.line))).collect();
                    say(example.line, format!("`{id}` expected in the new bundle at its line {line}, got {got:?}"));
                }
            }
            for (line, id) in example.old.iter().flat_map(|old| &old.marks) {
                if !findings.iter().any(|f| f.rule == *id && f.before.as_ref().is_some_and(|spot| spot.line == *line)) {
                    let got: Vec<_> = findings.iter().map(|f| (&*f.rule, f.before.as_ref().map(|s| s.line))).collect();
                    say(example.line, format!("`{id}` expected in the old bundle at its line {line}, got {got:?}"));
                }
            }
            for (line, id) in example.conversion.iter().flat_map(|block| &block.marks) {
                let there = |f: &&Finding| f.after.as_ref().is_some_and(|spot| spot.line == *line && spot.file == "conversion.yaml");
                if !findings.iter().filter(there).any(|f| f.rule == *id) {
                    let got: Vec<_> = findings.iter().map(|f| (&*f.rule, f.after.as_ref().map(|s| (&*s.file, s.line)))).collect();
                    say(example.line, format!("`{id}` expected in the manifest at its line {line}, got {got:?}"));
                }
            }
            if !example.fires() && findings.iter().any(|f| f.rule == rule.id) {
                say(example.line, "this rule must stay quiet here".into());
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
