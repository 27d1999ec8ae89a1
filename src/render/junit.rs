//! JUnit XML: a suite per CRD with findings, a case per finding, and a failure for each finding that fails the run.

use std::fmt::Write as _;

use crate::judge::finding::Finding;

use super::escape::{push_markup, visible};
use super::report_view::View;

/// One case.
pub(super) struct TestCase {
    pub suite: String,
    /// The part of the suite, shown after the suite's name.
    pub class: Option<String>,
    pub name: String,
    /// A case without a failure passes.
    pub failure: Option<Failed>,
    pub notes: Vec<String>,
}

/// Why a case fails.
pub(super) struct Failed {
    pub kind: String,
    pub message: String,
    pub details: Vec<String>,
}

impl Failed {
    /// The reasons, with the most important one first; a case without reasons doesn't fail.
    pub fn of(kind: &str, texts: Vec<String>) -> Option<Failed> {
        let message = texts.first()?.lines().next().unwrap_or_default().to_owned();
        Some(Failed { kind: kind.to_owned(), message, details: texts })
    }
}

pub fn render(view: &View<'_>) -> String {
    let command = if view.report.old.is_some() { "review" } else { "lint" };
    let mut findings = view.worst_first();
    findings.sort_by(|a, b| a.crd.cmp(&b.crd).then_with(|| a.order(b)));
    let cases: Vec<TestCase> = findings.into_iter().map(|finding| case(finding, view)).collect();
    written(command, &cases, view.complete)
}

fn case(finding: &Finding, view: &View<'_>) -> TestCase {
    let (fails, details) = (view.fails(finding), details(finding, view));
    let told = || std::iter::once(format!("{}: {}", finding.severity, finding.message)).chain(details.clone()).collect();
    TestCase {
        suite: if finding.crd.is_empty() { "the bundle".to_owned() } else { finding.crd.clone() },
        class: finding.version.clone(),
        name: if finding.path.is_empty() { finding.rule.clone() } else { format!("{} {}", finding.rule, finding.path) },
        notes: if fails { Vec::new() } else { told() },
        failure: fails.then(|| Failed { kind: finding.rule.clone(), message: finding.message.clone(), details: details.clone() }),
    }
}

fn details(finding: &Finding, view: &View<'_>) -> Vec<String> {
    let anchor = view.anchors.of(finding).map(|anchor| format!("{}:{}:{}", anchor.path, anchor.line, anchor.column));
    let proof = finding.witness.as_ref();
    let proof = proof.map(|witness| format!("proof: {} before, {} now: {}", witness.old, witness.new, witness.because));
    anchor.into_iter().chain([format!("help: {}", finding.help)]).chain(proof).collect()
}

/// Writes the cases grouped by suite, in the given order.
pub(super) fn written(command: &str, cases: &[TestCase], complete: bool) -> String {
    let failed = |cases: &[TestCase]| cases.iter().filter(|case| case.failure.is_some()).count();
    // Platforms treat a file without cases as broken, so the run itself is a case.
    let (tests, failures, errors) = (cases.len() + 1, failed(cases), usize::from(!complete));
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ =
        writeln!(out, "<testsuites name=\"crdwise {command}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"0\">");
    let _ =
        writeln!(out, "  <testsuite name=\"crdwise {command}\" tests=\"1\" failures=\"0\" errors=\"{errors}\" skipped=\"0\" time=\"0\">");
    let _ = write!(out, "    <testcase name=\"every input is read\" classname=\"crdwise.{command}\" time=\"0\"");
    out.push_str(match complete {
        true => "/>\n",
        false => ">\n      <error message=\"not every input could be read\" type=\"input\"/>\n    </testcase>\n",
    });
    out.push_str("  </testsuite>\n");
    for suite in cases.chunk_by(|a, b| a.suite == b.suite) {
        let name = suite.first().map(|case| attribute(&case.suite)).unwrap_or_default();
        let (tests, failures) = (suite.len(), failed(suite));
        let _ =
            writeln!(out, "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"0\">");
        for case in suite {
            let class = case.class.as_ref().map(|class| format!(".{}", attribute(class))).unwrap_or_default();
            let _ = writeln!(out, "    <testcase name=\"{}\" classname=\"{name}{class}\" time=\"0\">", attribute(&case.name));
            let lines = |texts: &[String]| texts.iter().flat_map(|text| text.lines().map(attribute)).collect::<Vec<_>>().join("\n");
            if let Some(Failed { kind, message, details }) = &case.failure {
                let (kind, message) = (attribute(kind), attribute(message));
                let _ = writeln!(out, "      <failure message=\"{message}\" type=\"{kind}\">{}</failure>", lines(details));
            }
            if !case.notes.is_empty() {
                let _ = writeln!(out, "      <system-out>{}</system-out>", lines(&case.notes));
            }
            out.push_str("    </testcase>\n");
        }
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

/// Escapes text for an attribute or element. Characters that XML forbids are written out like other active characters, and no line
/// is a command to a CI system that prints the file to its log.
pub(super) fn attribute(text: &str) -> String {
    let text = visible(text);
    let mut out = String::with_capacity(text.len() + 8);
    push_markup(&mut out, &text);
    if out.contains("::") { out.replace("::", "&#58;:") } else { out }
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
    fn no_line_is_a_command() {
        let message = "a\n::error file=x::b\n  ::stop-commands::t".to_owned();
        let text = sample::rendered(vec![Finding { severity: Severity::Warning, message: message.clone(), ..sample::finding() }], render);
        assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text}");
        let document = Document::parse(&text).unwrap();
        assert!(document.descendants().any(|node| node.text().is_some_and(|text| text.contains(&message))), "{text}");
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
