//! A break of requests, stored objects or data is proved only with an object, or if the change itself says everything.

use std::collections::BTreeMap;

use crate::judge::rule::example::examples;
use crate::judge::rule::{Book, PAGES, Rule};
use crate::model::fact::{Certainty, Evident};
use crate::model::{Bundle, Documents};
use crate::testing::documents;
use crate::testing::recorded::{committed, corpus, id, project, releases};

use super::{ChangeOptions, Class, diff, facts, judged, with_root};

/// Pairs of bundles from rule pages, goldens and recorded pairs; released bundles are too many for every run.
fn pairs() -> Vec<(String, Documents, Documents)> {
    let mut pairs = Vec::new();
    for page in PAGES.iter().filter(|page| page.folder == "change") {
        let Ok(rule) = Rule::parse(page.text()) else { continue };
        for example in examples(rule.body.text()) {
            let Some(old) = &example.old else { continue };
            let name = format!("{} at line {}", page.stem, example.line);
            pairs.push((name, Documents::of_text("old.yaml", &old.text), Documents::of_text("new.yaml", &example.new.text)));
        }
    }
    let ours = |bundles: &Vec<std::path::PathBuf>| bundles.iter().all(|bundle| bundle.starts_with(project().join("testdata")));
    for bundles in releases().iter().filter(|bundles| corpus().is_none() || ours(bundles)) {
        for pair in bundles.windows(2) {
            pairs.push((pair[1].display().to_string(), documents(&pair[0]), documents(&pair[1])));
        }
    }
    for kind in ["fresh-pairs", "update", "compat"] {
        for record in committed(kind) {
            let [old, new] = ["old", "new"].map(|side| Documents::of_text("crd.json", &record[side].to_string()));
            pairs.push((id(&record), old, new));
        }
    }
    pairs
}

#[test]
fn a_break_is_proved_only_with_an_object() {
    let (mut wrong, mut evident) = (Vec::new(), BTreeMap::<Evident, usize>::new());
    for (name, old, new) in pairs() {
        for (from, to) in [(&old, &new), (&new, &old)] {
            for fact in diff(&Bundle::read(from), &Bundle::read(to), &ChangeOptions::default()) {
                let rule = Book::builtin().choose(&fact, "").expect("a rule for every fact");
                let breaks = rule.class == Some(Class::SemanticBreaking) && fact.affects.needs_object();
                if !breaks || fact.evidence.certainty != Certainty::Proved || fact.evidence.witness.is_some() {
                    continue;
                }
                match fact.evident() {
                    Some(reason) => *evident.entry(reason).or_default() += 1,
                    None => wrong.push(format!(
                        "{name}: {} {} {:?} {:?}",
                        rule.id,
                        fact.path,
                        fact.effect,
                        fact.affects.iter().collect::<Vec<_>>()
                    )),
                }
            }
        }
    }
    println!("{evident:?}");
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_negative_maximum_is_narrower_than_zero() {
    for (ty, keyword) in [("string", "maxLength"), ("array", "maxItems"), ("object", "maxProperties")] {
        let side = |max: i64| {
            let items = if ty == "array" { ", items: {type: string}" } else { "" };
            with_root(&format!("{{type: object, properties: {{f: {{type: {ty}, {keyword}: {max}{items}}}}}}}"))
        };
        let narrowed = facts(&side(0), &side(-1));
        assert_eq!(judged(&narrowed).0, Class::SemanticBreaking, "{keyword}");
        assert!(narrowed.iter().all(|fact| fact.evidence.certainty == Certainty::Proved), "{keyword}");
        assert!(narrowed.iter().any(|fact| fact.evidence.witness.is_some()), "{keyword}");
        assert_eq!(judged(&facts(&side(-1), &side(0))).0, Class::Additive, "{keyword}");
        assert_eq!(judged(&facts(&side(-1), &side(-2))).0, Class::None, "{keyword}");
    }
}
