//! One line a change: what `git log -p` shows in place of YAML lines.

use std::fmt::Write as _;

use crate::judge::finding::{Class, Finding, Severity};
use crate::judge::report::Report;

use super::escape::visible;
use super::group::gather;

/// Changes, and what a server refuses; what else lint has to say was there before or is said elsewhere.
pub fn render(report: &Report, color: bool) -> String {
    let mut out = String::new();
    let mut findings: Vec<&Finding> = report.fresh().filter(|finding| finding.class.is_some() || finding.is_refusal()).collect();
    findings.sort_by(|a, b| (&a.crd, &a.version).cmp(&(&b.crd, &b.version)).then_with(|| a.order(b)));
    let mut section = None;
    for group in gather(findings.into_iter()) {
        let finding = group.first;
        let here = (&finding.crd, &finding.version);
        if section != Some(here) {
            let version = finding.version.as_deref().map(|version| format!(" {}", visible(version))).unwrap_or_default();
            let _ = writeln!(out, "@@ {}{version} @@", visible(&finding.crd));
            section = Some(here);
        }
        let (sign, paint) = match (finding.class, finding.severity) {
            (Some(Class::SemanticBreaking), _) | (None, Severity::Error) => ('-', "31"),
            (Some(Class::Additive), _) => ('+', "32"),
            _ => (' ', "0"),
        };
        let also = group.also().map(|also| format!(" ({also})")).unwrap_or_default();
        let line = format!("{sign}{}: {}{also}", visible(&finding.rule), visible(&finding.message));
        let _ = if color { writeln!(out, "\u{1b}[{paint}m{line}\u{1b}[0m") } else { writeln!(out, "{line}") };
    }
    let verdict = report.verdict.unwrap_or(Class::None);
    let bump = report.bump.as_ref().map(|bump| format!(", bump {}", bump.required)).unwrap_or_default();
    let _ = writeln!(out, " verdict: {verdict}{bump}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;

    #[test]
    fn hostile_text_begins_no_line() {
        let out = sample::rendered_hostile(|view| render(view.report, false));
        assert!(out.lines().all(|line| line.starts_with(['-', '+', ' ', '@'])), "{out}");
        assert!(!out.contains('\u{1b}') && !out.contains("##["));
    }
}
