//! Tells the user how to make a failing run pass: write a conversion, or paste waivers.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::judge::finding::{Class, Finding, Severity, Status};
use crate::judge::overview::{Group, Overview};
use crate::judge::report::{ChangeArguments, Report};

use super::escape::visible;

/// How many groups are listed; for more than these, a baseline is better.
const LISTED: usize = 3;

/// How a failing run can be accepted.
pub struct Acceptance {
    /// What to do, in one sentence.
    pub advice: String,
    /// The waivers, as YAML for `crdwise.yaml`. Text from reviewed files appears only in its comments.
    pub waivers: String,
    /// What to do about findings that aren't listed.
    pub more: Option<String>,
}

/// Returns `None` if the run doesn't fail.
pub fn acceptance(report: &Report, gate: Option<Severity>) -> Option<Acceptance> {
    let gate = gate?;
    let fails = |crd: &str| {
        let open =
            |finding: &&Finding| finding.crd == crd && finding.class == Some(Class::SemanticBreaking) && finding.conversion.is_none();
        report.fresh().filter(open).all(|finding| finding.severity >= gate)
    };
    // Accepting all breaks of a CRD also accepts that they have no conversion.
    let failing = report.fresh().filter(|finding| finding.severity >= gate);
    let overview = Overview::new(failing.filter(|finding| finding.rule != UNDEFINED || !fails(&finding.crd)));
    let groups: Vec<&Group<'_>> = overview.all().collect();
    if groups.is_empty() {
        return None;
    }
    let convertible = report.findings.iter().any(|finding| finding.rule == UNDEFINED && finding.status == Status::New);
    let advice = match (report.verdict.is_some(), convertible) {
        (true, true) => conversion(report.change.as_ref(), not_convertible(report, &groups)),
        (true, false) => "undo the change, or accept it in crdwise.yaml:".to_owned(),
        (false, _) => "fix the findings, or accept them in crdwise.yaml:".to_owned(),
    };
    let mut waivers = "waivers:\n".to_owned();
    for group in groups.iter().take(LISTED) {
        let finding = group.lead;
        let what = group.reach().unwrap_or_else(|| {
            let version = finding.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
            let parts = [("at", &finding.path), ("of", &format!("{}{version}", finding.crd))];
            let said = parts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(word, text)| format!("{word} {text}"));
            said.collect::<Vec<_>>().join(" ")
        });
        // A change is waived by fingerprint everywhere it was made; other findings by place or by rule.
        let named = match group.fingerprint() {
            Some(fingerprint) => format!("fingerprint: \"{fingerprint}\""),
            None => format!("rule: {}", finding.rule),
        };
        // With only one group, it is clear what the waiver is for.
        if groups.len() > 1 {
            let _ = writeln!(waivers, "  # {}", visible(format!("{} {what}", finding.rule).trim_end()));
        }
        let _ = writeln!(waivers, "  - {{{named}, reason: TODO, until: YYYY-MM-DD}}");
    }
    let more = groups.len().saturating_sub(LISTED);
    let sides = match (&report.change, report.verdict) {
        (Some(change), _) => &change.baseline,
        (None, Some(_)) => " --against REV",
        (None, None) => "",
    };
    let more = (more > 0).then(|| visible(&format!("and {more} more: `crdwise baseline write{sides}` accepts them all")).into_owned());
    Some(Acceptance { advice, waivers, more })
}

/// How many of the groups no conversion can cover, so that they would still fail.
fn not_convertible(report: &Report, groups: &[&Group<'_>]) -> usize {
    let undefined = report.fresh().filter(|finding| finding.rule == UNDEFINED);
    let converted: BTreeSet<&String> = undefined.flat_map(|finding| &finding.cause).collect();
    let fails = |finding: &&Finding| {
        finding.rule != UNDEFINED
            && !converted.contains(&finding.fingerprint)
            && !finding.cause.iter().any(|cause| converted.contains(cause))
    };
    groups.iter().filter(|group| group.members.iter().copied().any(|member| fails(&member))).count()
}

/// The advice for writing a conversion. `left` is the number of groups that no conversion covers.
fn conversion(change: Option<&ChangeArguments>, left: usize) -> String {
    let (sides, conversions) = match change {
        Some(change) => (change.sides.as_str(), change.conversions.as_str()),
        None => (" OLD NEW", "conversions"),
    };
    let left = match left {
        0 => String::new(),
        1 => ", and undo or accept the one that no conversion covers".to_owned(),
        left => format!(", and undo or accept the {left} that no conversion covers"),
    };
    let advice = format!(
        "undo the change; or draft a conversion (`crdwise conversions scaffold{sides} -o {conversions}`), fill it in and prove it \
         (`crdwise conversions check{sides}`){left}; or accept it in crdwise.yaml:"
    );
    visible(&advice).into_owned()
}

const UNDEFINED: &str = "conversion-undefined";
