//! What a reviewer reads: a fact, judged by a rule under a policy.

use serde::Serialize;

use crate::judge::existing_objects::ObjectHits;
use crate::judge::rule::{Family, Kind};
use crate::model::Place;
use crate::model::fact::{Affected, Affects, Certainty, Ratchet, Witness, vocabulary};
use crate::model::hash::fnv1a;
use crate::model::kubernetes::Minors;
pub use crate::model::semantic_version::Bump;

vocabulary! {
    /// What a change does to those who use the API.
    Class {
        None = "none",
        Additive = "additive",
        SemanticBreaking = "semantic-breaking",
    }
}

vocabulary! {
    Severity {
        Info = "info",
        Warning = "warning",
        Error = "error",
    }
}

vocabulary! {
    Status {
        New = "new",
        /// A lint finding that the old bundle had already.
        PreExisting = "pre-existing",
        Waived = "waived",
    }
}

/// A place as people name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Spot {
    pub file: String,
    pub line: usize,
    pub column: usize,
    #[serde(skip)]
    pub place: Option<Place>,
}

/// What changed, as a message shows it: `unset` and `1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Values {
    pub old: String,
    pub new: String,
    /// Whether they are CEL rules, which are read side by side.
    #[serde(skip)]
    pub are_rules: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    pub rule: String,
    pub family: Family,
    pub kind: Kind,
    pub title: String,
    pub class: Option<Class>,
    pub severity: Severity,
    pub bump: Bump,
    pub crd: String,
    /// The file of the CRD, where the bundle has other copies of it that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    pub version: Option<String>,
    pub path: String,
    pub to: Option<String>,
    pub message: String,
    pub help: String,
    pub affects: Affects,
    pub certainty: Certainty,
    /// What was tried, where it is not proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When updates of existing objects pass all the same.
    pub ratchet: Option<Ratchet>,
    /// The servers of the range for which it holds; absent if it holds for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Minors>,
    pub status: Status,
    pub before: Option<Spot>,
    pub after: Option<Spot>,
    pub witness: Option<Witness>,
    /// The manifest that covers it.
    pub conversion: Option<String>,
    /// Why it is accepted, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiver: Option<String>,
    /// A text to start from: a draft of what is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The server's own path in the CRD document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Whether the last release contains what a break breaks; null if that isn't known.
    pub released: Option<bool>,
    /// What it does to objects that exist, where `--objects` gives some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectHits>,
    /// Fingerprints of the findings that this one follows from.
    pub cause: Vec<String>,
    /// The value before and after, where a change is one of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
    /// The type of Kubernetes that the CRD embeds and the change is in, such as `PodSpec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedded: Option<String>,
    /// The same for the same edit at other paths, versions or CRDs.
    pub group: String,
    pub fingerprint: String,
}

impl Finding {
    pub fn is_refusal(&self) -> bool {
        self.affects.contains(Affected::Refused)
    }

    /// The edit itself, wherever it is made: the rule, the values, and the name of the field.
    pub fn edit(&self) -> String {
        let values = self.values.as_ref().map(|values| format!("{} {}", values.old, values.new)).unwrap_or_default();
        format!("{} {} {values}", self.rule, self.name())
    }

    /// The last name of the path.
    pub fn name(&self) -> &str {
        self.path.trim_end_matches("[]").trim_end_matches("{}").rsplit(['.', ']']).next().unwrap_or_default()
    }

    /// What nobody has to act on: documentation, metadata, rewrites that accept the same objects.
    pub fn is_quiet(&self) -> bool {
        (self.kind == Kind::Docs || self.rule == "metadata-changed") && self.severity == Severity::Info
    }

    /// Whether a report shows it unless it is asked for all: what is quiet, waived or was there before is counted instead.
    pub fn is_shown(&self) -> bool {
        self.status == Status::New && !self.is_quiet()
    }

    /// Worst first, then by place.
    pub fn order(&self, other: &Finding) -> std::cmp::Ordering {
        let rank = |f: &Finding| (std::cmp::Reverse(f.severity), std::cmp::Reverse(f.class), f.kind);
        rank(self).cmp(&rank(other)).then_with(|| self.coordinates().cmp(&other.coordinates()))
    }

    pub fn coordinates(&self) -> (&str, Option<&str>, &str, &str, &str) {
        (&self.crd, self.version.as_deref(), &self.path, &self.rule, &self.fingerprint)
    }
}

/// A hash of what identifies a finding: rule, CRD, version, path, what tells twins apart, and for a change the values before and after.
/// It stays the same while lines and texts around it change.
pub fn fingerprint(parts: &[&str]) -> String {
    format!("{:016x}", fnv1a(parts.iter().flat_map(|part| part.bytes().chain([0]))))
}
