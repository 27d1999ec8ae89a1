//! JUnit XML: a suite per CRD with findings, a case per finding, and a failure for each finding that fails the run.

use std::fmt::Write as _;

use crate::judge::finding::Finding;

use super::escape::{push_markup, visible};
use super::report_view::View;

pub fn render(view: &View<'_>) -> String {
    let command = if view.report.old.is_some() { "review" } else { "lint" };
    let mut findings = view.worst_first();
    findings.sort_by(|a, b| a.crd.cmp(&b.crd).then_with(|| a.order(b)));
    let failures = findings.iter().filter(|finding| view.fails(finding)).count();
    // Platforms treat a file without cases as broken, so the run itself is a case.
    let tests = findings.len() + 1;
    let errors = usize::from(!view.complete);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ =
        writeln!(out, "<testsuites name=\"crdwise {command}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"0\">");
    let _ =
        writeln!(out, "  <testsuite name=\"crdwise {command}\" tests=\"1\" failures=\"0\" errors=\"{errors}\" skipped=\"0\" time=\"0\">");
    let _ = write!(out, "    <testcase name=\"every input is read\" classname=\"crdwise.{command}\" time=\"0\"");
    if view.complete {
        out.push_str("/>\n");
    } else {
        out.push_str(">\n      <error message=\"not every input could be read\" type=\"input\"/>\n    </testcase>\n");
    }
    out.push_str("  </testsuite>\n");
    for suite in findings.chunk_by(|a, b| a.crd == b.crd) {
        suite_of(&mut out, suite, view);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite_of(out: &mut String, findings: &[&Finding], view: &View<'_>) {
    let crd = findings.first().map(|finding| &*finding.crd).filter(|crd| !crd.is_empty()).unwrap_or("the bundle");
    let failures = findings.iter().filter(|finding| view.fails(finding)).count();
    let name = attribute(crd);
    let _ = writeln!(
        out,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"0\">",
        findings.len()
    );
    for finding in findings {
        let class = match &finding.version {
            Some(version) => format!("{name}.{}", attribute(version)),
            None => name.clone(),
        };
        let path = if finding.path.is_empty() { String::new() } else { format!(" {}", attribute(&finding.path)) };
        let _ = writeln!(out, "    <testcase name=\"{}{path}\" classname=\"{class}\" time=\"0\">", attribute(&finding.rule));
        let message = attribute(&finding.message);
        if view.fails(finding) {
            let _ = writeln!(
                out,
                "      <failure message=\"{message}\" type=\"{}\">{}</failure>",
                attribute(&finding.rule),
                details(finding, view)
            );
        } else {
            let _ = writeln!(out, "      <system-out>{}: {message}\n{}</system-out>", finding.severity, details(finding, view));
        }
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n");
}

fn details(finding: &Finding, view: &View<'_>) -> String {
    let mut lines = Vec::new();
    if let Some(anchor) = view.anchors.of(finding) {
        lines.push(format!("{}:{}:{}", attribute(anchor.path), anchor.line, anchor.column));
    }
    lines.push(format!("help: {}", attribute(&finding.help)));
    if let Some(witness) = &finding.witness {
        lines.push(format!("proof: {} before, {} now: {}", witness.old, witness.new, attribute(&witness.because)));
    }
    lines.join("\n")
}

/// Escapes text for an attribute or element. Characters that XML forbids are written out like other active characters.
pub(super) fn attribute(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() + 8);
    push_markup(&mut out, &text);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::finding::Severity;
    use crate::render::sample;
    use roxmltree::Document;

    fn counted(text: &str) -> (usize, usize) {
        let document = Document::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let allowed = ["testsuites", "testsuite", "testcase", "failure", "error", "system-out"];
        let elements: Vec<&str> = document.descendants().filter(|node| node.is_element()).map(|node| node.tag_name().name()).collect();
        assert!(elements.iter().all(|name| allowed.contains(name)), "{elements:?}");
        assert!(!document.descendants().any(|node| node.is_comment() || node.is_pi()));
        let of = |name: &str| elements.iter().filter(|element| **element == name).count();
        let total = |name: &str| document.root_element().attribute(name).and_then(|n| n.parse::<usize>().ok()).unwrap();
        assert_eq!((total("tests"), total("failures")), (of("testcase"), of("failure")));
        (of("testcase"), of("failure"))
    }

    #[test]
    fn hostile_text_cannot_inject_elements() {
        let text = sample::rendered_hostile(render);
        assert_eq!(counted(&text), (6, 1), "only what is new and grave fails");
        assert!(text.contains("\\u{fffe}\\u{ffff}"), "what XML forbids is written out");
    }

    #[test]
    fn a_clean_run_has_a_case() {
        assert_eq!(counted(&sample::rendered(Vec::new(), render)), (1, 0));
    }

    #[test]
    fn a_warning_is_reported_and_does_not_fail() {
        let text = sample::rendered(vec![Finding { severity: Severity::Warning, ..sample::finding() }], render);
        assert_eq!(counted(&text), (2, 0));
        assert!(text.contains("<system-out>warning: `spec.size` was removed"), "{text}");
    }
}
