//! Sends the cases of suites to the model of the server, and compares its answers with what is expected.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::model::{Bundle, Crd};
use crate::server::object::{Endpoint, Error, Kind, Outcome, Seen, Subresource};

use super::coverage::Coverage;
use super::{Case, Expected, ExpectedError, Request, Suite};

/// The server that answers. A case for another one fails, rather than being answered by the wrong one.
const KUBERNETES: &str = "1.36";

/// The name of an object that has none.
const NAME: &str = "test";

/// The result of one case with one CRD.
#[derive(Debug)]
pub(crate) struct CaseResult<'s> {
    pub suite: &'s Suite,
    pub case: &'s Case,
    /// What tells the variant of the CRD from others, where there are some.
    pub variant: Option<String>,
    /// How the answer differs from what is expected; empty for a case that passes.
    pub failures: Vec<Failure>,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    pub message: String,
    /// Lines of a difference between expected and actual: `-`, `+` or a blank, and the text.
    pub difference: Vec<String>,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), difference: Vec::new() }
    }
}

/// Runs all cases, in parallel; results are in the order of the suites.
pub(crate) fn run<'s>(suites: &'s [Suite], bundle: &Bundle<'_>) -> (Vec<CaseResult<'s>>, Coverage) {
    let endpoints = Endpoints::of(suites, bundle);
    let cases: Vec<(&Suite, &Case)> = suites.iter().flat_map(|suite| suite.cases.iter().map(move |case| (suite, case))).collect();
    let answered: Vec<Vec<(CaseResult<'s>, Option<Answered>)>> =
        cases.par_iter().map(|(suite, case)| answers(suite, case, bundle, &endpoints)).collect();
    let mut coverage = Coverage::default();
    let mut results = Vec::new();
    for (result, answered) in answered.into_iter().flatten() {
        if let Some(answered) = answered {
            coverage.add(answered.crd, answered.version, &answered.seen);
        }
        results.push(result);
    }
    (results, coverage)
}

/// The checks that a case made, and where.
struct Answered {
    crd: usize,
    version: usize,
    seen: Vec<Seen>,
}

/// The versions that cases need, compiled once.
struct Endpoints {
    by_version: BTreeMap<(usize, usize), Option<Endpoint>>,
}

impl Endpoints {
    fn of(suites: &[Suite], bundle: &Bundle<'_>) -> Self {
        let mut needed = std::collections::BTreeSet::new();
        for suite in suites {
            for case in &suite.cases {
                for (crd, _) in crds(suite, case, bundle) {
                    let found = bundle.crds.get(crd).and_then(|found| version_of(found, suite, case));
                    needed.extend(found.map(|version| (crd, version)));
                }
            }
        }
        let compile = |key: (usize, usize)| {
            let version = bundle.crds.get(key.0).and_then(|crd| crd.versions.get(key.1));
            (key, version.and_then(Endpoint::traced))
        };
        Endpoints { by_version: needed.into_par_iter().map(compile).collect() }
    }
}

/// The object that a case is about.
fn subject(case: &Case) -> &Value {
    match &case.request {
        Request::Create(object) => object,
        // A `Scale` belongs to what it scales.
        Request::Update { previous, object, .. } => {
            if object.get("kind").is_some_and(|kind| kind == "Scale") {
                previous
            } else {
                object
            }
        }
        Request::Sequence { updated, .. } => updated,
    }
}

fn text<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str)
}

/// The CRDs for a case: those of the name that the suite gives, or of the object's group and kind. Several if they are variants.
fn crds<'b>(suite: &Suite, case: &Case, bundle: &'b Bundle<'_>) -> Vec<(usize, Option<String>)> {
    let object = subject(case);
    let group = text(object, "apiVersion").and_then(|version| version.split_once('/')).map(|(group, _)| group);
    let fits = |crd: &Crd<'_>| match (&suite.crd, group, text(object, "kind")) {
        (Some(name), _, _) => crd.name == name,
        (None, Some(group), Some(kind)) => crd.group() == group && crd.kind() == kind,
        (None, None, Some(kind)) => crd.kind() == kind,
        (None, _, None) => false,
    };
    let mut found: Vec<(usize, &Crd<'b>)> = bundle.crds.iter().enumerate().filter(|(_, crd)| fits(crd)).collect();
    if suite.crd.is_none() && group.is_none() && found.is_empty() && bundle.crds.len() == 1 {
        found = bundle.crds.iter().enumerate().collect();
    }
    let gated = |crd: &Crd<'_>, gate: &str| {
        let annotations = crd.node.get("metadata").and_then(|metadata| metadata.get("annotations"));
        annotations.and_then(|map| map.get(&format!("feature-gate.release.openshift.io/{gate}"))).is_some()
    };
    let knows_gates = found.iter().any(|(_, crd)| suite.gates.iter().any(|gate| gated(crd, gate.trim_start_matches('-'))));
    if knows_gates {
        found.retain(|(_, crd)| {
            suite.gates.iter().all(|gate| match gate.strip_prefix('-') {
                Some(gate) => !gated(crd, gate),
                None => gated(crd, gate),
            })
        });
    }
    let several = found.len() > 1;
    found.into_iter().map(|(index, crd)| (index, several.then(|| variant(crd)))).collect()
}

fn variant(crd: &Crd<'_>) -> String {
    let track = crd.track();
    let mut words: Vec<&str> = track.channel.into_iter().collect();
    words.extend(track.feature_set);
    words.extend(track.file);
    words.join(" ")
}

/// The version that the object names, else that of the case or the suite, else the one that `kubectl` uses.
fn version_of(crd: &Crd<'_>, suite: &Suite, case: &Case) -> Option<usize> {
    let named = text(subject(case), "apiVersion").map(|text| text.split_once('/').map_or(text, |(_, version)| version));
    let name = case.version.as_deref().or(named).or(suite.version.as_deref());
    match name {
        Some(name) => crd.versions.iter().position(|version| version.name == name),
        None => crd.preferred_version().map(|version| version.index),
    }
}

fn answers<'s>(suite: &'s Suite, case: &'s Case, bundle: &Bundle<'_>, endpoints: &Endpoints) -> Vec<(CaseResult<'s>, Option<Answered>)> {
    let result = |variant, failures| CaseResult { suite, case, variant, failures };
    if let Some(asked) = case.kubernetes.as_deref().filter(|asked| *asked != KUBERNETES) {
        let message = format!("the case asks for Kubernetes {asked}; suites are answered as {KUBERNETES} answers");
        return vec![(result(None, vec![Failure::new(message)]), None)];
    }
    let candidates = crds(suite, case, bundle);
    if candidates.is_empty() {
        let object = subject(case);
        let what = match (&suite.crd, text(object, "kind")) {
            (Some(name), _) => format!("the CRD `{name}` was not found"),
            (None, Some(kind)) => format!("no CRD was found for kind {kind}"),
            (None, None) => "the object has no `kind`, and the suite doesn't name its `crd`".to_owned(),
        };
        return vec![(result(None, vec![Failure::new(what)]), None)];
    }
    let answer = |(index, variant): (usize, Option<String>)| {
        let Some(crd) = bundle.crds.get(index) else { return (result(variant, Vec::new()), None) };
        let Some(position) = version_of(crd, suite, case) else {
            let known: Vec<&str> = crd.versions.iter().map(|version| version.name).collect();
            return (result(variant, vec![Failure::new(format!("the CRD doesn't have this version; it has {}", known.join(", ")))]), None);
        };
        let version = crd.versions.get(position);
        let Some(endpoint) = endpoints.by_version.get(&(index, position)).and_then(Option::as_ref) else {
            return (result(variant, vec![Failure::new("the version has no schema")]), None);
        };
        let api_version = format!("{}/{}", crd.group(), version.map_or("", |version| version.name));
        let served = version.is_some_and(|version| version.served);
        let (failures, seen) = match served {
            true => Asked { endpoint, api_version, kind: crd.kind() }.case(case),
            false => (vec![Failure::new(format!("{api_version} is not served"))], Vec::new()),
        };
        (result(variant, failures), Some(Answered { crd: index, version: position, seen }))
    };
    candidates.into_iter().map(answer).collect()
}

/// An endpoint with what objects of it are called.
pub(super) struct Asked<'e> {
    pub endpoint: &'e Endpoint,
    pub api_version: String,
    pub kind: &'e str,
}

impl Asked<'_> {
    /// An object with what its author may leave out.
    pub fn complete(&self, object: &Value) -> Value {
        let mut object = object.clone();
        let Some(map) = object.as_object_mut() else { return object };
        map.entry("apiVersion").or_insert_with(|| self.api_version.as_str().into());
        map.entry("kind").or_insert_with(|| self.kind.into());
        if let Some(metadata) = map.entry("metadata").or_insert_with(|| json!({})).as_object_mut()
            && !metadata.contains_key("generateName")
        {
            metadata.entry("name").or_insert_with(|| NAME.into());
        }
        object
    }

    fn case(&self, case: &Case) -> (Vec<Failure>, Vec<Seen>) {
        match &case.request {
            Request::Create(object) => {
                let outcome = self.endpoint.create(self.complete(object));
                self.compare(case, outcome, None)
            }
            Request::Update { previous, object, subresource } => {
                let old = self.endpoint.read(self.complete(previous));
                let scale = text(object, "kind") == Some("Scale");
                let new = if scale { object.clone() } else { self.complete(object) };
                let outcome = match subresource {
                    None => Some(self.endpoint.update(&old, new)),
                    Some(subresource) => self.endpoint.update_subresource(*subresource, &old, new),
                };
                match outcome {
                    Some(outcome) => self.compare(case, outcome, Some(&old)),
                    None => {
                        let name = subresource.map_or("", Subresource::name);
                        (vec![Failure::new(format!("{} has no {name} subresource", self.api_version))], Vec::new())
                    }
                }
            }
            Request::Sequence { initial, updated, initial_is_stored } => self.sequence(case, initial, updated, *initial_is_stored),
        }
    }

    fn sequence(&self, case: &Case, initial: &Value, updated: &Value, initial_is_stored: bool) -> (Vec<Failure>, Vec<Seen>) {
        let initial = self.complete(initial);
        let mut seen = Vec::new();
        let old = if initial_is_stored {
            self.endpoint.read(initial)
        } else {
            let created = self.endpoint.create(initial.clone());
            seen.extend(created.seen.iter().cloned());
            if !created.accepted() {
                let failure =
                    Failure { message: "the initial object is rejected".to_owned(), difference: lines('+', &shown(&created.errors)) };
                return (vec![failure], seen);
            }
            match self.write_status(&created.stored, &initial) {
                None => created.stored,
                Some(outcome) if outcome.accepted() => {
                    seen.extend(outcome.seen);
                    outcome.stored
                }
                Some(outcome) => {
                    let message = "the status of the initial object is rejected".to_owned();
                    return (vec![Failure { message, difference: lines('+', &shown(&outcome.errors)) }], seen);
                }
            }
        };
        let updated = self.complete(updated);
        let mut outcome = self.endpoint.update(&old, updated.clone());
        if outcome.accepted() {
            let status = self.write_status(&outcome.stored, &updated);
            if let Some(wanted) = &case.expects.status_error {
                seen.extend(outcome.seen);
                let Some(status) = status else {
                    return (vec![Failure::new("no status is written, and its error is expected")], seen);
                };
                seen.extend(status.seen.iter().cloned());
                return (rejected_with(wanted, &status.errors).into_iter().collect(), seen);
            }
            if let Some(mut status) = status {
                status.seen.extend(outcome.seen);
                outcome = status;
            }
        }
        let (failures, more) = self.compare(case, outcome, Some(&old));
        seen.extend(more);
        (failures, seen)
    }

    /// Writes the status of an object behind it, where there is one and it has a subresource.
    fn write_status(&self, stored: &Value, object: &Value) -> Option<Outcome> {
        object.get("status")?;
        self.endpoint.update_subresource(Subresource::Status, stored, object.clone())
    }

    fn compare(&self, case: &Case, outcome: Outcome, old: Option<&Value>) -> (Vec<Failure>, Vec<Seen>) {
        let mut failures = Vec::new();
        for (path, reason) in &outcome.undecided {
            failures.push(Failure::new(format!("a check can't be made here: {path}: {reason}")));
        }
        match &case.expects.verdict {
            Some(Expected::Accepted) if !outcome.accepted() => {
                failures.push(Failure {
                    message: "accepted was expected, but it is rejected".to_owned(),
                    difference: lines('+', &shown(&outcome.errors)),
                });
            }
            Some(Expected::Rejected) if outcome.accepted() => failures.push(Failure::new("rejected was expected, but it is accepted")),
            Some(Expected::RejectedWith(wanted)) => failures.extend(rejected_with(wanted, &outcome.errors)),
            Some(Expected::RejectedBy(wanted)) => failures.extend(rejected_by(wanted, &outcome.errors)),
            _ => {}
        }
        if let Some(wanted) = case.expects.stores.as_ref().filter(|_| outcome.accepted()) {
            failures.extend(stored(wanted, &outcome.stored));
        }
        if let Some(wanted) = &case.expects.warns {
            failures.extend(warned(wanted, &self.endpoint.warnings(&outcome, old)));
        }
        (failures, outcome.seen)
    }
}

/// The errors as the server words them, without the one that follows from others.
fn shown(errors: &[Error]) -> Vec<String> {
    let follows = |error: &&Error| errors.len() > 1 && error.kind == Kind::Unchecked;
    errors.iter().filter(|error| !follows(error)).map(|error| format!("{}: {}", error.field, error.message)).collect()
}

fn lines(sign: char, texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| format!("{sign} {text}")).collect()
}

fn rejected_with(wanted: &str, errors: &[Error]) -> Option<Failure> {
    if errors.is_empty() {
        let message = "rejected was expected, but it is accepted".to_owned();
        return Some(Failure { message, difference: vec![format!("- {wanted}")] });
    }
    // With all errors in one text, as a client sees them.
    let all = shown(errors);
    let together = format!("[{}]", all.join(", "));
    if together.contains(wanted.trim()) {
        return None;
    }
    let mut difference = vec![format!("- {wanted}")];
    difference.extend(lines('+', &all));
    Some(Failure { message: "it is rejected with another error than expected".to_owned(), difference })
}

fn rejected_by(wanted: &[ExpectedError], errors: &[Error]) -> Option<Failure> {
    let errors: Vec<&Error> = errors.iter().filter(|error| errors.len() == 1 || error.kind != Kind::Unchecked).collect();
    let fits = |wanted: &ExpectedError, error: &Error| {
        let path = |path: &String| *path == error.path.to_string() || *path == error.path.dotted() || *path == error.field;
        wanted.path.as_ref().is_none_or(path) && wanted.message.as_ref().is_none_or(|message| error.message.contains(message.trim()))
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
        if errors.is_empty() { "rejected was expected, but it is accepted" } else { "it is rejected with other errors than expected" };
    (!difference.is_empty()).then(|| Failure { message: message.to_owned(), difference })
}

/// What of an object is compared: of its type and metadata, only what is expected.
fn comparable(object: &Value, wanted: &Value) -> Value {
    let Some(map) = object.as_object() else { return object.clone() };
    let mut kept: Map<String, Value> = map
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "apiVersion" | "kind" | "metadata"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let metadata = |object: &Value, key: &str| object.get("metadata").and_then(|metadata| metadata.get(key)).cloned();
    for key in ["labels", "annotations", "finalizers", "ownerReferences"] {
        if metadata(wanted, key).is_some() {
            kept.insert(format!("metadata.{key}"), metadata(object, key).unwrap_or_default());
        }
    }
    Value::Object(kept)
}

fn stored(wanted: &Value, actual: &Value) -> Option<Failure> {
    let (wanted, actual) = (comparable(wanted, wanted), comparable(actual, wanted));
    let text = |value: &Value| crate::find::conversion::text::as_yaml(value);
    let (before, after) = (text(&wanted), text(&actual));
    if wanted == actual || before == after {
        return None;
    }
    let difference = similar::TextDiff::from_lines(&before, &after);
    let line = |change: similar::Change<&str>| {
        let sign = match change.tag() {
            similar::ChangeTag::Delete => '-',
            similar::ChangeTag::Insert => '+',
            similar::ChangeTag::Equal => ' ',
        };
        format!("{sign} {}", change.value().trim_end_matches('\n'))
    };
    Some(Failure {
        message: "something else is stored than expected".to_owned(),
        difference: difference.iter_all_changes().map(line).collect(),
    })
}

fn warned(wanted: &[String], actual: &[String]) -> Option<Failure> {
    let missing = wanted.iter().filter(|wanted| !actual.iter().any(|text| text.contains(wanted.trim())));
    let mut difference: Vec<String> = missing.map(|text| format!("- {text}")).collect();
    let extra = actual.iter().filter(|text| !wanted.iter().any(|wanted| text.contains(wanted.trim())));
    difference.extend(extra.map(|text| format!("+ {text}")));
    (!difference.is_empty()).then(|| Failure { message: "the server sends other warnings than expected".to_owned(), difference })
}
