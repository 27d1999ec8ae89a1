//! Workflow commands for GitHub's runner: one annotation per line, then a line of counts for the log.

use std::fmt::Write as _;

use crate::input::shorten;
use crate::judge::finding::Severity;
use crate::judge::overview::{Group, plural};

use super::anchor::Anchor;
use super::escape::visible;
use super::proof::Proof;
use super::report_view::{View, subject};
use super::short::{answer, sentence};

/// GitHub shows this many annotations of each level for one step, and silently drops the rest.
const MOST: usize = 10;
/// Annotations are kept short; the job summary has the rest.
const LONGEST: usize = 1_500;

pub fn render(view: &View<'_>) -> String {
    // Groups that follow from a change don't get their own annotation.
    let groups = view.report.overview(view.all).groups;
    let listed: Vec<GithubAnnotation<'_>> = groups.iter().map(|group| annotation(group, view)).collect();
    let mut out = commands(&listed, ", less severe than these: see the report for all of them");
    for unread in view.report.unread().take(MOST) {
        let text = format!("{}: {}", visible(&unread.what), visible(&unread.why));
        let _ = writeln!(out, "::error title=crdwise%3A not everything could be read::{}", data(&text));
    }
    out.push_str(&answer(view));
    out
}

/// One annotation; its message may have several lines.
pub(super) struct GithubAnnotation<'a> {
    pub severity: Severity,
    pub anchor: Option<Anchor<'a>>,
    pub title: &'a str,
    pub message: String,
}

/// Writes the annotations by level, and the number of those that don't fit.
pub(super) fn commands(listed: &[GithubAnnotation<'_>], see: &str) -> String {
    let mut out = String::new();
    for (severity, command, word) in
        [(Severity::Error, "error", "error"), (Severity::Warning, "warning", "warning"), (Severity::Info, "notice", "note")]
    {
        let level: Vec<&GithubAnnotation<'_>> = listed.iter().filter(|annotation| annotation.severity == severity).collect();
        // The last annotation is used for the number of those that don't fit.
        let shown = if level.len() > MOST { MOST - 1 } else { level.len() };
        for GithubAnnotation { anchor, title, message, .. } in level.iter().take(shown) {
            let _ = write!(out, "::{command} ");
            if let Some(anchor) = anchor {
                let _ = write!(out, "file={},line={},endLine={},", property(&visible(anchor.path)), anchor.line, anchor.line);
                if anchor.exact {
                    let _ = write!(out, "col={},endColumn={},", anchor.column, anchor.end_column);
                }
            }
            let _ = writeln!(out, "title={}::{}", property(&visible(title)), data(&shorten(message, LONGEST)));
        }
        if level.len() > shown {
            let more = plural(level.len() - shown, &format!("more {word}"));
            let _ = writeln!(out, "::{command} title=crdwise::{more}{see}");
        }
    }
    out
}

fn annotation<'a>(group: &Group<'a>, view: &View<'a>) -> GithubAnnotation<'a> {
    let finding = group.lead;
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
    GithubAnnotation { severity: group.severity(), anchor: view.anchors.of(finding), title: &finding.rule, message }
}

/// Escapes the text after the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
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
