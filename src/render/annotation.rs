//! Renders the remarks of `validate` and `test` for platforms, as GitHub annotations or SARIF.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::json;

use crate::input::shorten;
use crate::judge::finding::Severity;
use crate::model::Place;

use super::Anchors;
use super::escape::visible;
use super::github::{LONGEST, MOST, data, property};
use super::sarif;
use crate::judge::overview::plural;

/// A remark to show at a place in a file.
#[derive(Debug, Clone)]
pub struct Annotation {
    /// The kind of remark, such as `rejected`.
    pub rule: &'static str,
    pub severity: Severity,
    pub place: Option<Place>,
    pub message: String,
}

/// Writes workflow commands for GitHub's runner, and a line for the log.
pub fn github(annotations: &[Annotation], anchors: &Anchors<'_>, summary: &str) -> String {
    let mut out = String::new();
    for (severity, command, word) in
        [(Severity::Error, "error", "error"), (Severity::Warning, "warning", "warning"), (Severity::Info, "notice", "note")]
    {
        let level: Vec<&Annotation> = annotations.iter().filter(|annotation| annotation.severity == severity).collect();
        let shown = if level.len() > MOST { MOST - 1 } else { level.len() };
        for annotation in level.iter().take(shown) {
            let _ = write!(out, "::{command} ");
            if let Some(anchor) = annotation.place.and_then(|place| anchors.at(place)) {
                let (path, line) = (property(&visible(anchor.path)), anchor.line);
                let _ = write!(out, "file={path},line={line},endLine={line},col={},endColumn={},", anchor.column, anchor.end_column);
            }
            let text = annotation.message.lines().map(visible).collect::<Vec<_>>().join("\n");
            let _ = writeln!(out, "title={}::{}", property(annotation.rule), data(&shorten(&text, LONGEST)));
        }
        if level.len() > shown {
            let more = plural(level.len() - shown, &format!("more {word}"));
            let _ = writeln!(out, "::{command} title=crdwise::{more}: see the log for all of them");
        }
    }
    let _ = writeln!(out, "crdwise: {}", visible(summary));
    out
}

/// Writes SARIF 2.1.0; `about` describes each kind of remark in a sentence.
pub fn sarif(command: &str, annotations: &[Annotation], anchors: &Anchors<'_>, about: &[(&'static str, &str)], complete: bool) -> String {
    let numbers: BTreeMap<&str, usize> = about.iter().enumerate().map(|(index, (rule, _))| (*rule, index)).collect();
    let rules: Vec<_> = about.iter().map(|(rule, text)| json!({"id": rule, "shortDescription": {"text": text}})).collect();
    let result = |annotation: &Annotation| {
        let anchor = annotation.place.and_then(|place| anchors.at(place));
        let location = anchor.map(|anchor| json!({"physicalLocation": sarif::physical(anchor)}));
        json!({
            "ruleId": annotation.rule,
            "ruleIndex": numbers.get(annotation.rule),
            "level": sarif::level(annotation.severity),
            "message": {"text": visible(&annotation.message)},
            "locations": location.into_iter().collect::<Vec<_>>(),
        })
    };
    let log = json!({
        "$schema": sarif::SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "crdwise",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            }},
            "automationDetails": {"id": format!("crdwise/{command}/")},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {sarif::ROOT: {"description": {"text": "The root of the repository"}}},
            "invocations": [{"executionSuccessful": complete}],
            "results": annotations.iter().take(sarif::MOST).map(result).collect::<Vec<_>>(),
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}
