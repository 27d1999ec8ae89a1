//! The same finding in several versions or CRDs, shown once in formats that people read.

use std::collections::{BTreeMap, BTreeSet};

use crate::judge::finding::{Finding, Severity};
use crate::judge::rule::Kind;
use crate::model::fact::Affected;

pub(crate) use crate::judge::overview::plural;

use super::escape::visible;

/// A group names so many other CRDs.
const OTHERS: usize = 3;

pub(super) struct Group<'r> {
    pub first: &'r Finding,
    pub others: Vec<&'r Finding>,
}

/// Gathers findings that say the same of the same path; groups are in the order of their first findings.
pub(super) fn gather<'r>(findings: impl Iterator<Item = &'r Finding>) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    let mut index: BTreeMap<(&str, &str, &str, Option<&str>), usize> = BTreeMap::new();
    for finding in findings {
        let said = (&*finding.rule, &*finding.path, &*finding.message, finding.suggestion.as_deref());
        match index.get(&said).and_then(|&at| groups.get_mut(at)) {
            Some(group) => group.others.push(finding),
            None => {
                index.insert(said, groups.len());
                groups.push(Group { first: finding, others: Vec::new() });
            }
        }
    }
    groups
}

/// More findings of one group than this are systematic: one represents all.
const FEW: usize = 3;

/// A group that is shown, with those of the same edit or the same rule that it represents.
pub(super) struct Lead<'r> {
    pub group: Group<'r>,
    pub rest: Vec<Group<'r>>,
    /// What follows from it and isn't graver, each said once.
    pub consequences: Vec<Group<'r>>,
}

/// Puts what follows from a shown finding under it: one cause is one block.
pub(super) fn place_consequences<'r>(groups: Vec<Group<'r>>) -> (Vec<Group<'r>>, BTreeMap<&'r str, Vec<Group<'r>>>) {
    let mut severities: BTreeMap<&str, Severity> = BTreeMap::new();
    let mut order: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, group) in groups.iter().enumerate() {
        for finding in group.others.iter().chain([&group.first]).filter(|finding| finding.cause.is_empty()) {
            severities.insert(&finding.fingerprint, finding.severity);
            order.insert(&finding.fingerprint, index);
        }
    }
    let mut under: BTreeMap<&str, Vec<Group<'r>>> = BTreeMap::new();
    let mut shown = Vec::new();
    for group in groups {
        let finding = group.first;
        let explains = |cause: &&String| severities.get(cause.as_str()).is_some_and(|severity| *severity >= finding.severity);
        match finding.cause.iter().filter(explains).min_by_key(|cause| order.get(cause.as_str())) {
            Some(cause) => under.entry(cause).or_default().push(group),
            None => shown.push(group),
        }
    }
    (shown, under)
}

/// Keeps the first of what is systematic. Additions, and what a server rejects, are always shown one by one.
pub(super) fn fold<'r>(groups: Vec<Group<'r>>, all: bool) -> Vec<Lead<'r>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let told = |finding: &Finding| finding.kind == Kind::Lint || finding.severity > Severity::Info;
    let folds = |finding: &Finding| told(finding) && !finding.affects.contains(Affected::Refused) && !all;
    for group in groups.iter().filter(|group| folds(group.first)) {
        *counts.entry(&group.first.group).or_default() += 1;
    }
    let mut leads: Vec<Lead<'r>> = Vec::new();
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for group in groups {
        let rule = &*group.first.group;
        let systematic = counts.get(rule).is_some_and(|count| *count > FEW);
        match index.get(rule).and_then(|&at| leads.get_mut(at)).filter(|_| systematic) {
            Some(lead) => lead.rest.push(group),
            None => {
                index.insert(rule, leads.len());
                leads.push(Lead { group, rest: Vec::new(), consequences: Vec::new() });
            }
        }
    }
    leads
}

impl Lead<'_> {
    /// Where else: a few places, and how many more in how many CRDs.
    pub fn elsewhere(&self) -> Option<String> {
        let rest = self.rest.iter().flat_map(|group| group.others.iter().chain([&group.first]));
        let places: BTreeSet<(&str, &str, &str)> = rest.map(|f| (&*f.crd, &*f.path, &*f.message)).collect();
        if places.is_empty() {
            return None;
        }
        let mut named: Vec<&str> = places.iter().map(|(_, path, _)| *path).filter(|path| !path.is_empty()).collect();
        named.dedup();
        named.truncate(OTHERS);
        let crds: BTreeSet<&str> = places.iter().map(|(crd, ..)| *crd).collect();
        let named: Vec<String> = named.iter().map(|path| visible(path).into_owned()).collect();
        let list = if named.is_empty() { String::new() } else { format!(", such as {}", named.join(", ")) };
        Some(format!("{} in {}{list} (--all)", plural(places.len(), "more place"), plural(crds.len(), "CRD")))
    }
}

impl Group<'_> {
    /// "also in v1beta1 and 4 other CRDs", harmless in a terminal.
    pub fn also(&self) -> Option<String> {
        if self.others.is_empty() {
            return None;
        }
        let first = self.first;
        let (copies, same): (Vec<&Finding>, Vec<&Finding>) =
            self.others.iter().filter(|f| f.crd == first.crd).partition(|f| f.variant != first.variant);
        let mut versions: Vec<&str> = same.into_iter().filter_map(|f| f.version.as_deref()).collect();
        versions.dedup();
        let files: BTreeSet<&str> = copies.into_iter().filter_map(|f| f.variant.as_deref()).collect();
        let mut crds: Vec<&str> = self.others.iter().filter(|f| f.crd != first.crd).map(|f| &*f.crd).collect();
        crds.dedup();
        let mut parts = Vec::new();
        if !versions.is_empty() {
            parts.push(versions.iter().map(|v| visible(v)).collect::<Vec<_>>().join(", "));
        }
        match files.len() {
            0 => {}
            n if n <= OTHERS => parts.push(files.iter().map(|file| visible(file)).collect::<Vec<_>>().join(", ")),
            n => parts.push(format!("{n} other files")),
        }
        match crds.len() {
            0 => {}
            n if n <= OTHERS => parts.push(crds.iter().map(|c| visible(c)).collect::<Vec<_>>().join(", ")),
            n => parts.push(format!("{n} other CRDs")),
        }
        Some(if parts.is_empty() { format!("{} times", self.others.len() + 1) } else { format!("also in {}", parts.join(" and ")) })
    }
}
