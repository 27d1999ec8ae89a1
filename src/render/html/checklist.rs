//! What a group goes through in a call (KubeVirt's API review): does it break, can it be better, what must be said. The tool
//! answers as far as it can.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::judge::finding::{Finding, Severity, Status};
use crate::judge::report::Report;
use crate::judge::rule::Kind;
use crate::model::fact::{Affected, Certainty};

use super::super::escape::visible;
use super::super::group::{Group, plural};
use super::super::view::View;
use super::change::{MEANING, Sort, whom};
use super::prose::list;
use super::summary::{Tally, Tone, next};

/// A question names so many things; the rest is a count.
const NAMED: usize = 6;

#[derive(Debug, Serialize)]
pub(in crate::render) struct Question {
    pub question: &'static str,
    pub tone: Tone,
    pub answer: String,
    pub items: Vec<Item>,
    pub more: usize,
}

#[derive(Debug, Default, Serialize)]
pub(in crate::render) struct Item {
    /// The fingerprint of the change it is about.
    pub id: Option<String>,
    /// A path or a rule, as code.
    pub name: String,
    pub text: String,
    pub place: String,
}

impl Item {
    fn say(text: impl Into<String>) -> Item {
        Item { text: text.into(), ..Item::default() }
    }
}

pub(in crate::render) fn checklist(view: &View<'_>, groups: &[Group<'_>], tally: &Tally) -> Vec<Question> {
    let report = view.report;
    let mut questions = Vec::new();
    if report.verdict.is_some() {
        questions.push(breaks(groups, tally));
    }
    questions.push(better(groups, tally));
    // An answer that nothing was found holds for what was read.
    for question in questions.iter_mut().filter(|question| !view.complete && question.tone == Tone::Good) {
        question.tone = Tone::Careful;
        question.answer =
            format!("Not in what could be read. {}", question.answer.trim_start_matches("No.").trim_start()).trim_end().to_owned();
    }
    if report.verdict.is_some() {
        questions.push(communicate(report, groups, tally));
    }
    questions
}

fn breaks(groups: &[Group<'_>], tally: &Tally) -> Question {
    let breaking = groups.iter().filter(|group| Sort::of(group.first) == Sort::Breaking && group.first.status != Status::PreExisting);
    let items: Vec<Item> = breaking
        .take(NAMED)
        .map(|group| {
            let finding = group.first;
            let places = if group.others.is_empty() { String::new() } else { format!(", {} places", group.others.len() + 1) };
            // The plural says enough in a list; the change itself has the whole name.
            let plural = finding.crd.split('.').next().unwrap_or_default();
            let version = finding.version.as_deref().map(|version| format!(" {}", visible(version))).unwrap_or_default();
            Item {
                id: Some(finding.fingerprint.clone()),
                name: visible(&finding.path).into_owned(),
                text: visible(&finding.title).into_owned(),
                place: format!("{}{version}{places}", visible(plural)),
            }
        })
        .collect();
    let answer = match (tally.breaking, tally.breaking.saturating_sub(tally.covered)) {
        (0, _) => "No.".to_owned(),
        (all, 0) => format!("Yes, {}, each with a conversion.", plural(all, "change")),
        (all, open) if open == all => format!("Yes, {}, without a conversion.", plural(all, "change")),
        (all, open) => format!("Yes, {}, {open} of them without a conversion.", plural(all, "change")),
    };
    let tone = match (tally.breaking, tally.open) {
        (0, _) => Tone::Good,
        (_, 0) => Tone::Careful,
        _ => Tone::Bad,
    };
    Question { question: "Does it introduce breaking changes?", tone, answer, more: tally.breaking.saturating_sub(items.len()), items }
}

fn better(groups: &[Group<'_>], tally: &Tally) -> Question {
    let mut rules: BTreeMap<(std::cmp::Reverse<Severity>, &str), (usize, &Finding)> = BTreeMap::new();
    for group in groups.iter().filter(|group| Sort::of(group.first) == Sort::Lint && group.first.status == Status::New) {
        let finding = group.first;
        rules.entry((std::cmp::Reverse(finding.severity), &finding.rule)).or_insert((0, finding)).0 += 1;
    }
    let more = rules.len().saturating_sub(NAMED);
    let item = |(_, (count, finding)): (_, (usize, &Finding))| Item {
        id: Some(finding.fingerprint.clone()),
        name: visible(&finding.rule).into_owned(),
        text: visible(&finding.title).into_owned(),
        place: if count > 1 { format!("{count} times") } else { String::new() },
    };
    let items: Vec<Item> = rules.into_iter().take(NAMED).map(item).collect();
    let counts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes, "note")];
    let told: Vec<String> = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| plural(*count, word)).collect();
    let before = match tally.before {
        0 => String::new(),
        1 => " 1 finding was there before.".to_owned(),
        count => format!(" {count} findings were there before."),
    };
    let (tone, answer) = match (tally.errors, told.is_empty()) {
        (_, true) => (Tone::Good, format!("No rule has anything to say about what is new.{before}")),
        (0, false) => (Tone::Careful, format!("Perhaps: {}.{before}", list(&told))),
        (_, false) => (Tone::Bad, format!("Yes: {}.{before}", list(&told))),
    };
    Question { question: "Can the API be better?", tone, answer, items, more }
}

fn communicate(report: &Report, groups: &[Group<'_>], tally: &Tally) -> Question {
    let changes = || groups.iter().map(|group| group.first).filter(|f| f.status != Status::PreExisting && f.class.is_some());
    let count = |keep: &dyn Fn(&Finding) -> bool| changes().filter(|finding| keep(finding)).count();
    let mut items = Vec::new();
    let mut tone = Tone::Good;
    for &affected in Affected::ALL {
        let hit = count(&|finding| finding.affects.contains(affected));
        if hit > 0 && affected != Affected::Refused {
            let (who, what) = whom(affected);
            items.push(Item::say(format!("{who}: {what} ({})", plural(hit, "change"))));
            tone = Tone::Careful;
        }
    }
    let open = tally.breaking.saturating_sub(tally.covered);
    if open > 0 {
        items.push(Item::say(format!("How users move their objects: {} without a conversion", plural(open, "break"))));
    }
    let kinds = [
        (Kind::Deprecate, "Deprecations to announce"),
        (Kind::Unserve, "Versions no longer served"),
        (Kind::DropVersion, "Versions removed"),
        (Kind::DropResource, "Resources removed"),
        (Kind::AddVersion, "New versions and where objects are stored"),
    ];
    for (kind, text) in kinds {
        let hit = count(&|finding| finding.kind == kind);
        if hit > 0 {
            items.push(Item::say(format!("{text}: {hit}")));
        }
    }
    let unclear = count(&|finding| finding.rule == MEANING);
    if unclear > 0 {
        items.push(Item::say(format!("A question to the author: does the meaning change? ({})", plural(unclear, "description"))));
    }
    let undecided = count(&|finding| finding.certainty == Certainty::Undecided);
    if undecided > 0 {
        items.push(Item::say(format!("A question to the author: {} could not be decided by the tool", plural(undecided, "change"))));
    }
    let answer = match &report.bump {
        None => String::new(),
        Some(bump) => {
            let next = next(bump);
            let step = next.step.map(|step| format!(" ({step})")).unwrap_or_default();
            match (next.declared, next.sufficient) {
                (Some(declared), Some(true)) => format!("Next version: {}{step}; the declared {declared} is enough.", next.required),
                (Some(declared), Some(false)) => {
                    tone = Tone::Bad;
                    format!("Next version: {}{step}; the declared {declared} is too small.", next.required)
                }
                _ => format!("Next version: {}{step}.", next.required),
            }
        }
    };
    Question { question: "What must be communicated?", tone, answer, items, more: 0 }
}
