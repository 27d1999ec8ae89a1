//! Renders the remarks of `validate` and `test` for platforms, as GitHub annotations or SARIF.

use std::collections::BTreeMap;

use serde_json::json;

use crate::judge::finding::Severity;
use crate::model::Place;

use super::Anchors;
use super::escape::visible;
use super::github::{GithubAnnotation, commands};
use super::sarif;

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
    let github = |annotation: &Annotation| GithubAnnotation {
        severity: annotation.severity,
        anchor: annotation.place.and_then(|place| anchors.at(place)),
        title: annotation.rule,
        message: annotation.message.lines().map(visible).collect::<Vec<_>>().join("\n"),
    };
    let listed: Vec<GithubAnnotation<'_>> = annotations.iter().map(github).collect();
    format!("{}crdwise: {}\n", commands(&listed, ": see the log for all of them"), visible(summary))
}

/// Writes SARIF 2.1.0; `about` describes each kind of remark in a sentence.
pub fn sarif(command: &str, annotations: &[Annotation], anchors: &Anchors<'_>, about: &[(&'static str, &str)], complete: bool) -> String {
    let numbers: BTreeMap<&str, usize> = about.iter().enumerate().map(|(index, (rule, _))| (*rule, index)).collect();
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
    let rules = about.iter().map(|(rule, text)| json!({"id": rule, "shortDescription": {"text": text}})).collect();
    sarif::log(command, rules, complete, None, (annotations.iter().map(result), annotations.len()))
}
