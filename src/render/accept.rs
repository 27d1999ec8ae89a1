//! Tells the user how to make a failing run pass: write a conversion, or paste waivers.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::judge::finding::{Class, Finding, Severity, Status};
use crate::judge::overview::{Group, Overview};
use crate::judge::report::{ChangeArguments, Report};

use super::escape::visible;

/// How many groups are listed; for more than these, a baseline is better.
const LISTED: usize = 3;

/// How a failing run can be made to pass.
pub struct Acceptance {
    /// The ways to pass, best first. The last one ends with accepting the findings with `waivers`.
    pub remedies: Vec<Remedy>,
    /// The waivers, as YAML for `crdwise.yaml`. Text from reviewed files appears only in its comments.
    pub waivers: String,
    /// What to do about findings that aren't listed.
    pub more: Option<String>,
}

/// What to do to make a failing run pass.
pub struct Remedy {
    pub text: String,
    /// The commands to run, in order. They are shown unwrapped, so that they can be copied.
    pub commands: Vec<String>,
}

impl From<&str> for Remedy {
    fn from(text: &str) -> Self {
        Remedy { text: text.to_owned(), commands: Vec::new() }
    }
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
    let remedies = match (report.verdict.is_some(), convertible) {
        (true, true) => {
            vec![conversion(report.change.as_ref(), not_convertible(report, &groups)), "accept it in crdwise.yaml:".into()]
        }
        (true, false) => vec!["undo the change, or accept it in crdwise.yaml:".into()],
        (false, _) => vec!["fix the findings, or accept them in crdwise.yaml:".into()],
    };
    let mut waivers = "waivers:\n".to_owned();
    for group in groups.iter().take(LISTED) {
        let finding = group.lead;
        // A change is waived by fingerprint everywhere it was made; other findings by place or by rule.
        let named = match group.fingerprint() {
            Some(fingerprint) => format!("fingerprint: \"{fingerprint}\""),
            None => format!("rule: {}", finding.rule),
        };
        // With only one group, it is clear what the waiver is for.
        if groups.len() > 1 {
            let _ = writeln!(waivers, "  # {}", visible(&waived(group)));
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
    Some(Acceptance { remedies, waivers, more })
}

/// What a waiver accepts: `required-added at spec.size in 2 CRDs`.
fn waived(group: &Group<'_>) -> String {
    let finding = group.lead;
    let path = Some(&finding.path).filter(|path| !path.is_empty() && group.paths().len() == 1).map(|path| format!("at {path}"));
    let place = group.reach().or_else(|| {
        let version = finding.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
        (!finding.crd.is_empty()).then(|| format!("of {}{version}", finding.crd))
    });
    [Some(finding.rule.clone()), path, place].into_iter().flatten().collect::<Vec<_>>().join(" ")
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

/// Writing a conversion. `left` is the number of groups that no conversion covers.
fn conversion(change: Option<&ChangeArguments>, left: usize) -> Remedy {
    let (sides, conversions) = match change {
        Some(change) => (change.sides.as_str(), change.conversions.as_str()),
        None => (" OLD NEW", "conversions"),
    };
    let left = match left {
        0 => String::new(),
        1 => ", and undo or accept the one that no conversion covers".to_owned(),
        left => format!(", and undo or accept the {left} that no conversion covers"),
    };
    let commands = [format!("crdwise conversions scaffold{sides} -o {conversions}"), format!("crdwise conversions check{sides}")];
    Remedy {
        text: format!("undo the change, or draft, complete and prove a conversion{left}:"),
        commands: commands.iter().map(|command| visible(command).into_owned()).collect(),
    }
}

const UNDEFINED: &str = "conversion-undefined";
