//! What turns a failing run green: a conversion, or the waivers to paste.

use std::fmt::Write as _;

use crate::judge::finding::{Class, Finding, Severity, Status};
use crate::judge::report::{ChangeArguments, Report};

use super::escape::visible;
use super::group::plural;

/// So many findings are listed; a baseline suits more of them better.
const LISTED: usize = 5;

/// How a failing run can be accepted.
pub struct Acceptance {
    /// What to do, in one sentence.
    pub advice: String,
    /// The waivers, as YAML for `crdwise.yaml`. Text of files is only in its comments.
    pub waivers: String,
    /// What to do about findings that aren't listed.
    pub more: Option<String>,
}

/// Nothing for a run that doesn't fail.
pub fn acceptance(report: &Report, gate: Option<Severity>) -> Option<Acceptance> {
    let gate = gate?;
    let mut failing: Vec<&Finding> = report.fresh().filter(|finding| finding.severity >= gate).collect();
    failing.sort_by(|a, b| a.order(b));
    let fails = |crd: &str| {
        let open =
            |finding: &&Finding| finding.crd == crd && finding.class == Some(Class::SemanticBreaking) && finding.conversion.is_none();
        report.fresh().filter(open).all(|finding| finding.severity >= gate)
    };
    // Accepting all breaks of a CRD accepts that they have no conversion.
    failing.retain(|finding| finding.rule != UNDEFINED || !fails(&finding.crd));
    failing.dedup_by(|a, b| a.fingerprint == b.fingerprint);
    if failing.is_empty() {
        return None;
    }
    let convertible = report.findings.iter().any(|finding| finding.rule == UNDEFINED && finding.status == Status::New);
    let advice = match (report.verdict.is_some(), convertible) {
        (true, true) => conversion(report.change.as_ref()),
        (true, false) => "undo the change, or accept the findings in crdwise.yaml:".to_owned(),
        (false, _) => "fix the findings, or accept them in crdwise.yaml:".to_owned(),
    };
    let mut waivers = "waivers:\n".to_owned();
    for finding in failing.iter().take(LISTED) {
        let version = finding.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        let mut what = finding.rule.clone();
        for (word, text) in [("at", &finding.path), ("of", &format!("{}{version}", finding.crd))] {
            if !text.is_empty() {
                let _ = write!(what, " {word} {text}");
            }
        }
        let _ = writeln!(waivers, "  # {}", visible(&what));
        let _ = writeln!(waivers, "  - fingerprint: \"{}\"\n    reason: TODO\n    until: YYYY-MM-DD", finding.fingerprint);
    }
    let more = failing.len().saturating_sub(LISTED);
    let flags = if report.verdict.is_some() { " --against REV" } else { "" };
    let more = (more > 0).then(|| format!("and {}: `crdwise baseline write{flags}` accepts them all", plural(more, "more finding")));
    Some(Acceptance { advice, waivers, more })
}

/// The way to a conversion that makes the review pass.
fn conversion(change: Option<&ChangeArguments>) -> String {
    let (sides, conversions) = match change {
        Some(change) => (change.sides.as_str(), change.conversions.as_str()),
        None => (" OLD NEW", "conversions"),
    };
    let way = format!(
        "define a conversion. (1) `crdwise conversions scaffold{sides} -o {conversions}` drafts it; (2) choose between the steps that the \
         draft offers, and replace each TODO; (3) `crdwise conversions check{sides}` proves it. Or accept the findings in crdwise.yaml:"
    );
    // Names of files are in it.
    visible(&way).into_owned()
}

const UNDEFINED: &str = "conversion-undefined";

/// How many findings are accepted by waivers or the baseline.
pub fn accepted(report: &Report) -> usize {
    report.findings.iter().filter(|finding| finding.status == Status::Waived).count()
}
