//! Workflow commands for GitHub's runner: one annotation per line, then a line of counts for the log.

use std::fmt::Write as _;

use crate::input::shorten;
use crate::judge::finding::Severity;
use crate::judge::overview::{Group, plural};

use super::escape::visible;
use super::proof::Proof;
use super::report_view::{View, subject};
use super::short::{answer, sentence};

/// GitHub shows this many annotations of each level for one step, and silently drops the rest.
pub(super) const MOST: usize = 10;
/// Annotations are kept short; the job summary has the rest.
pub(super) const LONGEST: usize = 1_500;

pub fn render(view: &View<'_>) -> String {
    let mut out = String::new();
    let overview = view.report.overview(view.all);
    for (severity, command, word) in
        [(Severity::Error, "error", "error"), (Severity::Warning, "warning", "warning"), (Severity::Info, "notice", "note")]
    {
        // Groups that follow from a change don't get their own annotation.
        let level: Vec<&Group<'_>> = overview.groups.iter().filter(|group| group.severity() == severity).collect();
        // The last annotation is used for the number of those that don't fit.
        let shown = if level.len() > MOST { MOST - 1 } else { level.len() };
        for group in level.iter().take(shown) {
            annotation(&mut out, command, group, view);
        }
        if level.len() > shown {
            let more = plural(level.len() - shown, &format!("more {word}"));
            let _ = writeln!(out, "::{command} title=crdwise::{more}, less severe than these: see the report for all of them");
        }
    }
    for unread in view.report.unread().take(MOST) {
        let text = format!("{}: {}", visible(&unread.what), visible(&unread.why));
        let _ = writeln!(out, "::error title=crdwise%3A not everything could be read::{}", data(&text));
    }
    out.push_str(&answer(view));
    out
}

fn annotation(out: &mut String, command: &str, group: &Group<'_>, view: &View<'_>) {
    let finding = group.lead;
    let _ = write!(out, "::{command} ");
    if let Some(anchor) = view.anchors.of(finding) {
        let _ = write!(out, "file={},line={},endLine={}", property(&visible(anchor.path)), anchor.line, anchor.line);
        if anchor.exact {
            let _ = write!(out, ",col={},endColumn={}", anchor.column, anchor.end_column);
        }
        out.push(',');
    }
    let _ = write!(out, "title={}::", property(&visible(&finding.rule)));
    let mut message = format!("{}{}", subject(finding), visible(&sentence(group)));
    if !finding.help.is_empty() {
        let _ = write!(message, "\nfix: {}", visible(&finding.help));
    }
    if let Some(proof) = Proof::of(finding) {
        let _ = write!(message, "\nproof: {}", visible(&proof.text()));
    }
    for consequence in &group.consequences {
        let _ = write!(message, "\nso: {}", visible(&sentence(consequence)));
    }
    out.push_str(&data(&shorten(&message, LONGEST)));
    out.push('\n');
}

/// Escapes the text after the second `::`.
pub(super) fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
pub(super) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::finding::Finding;
    use crate::render::sample;
    use std::collections::BTreeMap;

    /// Parses a line the way the runner does: command, properties, data.
    fn command(line: &str) -> Option<(String, BTreeMap<String, String>, String)> {
        let line = line.trim_start();
        let (head, text) = line.strip_prefix("::")?.split_once("::")?;
        let (name, rest) = head.split_once(' ').unwrap_or((head, ""));
        let undo = |text: &str| text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",").replace("%25", "%");
        let pairs = rest.split(',').filter_map(|pair| pair.split_once('=')).map(|(key, value)| (key.to_owned(), undo(value)));
        Some((name.to_owned(), pairs.collect(), text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")))
    }

    #[test]
    fn hostile_text_cannot_inject_commands_or_properties() {
        let out = sample::rendered_hostile(render);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 6, "{out}");
        assert!(!out.contains("##[") && !out.contains('\r') && !out.contains('\u{1b}') && !out.contains('\u{202e}'));
        for line in &lines[..5] {
            let (name, properties, text) = command(line).unwrap();
            assert!(["error", "warning", "notice"].contains(&&*name), "{name}");
            let keys: Vec<&str> = properties.keys().map(String::as_str).collect();
            assert_eq!(keys, ["col", "endColumn", "endLine", "file", "line", "title"]);
            assert_eq!(properties["file"], visible(sample::HOSTILE_NAME));
            assert_eq!(properties["line"], "1");
            assert!(text.contains("evil\\n::error"), "{text}");
        }
        assert_eq!(
            lines[5],
            "crdwise: breaking: 4 breaking changes in 4 places (1 accepted); next version: 1.3.0 or later (minor; 1.2.0 before)"
        );
    }

    #[test]
    fn annotations_beyond_the_limit_are_counted() {
        let finding =
            |n: usize, severity| Finding { path: format!("spec.f{n}"), group: format!("{n:016x}"), severity, ..sample::finding() };
        let mut findings: Vec<Finding> = (0..25).map(|n| finding(n, Severity::Error)).collect();
        findings.extend((0..10).map(|n| finding(n + 100, Severity::Warning)));
        let out = sample::rendered(findings, render);
        let of = |command: &str| out.lines().filter(|line| line.starts_with(command)).count();
        assert_eq!((of("::error "), of("::warning "), of("::notice ")), (10, 10, 0));
        assert!(out.contains("::error title=crdwise::16 more errors"), "{out}");
    }

    #[test]
    fn unreadable_input_is_an_error() {
        let out = sample::rendered_unread(render);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], "::error title=crdwise%3A not everything could be read::crd.yaml:3:1: not read: a\\n::error::tab");
        assert!(lines[1].starts_with("crdwise: no verdict, because not every input could be read:"), "{out}");
    }

    #[test]
    fn a_change_in_several_versions_is_reported_once() {
        let other = Finding { version: Some("v1beta1".into()), ..sample::finding() };
        let out = sample::rendered(vec![sample::finding(), other], render);
        assert_eq!(out.lines().filter(|line| line.starts_with("::")).count(), 1);
        assert!(out.contains("`spec.size` was removed in v1 and v1beta1"), "{out}");
    }
}
