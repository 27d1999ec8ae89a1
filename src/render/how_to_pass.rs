//! Tells the user how to make a failing run pass: write a conversion, or paste waivers.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::judge::finding::{Class, Finding, Severity, UNDEFINED, VERSION_TOO_LOW};
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
    let remedies = remedies(report, &groups);
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

/// The ways to pass: first what must be fixed in any case, then a conversion where one can be proved.
fn remedies(report: &Report, groups: &[&Group<'_>]) -> Vec<Remedy> {
    if report.verdict.is_none() {
        return vec!["fix the findings, or accept them in crdwise.yaml:".into()];
    }
    // An upgrade of the cluster changes no CRD, so there is nothing to undo.
    if report.bump.is_none() {
        return vec!["fix what is reported above before the upgrade, or accept it in crdwise.yaml:".into()];
    }
    let kinds = Kinds::of(groups);
    let mut parts: Vec<String> = Vec::new();
    if kinds.refused > 0 {
        parts.push("fix what the API server rejects, as described above".to_owned());
    }
    let version = report.bump.as_ref().and_then(|bump| bump.recommended.as_ref()).filter(|_| kinds.version_too_low);
    if kinds.drafted > 0 {
        let version = version.map(|version| format!(", and declare version {version}")).unwrap_or_default();
        let left = match kinds.open {
            0 => String::new(),
            1 => ", and undo or accept the one that no conversion covers".to_owned(),
            left => format!(", and undo or accept the {left} that no conversion covers"),
        };
        parts.push(format!("undo the change, or draft, complete and prove a conversion{left}{version}"));
        let commands = conversion_commands(report.change.as_ref());
        return vec![Remedy { text: format!("{}:", parts.join("; then ")), commands }, "accept it in crdwise.yaml:".into()];
    }
    if kinds.open > 0 {
        parts.push(if kinds.changes > 0 { "undo the change" } else { "fix what is reported above" }.to_owned());
    } else if let Some(version) = version {
        parts.push(format!("declare version {version}"));
    }
    vec![format!("{}, or accept it in crdwise.yaml:", parts.join("; then ")).as_str().into()]
}

/// How many of the failing groups can be resolved in which way.
#[derive(Default)]
struct Kinds {
    /// The server rejects the CRD.
    refused: usize,
    /// A draft has a step that can be proved.
    drafted: usize,
    version_too_low: bool,
    /// All others.
    open: usize,
    /// How many of `open` are changes; the rest are mistakes in the new CRDs.
    changes: usize,
}

impl Kinds {
    fn of(groups: &[&Group<'_>]) -> Kinds {
        let members = || groups.iter().flat_map(|group| group.members.iter().copied());
        // A change that the server rejects isn't resolved by a conversion.
        let rejected: BTreeSet<&String> = members().filter(|finding| finding.is_refusal()).flat_map(|finding| &finding.cause).collect();
        let drafted: BTreeSet<&String> = members().filter(|finding| finding.drafted).map(|finding| &finding.fingerprint).collect();
        let mut kinds = Kinds::default();
        for group in groups {
            let all = |test: &dyn Fn(&Finding) -> bool| group.members.iter().copied().all(test);
            let follows = |finding: &Finding| !finding.cause.is_empty() && finding.cause.iter().any(|cause| drafted.contains(cause));
            match () {
                () if group.members.iter().any(|finding| finding.class.is_none() && finding.is_refusal()) => kinds.refused += 1,
                () if all(&|finding| rejected.contains(&finding.fingerprint)) => {}
                () if all(&|finding| finding.rule == VERSION_TOO_LOW) => kinds.version_too_low = true,
                () if all(&|finding| finding.drafted || finding.rule == UNDEFINED && follows(finding)) => kinds.drafted += 1,
                () if all(&|finding| finding.rule == UNDEFINED || follows(finding)) => {}
                () => {
                    kinds.open += 1;
                    kinds.changes += usize::from(group.members.iter().any(|finding| finding.class.is_some()));
                }
            }
        }
        kinds
    }
}

/// The commands that draft and prove a conversion.
fn conversion_commands(change: Option<&ChangeArguments>) -> Vec<String> {
    let (sides, conversions) = match change {
        Some(change) => (change.sides.as_str(), change.conversions.as_str()),
        None => (" OLD NEW", "conversions"),
    };
    let mut commands = vec![format!("crdwise conversions scaffold{sides} -o {conversions}"), format!("crdwise conversions check{sides}")];
    // The review of staged files reads only staged manifests.
    commands.extend(change.filter(|change| change.staged).map(|_| format!("git add {conversions}")));
    commands.iter().map(|command| visible(command).into_owned()).collect()
}
