//! A finding: a fact judged by a rule under a policy.

use serde::Serialize;

use crate::judge::existing_objects::ObjectHits;
use crate::judge::rule::{Family, Kind};
use crate::model::Place;
use crate::model::fact::{Affected, Affects, Certainty, Ratchet, Witness, vocabulary};
use crate::model::hash::fnv1a;
use crate::model::kubernetes::Minors;
pub use crate::model::semantic_version::Bump;

vocabulary! {
    /// The effect of a change on users of the API.
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
        /// A lint finding that the old bundle already had.
        PreExisting = "pre-existing",
        Waived = "waived",
    }
}

/// A place in a form for people.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Spot {
    pub file: String,
    pub line: usize,
    pub column: usize,
    #[serde(skip)]
    pub place: Option<Place>,
}

/// The changed values as a message shows them: `unset` and `1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Values {
    pub old: String,
    pub new: String,
    /// Whether they are CEL rules, which are shown side by side.
    #[serde(skip)]
    pub are_rules: bool,
}

/// The rule about breaks without a conversion.
pub const UNDEFINED: &str = "conversion-undefined";
/// The rule about a declared version that is too low.
pub const VERSION_TOO_LOW: &str = "version-bump-too-small";

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
    /// The file of the CRD, if the bundle has other copies of it that differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    pub version: Option<String>,
    pub path: String,
    pub to: Option<String>,
    pub message: String,
    pub help: String,
    pub affects: Affects,
    pub certainty: Certainty,
    /// What was tried, if it isn't proved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The conditions under which updates of existing objects still pass.
    pub ratchet: Option<Ratchet>,
    /// The servers of the range it applies to; absent if it applies to all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Minors>,
    pub status: Status,
    pub before: Option<Spot>,
    pub after: Option<Spot>,
    pub witness: Option<Witness>,
    /// The manifest that covers it. For a break, one that lowers its severity.
    pub conversion: Option<String>,
    /// Whether a draft of a manifest has a step for it that can be proved.
    #[serde(skip)]
    pub drafted: bool,
    /// Why it is accepted, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiver: Option<String>,
    /// A draft of what is missing, to start from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// The path in the CRD document that the server reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Whether the last release contains what is broken; null if unknown.
    pub released: Option<bool>,
    /// The effect on existing objects, with `--objects`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectHits>,
    /// Fingerprints of the findings that this one follows from.
    pub cause: Vec<String>,
    /// The values before and after, for a change of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Values>,
    /// The embedded Kubernetes type that contains the change, such as `PodSpec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedded: Option<String>,
    /// Equal for the same edit at other paths, versions or CRDs.
    pub group: String,
    pub fingerprint: String,
}

impl Finding {
    pub fn is_refusal(&self) -> bool {
        self.affects.contains(Affected::Refused)
    }

    /// Identifies the edit itself, wherever it is made: the rule, the values, and the name of the field.
    pub fn edit(&self) -> String {
        let values = self.values.as_ref().map(|values| format!("{} {}", values.old, values.new)).unwrap_or_default();
        format!("{} {} {values}", self.rule, self.name())
    }

    /// The last segment of the path.
    pub fn name(&self) -> &str {
        last_segment(&self.path)
    }

    /// The last segment of the new path, if the field has one.
    pub fn new_name(&self) -> Option<&str> {
        self.to.as_deref().map(last_segment)
    }

    /// Whether nobody needs to act on it: documentation, metadata, rewrites that accept the same objects.
    pub fn is_quiet(&self) -> bool {
        (self.kind == Kind::Docs || self.rule == "metadata-changed") && self.severity == Severity::Info
    }

    /// Whether a report shows it by default; quiet, waived and pre-existing findings are only counted.
    pub fn is_shown(&self) -> bool {
        self.status == Status::New && !self.is_quiet()
    }

    /// Compares by severity, worst first, then by place.
    pub fn order(&self, other: &Finding) -> std::cmp::Ordering {
        let rank = |f: &Finding| (std::cmp::Reverse(f.severity), std::cmp::Reverse(f.class), f.kind);
        rank(self).cmp(&rank(other)).then_with(|| self.coordinates().cmp(&other.coordinates()))
    }

    pub fn coordinates(&self) -> (&str, Option<&str>, &str, &str, &str) {
        (&self.crd, self.version.as_deref(), &self.path, &self.rule, &self.fingerprint)
    }
}

/// Hashes the parts that identify a finding: rule, CRD, version, path, what distinguishes duplicates, and for a change the values
/// before and after. The hash doesn't depend on lines and surrounding text.
pub fn fingerprint(parts: &[&str]) -> String {
    format!("{:016x}", fnv1a(parts.iter().flat_map(|part| part.bytes().chain([0]))))
}

fn last_segment(path: &str) -> &str {
    path.trim_end_matches("[]").trim_end_matches("{}").rsplit(['.', ']']).next().unwrap_or_default()
}
