//! SARIF 2.1.0, with everything that code scanning uses about a result and its rule.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::judge::finding::{Bump, Class, Finding, Severity, Spot, Status};
use crate::judge::rule::{Book, Kind};
use crate::model::fact::{Affects, Certainty};

use super::anchor::Anchor;
use super::escape::visible;
use super::json;
use super::proof::Proof;
use super::report_view::View;

/// GitHub accepts this many results per run, and refuses a file with more.
const MOST: usize = 25_000;
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The base that relative URIs refer to.
const ROOT: &str = "%SRCROOT%";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultEntry<'r> {
    rule_id: &'r str,
    rule_index: usize,
    level: &'static str,
    message: Text<'r>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location<'r>>,
    partial_fingerprints: Fingerprints<'r>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression<'r>>,
    properties: Properties<'r>,
}

#[derive(Serialize)]
struct Text<'r> {
    text: Cow<'r, str>,
}

#[derive(Serialize)]
struct Suppression<'r> {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    justification: Option<Cow<'r, str>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fingerprints<'r> {
    /// The only fingerprint that GitHub compares.
    primary_location_line_hash: String,
    #[serde(rename = "crdwise/v1")]
    own: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'r> {
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'r> {
    fully_qualified_name: Cow<'r, str>,
    kind: &'static str,
}

#[derive(Serialize)]
struct Properties<'r> {
    crd: Cow<'r, str>,
    version: Option<Cow<'r, str>>,
    path: Cow<'r, str>,
    class: Option<Class>,
    kind: Kind,
    bump: Bump,
    affects: Affects,
    certainty: Certainty,
    status: Status,
    group: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
}

pub fn render(view: &View<'_>) -> String {
    let findings = view.worst_first();
    let total = findings.len();
    let mut rules: Vec<Value> = Vec::new();
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut twins: BTreeMap<&str, usize> = BTreeMap::new();
    let mut results = Vec::new();
    for finding in findings.into_iter().take(MOST) {
        let index = *numbers.entry(&finding.rule).or_insert_with(|| {
            rules.push(descriptor(finding, view.book));
            rules.len() - 1
        });
        let twin = twins.entry(&finding.fingerprint).or_insert(0);
        *twin += 1;
        results.push(entry(finding, index, *twin, view));
    }
    let command = if view.report.old.is_some() { "review" } else { "lint" };
    let properties = json!({
        "policy": visible(&view.report.policy),
        "verdict": view.report.verdict,
        "bump": view.report.bump.as_ref().map(|bump| bump.required),
        "summary": view.report.summary,
    });
    log(command, rules, view.complete, Some(properties), (results.into_iter(), total))
}

/// Writes a log with one run. Results come with their total number; each is on its own line, which keeps diffs of reports readable
/// and large reports small.
pub(super) fn log(
    command: &str,
    rules: Vec<Value>,
    complete: bool,
    properties: Option<Value>,
    (results, total): (impl Iterator<Item = impl Serialize>, usize),
) -> String {
    const EMPTY: &str = "\"results\": []";
    let mut notifications = Vec::new();
    if let Some(left_out @ 1..) = total.checked_sub(MOST) {
        notifications
            .push(notification(&format!("results left out, least severe first: {left_out}; code scanning accepts at most {MOST}")));
    }
    if !complete {
        notifications.push(notification("not every input could be read; the log of the run has the reasons"));
    }
    let mut run = json!({
        "tool": {"driver": {
            "name": "crdwise",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": rules,
        }},
        "automationDetails": {"id": format!("crdwise/{command}/")},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the repository"}}},
        "invocations": [{"executionSuccessful": complete, "toolExecutionNotifications": notifications}],
        "results": [],
    });
    if let Some(properties) = properties {
        run["properties"] = properties;
    }
    let frame = serde_json::to_string_pretty(&json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})).unwrap_or_default();
    let lines: Vec<String> = results.take(MOST).filter_map(|result| serde_json::to_string(&result).ok()).collect();
    // No string can contain an unescaped quotation mark.
    let listed =
        if lines.is_empty() { EMPTY.to_owned() } else { format!("\"results\": [\n        {}\n      ]", lines.join(",\n        ")) };
    json::inert(frame.replacen(EMPTY, &listed, 1) + "\n")
}

fn notification(text: &str) -> Value {
    json!({"level": "warning", "message": {"text": text}})
}

pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

/// The descriptor of a rule, from its page; for an unknown rule, from the texts of its finding.
fn descriptor(finding: &Finding, book: &Book) -> Value {
    let rule = book.get(&finding.rule);
    let title = visible(&finding.title);
    let page = rule.map(|rule| rule.body.text()).unwrap_or_default().trim();
    let first = section(page, "## What it does");
    let full = if first.is_empty() { title.to_string() } else { first };
    let help = if page.is_empty() { visible(&finding.help).into_owned() } else { page.to_owned() };
    let severity = rule.and_then(|rule| rule.severity).unwrap_or(finding.severity);
    let mut descriptor = json!({
        "id": finding.rule,
        "name": pascal(&finding.rule),
        "shortDescription": {"text": title},
        "fullDescription": {"text": full},
        "help": {"text": help, "markdown": help},
        "defaultConfiguration": {"level": level(severity)},
        "properties": {
            "tags": ["kubernetes", "crd", finding.family.name(), finding.kind.name()],
            "precision": "very-high",
            "problem.severity": match severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Info => "recommendation",
            },
        },
    });
    if let Some(rule) = rule.filter(|rule| !rule.aliases.is_empty()) {
        descriptor["deprecatedIds"] = json!(rule.aliases);
    }
    if let Some(address) = book.address(&finding.rule) {
        descriptor["helpUri"] = json!(address);
    }
    descriptor
}

/// Joins the paragraphs under a heading.
fn section(page: &str, heading: &str) -> String {
    let lines = page.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.starts_with("## "));
    lines.map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// `field-removed` → `FieldRemoved`.
fn pascal(id: &str) -> String {
    let word = |word: &str| {
        let mut rest = word.chars();
        rest.next().map(|first| first.to_ascii_uppercase().to_string() + rest.as_str()).unwrap_or_default()
    };
    id.split('-').map(word).collect()
}

fn entry<'r>(finding: &'r Finding, rule_index: usize, twin: usize, view: &View<'_>) -> ResultEntry<'r> {
    let location =
        |anchor: Anchor<'_>| Location { physical_location: physical(anchor), logical_locations: logical(finding).into_iter().collect() };
    ResultEntry {
        rule_id: &finding.rule,
        rule_index,
        level: level(finding.severity),
        message: Text { text: message(finding) },
        locations: view.anchors.of(finding).map(location).into_iter().collect(),
        partial_fingerprints: Fingerprints {
            primary_location_line_hash: format!("{}:{twin}", finding.fingerprint),
            own: &finding.fingerprint,
        },
        baseline_state: view.report.old.is_some().then_some(match finding.status {
            Status::PreExisting => "unchanged",
            Status::New | Status::Waived => "new",
        }),
        suppressions: suppression(finding).into_iter().collect(),
        properties: Properties {
            crd: visible(&finding.crd),
            version: finding.version.as_deref().map(visible),
            path: visible(&finding.path),
            class: finding.class,
            kind: finding.kind,
            bump: finding.bump,
            affects: finding.affects,
            certainty: finding.certainty,
            status: finding.status,
            group: &finding.group,
            before: finding.before.as_ref().map(|Spot { file, line, column, .. }| format!("{}:{line}:{column}", visible(file))),
        },
    }
}

fn suppression(finding: &Finding) -> Option<Suppression<'_>> {
    let waived = Suppression { kind: "external", justification: finding.waiver.as_deref().map(visible) };
    (finding.status == Status::Waived).then_some(waived)
}

/// The field, version or CRD; `None` for a finding about the bundle.
fn logical(finding: &Finding) -> Option<LogicalLocation<'_>> {
    let (name, kind): (Cow<'_, str>, _) = match &finding.version {
        _ if finding.crd.is_empty() => return None,
        None => (visible(&finding.crd), "type"),
        Some(version) if finding.path.is_empty() => (format!("{}/{}", visible(&finding.crd), visible(version)).into(), "type"),
        Some(version) => (format!("{}/{}:{}", visible(&finding.crd), visible(version), visible(&finding.path)).into(), "member"),
    };
    Some(LogicalLocation { fully_qualified_name: name, kind })
}

pub(super) fn physical(anchor: Anchor<'_>) -> PhysicalLocation {
    let absolute = anchor.path.starts_with('/');
    let scheme = if absolute { "file://" } else { "" };
    PhysicalLocation {
        artifact_location: ArtifactLocation { uri: format!("{scheme}{}", uri(anchor.path)), uri_base_id: (!absolute).then_some(ROOT) },
        region: Region { start_line: anchor.line, start_column: anchor.column, end_line: anchor.line, end_column: anchor.end_column },
    }
}

/// Message, help and proof as plain text. `[text](address)` would become a link.
fn message(finding: &Finding) -> Cow<'_, str> {
    let mut text = visible(&finding.message).into_owned();
    if !finding.help.is_empty() {
        text.push_str(".\nFix: ");
        text.push_str(&visible(&finding.help));
    }
    if let Some(proof) = Proof::of(finding) {
        text.push_str(&format!(".\nProof: {}", visible(&proof.text())));
    }
    text.push('.');
    if text.contains("](") { text.replace("](", "\\](").into() } else { text.into() }
}

/// Writes a path as a relative URI reference, percent-encoding everything but unreserved characters.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use serde_json::Value;

    fn check(text: &str) -> Value {
        let log: Value = serde_json::from_str(text).unwrap();
        let schema: Value = serde_json::from_str(include_str!("sarif.test.schema.json")).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&log).map(|error| format!("{} at {}", error, error.instance_path())).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        log
    }

    #[test]
    fn hostile_text_stays_text() {
        let log = check(&sample::rendered_hostile(render));
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 5);
        for result in results {
            let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
            assert!(uri.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/%".contains(&byte)), "{uri}");
            let message = result["message"]["text"].as_str().unwrap();
            assert!(!message.contains("x](javascript:") || message.contains("x\\](javascript:"), "{message}");
            assert!(!message.chars().any(|c| c.is_control() && c != '\n'), "{message}");
        }
        let waived: Vec<&str> = results.iter().filter(|r| r.get("suppressions").is_some()).filter_map(|r| r["ruleId"].as_str()).collect();
        assert_eq!(waived, ["enum-narrowed"]);
        assert_eq!(results.iter().filter(|r| r["baselineState"] == "unchanged").count(), 1);
    }

    #[test]
    fn a_run_without_results_is_a_complete_log() {
        let log = check(&sample::rendered(Vec::new(), render));
        assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(0));
    }

    #[test]
    fn equal_fingerprints_are_numbered() {
        let log = check(&sample::rendered(vec![sample::finding(), sample::finding()], render));
        let hash = |n: usize| log["runs"][0]["results"][n]["partialFingerprints"]["primaryLocationLineHash"].as_str().unwrap().to_owned();
        assert_eq!((hash(0), hash(1)), ("0123456789abcdef:1".to_owned(), "0123456789abcdef:2".to_owned()));
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().map(Vec::len), Some(1));
    }

    #[test]
    fn the_worst_are_kept_when_there_are_too_many() {
        let mut findings = vec![Finding { severity: Severity::Info, kind: Kind::AddField, ..sample::finding() }; MOST];
        findings.push(Finding { fingerprint: "ffffffffffffffff".into(), ..sample::finding() });
        let log: Value = serde_json::from_str(&sample::rendered(findings, render)).unwrap();
        let run = &log["runs"][0];
        assert_eq!(run["results"].as_array().map(Vec::len), Some(MOST));
        assert_eq!(run["results"][0]["level"], "error");
        let note = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
        assert!(note.starts_with("results left out, least severe first: 1;"), "{note}");
    }
}
