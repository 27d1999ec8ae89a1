//! Applies a team's waivers to findings, and emits facts about waivers that have no effect.
//!
//! A waiver lowers the gate: its finding no longer fails the run. It never lowers the verdict or the bump.

use crate::go::date::Date;
use crate::input::glob::Glob;
use crate::input::yaml::Span;
use crate::judge::baseline::Baseline;
use crate::judge::finding::{Finding, Status};
use crate::judge::finding_index::FindingIndex;
use crate::judge::scope::RunScope;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::{FileId, Place};

/// How many characters waivers may be compared with, together about half a second.
const MOST_WORK: usize = 200_000_000;

/// Accepts findings, with a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// One finding, or one edit wherever it is made (a group); nothing else is accepted.
    pub fingerprint: Option<String>,
    /// If missing, there is a fingerprint.
    pub rule: Option<Glob>,
    pub crd: Option<Glob>,
    pub version: Option<Glob>,
    pub path: Option<Glob>,
    pub reason: String,
    pub link: Option<String>,
    /// The last day on which it applies.
    pub until: Option<Date>,
    pub span: Span,
}

impl Waiver {
    /// What it applies to, without its reason and end date.
    pub fn target(&self) -> String {
        let mut text = match (&self.rule, &self.fingerprint) {
            (Some(rule), None) => rule.as_str().to_owned(),
            (Some(rule), Some(fingerprint)) => format!("{} with fingerprint {fingerprint}", rule.as_str()),
            (None, fingerprint) => format!("fingerprint {}", fingerprint.as_deref().unwrap_or_default()),
        };
        for (word, glob) in [("in", &self.crd), ("version", &self.version), ("at", &self.path)] {
            if let Some(glob) = glob {
                text = format!("{text} {word} {}", glob.as_str());
            }
        }
        text
    }

    fn note(&self) -> String {
        match &self.link {
            Some(link) => format!("{} ({link})", self.reason),
            None => self.reason.clone(),
        }
    }
}

/// The waivers of a team, and where they are written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waivers<'a> {
    pub list: &'a [Waiver],
    /// The configuration file, among the files of the new side.
    pub file: FileId,
    pub baseline: Option<(&'a Baseline, FileId)>,
    /// Without a date, waivers don't expire.
    pub today: Option<Date>,
}

impl Waivers<'_> {
    /// Marks accepted findings, and returns a fact for each waiver that has expired or accepts nothing. After the edit is merged,
    /// its waiver accepts nothing, expired or not.
    ///
    /// If that takes too long, the other waivers aren't applied, and the book knows.
    pub fn apply(&self, findings: &mut [Finding], scope: &RunScope<'_>) -> Vec<Fact> {
        let mut facts = Vec::new();
        let (mut index, mut work) = (None, 0);
        for waiver in self.list {
            let lapsed = waiver.until.zip(self.today).is_some_and(|(until, today)| today > until);
            let index = index.get_or_insert_with(|| FindingIndex::new(findings, scope.book));
            let accepted = index.accepted_by(waiver, &mut work);
            if work > MOST_WORK {
                scope.book.cut();
                break;
            }
            let used = !accepted.is_empty();
            for at in accepted {
                let Some(finding) = findings.get_mut(at) else { continue };
                if !lapsed && finding.status == Status::New {
                    finding.status = Status::Waived;
                    finding.waiver = Some(waiver.note());
                }
            }
            let done = waiver.fingerprint.is_some() && !used;
            let effect = match (lapsed && !done, used) {
                (true, _) => Effect::Lapsed,
                (false, false) if scope.sees(waiver.rule.as_ref(), waiver.crd.as_ref()) => Effect::Unused,
                _ => continue,
            };
            let mut fact = Fact::new(Subject::Config, Aspect::Waiver, effect, "")
                .after(Place { file: self.file, span: waiver.span })
                .key(waiver.target())
                .word(Word::Target, waiver.target());
            if let Some(fingerprint) = &waiver.fingerprint {
                fact = fact.word(Word::Fingerprint, fingerprint.clone());
            }
            if let Some(until) = waiver.until {
                fact = fact.word(Word::Until, until.to_string());
            }
            facts.push(fact);
        }
        if let Some((baseline, file)) = self.baseline {
            facts.extend(baseline.apply(findings, file, scope));
        }
        facts
    }
}
