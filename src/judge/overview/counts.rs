//! The counts that every format shows.

use serde::Serialize;

use crate::judge::finding::{Class, Finding, Severity, Status};

use super::{Group, gather};

/// The number of groups, and of the findings in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Count {
    pub changes: usize,
    pub places: usize,
}

impl Count {
    fn add(&mut self, group: &Group<'_>) {
        self.changes += 1;
        self.places += group.members.len();
    }

    /// `3 errors in 12 places`; places are omitted if each has one.
    fn text(self, word: &str) -> Option<String> {
        let said = plural(self.changes, word);
        match self {
            Count { changes: 0, .. } => None,
            Count { changes, places } if changes == places => Some(said),
            Count { places, .. } => Some(format!("{said} in {}", plural(places, "place"))),
        }
    }
}

/// How many changes and other findings a report has. Pre-existing and waived findings are counted only as such, but a break counts
/// as a break even if it is waived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    pub breaking: Count,
    pub compatible: Count,
    /// Findings that aren't changes, by severity.
    pub errors: Count,
    pub warnings: Count,
    pub notes: Count,
    /// Changes of documentation, metadata or spelling.
    pub documentation: Count,
    /// Breaks and other findings that waivers or the baseline accept.
    pub waived: Count,
    #[serde(rename = "preExisting")]
    pub pre_existing: Count,
}

impl Counts {
    pub fn of(findings: &[Finding]) -> Self {
        let mut counts = Counts::default();
        let (quiet, others): (Vec<&Finding>, Vec<&Finding>) =
            findings.iter().partition(|finding| finding.is_quiet() && finding.status == Status::New);
        gather(quiet).iter().for_each(|group| counts.documentation.add(group));
        for group in gather(others) {
            let count = match (group.status(), group.class(), group.severity()) {
                (Status::Waived, ..) => &mut counts.waived,
                (Status::PreExisting, ..) => &mut counts.pre_existing,
                (Status::New, Some(Class::SemanticBreaking), _) => continue,
                (Status::New, Some(Class::Additive), _) => &mut counts.compatible,
                (Status::New, _, Severity::Error) => &mut counts.errors,
                (Status::New, _, Severity::Warning) => &mut counts.warnings,
                (Status::New, _, Severity::Info) => &mut counts.notes,
            };
            count.add(&group);
        }
        counts.breaking = breaking(findings);
        counts
    }

    /// `27 breaking changes in 175 places`.
    pub fn breaking_text(&self) -> String {
        format!("{} in {}", plural(self.breaking.changes, "breaking change"), plural(self.breaking.places, "place"))
    }

    /// One sentence for every format that people read: all counts, worst first.
    pub fn text(&self) -> String {
        let breaking = (self.breaking.changes > 0).then(|| self.breaking_text());
        let parts = [
            breaking,
            self.errors.text("error"),
            self.warnings.text("warning"),
            self.compatible.text("compatible change"),
            self.notes.text("note"),
        ];
        let said: Vec<String> = parts.into_iter().flatten().collect();
        let accepted = if self.waived.places > 0 { format!(" ({} accepted)", self.waived.places) } else { String::new() };
        if said.is_empty() { format!("no findings{accepted}") } else { format!("{}{accepted}", said.join(", ")) }
    }

    /// Only the changes, for readers who don't judge them; `None` without a change.
    pub fn changes_text(&self) -> Option<String> {
        let breaking = (self.breaking.changes > 0).then(|| self.breaking_text());
        let said: Vec<String> = [breaking, self.compatible.text("compatible change")].into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// What a short report leaves out; `None` if nothing.
    pub fn hidden_text(&self) -> Option<String> {
        let part = |count: Count, word: &str, of: &str| (count.places > 0).then(|| plural(count.places, word) + of);
        let parts = [
            part(self.documentation, "change", " of documentation, metadata or spelling"),
            part(self.pre_existing, "pre-existing finding", ""),
            part(self.waived, "waived finding", ""),
        ];
        let said: Vec<String> = parts.into_iter().flatten().collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// A break is one change, even if it is accepted in some of its places.
fn breaking(findings: &[Finding]) -> Count {
    let breaks = findings.iter().filter(|f| f.class == Some(Class::SemanticBreaking) && f.status != Status::PreExisting);
    let groups: std::collections::HashSet<&str> = breaks.clone().map(|finding| &*finding.group).collect();
    Count { changes: groups.len(), places: breaks.count() }
}

pub fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}
