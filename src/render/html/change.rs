//! One change as the page shows it: a finding, and the places where the same is found.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::find::conversion::text::as_yaml;
use crate::judge::finding::{Class, Finding, Severity, Spot, Status};
use crate::judge::rule::{Book, Need};
use crate::model::fact::{Affected, Certainty};

use super::super::escape::visible;
use super::super::existing_objects;
use super::super::group::Group;
use super::super::human::{Texts, ratchet_note};
use super::yaml_excerpt::{ExcerptSource, YamlExcerpt, excerpts};

/// An object of a proof is shown up to so many lines.
const PROOF_LINES: usize = 60;

/// What attributes may say of a change: numbers, hexadecimal fingerprints and words of this list. Text of files is only
/// between tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::render) enum Sort {
    Breaking,
    Additive,
    None,
    Lint,
}

impl Sort {
    pub const ALL: [Sort; 4] = [Sort::Breaking, Sort::Additive, Sort::None, Sort::Lint];

    pub fn of(finding: &Finding) -> Sort {
        match finding.class {
            Some(Class::SemanticBreaking) => Sort::Breaking,
            Some(Class::Additive) => Sort::Additive,
            Some(Class::None) => Sort::None,
            None => Sort::Lint,
        }
    }

    /// The word in front of a change; lint findings have no class, and say how grave they are.
    pub fn tag(finding: &Finding) -> &'static str {
        match (Sort::of(finding), finding.severity) {
            (Sort::Lint, Severity::Error) => "Error",
            (Sort::Lint, Severity::Warning) => "Warning",
            (Sort::Lint, Severity::Info) => "Note",
            (sort, _) => sort.label(),
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Sort::Breaking => "Breaking",
            Sort::Additive => "Additive",
            Sort::None => "Neutral",
            Sort::Lint => "Lint",
        }
    }
}

/// Whom it affects, and what it does to them.
pub(super) fn whom(affected: Affected) -> (&'static str, &'static str) {
    match affected {
        Affected::Writers => ("Writers", "requests that passed fail"),
        Affected::Stored => ("Stored objects", "can't be updated"),
        Affected::Readers => ("Readers", "meet what they never had to handle"),
        Affected::Data => ("Data", "values are dropped"),
        Affected::Merge => ("Server-side apply", "fields get other owners"),
        Affected::Behaviour => ("Behaviour", "same manifest, other effect"),
        Affected::Refused => ("Installation", "the API server rejects the CRD"),
    }
}

/// The rule that asks the author a question.
pub(super) const MEANING: &str = "meaning-may-have-changed";

/// Documentation and the like, behind a switch. A description that promises something else is to be talked about.
pub(in crate::render) fn is_folded(finding: &Finding) -> bool {
    finding.is_quiet() && finding.rule != MEANING
}

/// Numbers that replace names in attributes.
pub(super) struct Numbers<'r> {
    pub crds: BTreeMap<&'r str, usize>,
    pub rules: BTreeMap<&'r str, usize>,
}

impl<'r> Numbers<'r> {
    pub fn new(findings: &'r [Finding]) -> Self {
        let number = |names: BTreeSet<&'r str>| names.into_iter().zip(1..).collect();
        Numbers {
            crds: number(findings.iter().map(|finding| &*finding.crd).collect()),
            rules: number(findings.iter().map(|finding| &*finding.rule).collect()),
        }
    }

    pub fn crd(&self, name: &str) -> usize {
        self.crds.get(name).copied().unwrap_or_default()
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Change {
    /// The fingerprint; the first of its findings.
    pub id: String,
    pub sort: Sort,
    pub label: &'static str,
    pub severity: Severity,
    pub status: Status,
    pub quiet: bool,
    pub affects: Vec<Affected>,
    /// Numbers of the CRDs in which it is found.
    pub crds: Vec<usize>,
    pub rule: usize,
    pub rule_id: String,
    pub title: String,
    pub path: String,
    pub to: Option<String>,
    pub message: String,
    pub help: String,
    pub certainty: Option<Certainty>,
    pub ratchet: Option<&'static str>,
    /// What it does to existing objects.
    pub objects: Option<String>,
    pub conversion: Option<String>,
    /// It needs a conversion and has none.
    pub unconverted: bool,
    pub proof: Option<Proof>,
    pub before: Option<Shown>,
    pub after: Option<Shown>,
    /// Where it is found, if in several places.
    pub places: Vec<Found>,
    pub also: Option<String>,
    pub open: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Proof {
    pub old: &'static str,
    pub new: &'static str,
    pub because: String,
    pub yaml: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pub file: String,
    pub line: usize,
    pub excerpt: Option<YamlExcerpt>,
}

#[derive(Debug, Serialize)]
pub(super) struct Found {
    /// Nothing for the first: the change has it.
    pub id: Option<String>,
    pub crd: String,
    pub version: Option<String>,
    pub file: String,
    pub line: usize,
}

/// Makes changes of groups.
pub(super) struct Maker<'m> {
    pub numbers: &'m Numbers<'m>,
    pub book: &'m Book,
    pub texts: &'m dyn Texts,
    /// Nothing where one bundle is checked.
    pub old: Option<&'m str>,
    pub new: &'m str,
}

impl Maker<'_> {
    pub fn change(&self, group: &Group<'_>) -> Change {
        let finding = group.first;
        let text = |text: &str| visible(text).into_owned();
        let sort = Sort::of(finding);
        let members = || std::iter::once(finding).chain(group.others.iter().copied());
        let crds: BTreeSet<usize> = members().map(|finding| self.numbers.crd(&finding.crd)).collect();
        let rule = self.book.get(&finding.rule);
        let covered = members().all(|finding| finding.conversion.is_some());
        let (before, after) = self.sides(finding);
        Change {
            id: finding.fingerprint.clone(),
            sort,
            label: Sort::tag(finding),
            severity: finding.severity,
            status: finding.status,
            quiet: is_folded(finding),
            affects: finding.affects.iter().collect(),
            crds: crds.into_iter().collect(),
            rule: self.numbers.rules.get(&*finding.rule).copied().unwrap_or_default(),
            rule_id: text(&finding.rule),
            title: text(&finding.title),
            path: text(&finding.path),
            to: finding.to.as_deref().map(text),
            message: text(&finding.message),
            help: text(&finding.help),
            certainty: Some(finding.certainty).filter(|certainty| *certainty != Certainty::Proved),
            ratchet: ratchet_note(finding),
            objects: existing_objects::hits(members()),
            conversion: finding.conversion.as_deref().map(text),
            unconverted: sort == Sort::Breaking && !covered && rule.is_some_and(|rule| rule.conversion != Need::None),
            proof: finding.witness.as_ref().map(|witness| Proof {
                old: witness.old.name(),
                new: witness.new.name(),
                because: text(&witness.because),
                yaml: object(&witness.object),
            }),
            before,
            after,
            places: if group.others.is_empty() { Vec::new() } else { members().enumerate().map(|each| self.found(each)).collect() },
            also: group.also(),
            open: false,
        }
    }

    fn sides(&self, finding: &Finding) -> (Option<Shown>, Option<Shown>) {
        // What was there before is a line to know of, not a change to look at.
        let drawn = finding.status != Status::PreExisting;
        let excerpt_source = |spot: &Option<Spot>, old: bool| {
            let spot = spot.as_ref().filter(|_| drawn)?;
            Some(ExcerptSource::new(self.texts.text(spot, old)?, spot.place?.span.range(), spot.line))
        };
        let (before, after) = excerpts(excerpt_source(&finding.before, true), excerpt_source(&finding.after, false));
        let shown = |spot: &Option<Spot>, source: &str, excerpt| {
            let spot = spot.as_ref()?;
            Some(Shown { file: within(&spot.file, source), line: spot.line, excerpt })
        };
        (self.old.and_then(|old| shown(&finding.before, old, before)), shown(&finding.after, self.new, after))
    }

    fn found(&self, (index, finding): (usize, &Finding)) -> Found {
        let (spot, source) = match &finding.after {
            Some(after) => (Some(after), self.new),
            None => (finding.before.as_ref(), self.old.unwrap_or_default()),
        };
        Found {
            id: (index > 0).then(|| finding.fingerprint.clone()),
            crd: visible(&finding.crd).into_owned(),
            version: finding.version.as_deref().map(|version| visible(version).into_owned()),
            file: spot.map(|spot| within(&spot.file, source)).unwrap_or_default(),
            line: spot.map_or(0, |spot| spot.line),
        }
    }
}

/// The name of a file below the source that the top of the page names; its own name where it is the source.
fn within(file: &str, source: &str) -> String {
    let below = file.strip_prefix(source).map_or(file, |rest| rest.trim_start_matches(['/', '\\']));
    visible(if below.is_empty() { file } else { below }).into_owned()
}

fn object(object: &serde_json::Value) -> String {
    let yaml = as_yaml(object);
    let mut lines: Vec<String> = yaml.lines().take(PROOF_LINES).map(|line| visible(line).into_owned()).collect();
    if yaml.lines().nth(PROOF_LINES).is_some() {
        lines.push("# …".to_owned());
    }
    lines.join("\n")
}
