//! The same finding in several versions or CRDs, told once by formats that people read.

use std::collections::BTreeMap;

use crate::finding::Finding;

use super::escape::visible;

/// A group names so many other CRDs.
const OTHERS: usize = 3;

pub(super) struct Group<'r> {
    pub first: &'r Finding,
    pub others: Vec<&'r Finding>,
}

/// Gathers findings that say the same of the same path; groups stand in the order of their first findings.
pub(super) fn gather<'r>(findings: impl Iterator<Item = &'r Finding>) -> Vec<Group<'r>> {
    let mut groups: Vec<Group<'r>> = Vec::new();
    let mut index: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for finding in findings {
        match index.get(&(&*finding.rule, &*finding.path, &*finding.message)).and_then(|&at| groups.get_mut(at)) {
            Some(group) => group.others.push(finding),
            None => {
                index.insert((&finding.rule, &finding.path, &finding.message), groups.len());
                groups.push(Group { first: finding, others: Vec::new() });
            }
        }
    }
    groups
}

impl Group<'_> {
    /// "also in v1beta1 and 4 other CRDs", harmless in a terminal.
    pub fn also(&self) -> Option<String> {
        if self.others.is_empty() {
            return None;
        }
        let first = self.first;
        let mut versions: Vec<&str> = self.others.iter().filter(|f| f.crd == first.crd).filter_map(|f| f.version.as_deref()).collect();
        versions.dedup();
        let mut crds: Vec<&str> = self.others.iter().filter(|f| f.crd != first.crd).map(|f| &*f.crd).collect();
        crds.dedup();
        let mut parts = Vec::new();
        if !versions.is_empty() {
            parts.push(versions.iter().map(|v| visible(v)).collect::<Vec<_>>().join(", "));
        }
        match crds.len() {
            0 => {}
            n if n <= OTHERS => parts.push(crds.iter().map(|c| visible(c)).collect::<Vec<_>>().join(", ")),
            n => parts.push(format!("{n} other CRDs")),
        }
        Some(if parts.is_empty() { format!("{} times", self.others.len() + 1) } else { format!("also in {}", parts.join(" and ")) })
    }
}

pub(super) fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
