//! One line per group, in the style of compilers: `file:line:column: breaking: what changed [rule]`.

use std::fmt::Write as _;

use crate::judge::finding::{Class, Severity, Status};
use crate::judge::overview::Group;

use super::escape::visible;
use super::report_view::View;

pub fn render(view: &View<'_>, color: bool) -> String {
    let mut out = String::new();
    for group in &view.report.overview(view.all).groups {
        let finding = group.lead;
        if let Some(spot) = finding.after.as_ref().or(finding.before.as_ref()) {
            let _ = write!(out, "{}:{}:{}: ", visible(&spot.file), spot.line, spot.column);
        }
        let word = word(group);
        let _ = match paint(group).filter(|_| color) {
            Some(paint) => write!(out, "\u{1b}[{paint}m{word}\u{1b}[0m: "),
            None => write!(out, "{word}: "),
        };
        let _ = writeln!(out, "{} [{}]", visible(&sentence(group)), visible(&finding.rule));
    }
    out.push_str(&answer(view));
    if view.gate.is_some_and(|gate| view.report.fails(gate)) {
        out.push_str("crdwise: --format human shows the proof, the fix and the fingerprint of each finding\n");
    }
    out
}

/// Says what changed, where, and with what effect.
pub(super) fn sentence(group: &Group<'_>) -> String {
    let mut text = group.headline();
    if let Some(reach) = group.reach() {
        let _ = write!(text, " {reach}");
    }
    if let Some(effect) = group.effect() {
        let _ = write!(text, ": {effect}");
    }
    text
}

/// The category of a group, in one word.
pub(super) fn word(group: &Group<'_>) -> &'static str {
    match (group.status(), group.class(), group.severity()) {
        (Status::Waived, ..) => "waived",
        (Status::PreExisting, ..) => "pre-existing",
        (_, Some(Class::SemanticBreaking), _) => "breaking",
        (_, Some(Class::Additive), _) => "compatible",
        (_, _, Severity::Error) => "error",
        (_, _, Severity::Warning) => "warning",
        (_, _, Severity::Info) => "note",
    }
}

/// The colour of a group's sign: red for failures, yellow for warnings, green for safe changes.
pub(super) fn paint(group: &Group<'_>) -> Option<&'static str> {
    match (group.severity(), group.class()) {
        (Severity::Error, _) => Some("1;31"),
        (Severity::Warning, _) => Some("1;33"),
        (Severity::Info, Some(Class::Additive)) => Some("32"),
        (Severity::Info, _) => None,
    }
}

/// The last line: the verdict, the counts and the next version.
pub(super) fn answer(view: &View<'_>) -> String {
    let report = view.report;
    let verdict = match report.verdict {
        _ if !view.complete => "no verdict, because not every input could be read",
        Some(Class::SemanticBreaking) => "breaking",
        Some(Class::Additive) => "compatible",
        Some(Class::None) => "no API change",
        None => "lint",
    };
    let bump = report.bump.as_ref().filter(|_| view.complete).map(|bump| format!("; next version: {bump}")).unwrap_or_default();
    format!("crdwise: {verdict}: {}{bump}\n", report.summary.text())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn hostile_text_cannot_inject_log_commands() {
        let out = sample::rendered_hostile(|view| render(view, false));
        assert!(!out.contains('\u{1b}') && !out.contains("##["), "{out}");
        assert!(out.lines().all(|line| !line.trim_start().starts_with("::")), "{out}");
    }
}
