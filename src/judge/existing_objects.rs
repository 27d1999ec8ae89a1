//! Counts existing objects that findings affect: how many, which, and who manages the fields.
//!
//! Existing objects can make a finding more severe but never less: a field that nobody uses today may be used tomorrow.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::judge::finding::{Class, Finding, Severity, Status};
use crate::judge::overview::Counts;
use crate::judge::report::Report;
use crate::judge::rule::Kind;
use crate::model::fact::Affected;
use crate::model::{Documents, FieldPath, Skipped};
use crate::server::object::{FieldErrorKind as KeywordKind, Hit, HitObject, ImpactChecker, ObjectHarm};

/// How many objects are named for a finding, and for the rest; the others are counted.
const NAMED: usize = 1_000;

/// How a finding affects existing objects.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ObjectHits {
    /// The number of affected objects.
    pub count: usize,
    /// Of these, objects that can no longer be updated, whatever the update changes.
    pub refused: usize,
    /// Objects that are invalid, but can be updated as long as the field doesn't change.
    pub tolerated: usize,
    pub lose_data: usize,
    /// Objects whose value changes.
    pub changed: usize,
    /// Objects of a kind or version that is removed.
    pub version_gone: usize,
    /// `namespace/name`, sorted.
    pub names: Vec<String>,
    /// The affected values, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ObjectValue>,
    /// The managers of the fields.
    pub managers: Vec<Manager>,
}

/// A value in an object, as JSON.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct ObjectValue {
    pub object: String,
    pub path: String,
    pub value: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Manager {
    pub name: String,
    pub objects: usize,
}

/// The objects that a review checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ExistingObjects {
    pub source: String,
    /// How many objects of the old CRDs were checked.
    pub checked: usize,
    /// How many objects at least one finding affects.
    pub hit: usize,
    pub skipped: Vec<Skipped>,
    /// Objects that break without a finding that explains it.
    pub unexplained: Vec<Unexplained>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Unexplained {
    pub object: String,
    pub crd: String,
    pub version: String,
    pub path: String,
    /// `refused`, `tolerated`, `loses data`, `changed` or `gone`.
    pub what: &'static str,
}

/// Counts objects, page by page.
pub struct ObjectTally<'r, 'b, 't> {
    checker: ImpactChecker<'b, 't>,
    candidates: BTreeMap<&'r str, Candidates<'r>>,
    hits: BTreeMap<usize, HitCount>,
    checked: usize,
    hit: usize,
    others: BTreeMap<String, usize>,
    unexplained: BTreeSet<Unexplained>,
}

/// The findings of a CRD that may explain what happens to an object.
#[derive(Default)]
struct Candidates<'r> {
    by_path: BTreeMap<FieldPath, Vec<Candidate<'r>>>,
    /// Those that may be about another field than they name.
    hazards: Vec<Candidate<'r>>,
}

#[derive(Clone, Copy)]
struct Candidate<'r> {
    index: usize,
    finding: &'r Finding,
}

#[derive(Default)]
struct HitCount {
    hits: ObjectHits,
    names: BTreeSet<String>,
    values: BTreeSet<ObjectValue>,
    managers: BTreeMap<String, usize>,
}

impl<'r, 'b, 't> ObjectTally<'r, 'b, 't> {
    pub fn new(checker: ImpactChecker<'b, 't>, findings: &'r [Finding]) -> Self {
        let mut candidates: BTreeMap<&str, Candidates<'_>> = BTreeMap::new();
        for (index, finding) in findings.iter().enumerate().filter(|(_, finding)| is_harmful(finding)) {
            let (of_crd, candidate) = (candidates.entry(&finding.crd).or_default(), Candidate { index, finding });
            for path in std::iter::once(&finding.path).chain(&finding.to).filter_map(|path| FieldPath::parse(path)) {
                of_crd.by_path.entry(path).or_default().push(candidate);
            }
            of_crd.hazards.extend(is_hazard(finding).then_some(candidate));
        }
        let (hits, others, unexplained) = Default::default();
        ObjectTally { checker, candidates, hits, checked: 0, hit: 0, others, unexplained }
    }

    pub fn checked(&self) -> usize {
        self.checked
    }

    /// Adds the objects of some documents.
    pub fn add(&mut self, documents: &Documents) {
        let page = self.checker.page(documents);
        self.checked += page.checked;
        self.hit += page.hit.len();
        for (what, count) in page.others {
            *self.others.entry(what).or_default() += count;
        }
        page.hit.iter().for_each(|object| self.object(object));
    }

    fn object(&mut self, object: &HitObject) {
        let name = match &object.namespace {
            Some(namespace) => format!("{namespace}/{}", object.name),
            None => object.name.clone(),
        };
        let mut by_finding: BTreeMap<usize, Vec<&Hit>> = BTreeMap::new();
        for hit in &object.hits {
            let explained = self.explain(object, hit);
            if explained.is_empty() && self.unexplained.len() < NAMED {
                self.unexplained.insert(Unexplained {
                    object: name.clone(),
                    crd: object.crd.clone(),
                    version: object.version.clone(),
                    path: hit.path.general().to_string(),
                    what: word(hit.harm),
                });
            }
            for index in explained {
                by_finding.entry(index).or_default().push(hit);
            }
        }
        for (index, hits) in by_finding {
            self.hits.entry(index).or_default().add(&name, &hits);
        }
    }

    /// The findings that explain a hit: those at the nearest path, preferably about the same keyword.
    fn explain(&self, object: &HitObject, hit: &Hit) -> Vec<usize> {
        let Some(candidates) = self.candidates.get(&*object.crd) else { return Vec::new() };
        let mut best = candidates.nearest(&hit.path.general(), hit.harm, &|finding| {
            finding.version.as_deref().is_none_or(|version| version == object.version) && can_cause(finding, hit.harm)
        });
        let about = |candidate: &Candidate<'_>| match hit.harm {
            ObjectHarm::Refused(kind) | ObjectHarm::Tolerated(kind) => {
                keyword(kind).iter().any(|word| candidate.finding.rule.contains(word))
            }
            _ => false,
        };
        if best.iter().any(about) {
            best.retain(about);
        }
        best.into_iter().map(|candidate| candidate.index).collect()
    }

    /// Returns the counts, by index of the finding.
    pub fn finish(self, source: String) -> TalliedObjects {
        let skipped = |(what, count)| Skipped::counted(what, "the old side has no CRD for it", count);
        let summary = ExistingObjects {
            source,
            checked: self.checked,
            hit: self.hit,
            skipped: self.others.into_iter().map(skipped).collect(),
            unexplained: self.unexplained.into_iter().collect(),
        };
        TalliedObjects { summary, hits: self.hits.into_iter().map(|(index, count)| (index, count.finish())).collect() }
    }
}

/// The result of counting.
pub struct TalliedObjects {
    summary: ExistingObjects,
    hits: Vec<(usize, ObjectHits)>,
}

impl TalliedObjects {
    /// Writes the counts to a report. A finding that affects existing objects becomes one level more severe.
    pub fn write(self, report: &mut Report) {
        for finding in report.findings.iter_mut().filter(|finding| is_harmful(finding)) {
            finding.objects = Some(ObjectHits::default());
        }
        for (index, hits) in self.hits {
            let Some(finding) = report.findings.get_mut(index) else { continue };
            if finding.status == Status::New && hits.refused + hits.lose_data + hits.version_gone > 0 {
                finding.severity = match finding.severity {
                    Severity::Info => Severity::Warning,
                    Severity::Warning | Severity::Error => Severity::Error,
                };
            }
            finding.objects = Some(hits);
        }
        report.objects = Some(self.summary);
        report.summary = Counts::of(&report.findings);
    }
}

impl HitCount {
    fn add(&mut self, name: &str, hits: &[&Hit]) {
        let has = |is: fn(ObjectHarm) -> bool| usize::from(hits.iter().any(|hit| is(hit.harm)));
        let refused = has(|harm| matches!(harm, ObjectHarm::Refused(_)));
        self.hits.count += 1;
        self.hits.refused += refused;
        self.hits.tolerated += has(|harm| matches!(harm, ObjectHarm::Tolerated(_))) * (1 - refused);
        self.hits.lose_data += has(|harm| harm == ObjectHarm::Pruned);
        self.hits.changed += has(|harm| harm == ObjectHarm::Changed);
        self.hits.version_gone += has(|harm| harm == ObjectHarm::Gone);
        // Keep the first ones by name, whatever the order of the pages.
        self.names.insert(name.to_owned());
        if self.names.len() > NAMED {
            self.names.pop_last();
        }
        let value = |hit: &&Hit| Some(ObjectValue { object: name.to_owned(), path: hit.path.dotted(), value: hit.value.clone()? });
        self.values.extend(hits.iter().filter_map(value));
        while self.values.len() > NAMED {
            self.values.pop_last();
        }
        let managers: BTreeSet<&String> = hits.iter().flat_map(|hit| &hit.managers).collect();
        for manager in managers {
            *self.managers.entry(manager.clone()).or_default() += 1;
        }
    }

    fn finish(self) -> ObjectHits {
        let mut managers: Vec<Manager> = self.managers.into_iter().map(|(name, objects)| Manager { name, objects }).collect();
        managers.sort_by(|a, b| b.objects.cmp(&a.objects).then_with(|| a.name.cmp(&b.name)));
        let (names, values) = (self.names.into_iter().collect(), self.values.into_iter().collect());
        ObjectHits { names, values, managers, ..self.hits }
    }
}

/// Whether a finding can affect objects: breaks, stored versions that a server refuses to drop, and hazards that break only some
/// objects.
fn is_harmful(finding: &Finding) -> bool {
    finding.cause.is_empty() && finding.class == Some(Class::SemanticBreaking) || is_gone(finding) || is_hazard(finding)
}

/// Whether a finding covers several fields of its version but names only one.
fn is_hazard(finding: &Finding) -> bool {
    finding.class.is_none() && finding.affects.contains(Affected::Stored)
}

fn is_gone(finding: &Finding) -> bool {
    matches!(finding.kind, Kind::Unserve | Kind::DropVersion | Kind::DropResource) && finding.class == Some(Class::SemanticBreaking)
}

fn can_cause(finding: &Finding, harm: ObjectHarm) -> bool {
    let affects = |affected: &[Affected]| affected.iter().any(|who| finding.affects.contains(*who));
    match harm {
        ObjectHarm::Gone => is_gone(finding),
        ObjectHarm::Refused(_) | ObjectHarm::Tolerated(_) => !is_gone(finding) && affects(&[Affected::Writers, Affected::Stored]),
        ObjectHarm::Pruned => !is_gone(finding) && affects(&[Affected::Data, Affected::Writers]),
        ObjectHarm::Changed => !is_gone(finding) && affects(&[Affected::Behaviour, Affected::Data]),
    }
}

impl<'r> Candidates<'r> {
    /// The findings nearest to a hit: the same path is best, then the nearest parent, then the nearest child.
    fn nearest(&self, hit: &FieldPath, harm: ObjectHarm, fits: &dyn Fn(&Finding) -> bool) -> Vec<Candidate<'r>> {
        let fitting = |candidates: &Vec<Candidate<'r>>| -> Vec<Candidate<'r>> {
            candidates.iter().filter(|candidate| fits(candidate.finding)).copied().collect()
        };
        // An object without its version is about the whole object.
        let mut above = if harm == ObjectHarm::Gone { Some(FieldPath::root()) } else { Some(hit.clone()) };
        while let Some(path) = above {
            let here = self.by_path.get(&path).map(fitting).unwrap_or_default();
            if !here.is_empty() {
                return here;
            }
            above = path.parent();
        }
        let mut nearest: (usize, Vec<Candidate<'r>>) = Default::default();
        let below = self.by_path.range(hit..).take_while(|(path, _)| harm != ObjectHarm::Gone && path.starts_with(hit));
        for (path, candidates) in below {
            let length = path.steps().len();
            if nearest.1.is_empty() || length <= nearest.0 {
                let here = fitting(candidates);
                if nearest.1.is_empty() || (!here.is_empty() && length < nearest.0) {
                    nearest = (length, here);
                } else {
                    nearest.1.extend(here);
                }
            }
        }
        match nearest.1.is_empty() {
            true => fitting(&self.hazards),
            false => nearest.1,
        }
    }
}

/// The parts of rule ids that mention a keyword.
fn keyword(kind: KeywordKind) -> &'static [&'static str] {
    match kind {
        KeywordKind::Type => &["type", "null"],
        KeywordKind::Required => &["required"],
        KeywordKind::Enum => &["enum"],
        KeywordKind::Pattern => &["pattern"],
        KeywordKind::Format => &["format"],
        KeywordKind::Rule => &["validation", "rule"],
        KeywordKind::Duplicate | KeywordKind::UniqueItems => &["list", "unique"],
        KeywordKind::AnyOf | KeywordKind::OneOf | KeywordKind::AllOf | KeywordKind::Not => &["junctor", "condition", "alternative"],
        KeywordKind::Forbidden => &["additional", "field"],
        KeywordKind::MinLength
        | KeywordKind::MaxLength
        | KeywordKind::Minimum
        | KeywordKind::Maximum
        | KeywordKind::MultipleOf
        | KeywordKind::MinItems
        | KeywordKind::MaxItems
        | KeywordKind::MinProperties
        | KeywordKind::MaxProperties => &["bound"],
        _ => &[],
    }
}

fn word(harm: ObjectHarm) -> &'static str {
    match harm {
        ObjectHarm::Gone => "gone",
        ObjectHarm::Refused(_) => "refused",
        ObjectHarm::Tolerated(_) => "tolerated",
        ObjectHarm::Pruned => "loses data",
        ObjectHarm::Changed => "changed",
    }
}
