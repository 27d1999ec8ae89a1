//! The result of a run, in the stable format for other programs (`crdwise.report/v1`).

use serde::Serialize;

use crate::judge::accepting_servers::Servers;
use crate::judge::bump::Recommendation;
use crate::judge::existing_objects::ExistingObjects;
use crate::judge::finding::{Class, Finding, Severity, Status};
use crate::judge::overview::{Counts, Overview};
use crate::model::kubernetes::Minors;
use crate::model::{Bundle, Skipped};

pub const SCHEMA: &str = "crdwise.report/v1";
pub const TOOL: &str = concat!("crdwise ", env!("CARGO_PKG_VERSION"));

/// Summary of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
pub struct SideSummary {
    pub source: String,
    pub files: usize,
    pub documents: usize,
    pub crds: usize,
    #[serde(skip)]
    pub versions: usize,
    /// What wasn't judged: first what couldn't be read, then documents that aren't CRDs.
    pub skipped: Vec<Skipped>,
    /// How many of those could not be read.
    #[serde(skip)]
    pub unread: usize,
}

impl SideSummary {
    pub fn of(source: &str, bundle: &Bundle<'_>, unread: &[Skipped], skipped: &[Skipped]) -> Self {
        SideSummary {
            source: source.to_owned(),
            files: bundle.files,
            documents: bundle.documents,
            crds: bundle.crds.len(),
            versions: bundle.versions(),
            skipped: unread.iter().chain(skipped).chain(&bundle.skipped).cloned().collect(),
            unread: unread.len(),
        }
    }
}

/// The findings, verdict and recommended version. Sorted, without the time or absolute paths: the same input gives the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub schema: &'static str,
    pub tool: &'static str,
    pub policy: String,
    pub old: Option<SideSummary>,
    pub new: SideSummary,
    /// Null for `lint`.
    pub verdict: Option<Class>,
    pub bump: Option<Recommendation>,
    /// The release that breaks were compared with, if that was necessary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// The servers that the findings apply to.
    pub kubernetes: Minors,
    /// How each server treats the bundle; only for `lint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub servers: Option<Servers>,
    /// The counts, the same for every format.
    pub summary: Counts,
    /// The arguments for running other commands on the same change.
    #[serde(skip)]
    pub change: Option<ChangeArguments>,
    /// The objects of `--objects`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects: Option<ExistingObjects>,
    pub findings: Vec<Finding>,
}

/// What to type to run another command on the same change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeArguments {
    /// The sides, with a space before each word; empty if the command finds them itself.
    pub sides: String,
    /// The same for `baseline write`.
    pub baseline: String,
    /// The directory where the review looks for conversion manifests.
    pub conversions: String,
    /// Whether only staged files are reviewed.
    pub staged: bool,
}

impl Report {
    /// The groups to show, in order. `all` adds what is otherwise only counted: documentation, pre-existing and waived findings.
    pub fn overview(&self, all: bool) -> Overview<'_> {
        Overview::new(self.findings.iter().filter(|finding| all || finding.is_shown()))
    }

    /// The findings that count for the gate: neither waived nor pre-existing.
    pub fn fresh(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.status == Status::New)
    }

    /// The last release, if it contains nothing of what breaks.
    pub fn release_without_breaks(&self) -> Option<&str> {
        let mut breaks = self.fresh().filter(|finding| finding.class == Some(Class::SemanticBreaking)).peekable();
        let release = self.release.as_deref().filter(|_| breaks.peek().is_some())?;
        breaks.all(|finding| finding.released == Some(false)).then_some(release)
    }

    /// What couldn't be read, on either side.
    pub fn unread(&self) -> impl Iterator<Item = &Skipped> {
        self.old.iter().chain([&self.new]).flat_map(|side| side.skipped.iter().take(side.unread))
    }

    pub fn count(&self, severity: Severity) -> usize {
        self.fresh().filter(|finding| finding.severity == severity).count()
    }

    /// Whether the gate at this level fails. Objects that break without a finding count as errors.
    pub fn fails(&self, level: Severity) -> bool {
        let unexplained = self.objects.as_ref().is_some_and(|objects| !objects.unexplained.is_empty());
        unexplained || self.fresh().any(|finding| finding.severity >= level)
    }
}
