//! The top of the page: whether the change is safe, in words and in one colour, and the counts behind it.

use serde::Serialize;

use crate::judge::bump::Recommendation;
use crate::judge::finding::{Bump, Severity, Status};
use crate::judge::report::Report;
use crate::model::fact::{Affected, Certainty};
use crate::render::visible;

use super::super::group::{Group, plural};
use super::change::{Sort, is_folded, whom};
use super::prose::list;

/// The colour of the banner.
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
    pub sentences: Vec<String>,
}

/// Groups of findings, counted.
#[derive(Debug, Default, Clone)]
pub(in crate::render) struct Tally {
    /// Changes that break somebody, and their findings.
    pub breaking: usize,
    pub places: usize,
    pub covered: usize,
    pub waived: usize,
    /// Neither covered nor waived.
    pub open: usize,
    pub undecided: usize,
    pub additive: usize,
    /// Documentation, metadata, spelling.
    pub quiet: usize,
    pub refused: usize,
    /// Lint findings that are new.
    pub errors: usize,
    pub warnings: usize,
    pub notes: usize,
    pub before: usize,
    pub hurt: Vec<Affected>,
}

impl Tally {
    pub fn new(groups: &[Group<'_>]) -> Self {
        let mut tally = Tally::default();
        let mut hurt = crate::model::fact::Affects::NONE;
        for group in groups {
            let finding = group.first;
            let (sort, status) = (Sort::of(finding), finding.status);
            if status == Status::PreExisting {
                tally.before += 1;
                continue;
            }
            tally.refused += usize::from(finding.is_refusal() && status == Status::New);
            match sort {
                Sort::Breaking => {
                    let members = || std::iter::once(finding).chain(group.others.iter().copied());
                    tally.breaking += 1;
                    tally.places += 1 + group.others.len();
                    let covered = members().all(|finding| finding.conversion.is_some());
                    tally.covered += usize::from(covered);
                    tally.waived += usize::from(status == Status::Waived);
                    tally.open += usize::from(!covered && status != Status::Waived);
                    tally.undecided += usize::from(finding.certainty == Certainty::Undecided);
                    hurt = hurt.union(finding.affects);
                }
                Sort::Additive => tally.additive += 1,
                Sort::None => tally.quiet += usize::from(is_folded(finding)),
                Sort::Lint if status == Status::New => match finding.severity {
                    Severity::Error => tally.errors += 1,
                    Severity::Warning => tally.warnings += 1,
                    Severity::Info => tally.notes += 1,
                },
                Sort::Lint => {}
            }
        }
        tally.hurt = hurt.iter().collect();
        tally
    }
}

/// Things that could not be read and are named.
const UNREAD: usize = 3;

pub(in crate::render) fn banner(report: &Report, tally: &Tally, complete: bool) -> Banner {
    let (mut tone, mut headline, mut sentences) = match report.verdict {
        Some(_) => compared(tally),
        None => checked(tally),
    };
    if tally.refused > 0 {
        tone = Tone::Bad;
        headline = if tally.breaking > 0 { "Breaking, and rejected by the API server" } else { "Rejected by the API server" }.to_owned();
        let verb = if tally.refused == 1 { "makes" } else { "make" };
        sentences.push(format!("{} {verb} the server reject a CRD of the new bundle.", plural(tally.refused, "finding")));
    }
    if !complete {
        // That nothing was found says nothing of what was not read.
        let silent = tone == Tone::Good;
        let unread: Vec<String> =
            report.unread().take(UNREAD).map(|one| format!(" {} ({}).", visible(&one.what), visible(&one.why))).collect();
        let sentence = format!("Not every input could be read, and what was not read is not judged.{}", unread.concat());
        (tone, headline, sentences) = match silent {
            true => (Tone::Careful, "Incomplete: not everything could be read".to_owned(), vec![]),
            false => (tone, format!("Incomplete · {headline}"), sentences),
        };
        sentences.insert(0, sentence);
    }
    Banner { tone, headline, sentences }
}

fn compared(tally: &Tally) -> (Tone, String, Vec<String>) {
    let mut sentences = Vec::new();
    let lint = lint_sentence(tally);
    if tally.breaking > 0 {
        let verb = if tally.breaking == 1 { "breaks" } else { "break" };
        let places = if tally.places > tally.breaking { format!(" in {} places", tally.places) } else { String::new() };
        let hurt: Vec<String> = tally.hurt.iter().map(|&affected| whom(affected).0.to_lowercase()).collect();
        let hurt = if hurt.is_empty() { "users of the API".to_owned() } else { list(&hurt) };
        sentences.push(format!("{}{places} {verb} {hurt}.", plural(tally.breaking, "change")));
        match tally.covered {
            0 => {}
            all if all == tally.breaking => sentences.push("A conversion covers each of them.".to_owned()),
            some => sentences.push(format!("A conversion covers {some} of them.")),
        }
        if tally.waived > 0 {
            sentences.push(format!("{} waived.", if tally.waived == 1 { "1 is".to_owned() } else { format!("{} are", tally.waived) }));
        }
        if tally.undecided > 0 {
            let verb = if tally.undecided == 1 { "counts" } else { "count" };
            sentences.push(format!("{} could not be decided and {verb} as breaking.", tally.undecided));
        }
        sentences.extend(lint);
        let (tone, headline) = match (tally.open, tally.covered, tally.waived) {
            (0, _, 0) => (Tone::Careful, "Breaking, with conversions"),
            (0, 0, _) => (Tone::Careful, "Breaking, and waived"),
            (0, ..) => (Tone::Careful, "Breaking, with conversions or waived"),
            _ => (Tone::Bad, "Breaking"),
        };
        return (tone, headline.to_owned(), sentences);
    }
    sentences.push(match (tally.additive, tally.quiet) {
        (0, 0) => "Nothing changed for anybody who uses the API.".to_owned(),
        (0, quiet) => {
            format!("{} of documentation, metadata or spelling; every object is accepted and kept as before.", plural(quiet, "change"))
        }
        (added, _) => format!("{} to the API; what worked before still works.", plural(added, "addition")),
    });
    sentences.extend(lint);
    let what = if tally.additive > 0 { "only additions" } else { "no change of the API" };
    if tally.errors > 0 {
        let what = if tally.additive > 0 { "Additive" } else { "No change of the API" };
        return (Tone::Careful, format!("{what}, with {} to mend", plural(tally.errors, "error")), sentences);
    }
    (Tone::Good, format!("Safe: {what}"), sentences)
}

fn checked(tally: &Tally) -> (Tone, String, Vec<String>) {
    let sentences = lint_sentence(tally).into_iter().collect();
    match (tally.errors, tally.warnings) {
        (0, 0) => (Tone::Good, "Nothing to mend".to_owned(), sentences),
        (0, warnings) => (Tone::Careful, plural(warnings, "warning"), sentences),
        (errors, _) => (Tone::Bad, format!("{} to mend", plural(errors, "error")), sentences),
    }
}

fn lint_sentence(tally: &Tally) -> Option<String> {
    let counts = [(tally.errors, "error"), (tally.warnings, "warning"), (tally.notes, "note")];
    let told: Vec<String> = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| plural(*count, word)).collect();
    (!told.is_empty()).then(|| format!("The new bundle gives {} of its own.", list(&told)))
}

/// The next version, in words.
#[derive(Debug, Serialize)]
pub(super) struct Next {
    pub required: Bump,
    pub step: Option<String>,
    pub declared: Option<String>,
    pub sufficient: Option<bool>,
}

pub(super) fn next(bump: &Recommendation) -> Next {
    let step = match (&bump.from, &bump.recommended) {
        (Some(from), Some(to)) if from == to => Some(format!("stays {from}")),
        (Some(from), Some(to)) => Some(format!("{from} → {to} or later")),
        _ => None,
    };
    Next { required: bump.required, step, declared: bump.declared.as_ref().map(ToString::to_string), sufficient: bump.sufficient }
}

/// Changes by whom they affect and by class; what was there before isn't counted.
#[derive(Debug, Serialize)]
pub(super) struct Counts {
    pub columns: Vec<(Sort, &'static str)>,
    pub rows: Vec<Row>,
    pub total: Vec<usize>,
}

#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// Nothing for what affects nobody.
    pub word: Option<Affected>,
    pub whom: &'static str,
    pub what: &'static str,
    pub cells: Vec<usize>,
}

pub(super) fn counts(groups: &[Group<'_>]) -> Counts {
    let told = || groups.iter().map(|group| group.first).filter(|finding| finding.status != Status::PreExisting);
    let by_sort = |keep: &dyn Fn(&crate::judge::finding::Finding) -> bool| {
        Sort::ALL.iter().map(|&sort| told().filter(|finding| Sort::of(finding) == sort && keep(finding)).count()).collect::<Vec<_>>()
    };
    let mut rows: Vec<Row> = Affected::ALL
        .iter()
        .map(|&affected| {
            let (whom, what) = whom(affected);
            Row { word: Some(affected), whom, what, cells: by_sort(&|finding| finding.affects.contains(affected)) }
        })
        .collect();
    rows.push(Row { word: None, whom: "Nobody", what: "", cells: by_sort(&|finding| finding.affects.is_empty()) });
    rows.retain(|row| row.cells.iter().any(|count| *count > 0));
    let mut table = Counts { columns: Sort::ALL.iter().map(|sort| (*sort, sort.label())).collect(), total: by_sort(&|_| true), rows };
    // A column of zeros is left out, except that nothing breaks.
    for index in (1..table.columns.len()).rev() {
        if table.total.get(index) == Some(&0) {
            table.columns.remove(index);
            table.total.remove(index);
            for row in &mut table.rows {
                row.cells.remove(index);
            }
        }
    }
    table
}
