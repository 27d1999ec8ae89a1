//! The top of the page: whether the change is safe, in words and as one colour.

use serde::Serialize;

use crate::input::list_all;
use crate::judge::bump::Recommendation;
use crate::judge::finding::{Bump, Status};
use crate::judge::overview::{Overview, plural};
use crate::judge::report::Report;
use crate::model::fact::{Affected, Affects, Certainty};
use crate::render::visible;

use super::card::affected_text;

/// The colour of the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::render) enum Tone {
    Bad,
    Careful,
    Good,
}

#[derive(Debug, Serialize)]
pub(in crate::render) struct Banner {
    pub tone: Tone,
    pub headline: String,
    /// The counts that every format states: the breaks, and the rest.
    pub counts: String,
    pub breaking: String,
    pub others: String,
    pub sentences: Vec<String>,
}

/// Counts the breaks of a report by kind.
#[derive(Debug, Default, Clone)]
pub(in crate::render) struct Tally {
    pub breaking: usize,
    pub covered: usize,
    pub waived: usize,
    /// Neither covered nor waived.
    pub open: usize,
    pub undecided: usize,
    /// Rejected by an API server.
    pub refused: usize,
    pub hurt: Vec<Affected>,
}

impl Tally {
    pub fn new(overview: &Overview<'_>) -> Self {
        let mut tally = Tally::default();
        let mut hurt = Affects::NONE;
        for group in overview.all() {
            let (status, refused) = (group.status(), group.lead.is_refusal());
            tally.refused += usize::from(refused && status == Status::New);
            if !group.is_breaking() || status == Status::PreExisting {
                continue;
            }
            let covered = group.conversions().is_some();
            tally.breaking += 1;
            tally.covered += usize::from(covered);
            tally.waived += usize::from(status == Status::Waived);
            tally.open += usize::from(!covered && status != Status::Waived);
            tally.undecided += usize::from(group.members.iter().any(|finding| finding.certainty == Certainty::Undecided));
            hurt = group.members.iter().fold(hurt, |hurt, finding| hurt.union(finding.affects));
        }
        tally.hurt = hurt.iter().collect();
        tally
    }
}

/// How many unreadable inputs are named.
const UNREAD: usize = 3;

pub(in crate::render) fn banner(report: &Report, tally: &Tally, complete: bool) -> Banner {
    let counts = &report.summary;
    let (mut tone, mut headline, mut sentences) = match report.verdict {
        Some(_) => compared(report, tally),
        None => match (counts.errors.changes, counts.warnings.changes) {
            (0, 0) => (Tone::Good, "Nothing to fix".to_owned(), Vec::new()),
            (0, warnings) => (Tone::Careful, plural(warnings, "warning"), Vec::new()),
            (errors, _) => (Tone::Bad, format!("{} to fix", plural(errors, "error")), Vec::new()),
        },
    };
    if tally.refused > 0 {
        tone = Tone::Bad;
        headline = if tally.breaking > 0 { "Breaking, and rejected by the API server" } else { "Rejected by the API server" }.to_owned();
    }
    if !complete {
        // Finding nothing says nothing about input that wasn't read.
        let silent = tone == Tone::Good;
        let unread: Vec<String> =
            report.unread().take(UNREAD).map(|one| format!(" {} ({}).", visible(&one.what), visible(&one.why))).collect();
        let sentence = format!("Some inputs could not be read and were not judged.{}", unread.concat());
        (tone, headline) = match silent {
            true => (Tone::Careful, "Incomplete: not everything could be read".to_owned()),
            false => (tone, format!("Incomplete · {headline}")),
        };
        sentences.insert(0, sentence);
    }
    let text = counts.text();
    let breaking = if counts.breaking.changes > 0 { counts.breaking_text() } else { String::new() };
    let others = text.strip_prefix(&*breaking).unwrap_or(&text).trim_start_matches(", ").to_owned();
    Banner { tone, headline, counts: text, breaking, others, sentences }
}

fn compared(report: &Report, tally: &Tally) -> (Tone, String, Vec<String>) {
    let counts = &report.summary;
    let mut sentences = Vec::new();
    if tally.breaking > 0 {
        let hurt: Vec<String> = tally.hurt.iter().map(|&affected| affected_text(affected).0.to_lowercase()).collect();
        if !hurt.is_empty() {
            sentences.push(format!("Affects {}.", list_all(&hurt)));
        }
        match tally.covered {
            0 => {}
            all if all == tally.breaking => sentences.push("A conversion covers each break.".to_owned()),
            some => sentences.push(format!("A conversion covers {some} of {}.", tally.breaking)),
        }
        if tally.waived > 0 {
            sentences.push(format!("{} waived.", if tally.waived == 1 { "1 is".to_owned() } else { format!("{} are", tally.waived) }));
        }
        if tally.undecided > 0 {
            let verb = if tally.undecided == 1 { "counts" } else { "count" };
            sentences.push(format!("{} could not be decided and {verb} as breaking.", tally.undecided));
        }
        let (tone, headline) = match (tally.open, tally.covered, tally.waived) {
            (0, _, 0) => (Tone::Careful, "Breaking, with conversions"),
            (0, 0, _) => (Tone::Careful, "Breaking, and waived"),
            (0, ..) => (Tone::Careful, "Breaking, with conversions or waived"),
            _ => (Tone::Bad, "Breaking"),
        };
        return (tone, headline.to_owned(), sentences);
    }
    sentences.push(match (counts.compatible.changes, counts.documentation.changes) {
        (0, 0) => "The API is the same on both sides.".to_owned(),
        (0, _) => "Only documentation, metadata or spelling changed; every object is accepted and kept as before.".to_owned(),
        _ => "What worked before still works.".to_owned(),
    });
    let is_same = counts.compatible.changes == 0;
    if counts.errors.changes > 0 {
        let what = if is_same { "No API change" } else { "Compatible" };
        return (Tone::Careful, format!("{what}, with {} to fix", plural(counts.errors.changes, "error")), sentences);
    }
    let what = if is_same { "no API change" } else { "only compatible changes" };
    (Tone::Good, format!("Safe: {what}"), sentences)
}

/// The next version.
#[derive(Debug, Serialize)]
pub(super) struct Next {
    pub required: Bump,
    pub from: Option<String>,
    pub recommended: Option<String>,
    pub declared: Option<String>,
    pub sufficient: Option<bool>,
    /// The text that every format uses.
    pub text: String,
}

pub(super) fn next(bump: &Recommendation) -> Next {
    let version = |version: &Option<semver::Version>| version.as_ref().map(ToString::to_string);
    Next {
        required: bump.required,
        from: version(&bump.from),
        recommended: version(&bump.recommended),
        declared: version(&bump.declared),
        sufficient: bump.sufficient,
        text: bump.to_string(),
    }
}
