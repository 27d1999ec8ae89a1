//! Tests that every page in `rules/` is complete, consistent, and correct by its own examples.

use std::collections::BTreeSet;

use crate::cli::config::Config;
use crate::find::conversion::Conversions;
use crate::find::lint::Release;
use crate::find::review_context::ReviewContext;
use crate::go::date::Date;
use crate::input::{File, Origin};
use crate::judge::baseline::Baseline;
use crate::judge::finding::{Finding, Severity, Spot};
use crate::judge::policy::Policy;
use crate::judge::review::{self, Judgement, Manifests, Side};
use crate::judge::rule::example::{Block, RuleExample, examples};
use crate::judge::rule::{Book, Family, Kind, PAGES, Rule};
use crate::judge::waiver::Waivers;
use crate::model::{Documents, FileId};

fn pages() -> impl Iterator<Item = (&'static crate::judge::rule::Page, Rule)> {
    PAGES.iter().filter(|page| page.folder != "policy").map(|page| match Rule::parse(page.text()) {
        Ok(rule) => (page, rule),
        Err(error) => panic!("rules/{}/{}.md: {error} at byte {}", page.folder, page.stem, error.span.start),
    })
}

#[test]
fn each_page_is_complete() {
    let mut wrong = Vec::new();
    for (page, rule) in pages() {
        let mut say = |what: &str| wrong.push(format!("rules/{}/{}.md: {what}", page.folder, page.stem));
        if rule.id != page.stem {
            say("the id is not the file's name");
        }
        let matches = &rule.matches;
        let [subjects, aspects, effects] = page.matches;
        if !matches.subjects.iter().map(|word| word.name()).eq(subjects.iter().copied())
            || !matches.aspects.iter().map(|word| word.name()).eq(aspects.iter().copied())
            || !matches.effects.iter().map(|word| word.name()).eq(effects.iter().copied())
        {
            say("is compiled in with another `match` than its own");
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
            if !rule.body.text().contains(section) {
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

/// A misspelt word would render as nothing, or its condition would never hold.
#[test]
fn each_page_names_only_what_exists() {
    let mut wrong = Vec::new();
    for page in PAGES.iter().filter(|page| page.folder != "policy") {
        for fault in Rule::faults(page.text()) {
            let line = page.text()[..fault.span.range().start].lines().count();
            wrong.push(format!("rules/{}/{}.md:{line}: {fault}", page.folder, page.stem));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn former_ids_mean_one_rule_each() {
    let mut seen = BTreeSet::new();
    for (page, rule) in pages() {
        assert_eq!(rule.aliases, page.aliases, "{} is compiled in with other aliases than its own", page.stem);
        for alias in &rule.aliases {
            assert!(seen.insert(alias.clone()), "`{alias}` was the id of two rules");
            assert!(Book::builtin().ids().all(|id| id != alias), "`{alias}` is a rule and was another");
            assert_eq!(Book::builtin().get(alias).map(|rule| &*rule.id), Some(&*rule.id));
        }
    }
    assert_eq!(Book::builtin().get("junctor-changed").map(|rule| &*rule.id), Some("composition-changed"));
    assert_eq!(Book::builtin().get("successor-differs").map(Rule::first_id), Some("successor-differs"));
}

/// A custom rule that replaces a built-in one may name it by a former id.
#[test]
fn a_former_id_can_be_replaced() {
    let text = "---\nid: own\ntitle: t\nfamily: change\nmatch: {subject: field, aspect: any-of, effect: narrowed}\nkind: tighten\nmessage: m\nhelp: h\nreplaces: junctor-narrowed\n---\n";
    let book = Book::with(vec![("own.md".to_owned(), text.to_owned())]).unwrap();
    assert!(book.get("own").is_some() && book.get("composition-narrowed").is_none() && book.get("junctor-narrowed").is_none());
    let misspelt = text.replace("message: m", "message: 'm {{ nmae }}'");
    let error = Book::with(vec![("own.md".to_owned(), misspelt)]).unwrap_err().to_string();
    assert_eq!(error, "own.md: `message` names the unknown word `nmae` (did you mean `name`?)");
}

#[test]
fn policies_cover_every_kind_and_name_existing_rules() {
    for name in Policy::names() {
        let page = crate::judge::rule::Page::find("policy", name).expect("listed");
        let policy = Policy::parse(page.text()).unwrap_or_else(|error| panic!("rules/policy/{name}.md: {error}"));
        assert_eq!(policy.id, name);
        let spoken: BTreeSet<Kind> = policy.kinds().collect();
        let missing: Vec<&Kind> = Kind::ALL.iter().filter(|kind| **kind != Kind::Lint && !spoken.contains(kind)).collect();
        assert!(missing.is_empty(), "{name} says nothing of {missing:?}");
        for rule in policy.rule_names() {
            assert!(Book::builtin().get(rule).is_some(), "{name} speaks of rule `{rule}`, which doesn't exist");
        }
    }
}

/// Judges with the default policy, with nothing switched off, on 15 January 2026.
fn run(example: &RuleExample) -> Vec<Finding> {
    let policy = Policy::find(crate::judge::policy::DEFAULT).expect("the default policy");
    let conversions = example.conversion.as_ref().map(|block| Conversions::of_text("conversion.yaml", &block.text));
    let invalid: Vec<_> = conversions.iter().flat_map(|all| all.invalid()).collect();
    assert!(invalid.is_empty(), "line {}: {invalid:?}", example.line);
    let manifests = Manifests { now: conversions.as_ref(), ..Manifests::default() };
    let read = |name: &str, text: &str| {
        let documents = Documents::of_text(name, text);
        let problems = Side::new("", &documents).bundle.problems;
        assert!(problems.is_empty(), "line {}: {problems:?}", example.line);
        documents
    };
    let config = |block: &Option<Block>| match block {
        Some(block) => Config::parse(&block.text, Book::builtin(), &Policy::names().collect::<Vec<_>>())
            .unwrap_or_else(|faults| panic!("line {}: {faults:?}", example.line)),
        None => Config::default(),
    };
    let mut new = read("new.yaml", &example.new.text);
    let file = match &example.config {
        Some(block) => new.add_extra_file(File::new("crdwise.yaml", &*block.text, Origin::Stdin)),
        None => FileId::MAX,
    };
    let (judges, before) = (config(&example.config), config(&example.old_config));
    let changed = if example.old_config.is_some() { crate::cli::config::changes(&before, &judges, file) } else { Vec::new() };
    let past: Vec<Documents> = example.history.iter().map(|block| read("history.yaml", &block.text)).collect();
    let past: Vec<Side<'_>> = past.iter().map(|documents| Side::new("", documents)).collect();
    let history: Vec<Release<'_>> = past.iter().map(|side| Release { name: "an earlier release", bundle: &side.bundle }).collect();
    let baseline = example.baseline.as_ref().map(|block| {
        let file = new.add_extra_file(File::new("crdwise-baseline.json", &*block.text, Origin::Stdin));
        (Baseline::parse(&block.text).unwrap_or_else(|fault| panic!("line {}: {fault}", example.line)), file)
    });
    let baseline = baseline.as_ref().map(|(baseline, file)| (baseline, *file));
    let waivers = Waivers { list: &judges.waivers, file, baseline, today: Date::parse("2026-01-15") };
    let context = ReviewContext { kubernetes: judges.kubernetes.unwrap_or_default(), ..ReviewContext::default() };
    let judgement = Judgement {
        waivers,
        context,
        changed: &changed,
        history: &history,
        conversions: manifests,
        ..Judgement::new(Book::builtin(), &policy)
    };
    let new = Side::new("new", &new);
    let ends = example.upgrade.and_then(|minors| minors.first().zip(minors.last()));
    match (&example.old, ends) {
        (None, Some(minors)) => review::upgrade(&new, minors, &judgement).findings,
        (None, None) => review::lint(&new, &judgement).findings,
        (Some(old), _) => review::review(&Side::new("old", &read("old.yaml", &old.text)), &new, &judgement).findings,
    }
}

#[test]
fn examples_are_correct() {
    let mut wrong = Vec::new();
    for (page, rule) in pages() {
        let mut say = |line: usize, what: String| {
            wrong.push(format!("rules/{}/{}.md, example at line {line} below the front matter: {what}", page.folder, page.stem))
        };
        let examples = examples(rule.body.text());
        if rule.id == "unclassified-change" {
            continue;
        }
        if !examples.iter().any(RuleExample::fires) || !examples.iter().any(|example| !example.fires()) {
            say(0, "one example must fire and one must stay quiet".into());
        }
        for example in &examples {
            let findings = run(example);
            let in_config = example.config.iter().flat_map(|config| &config.marks).map(|mark| ("crdwise.yaml", mark));
            let in_baseline = example.baseline.iter().flat_map(|block| &block.marks).map(|mark| ("crdwise-baseline.json", mark));
            let in_new = example.new.marks.iter().map(|mark| ("new.yaml", mark));
            for (file, (line, id)) in in_new.chain(in_config).chain(in_baseline) {
                let there = |spot: &Spot| spot.file == file && spot.line == *line;
                if !findings.iter().any(|f| f.rule == *id && f.after.as_ref().is_some_and(there)) {
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
