//! The questions that a group asks in a review call (after KubeVirt's API review): does it break, can it be better, what must be
//! announced. The tool answers them as far as it can.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::input::list_all;
use crate::judge::finding::{Finding, Severity, Status};
use crate::judge::overview::{Group, Overview, plural};
use crate::judge::report::Report;
use crate::judge::rule::Kind;
use crate::model::fact::{Affected, Certainty};

use super::super::escape::visible;
use super::super::report_view::View;
use super::card::affected_text;
use super::sort::{MEANING, Sort};
use super::summary::{Tally, Tone};

/// How many things an answer names; the rest is counted.
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
    /// The fingerprint of the finding in question.
    pub id: Option<String>,
    /// The rule id, shown as code.
    pub name: String,
    pub text: String,
    pub place: String,
}

impl Item {
    fn say(text: impl Into<String>) -> Item {
        Item { text: text.into(), ..Item::default() }
    }
}

pub(in crate::render) fn checklist(view: &View<'_>, overview: &Overview<'_>, tally: &Tally) -> Vec<Question> {
    let report = view.report;
    let mut questions = Vec::new();
    if report.verdict.is_some() {
        questions.push(breaks(report, tally));
    }
    questions.push(better(report, overview));
    // "Nothing was found" holds only for the input that could be read.
    for question in questions.iter_mut().filter(|question| !view.complete && question.tone == Tone::Good) {
        question.tone = Tone::Careful;
        question.answer = format!("Not in the inputs that could be read. {}", question.answer.trim_start_matches("No.").trim_start())
            .trim_end()
            .to_owned();
    }
    if report.verdict.is_some() {
        questions.push(communicate(report, overview, tally));
    }
    questions
}

fn breaks(report: &Report, tally: &Tally) -> Question {
    let said = report.summary.breaking_text();
    let answer = match (tally.breaking, tally.breaking.saturating_sub(tally.covered)) {
        (0, _) => "No.".to_owned(),
        (_, 0) => format!("Yes, {said}, each with a conversion."),
        (all, open) if open == all => format!("Yes, {said}, without a conversion."),
        (_, open) => format!("Yes, {said}; {open} without a conversion."),
    };
    let tone = match (tally.breaking, tally.open) {
        (0, _) => Tone::Good,
        (_, 0) => Tone::Careful,
        _ => Tone::Bad,
    };
    Question { question: "Does it introduce breaking changes?", tone, answer, items: Vec::new(), more: 0 }
}

fn better(report: &Report, overview: &Overview<'_>) -> Question {
    let mut rules: BTreeMap<(Reverse<Severity>, &str), (usize, &Finding)> = BTreeMap::new();
    let lint = |group: &&Group<'_>| group.class().is_none() && group.status() == Status::New;
    for group in overview.all().filter(lint) {
        let finding = group.lead;
        rules.entry((Reverse(finding.severity), &finding.rule)).or_insert((0, finding)).0 += group.members.len();
    }
    let more = rules.len().saturating_sub(NAMED);
    let item = |(_, (count, finding)): (_, (usize, &Finding))| Item {
        id: Some(finding.fingerprint.clone()),
        name: visible(&finding.rule).into_owned(),
        text: visible(&finding.title).into_owned(),
        place: if count > 1 { plural(count, "place") } else { String::new() },
    };
    let items: Vec<Item> = rules.into_iter().take(NAMED).map(item).collect();
    let summary = &report.summary;
    let counts = [(summary.errors.changes, "error"), (summary.warnings.changes, "warning"), (summary.notes.changes, "note")];
    let counted: Vec<String> = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| plural(*count, word)).collect();
    let before = match summary.pre_existing.places {
        0 => String::new(),
        1 => " 1 finding is pre-existing.".to_owned(),
        count => format!(" {count} findings are pre-existing."),
    };
    let (tone, answer) = match (summary.errors.changes, counted.is_empty()) {
        (_, true) => (Tone::Good, format!("No new findings.{before}")),
        (0, false) => (Tone::Careful, format!("Perhaps: {}.{before}", list_all(&counted))),
        (_, false) => (Tone::Bad, format!("Yes: {}.{before}", list_all(&counted))),
    };
    Question { question: "Can the API be better?", tone, answer, items, more }
}

fn communicate(report: &Report, overview: &Overview<'_>, tally: &Tally) -> Question {
    let changes = || overview.all().filter(|group| group.class().is_some() && Sort::of(group) != Sort::Earlier);
    let count = |keep: &dyn Fn(&Finding) -> bool| changes().filter(|group| group.members.iter().any(|finding| keep(finding))).count();
    let mut items = Vec::new();
    let mut tone = Tone::Good;
    for &affected in Affected::ALL {
        let hit = count(&|finding| finding.affects.contains(affected));
        if hit > 0 && affected != Affected::Refused {
            let (who, what) = affected_text(affected);
            items.push(Item::say(format!("{who}: {what} ({})", plural(hit, "change"))));
            tone = Tone::Careful;
        }
    }
    let open = tally.breaking.saturating_sub(tally.covered);
    if open > 0 {
        items.push(Item::say(format!("How users migrate their objects: {} without a conversion", plural(open, "break"))));
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
        items.push(Item::say(format!("Question for the author: does the meaning change? ({})", plural(unclear, "description"))));
    }
    let undecided = count(&|finding| finding.certainty == Certainty::Undecided);
    if undecided > 0 {
        items.push(Item::say(format!("Question for the author: {} could not be decided by crdwise", plural(undecided, "change"))));
    }
    let answer = report.bump.as_ref().map(|bump| format!("Next version: {bump}.")).unwrap_or_default();
    if report.bump.as_ref().is_some_and(|bump| bump.sufficient == Some(false)) {
        tone = Tone::Bad;
    }
    Question { question: "What must be communicated?", tone, answer, items, more: 0 }
}
