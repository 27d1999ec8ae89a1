//! The input of every format that shows findings: which findings, in which order, and where they are.

use crate::judge::finding::{Finding, Severity, Status};
use crate::judge::report::Report;
use crate::judge::rule::Book;

use super::anchor::Anchors;
use super::escape::visible;

/// A report, with everything a format may look up.
#[derive(Clone, Copy)]
pub struct View<'v> {
    pub report: &'v Report,
    pub book: &'v Book,
    pub anchors: &'v Anchors<'v>,
    /// Also show what is otherwise only counted: documentation changes, pre-existing and waived findings.
    pub all: bool,
    /// The severity from which findings fail the run.
    pub gate: Option<Severity>,
    /// Whether all input could be read.
    pub complete: bool,
}

impl<'v> View<'v> {
    /// The findings to show, worst first.
    pub fn worst_first(&self) -> Vec<&'v Finding> {
        let mut findings: Vec<&Finding> = self.report.findings.iter().filter(|finding| self.all || finding.is_shown()).collect();
        findings.sort_by(|a, b| a.order(b));
        findings
    }

    pub fn fails(&self, finding: &Finding) -> bool {
        finding.status == Status::New && self.gate.is_some_and(|gate| finding.severity >= gate)
    }
}

/// The CRD and version to put before a message, escaped for a terminal; empty for a finding about the bundle.
pub fn subject(finding: &Finding) -> String {
    let version = finding.version.as_deref().map(|version| format!(" {}", visible(version))).unwrap_or_default();
    if finding.crd.is_empty() { String::new() } else { format!("{}{version}: ", visible(&finding.crd)) }
}
