//! The categories of cards.

use serde::Serialize;

use crate::judge::finding::{Severity, Status};
use crate::judge::overview::{Group, Section};

/// The rule that asks the author a question.
pub(super) const MEANING: &str = "meaning-may-have-changed";

/// The categories of cards.
///
/// Attributes of a card contain only hexadecimal digits and words from closed lists; text from files appears only between tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::render) enum Sort {
    Breaking,
    Problem,
    Compatible,
    Note,
    Documentation,
    /// The old side has the finding too.
    Earlier,
}

impl Sort {
    pub const ALL: [Sort; 6] = [Sort::Breaking, Sort::Problem, Sort::Compatible, Sort::Note, Sort::Documentation, Sort::Earlier];

    pub fn of(group: &Group<'_>) -> Sort {
        match (group.status(), group.section) {
            (Status::PreExisting, _) => Sort::Earlier,
            _ if group.is_breaking() => Sort::Breaking,
            (_, Section::Break | Section::Problem | Section::Guideline) => Sort::Problem,
            (_, Section::Compatible) => Sort::Compatible,
            (_, Section::Quiet) if group.lead.rule != MEANING => Sort::Documentation,
            (_, Section::Note | Section::Quiet) => Sort::Note,
        }
    }

    /// The label before a card.
    pub fn tag(group: &Group<'_>) -> &'static str {
        match (Sort::of(group), group.severity()) {
            (Sort::Breaking, _) => "Breaking",
            (Sort::Compatible, Severity::Info) => "Compatible",
            (Sort::Documentation, _) => "Documentation",
            (_, Severity::Error) => "Error",
            (_, Severity::Warning) => "Warning",
            (_, Severity::Info) => "Note",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Sort::Breaking => "Breaking",
            Sort::Problem => "To fix",
            Sort::Compatible => "Compatible",
            Sort::Note => "Notes",
            Sort::Documentation => "Documentation",
            Sort::Earlier => "Pre-existing",
        }
    }
}
