//! Changes under their versions under their CRDs: what is worst comes first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::judge::finding::{Finding, Severity, Status};
use crate::model::Priority;

use super::super::escape::visible;
use super::super::group::{Group, gather};
use super::change::{Change, Maker, Sort};

/// So many of the worst changes are open from the start.
const OPEN: usize = 30;

#[derive(Debug, Serialize)]
pub(super) struct Crd {
    pub number: usize,
    /// Empty for what is about the bundle.
    pub name: String,
    pub breaking: usize,
    pub errors: usize,
    pub warnings: usize,
    pub changes: usize,
    /// Whether everything in it is behind a switch.
    pub folded: bool,
    pub versions: Vec<Version>,
}

#[derive(Debug, Serialize)]
pub(super) struct Version {
    /// Nothing for what is about the CRD itself.
    pub name: Option<String>,
    pub folded: bool,
    pub changes: Vec<Change>,
}

/// Findings that say the same, worst first; what is new, waived and was there before is kept apart.
pub(in crate::render) fn groups(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|a, b| a.order(b));
    let mut groups = Vec::new();
    for status in [Status::New, Status::Waived, Status::PreExisting] {
        groups.extend(gather(sorted.iter().copied().filter(|finding| finding.status == status)));
    }
    groups
}

pub(super) fn crds(groups: &[Group<'_>], maker: &Maker<'_>) -> Vec<Crd> {
    let mut made: Vec<Crd> = by_crd(groups).into_iter().map(|(name, versions)| crd(name, versions, maker)).collect();
    let changes = made.iter_mut().flat_map(|crd| &mut crd.versions).flat_map(|version| &mut version.changes);
    for change in changes.filter(|change| change.severity == Severity::Error && change.status == Status::New).take(OPEN) {
        change.open = true;
    }
    unique(&mut made);
    made
}

/// A version, or nothing for the CRD itself, and its findings.
type Section<'g, 'r> = (Option<&'r str>, Vec<&'g Group<'r>>);

/// The worst CRD and in it the worst version first; then by name, and the version that clients get first.
pub(in crate::render) fn by_crd<'g, 'r>(groups: &'g [Group<'r>]) -> Vec<(&'r str, Vec<Section<'g, 'r>>)> {
    let mut sections: BTreeMap<(&str, Option<&str>), Vec<&Group<'r>>> = BTreeMap::new();
    for group in groups {
        sections.entry((&group.first.crd, group.first.version.as_deref())).or_default().push(group);
    }
    let mut crds: BTreeMap<&str, Vec<Section<'g, 'r>>> = BTreeMap::new();
    for ((crd, version), groups) in sections {
        crds.entry(crd).or_default().push((version, groups));
    }
    let worst = |groups: &[&Group<'_>]| {
        let new = groups.iter().filter(|group| group.first.status == Status::New);
        new.map(|group| (group.first.severity, Reverse(Sort::of(group.first)))).max()
    };
    let mut crds: Vec<_> = crds.into_iter().collect();
    for (_, versions) in &mut crds {
        versions.sort_by_key(|(version, groups)| Reverse((worst(groups).map(|(severity, _)| severity), version.map(Priority::of))));
    }
    crds.sort_by_key(|(name, versions)| (Reverse(versions.iter().filter_map(|(_, groups)| worst(groups)).max()), *name));
    crds
}

fn crd(name: &str, versions: Vec<Section<'_, '_>>, maker: &Maker<'_>) -> Crd {
    let count = |keep: &dyn Fn(&Finding) -> bool| {
        let groups = versions.iter().flat_map(|(_, groups)| groups);
        groups.filter(|group| group.first.status != Status::PreExisting && keep(group.first)).count()
    };
    let (breaking, errors, warnings) = (
        count(&|finding| Sort::of(finding) == Sort::Breaking),
        count(&|finding| finding.severity == Severity::Error),
        count(&|finding| finding.severity == Severity::Warning),
    );
    let versions: Vec<Version> = versions
        .into_iter()
        .map(|(name, groups)| {
            let changes: Vec<Change> = groups.into_iter().map(|group| maker.change(group)).collect();
            let folded = changes.iter().all(|change| change.quiet || change.status == Status::PreExisting);
            Version { name: name.map(|name| visible(name).into_owned()), folded, changes }
        })
        .collect();
    Crd {
        number: maker.numbers.crd(name),
        name: visible(name).into_owned(),
        breaking,
        errors,
        warnings,
        changes: versions.iter().map(|version| version.changes.len()).sum(),
        folded: versions.iter().all(|version| version.folded),
        versions,
    }
}

/// An address leads to one place: of findings with the same fingerprint the first has it.
fn unique(crds: &mut [Crd]) {
    let mut seen = BTreeSet::new();
    for change in crds.iter_mut().flat_map(|crd| &mut crd.versions).flat_map(|version| &mut version.changes) {
        while !seen.insert(change.id.clone()) {
            change.id.push('0');
        }
        for place in &mut change.places {
            if place.id.as_ref().is_some_and(|id| !seen.insert(id.clone())) {
                place.id = None;
            }
        }
    }
}
