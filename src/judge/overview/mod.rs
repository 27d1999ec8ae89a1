//! The overview of a report: groups of findings in reading order, and the counts that every format shows.
//!
//! A group is one edit with all the places where it was made. Its consequences are listed under it. Every format uses
//! [`Report::overview`](super::report::Report::overview), so that all of them agree.

mod counts;
mod group;
mod wording;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::judge::finding::{Finding, Severity, Status};

pub use counts::{Counts, plural};
pub use group::{EmbeddedEdit, Group, Harm, Section};

/// The part of a report that is shown.
#[derive(Debug)]
pub struct Overview<'r> {
    /// Worst first: breaks by harm and reach, then other problems, then compatible changes, then notes.
    pub groups: Vec<Group<'r>>,
    /// Consequences of several groups together: no conversion is defined, the version must be raised.
    pub shared: Vec<Group<'r>>,
}

impl<'r> Overview<'r> {
    /// Groups findings and puts consequences under their causes.
    pub fn new(findings: impl Iterator<Item = &'r Finding>) -> Self {
        let (causes, follow): (Vec<&Finding>, Vec<&Finding>) = findings.partition(|finding| finding.cause.is_empty());
        let mut groups = gather(causes);
        let mut by_fingerprint: HashMap<&str, usize> = HashMap::new();
        for (index, group) in groups.iter().enumerate() {
            for finding in &group.members {
                by_fingerprint.entry(&finding.fingerprint).or_insert(index);
            }
        }
        let severities: Vec<Severity> = groups.iter().map(|group| group.severity()).collect();
        // A consequence that is more severe than its causes, or whose causes aren't shown, is shown separately.
        let causes_of = |finding: &Finding| -> BTreeSet<usize> {
            let index = |cause: &String| by_fingerprint.get(cause.as_str()).copied();
            let explains = |index: &usize| severities.get(*index).is_some_and(|severity| *severity >= finding.severity);
            finding.cause.iter().filter_map(index).filter(explains).collect()
        };
        let (explained, alone): (Vec<_>, Vec<_>) =
            follow.into_iter().map(|finding| (finding, causes_of(finding))).partition(|(_, causes)| !causes.is_empty());
        let mut origins: BTreeMap<(&str, Status), BTreeSet<usize>> = BTreeMap::new();
        for (finding, causes) in &explained {
            origins.entry((&finding.group, finding.status)).or_default().extend(causes);
        }
        let mut shared = Vec::new();
        for consequence in gather(explained.into_iter().map(|(finding, _)| finding).collect()) {
            let causes = origins.get(&(consequence.id, consequence.status()));
            let only = causes.filter(|causes| causes.len() == 1).and_then(BTreeSet::first);
            match only.and_then(|&index| groups.get_mut(index)) {
                Some(group) => group.consequences.push(consequence),
                None => shared.push(consequence),
            }
        }
        groups.extend(gather(alone.into_iter().map(|(finding, _)| finding).collect()));
        groups.sort_by(Group::order);
        shared.sort_by(Group::order);
        Overview { groups, shared }
    }

    /// Every group, including consequences.
    pub fn all(&self) -> impl Iterator<Item = &Group<'r>> {
        self.groups.iter().flat_map(|group| std::iter::once(group).chain(&group.consequences)).chain(&self.shared)
    }

    /// The groups that affect someone or that an API server rejects, worst first.
    pub fn breaks(&self) -> impl Iterator<Item = &Group<'r>> {
        self.groups.iter().filter(|group| group.section == Section::Break)
    }
}

/// Findings by group and status, in the order of their first findings.
fn gather(findings: Vec<&Finding>) -> Vec<Group<'_>> {
    let mut index: HashMap<(&str, Status), usize> = HashMap::new();
    let mut gathered: Vec<Vec<&Finding>> = Vec::new();
    for finding in findings {
        let at = *index.entry((&finding.group, finding.status)).or_insert(gathered.len());
        match gathered.get_mut(at) {
            Some(members) => members.push(finding),
            None => gathered.push(vec![finding]),
        }
    }
    gathered.into_iter().filter_map(Group::new).collect()
}

#[cfg(test)]
mod tests;
