//! SARIF 2.1.0, with everything that code scanning uses about a result and its rule.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::judge::finding::{Finding, Severity, Spot, Status};
use crate::judge::rule::Book;

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
    (results, total): (impl Iterator<Item = Value>, usize),
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
    let lines: Vec<String> = results.take(MOST).map(|result| result.to_string()).collect();
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

fn entry(finding: &Finding, rule_index: usize, twin: usize, view: &View<'_>) -> Value {
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": level(finding.severity),
        "message": {"text": message(finding)},
        // GitHub compares only the first of them.
        "partialFingerprints": {
            "primaryLocationLineHash": format!("{}:{twin}", finding.fingerprint),
            "crdwise/v1": finding.fingerprint,
        },
        "properties": {
            "crd": visible(&finding.crd),
            "version": finding.version.as_deref().map(visible),
            "path": visible(&finding.path),
            "class": finding.class,
            "kind": finding.kind,
            "bump": finding.bump,
            "affects": finding.affects,
            "certainty": finding.certainty,
            "status": finding.status,
            "group": finding.group,
        },
    });
    if let Some(Spot { file, line, column, .. }) = &finding.before {
        result["properties"]["before"] = format!("{}:{line}:{column}", visible(file)).into();
    }
    if let Some(anchor) = view.anchors.of(finding) {
        let mut location = json!({"physicalLocation": physical(anchor)});
        if let Some((name, kind)) = logical(finding) {
            location["logicalLocations"] = json!([{"fullyQualifiedName": name, "kind": kind}]);
        }
        result["locations"] = json!([location]);
    }
    if view.report.old.is_some() {
        result["baselineState"] = if finding.status == Status::PreExisting { "unchanged" } else { "new" }.into();
    }
    if finding.status == Status::Waived {
        let mut suppression = json!({"kind": "external"});
        if let Some(reason) = &finding.waiver {
            suppression["justification"] = visible(reason).into();
        }
        result["suppressions"] = json!([suppression]);
    }
    result
}

/// The field, version or CRD, and what it is; `None` for a finding about the bundle.
fn logical(finding: &Finding) -> Option<(String, &'static str)> {
    let crd = visible(&finding.crd);
    match &finding.version {
        _ if crd.is_empty() => None,
        None => Some((crd.into_owned(), "type")),
        Some(version) if finding.path.is_empty() => Some((format!("{crd}/{}", visible(version)), "type")),
        Some(version) => Some((format!("{crd}/{}:{}", visible(version), visible(&finding.path)), "member")),
    }
}

pub(super) fn physical(anchor: Anchor<'_>) -> Value {
    let Anchor { path, line, column, end_column, .. } = anchor;
    let artifact = match path.starts_with('/') {
        true => json!({"uri": format!("file://{}", uri(path))}),
        false => json!({"uri": uri(path), "uriBaseId": ROOT}),
    };
    let region = json!({"startLine": line, "startColumn": column, "endLine": line, "endColumn": end_column});
    json!({"artifactLocation": artifact, "region": region})
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
        let mut findings = vec![Finding { severity: Severity::Info, kind: crate::judge::rule::Kind::AddField, ..sample::finding() }; MOST];
        findings.push(Finding { fingerprint: "ffffffffffffffff".into(), ..sample::finding() });
        let log: Value = serde_json::from_str(&sample::rendered(findings, render)).unwrap();
        let run = &log["runs"][0];
        assert_eq!(run["results"].as_array().map(Vec::len), Some(MOST));
        assert_eq!(run["results"][0]["level"], "error");
        let note = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"].as_str().unwrap();
        assert!(note.starts_with("results left out, least severe first: 1;"), "{note}");
    }
}
