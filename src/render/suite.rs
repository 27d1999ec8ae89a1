//! Renders the results of test suites and their coverage, for people and as JSON, GitHub annotations, SARIF and JUnit.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::input::{Repository, shorten};
use crate::judge::finding::Severity;
use crate::judge::suite::coverage::{CoverageLine, CoverageShare};
use crate::judge::suite::expect::CaseFailure;
use crate::judge::suite::run::CaseResult;
use crate::model::kubernetes::Minors;
use crate::model::{Documents, Place};

use super::Anchors;
use super::annotation::{self, Annotation};
use super::escape::visible;
use super::junit::{self, Failed, TestCase};
use super::objects::{self, JudgedObject};
use super::snippet::Style;
use crate::judge::overview::plural;

pub const SCHEMA: &str = "crdwise.tests/v1";
/// Longer constraints are shortened in the table.
const SHOWN: usize = 60;

/// The results of a test run.
pub struct Tests<'r> {
    pub results: &'r [CaseResult<'r>],
    /// The documents that contain the suites.
    pub suites: &'r Documents,
    /// Fixtures of past releases, and objects of this release after a downgrade.
    pub releases: &'r [ReleaseObjects],
    pub coverage: Option<CoverageView<'r>>,
    /// The servers that cases must hold on, unless they name others.
    pub kubernetes: Minors,
    pub complete: bool,
}

/// Objects of one release, checked with the CRDs of another.
pub struct ReleaseObjects {
    /// Such as `fixtures of 1.4.0`.
    pub title: String,
    pub judged: Vec<JudgedObject>,
    pub documents: Documents,
}

impl ReleaseObjects {
    pub fn failed(&self) -> usize {
        self.judged.iter().filter(|object| object.fails()).count()
    }

    fn summary(&self) -> String {
        format!("{}: {}, {} failed", self.title, plural(self.judged.len(), "object"), self.failed())
    }
}

/// The coverage, and how to show it.
pub struct CoverageView<'r> {
    pub lines: &'r [CoverageLine],
    /// The documents that contain the CRDs.
    pub crds: &'r Documents,
    /// Show the lines of the CRDs instead of a table.
    pub source: bool,
    pub least: Option<f64>,
}

impl CoverageView<'_> {
    fn share(&self) -> CoverageShare {
        CoverageShare::of(self.lines.iter())
    }

    pub fn is_enough(&self) -> bool {
        self.least.is_none_or(|least| self.share().percent() + 1e-9 >= least)
    }

    fn summary(&self) -> String {
        let share = self.share();
        let least = match self.least {
            Some(least) if !self.is_enough() => format!(", at least {least} % required"),
            _ => String::new(),
        };
        format!("coverage: {} of {} covered, {:.1} %{least}", share.covered, plural(share.constraints, "constraint"), share.percent())
    }
}

fn spot(documents: &Documents, place: Place) -> (String, usize) {
    documents.shown_place(place).map_or((String::new(), 1), |(name, at)| (name.to_owned(), at.line))
}

fn name(result: &CaseResult<'_>) -> String {
    match &result.variant {
        Some(variant) if !variant.is_empty() => format!("{} [{variant}]", result.case.name),
        _ => result.case.name.clone(),
    }
}

/// The failure message, with the servers if not all of them are affected.
fn message(failure: &CaseFailure) -> String {
    let on = failure.kubernetes.map(|minors| format!(" (only on Kubernetes {minors})")).unwrap_or_default();
    format!("{}{on}", failure.message)
}

impl Tests<'_> {
    fn failed(&self) -> usize {
        self.results.iter().filter(|result| !result.failures.is_empty()).count()
    }

    /// Whether every case passes, every object of another release can be read, and enough is covered.
    pub fn pass(&self) -> bool {
        self.failed() == 0
            && self.releases.iter().all(|release| release.failed() == 0)
            && self.coverage.as_ref().is_none_or(CoverageView::is_enough)
    }

    fn summary(&self) -> String {
        format!("tests: {}, {} failed", plural(self.results.len(), "case"), self.failed())
    }

    /// Failures with their differences, the coverage, and a line of counts.
    pub fn human(&self, style: &Style) -> String {
        let mut out = String::new();
        let paint = |code: &str, text: &str| if style.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() };
        for result in self.results.iter().filter(|result| !result.failures.is_empty()) {
            let (file, line) = spot(self.suites, result.case.place);
            let _ = writeln!(out, "{} {} ({}:{line})", paint("31", "failed:"), visible(&name(result)), visible(&file));
            for failure in &result.failures {
                let _ = writeln!(out, "    {}", visible(&message(failure)));
                for line in &failure.difference {
                    let text = visible(line);
                    let text = match line.as_bytes().first() {
                        Some(b'-') => paint("31", &text),
                        Some(b'+') => paint("32", &text),
                        _ => text.into_owned(),
                    };
                    let _ = writeln!(out, "      {}", text.trim_end());
                }
            }
        }
        for release in self.releases {
            out.push_str(&objects::remarks(&release.judged, &release.documents, style, false));
        }
        if let Some(coverage) = &self.coverage {
            out.push_str(&if coverage.source { source(coverage) } else { table(coverage) });
        }
        for release in self.releases {
            let _ = writeln!(out, "{}", release.summary());
        }
        if !self.results.is_empty() || self.releases.is_empty() {
            let _ = writeln!(out, "{}", self.summary());
        }
        if let Some(coverage) = &self.coverage {
            let _ = writeln!(out, "{}", coverage.summary());
        }
        out
    }

    fn annotations(&self) -> Vec<Annotation> {
        let message = |result: &CaseResult<'_>| {
            let mut text = name(result);
            for failure in &result.failures {
                let _ = write!(text, "\n{}", self::message(failure));
                for line in &failure.difference {
                    let _ = write!(text, "\n{line}");
                }
            }
            text
        };
        let failed = self.results.iter().filter(|result| !result.failures.is_empty());
        let annotation =
            |result| Annotation { rule: "failed", severity: Severity::Error, place: Some(place(result)), message: message(result) };
        failed.map(annotation).collect()
    }

    pub fn github(&self, anchors: &Anchors<'_>, repository: Option<&Repository>) -> String {
        let mut summary = self.summary();
        if let Some(coverage) = &self.coverage {
            let _ = write!(summary, "; {}", coverage.summary());
        }
        let mut out = annotation::github(&self.annotations(), anchors, &summary);
        for release in self.releases {
            let anchors = Anchors::new(None, &release.documents, repository);
            out.push_str(&annotation::github(&objects::annotations(&release.judged), &anchors, &release.summary()));
        }
        out
    }

    pub fn sarif(&self, anchors: &Anchors<'_>) -> String {
        let mut annotations = self.annotations();
        for object in self.releases.iter().flat_map(|release| &release.judged) {
            // These files aren't among the documents of this report, so name them in the text.
            let at = |text: String| format!("{text} ({}:{})", object.file, object.line);
            let own = objects::annotations(std::slice::from_ref(object));
            annotations.extend(own.into_iter().map(|one| Annotation { place: None, message: at(one.message), ..one }));
        }
        let about: Vec<_> = [("failed", "A test case fails")].iter().chain(objects::ABOUT).copied().collect();
        annotation::sarif("test", &annotations, anchors, &about, self.complete)
    }

    pub fn junit(&self) -> String {
        let lines =
            |failure: &CaseFailure| std::iter::once(message(failure)).chain(failure.difference.clone()).collect::<Vec<_>>().join("\n");
        let case = |result: &CaseResult<'_>| TestCase {
            suite: spot(self.suites, result.case.place).0,
            class: None,
            name: name(result),
            failure: Failed::of("test", result.failures.iter().map(lines).collect()),
            notes: Vec::new(),
        };
        let mut cases: Vec<TestCase> = self.results.iter().map(case).collect();
        for release in self.releases {
            cases.extend(release.judged.iter().map(|object| object.test_case("test", &release.title)));
        }
        junit::written("test", &cases, self.complete)
    }

    pub fn json(&self) -> String {
        let case = |result: &CaseResult<'_>| {
            let (file, line) = spot(self.suites, result.case.place);
            let failure = |failure: &CaseFailure| {
                let mut shown = json!({"message": message(failure), "difference": failure.difference});
                if let (Some(minors), Some(map)) = (failure.kubernetes, shown.as_object_mut()) {
                    map.insert("kubernetes".to_owned(), json!(minors));
                }
                shown
            };
            let failures: Vec<Value> = result.failures.iter().map(failure).collect();
            json!({
                "suite": result.suite.name, "name": result.case.name, "variant": result.variant, "file": file, "line": line,
                "passed": result.failures.is_empty(), "failures": failures,
            })
        };
        let coverage = self.coverage.as_ref().map(|coverage| {
            let share = coverage.share();
            let line = |line: &CoverageLine| {
                let place = line.constraint.place.map(|place| spot(coverage.crds, place));
                json!({
                    "crd": line.crd, "version": line.version, "path": line.constraint.path.to_string(), "constraint": line.constraint.text,
                    "transition": line.constraint.transition, "passes": line.passes, "fails": line.fails,
                    "file": place.as_ref().map(|place| &place.0), "line": place.as_ref().map(|place| place.1),
                })
            };
            json!({
                "constraints": share.constraints, "covered": share.covered, "percent": (share.percent() * 10.0).round() / 10.0,
                "lines": coverage.lines.iter().map(line).collect::<Vec<_>>(),
            })
        });
        let release =
            |release: &ReleaseObjects| json!({"objects_of": release.title, "failed": release.failed(), "objects": release.judged});
        let report = json!({
            "schema": SCHEMA, "tool": crate::judge::report::TOOL, "cases": self.results.iter().map(case).collect::<Vec<_>>(),
            "failed": self.failed(), "kubernetes": self.kubernetes, "coverage": coverage,
            "releases": self.releases.iter().map(release).collect::<Vec<_>>(),
        });
        super::json::indented(&report)
    }
}

fn place(result: &CaseResult<'_>) -> Place {
    result.case.place
}

fn missing(line: &CoverageLine) -> &'static str {
    match (line.passes, line.fails) {
        (true, true) => "covered",
        (true, false) => "never broken",
        (false, true) => "never passed",
        (false, false) => "never checked",
    }
}

/// Writes a line for each version, and for each constraint without a case.
fn table(coverage: &CoverageView<'_>) -> String {
    let mut out = String::new();
    let mut versions: BTreeMap<(&str, &str), Vec<&CoverageLine>> = BTreeMap::new();
    for line in coverage.lines {
        versions.entry((&line.crd, &line.version)).or_default().push(line);
    }
    for ((crd, version), lines) in versions {
        let share = CoverageShare::of(lines.iter().copied());
        let _ =
            writeln!(out, "{} {}: {} of {}, {:.1} %", visible(crd), visible(version), share.covered, share.constraints, share.percent());
        for line in lines.into_iter().filter(|line| !line.is_covered()) {
            let path = if line.constraint.path.is_root() { "the object".to_owned() } else { line.constraint.path.to_string() };
            let text = line.constraint.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let by = if line.constraint.transition { " (by an update)" } else { "" };
            let _ = writeln!(out, "  {:<13}  {}  {}{by}", missing(line), visible(&path), visible(&shorten(&text, SHOWN)));
        }
    }
    out
}

/// Writes the lines of the CRDs that lack a case.
fn source(coverage: &CoverageView<'_>) -> String {
    let mut marked: BTreeMap<(u32, usize), Vec<&CoverageLine>> = BTreeMap::new();
    for line in coverage.lines.iter().filter(|line| !line.is_covered()) {
        if let Some(place) = line.constraint.place {
            marked.entry((place.file, spot(coverage.crds, place).1)).or_default().push(line);
        }
    }
    let mut out = String::new();
    let mut last = None;
    for ((file, number), lines) in marked {
        let Some(found) = coverage.crds.file(file) else { continue };
        if last != Some(file) {
            let _ = writeln!(out, "{}", visible(&found.name));
            last = Some(file);
        }
        let text = found.lines().range(&found.text, number).and_then(|range| found.text.get(range)).unwrap_or_default();
        let mut words: Vec<&str> = lines.iter().map(|line| missing(line)).collect();
        words.dedup();
        let _ = writeln!(out, "{number:>6} │ {:<60} ◀ {}", visible(&shorten(text.trim_end(), SHOWN)), words.join(", "));
    }
    out
}
