//! A group of findings: one edit with all its places.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};

use crate::judge::finding::{Class, Finding, Severity, Status};
use crate::judge::rule::Family;
use crate::model::fact::{Affected, Certainty};

/// The category of a group, in the order in which groups are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// Someone is affected, or an API server rejects the CRD.
    Break,
    /// An error or warning that isn't about a change.
    Problem,
    /// An error or warning of a guideline or convention.
    Guideline,
    Compatible,
    Note,
    /// Documentation, metadata, spelling: counted, and shown on request.
    Quiet,
}

/// The worst effect of a group, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    /// Values are lost.
    Data,
    /// The API server rejects the CRD.
    Crd,
    /// Requests, or updates of stored objects, are rejected.
    Requests,
    /// The same manifest has a different effect.
    Behaviour,
    /// Server-side apply merges differently.
    Merge,
    /// Clients see something new.
    Readers,
    None,
}

impl Harm {
    fn of(finding: &Finding) -> Self {
        let by_harm = [
            (Affected::Data, Harm::Data),
            (Affected::Refused, Harm::Crd),
            (Affected::Writers, Harm::Requests),
            (Affected::Stored, Harm::Requests),
            (Affected::Behaviour, Harm::Behaviour),
            (Affected::Merge, Harm::Merge),
            (Affected::Readers, Harm::Readers),
        ];
        by_harm.into_iter().find(|(affected, _)| finding.affects.contains(*affected)).map_or(Harm::None, |(_, harm)| harm)
    }

    /// Says what happens to whom.
    pub fn text(self) -> &'static str {
        match self {
            Harm::Data => "data is lost",
            Harm::Crd => "the API server rejects the CRD",
            Harm::Requests => "requests are rejected",
            Harm::Behaviour => "behaviour changes",
            Harm::Merge => "server-side apply merges differently",
            Harm::Readers => "clients see new values",
            Harm::None => "",
        }
    }
}

/// The same edit at several places, or one finding.
#[derive(Debug)]
pub struct Group<'r> {
    /// `group` of its findings.
    pub id: &'r str,
    /// The representative finding: the most severe one, with a proof, at the shortest path.
    pub lead: &'r Finding,
    /// Every place, including the lead's, by CRD, version and path.
    pub members: Vec<&'r Finding>,
    pub section: Section,
    pub harm: Harm,
    /// Findings that follow from this group alone.
    pub consequences: Vec<Group<'r>>,
}

/// One of several edits of an embedded type.
#[derive(Debug)]
pub struct EmbeddedEdit<'r> {
    pub lead: &'r Finding,
    pub places: usize,
}

impl<'r> Group<'r> {
    pub(super) fn new(mut members: Vec<&'r Finding>) -> Option<Self> {
        members.sort_by(|a, b| a.coordinates().cmp(&b.coordinates()));
        let lead = *members.iter().min_by(|a, b| {
            let rank = |f: &Finding| (Reverse(f.severity), f.witness.is_none(), f.certainty != Certainty::Proved, f.path.len());
            rank(a).cmp(&rank(b)).then_with(|| a.coordinates().cmp(&b.coordinates()))
        })?;
        let harm = members.iter().map(|finding| Harm::of(finding)).min().unwrap_or(Harm::None);
        Some(Group { id: &lead.group, lead, section: section(lead), harm, members, consequences: Vec::new() })
    }

    pub(super) fn order(&self, other: &Group<'r>) -> Ordering {
        let rank = |group: &Group<'r>| {
            let last = matches!(group.lead.family, Family::Guideline | Family::Convention);
            (group.section, group.status(), Reverse(group.severity()), last, group.harm, Reverse(group.members.len()))
        };
        rank(self).cmp(&rank(other)).then_with(|| self.lead.coordinates().cmp(&other.lead.coordinates()))
    }

    /// The highest severity of its findings.
    pub fn severity(&self) -> Severity {
        self.lead.severity
    }

    /// The status, which is the same for all its findings.
    pub fn status(&self) -> Status {
        self.lead.status
    }

    pub fn class(&self) -> Option<Class> {
        self.lead.class
    }

    pub fn is_breaking(&self) -> bool {
        self.class() == Some(Class::SemanticBreaking)
    }

    /// The names of its CRDs, sorted; an empty name is the bundle.
    pub fn crds(&self) -> Vec<&'r str> {
        self.members.iter().map(|finding| &*finding.crd).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The names of its versions, sorted.
    pub fn versions(&self) -> Vec<&'r str> {
        self.members.iter().filter_map(|finding| finding.version.as_deref()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Its different paths, sorted.
    pub fn paths(&self) -> Vec<&'r str> {
        self.members.iter().map(|finding| &*finding.path).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// How many fields it changes; the same path in two CRDs counts twice, in two versions of one CRD once.
    pub fn fields(&self) -> usize {
        self.members.iter().map(|finding| (&*finding.crd, &*finding.path)).collect::<BTreeSet<_>>().len()
    }

    /// The fingerprint that a waiver needs to accept the whole group and nothing else. Several places of something that isn't a
    /// change have none in common.
    pub fn fingerprint(&self) -> Option<&'r str> {
        match (&*self.members, self.class()) {
            ([one], _) => Some(&one.fingerprint),
            (_, Some(_)) => Some(self.id),
            (_, None) => None,
        }
    }

    /// The conversion manifests that cover the whole group; `None` if one place isn't covered.
    pub fn conversions(&self) -> Option<BTreeSet<&'r str>> {
        self.members.iter().map(|finding| finding.conversion.as_deref()).collect()
    }

    /// The values before and after, if they are the same everywhere.
    pub fn values(&self) -> Option<(&'r str, &'r str)> {
        let of = |finding: &'r Finding| finding.values.as_ref().map(|values| (&*values.old, &*values.new));
        let first = of(self.lead)?;
        self.members.iter().all(|finding| of(finding) == Some(first)).then_some(first)
    }

    /// The different edits: one, or several for an embedded type; those with the most places first.
    pub fn edits(&self) -> Vec<EmbeddedEdit<'r>> {
        let mut edits: BTreeMap<_, EmbeddedEdit<'r>> = BTreeMap::new();
        for &finding in &self.members {
            let key = if finding.embedded.is_some() { finding.edit() } else { String::new() };
            edits.entry(key).or_insert(EmbeddedEdit { lead: finding, places: 0 }).places += 1;
        }
        let mut edits: Vec<EmbeddedEdit<'r>> = edits.into_values().collect();
        edits.sort_by_key(|edit| Reverse(edit.places));
        edits
    }
}

fn section(finding: &Finding) -> Section {
    let is_own_opinion = matches!(finding.family, Family::Guideline | Family::Convention);
    match (finding.class, finding.severity) {
        (Some(Class::SemanticBreaking), _) => Section::Break,
        _ if finding.is_refusal() && finding.severity > Severity::Info => Section::Break,
        (None, severity) if severity > Severity::Info => {
            if is_own_opinion {
                Section::Guideline
            } else {
                Section::Problem
            }
        }
        (Some(Class::Additive), _) => Section::Compatible,
        (Some(Class::None), Severity::Error | Severity::Warning) => Section::Problem,
        _ if finding.is_quiet() => Section::Quiet,
        _ => Section::Note,
    }
}
