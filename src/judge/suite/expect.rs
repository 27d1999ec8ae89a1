//! Compares the server's response with the expectations of a case.

use serde_json::{Map, Value};

use crate::input::line_diff;
use crate::model::kubernetes::Minors;
use crate::model::schema::is_meta;
use crate::server::object::{FieldError, FieldErrorKind, Response};

use super::{Expectations, Expected, ExpectedError};

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CaseFailure {
    pub message: String,
    /// A diff between expected and actual: lines that start with `-`, `+` or a space.
    pub difference: Vec<String>,
    /// The servers that respond this way, if not all do.
    pub kubernetes: Option<Minors>,
}

impl CaseFailure {
    pub fn new(message: impl Into<String>) -> Self {
        CaseFailure::with(message, Vec::new())
    }

    pub fn with(message: impl Into<String>, difference: Vec<String>) -> Self {
        CaseFailure { message: message.into(), difference, kubernetes: None }
    }

    /// A failure because the request was rejected for these reasons.
    pub fn rejected(message: &str, errors: &[FieldError]) -> Self {
        CaseFailure::with(message, lines('+', &shown(errors)))
    }
}

/// Returns all differences between a response, with its warnings, and the expectations.
pub(super) fn compare(expects: &Expectations, outcome: &Response, warnings: impl FnOnce() -> Vec<String>) -> Vec<CaseFailure> {
    let mut failures = Vec::new();
    for (path, reason) in &outcome.undecided {
        failures.push(CaseFailure::new(format!("a check can't be made here: {path}: {reason}")));
    }
    match &expects.verdict {
        Some(Expected::Accepted) if !outcome.accepted() => {
            failures.push(CaseFailure::rejected("expected to be accepted, but was rejected", &outcome.errors));
        }
        Some(Expected::Rejected) if outcome.accepted() => failures.push(CaseFailure::new("expected to be rejected, but was accepted")),
        Some(Expected::RejectedWith(wanted)) => failures.extend(rejected_with(wanted, outcome)),
        Some(Expected::RejectedBy(wanted)) => failures.extend(rejected_by(wanted, &outcome.errors)),
        _ => {}
    }
    if let Some(wanted) = expects.stores.as_ref().filter(|_| outcome.accepted()) {
        failures.extend(stored(wanted, &outcome.stored));
    }
    if let Some(wanted) = &expects.warns {
        failures.extend(warned(wanted, &warnings()));
    }
    failures
}

/// The errors without the one that follows from others.
pub(super) fn own_errors(errors: &[FieldError]) -> impl Iterator<Item = &FieldError> {
    errors.iter().filter(|error| errors.len() == 1 || error.kind != FieldErrorKind::Unchecked)
}

/// The errors as shown, with long values shortened.
fn shown(errors: &[FieldError]) -> Vec<String> {
    own_errors(errors).map(|error| format!("{}: {}", error.field, error.message)).collect()
}

fn lines(sign: char, texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| format!("{sign} {text}")).collect()
}

/// The error as a client sees it: `Widget.shop.example.com "a" is invalid: [spec.size: Invalid value: …, spec.mode: …]`.
fn client_error(outcome: &Response) -> String {
    let word = |pointer: &str| outcome.stored.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let errors: Vec<String> = outcome.errors.iter().map(|error| format!("{}: {}", error.field, error.server_message())).collect();
    let group = word("/apiVersion").split_once('/').map_or("", |(group, _)| group);
    let errors = if let [only] = errors.as_slice() { only.clone() } else { format!("[{}]", errors.join(", ")) };
    format!("{}.{group} {:?} is invalid: {errors}", word("/kind"), word("/metadata/name"))
}

pub(super) fn rejected_with(wanted: &str, outcome: &Response) -> Option<CaseFailure> {
    let errors = &outcome.errors;
    if errors.is_empty() {
        return Some(CaseFailure::with("expected to be rejected, but was accepted", vec![format!("- {wanted}")]));
    }
    if client_error(outcome).contains(wanted.trim()) {
        return None;
    }
    let mut difference = vec![format!("- {wanted}")];
    difference.extend(errors.iter().map(|error| format!("+ {}: {}", error.field, error.message)));
    Some(CaseFailure::with("rejected with a different error than expected", difference))
}

fn rejected_by(wanted: &[ExpectedError], errors: &[FieldError]) -> Option<CaseFailure> {
    let errors: Vec<&FieldError> = own_errors(errors).collect();
    let fits = |wanted: &ExpectedError, error: &FieldError| {
        let path = |path: &String| *path == error.path.to_string() || *path == error.path.dotted() || *path == error.field;
        wanted.path.as_ref().is_none_or(path)
            && wanted.message.as_ref().is_none_or(|message| error.server_message().contains(message.trim()))
    };
    let missing = wanted.iter().filter(|wanted| !errors.iter().any(|error| fits(wanted, error)));
    let text = |wanted: &ExpectedError| {
        let part = |text: &Option<String>| text.clone().unwrap_or_else(|| "…".to_owned());
        format!("- {}: {}", part(&wanted.path), part(&wanted.message))
    };
    let mut difference: Vec<String> = missing.map(text).collect();
    let extra = errors.iter().filter(|error| !wanted.iter().any(|wanted| fits(wanted, error)));
    difference.extend(extra.map(|error| format!("+ {}: {}", error.field, error.message)));
    let message =
        if errors.is_empty() { "expected to be rejected, but was accepted" } else { "rejected with different errors than expected" };
    (!difference.is_empty()).then(|| CaseFailure::with(message, difference))
}

/// The part of an object to compare: for its type and metadata, only what is expected.
fn comparable(object: &Value, wanted: &Value) -> Value {
    let Some(map) = object.as_object() else { return object.clone() };
    let mut kept: Map<String, Value> =
        map.iter().filter(|(key, _)| !is_meta(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    let metadata = |object: &Value, key: &str| object.get("metadata").and_then(|metadata| metadata.get(key)).cloned();
    for key in ["labels", "annotations", "finalizers", "ownerReferences"] {
        if metadata(wanted, key).is_some() {
            kept.insert(format!("metadata.{key}"), metadata(object, key).unwrap_or_default());
        }
    }
    Value::Object(kept)
}

fn stored(wanted: &Value, actual: &Value) -> Option<CaseFailure> {
    let (wanted, actual) = (comparable(wanted, wanted), comparable(actual, wanted));
    let text = |value: &Value| crate::find::conversion::text::as_yaml(value);
    let (before, after) = (text(&wanted), text(&actual));
    if wanted == actual || before == after {
        return None;
    }
    let difference = line_diff(&before, &after);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            similar::ChangeTag::Delete => '-',
            similar::ChangeTag::Insert => '+',
            similar::ChangeTag::Equal => ' ',
        };
        format!("{sign} {}", change.value().trim_end_matches('\n'))
    };
    Some(CaseFailure::with("the stored object is not the expected one", difference.iter_all_changes().map(line).collect()))
}

fn warned(wanted: &[String], actual: &[String]) -> Option<CaseFailure> {
    let missing = wanted.iter().filter(|wanted| !actual.iter().any(|text| text.contains(wanted.trim())));
    let mut difference: Vec<String> = missing.map(|text| format!("- {text}")).collect();
    let extra = actual.iter().filter(|text| !wanted.iter().any(|wanted| text.contains(wanted.trim())));
    difference.extend(extra.map(|text| format!("+ {text}")));
    (!difference.is_empty()).then(|| CaseFailure::with("the server's warnings are not the expected ones", difference))
}
