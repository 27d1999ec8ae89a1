//! One line per change, which `git log -p` shows instead of YAML lines.

use std::fmt::Write as _;

use crate::judge::finding::{Class, Severity};
use crate::judge::overview::Overview;
use crate::judge::report::Report;

use super::escape::visible;
use super::short::sentence;

/// Shows changes and refusals by the server. Other lint findings are pre-existing or shown elsewhere.
pub fn render(report: &Report, color: bool) -> String {
    let mut out = String::new();
    let findings = report.fresh().filter(|finding| finding.class.is_some() || finding.is_refusal());
    let mut groups = Overview::new(findings).groups;
    // The sort is stable, so within a version the worst stays first.
    groups.sort_by(|a, b| (&a.lead.crd, &a.lead.version).cmp(&(&b.lead.crd, &b.lead.version)));
    let mut section = None;
    for group in groups {
        let finding = group.lead;
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
        let line = format!("{sign}{}: {}", visible(&finding.rule), visible(&sentence(&group)));
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
    fn hostile_text_cannot_start_a_line() {
        let out = sample::rendered_hostile(|view| render(view.report, false));
        assert!(out.lines().all(|line| line.starts_with(['-', '+', ' ', '@'])), "{out}");
        assert!(!out.contains('\u{1b}') && !out.contains("##["));
    }
}
