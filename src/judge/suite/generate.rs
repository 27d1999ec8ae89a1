//! Makes the cases that a suite lacks: for each constraint that no case passes or breaks, a request that does.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::compare::CaseMaker;
use crate::find::conversion::text::as_yaml;
use crate::input::shorten;
use crate::model::schema::Shape;
use crate::model::{Bundle, Crd, Version};
use crate::server::object::{Endpoint, Outcome, Subresource};

use super::coverage::{Constraint, Coverage, Sides, constraints};
use super::expect::own_errors;

/// Longer rules are cut in names.
const SHOWN: usize = 80;

/// Cases for one CRD.
#[derive(Debug)]
pub(crate) struct Generated {
    /// The CRD's number in its bundle.
    pub crd: usize,
    pub cases: Vec<NewCase>,
}

#[derive(Debug)]
pub(crate) struct NewCase {
    name: String,
    version: String,
    previous: Option<Value>,
    /// Whether the status is written.
    status: bool,
    object: Value,
    /// Nothing for a request that is accepted.
    errors: Vec<(String, String)>,
}

/// Makes what is missing for every served version of every CRD, in parallel.
pub(crate) fn generate(bundle: &Bundle<'_>, known: &Coverage) -> Vec<Generated> {
    let versions: Vec<(usize, &Crd<'_>, &Version<'_>)> = bundle
        .crds
        .iter()
        .enumerate()
        .flat_map(|(index, crd)| crd.versions.iter().filter(|version| version.served).map(move |version| (index, crd, version)))
        .collect();
    let made: Vec<(usize, Vec<NewCase>)> =
        versions.par_iter().map(|(index, crd, version)| (*index, of_version(crd, version, known.of(*index, version.index)))).collect();
    let mut all: Vec<Generated> = Vec::new();
    for (crd, cases) in made {
        match all.last_mut().filter(|last| last.crd == crd) {
            Some(last) => last.cases.extend(cases),
            None => all.push(Generated { crd, cases }),
        }
    }
    all.retain(|generated| !generated.cases.is_empty());
    all
}

struct Writer<'v> {
    endpoint: Endpoint,
    version: &'v str,
    sides: Sides,
    names: BTreeSet<String>,
    cases: Vec<NewCase>,
}

impl Writer<'_> {
    fn send(&self, previous: Option<&Value>, object: &Value, status: bool) -> Outcome {
        match previous {
            Some(previous) if status => {
                let old = self.endpoint.read(previous.clone());
                let outcome = self.endpoint.update_subresource(Subresource::Status, &old, object.clone());
                outcome.unwrap_or_else(|| self.endpoint.update(&old, object.clone()))
            }
            Some(previous) => self.endpoint.update(&self.endpoint.read(previous.clone()), object.clone()),
            None => self.endpoint.create(object.clone()),
        }
    }

    /// Keeps a request if it is answered in full and shows what is wanted.
    fn keep(&mut self, name: &str, previous: Option<Value>, object: Value, shows: impl Fn(&Sides) -> bool, accepted: bool) -> bool {
        self.keep_write(name, previous, object, false, shows, accepted)
    }

    /// The same by a write of the status behind the rest of the object.
    fn keep_status(&mut self, name: &str, object: Value, shows: impl Fn(&Sides) -> bool, accepted: bool) -> bool {
        let mut previous = object.clone();
        previous.as_object_mut().map(|map| map.remove("status"));
        self.keep_write(name, Some(previous), object, true, shows, accepted)
    }

    fn keep_write(
        &mut self,
        name: &str,
        previous: Option<Value>,
        object: Value,
        status: bool,
        shows: impl Fn(&Sides) -> bool,
        accepted: bool,
    ) -> bool {
        let outcome = self.send(previous.as_ref(), &object, status);
        let mut sides = self.sides.clone();
        sides.add(&outcome.seen);
        if !outcome.undecided.is_empty() || outcome.accepted() != accepted || !shows(&sides) {
            return false;
        }
        self.sides = sides;
        let errors = own_errors(&outcome.errors).map(|error| (error.path.to_string(), error.lasting_message().to_owned())).collect();
        let mut unique = name.to_owned();
        let mut number = 1;
        while !self.names.insert(unique.clone()) {
            number += 1;
            unique = format!("{name} ({number})");
        }
        self.cases.push(NewCase { name: unique, version: self.version.to_owned(), previous, status, object, errors });
        true
    }
}

fn of_version(crd: &Crd<'_>, version: &Version<'_>, sides: Sides) -> Vec<NewCase> {
    let (Some(schema), Some(endpoint)) = (&version.schema, Endpoint::traced(version)) else { return Vec::new() };
    let shape = Shape::of(schema);
    let api_version = format!("{}/{}", crd.group(), version.name);
    let mut maker = CaseMaker::new(&shape, &api_version, crd.kind());
    let wanted = constraints(crd, version);
    let subjects: Vec<_> = wanted.iter().map(Constraint::subject).collect();
    let mut writer = Writer { endpoint, version: version.name, sides, names: BTreeSet::new(), cases: Vec::new() };
    let lacks = |sides: &Sides| wanted.iter().filter(|one| !sides.passes(one)).count();
    for (body, name) in maker.extremes().into_iter().zip(["every field that can be there", "only what is required"]) {
        let before = lacks(&writer.sides);
        let object = maker.whole(body);
        if writer.endpoint.has_status() && object.get("status").is_some() {
            writer.keep_status(&format!("{}: {name}: status", version.name), object.clone(), |sides| lacks(sides) < before, true);
        }
        let before = lacks(&writer.sides);
        writer.keep(&format!("{}: {name}", version.name), None, object, |sides| lacks(sides) < before, true);
    }
    for (constraint, subject) in wanted.iter().zip(&subjects) {
        if !writer.sides.passes(constraint) {
            let object = maker.with(subject).map(|body| maker.whole(body));
            let previous = object.clone().filter(|_| constraint.transition);
            if let Some(object) = object.clone().filter(|_| is_status(constraint, &writer.endpoint) && !constraint.transition) {
                writer.keep_status(&title(constraint, "accepted"), object, |sides| sides.passes(constraint), true);
            } else if let Some(object) = object {
                writer.keep(&title(constraint, "accepted"), previous, object, |sides| sides.passes(constraint), true);
            }
        }
        if !writer.sides.fails(constraint)
            && let Some(found) = maker.rejected(&constraint.path, &constraint.check)
        {
            let (title, shows) = (title(constraint, "rejected"), |sides: &Sides| sides.fails(constraint));
            match found.previous {
                None if is_status(constraint, &writer.endpoint) => writer.keep_status(&title, found.object, shows, false),
                previous => writer.keep(&title, previous, found.object, shows, false),
            };
        }
    }
    writer.cases
}

/// Whether a create doesn't see what the constraint is about.
fn is_status(constraint: &Constraint, endpoint: &Endpoint) -> bool {
    endpoint.has_status() && constraint.path.head() == Some("status")
}

/// A name that says what the case shows: `spec.size: maximum: 5: rejected`.
fn title(constraint: &Constraint, verdict: &str) -> String {
    let path = if constraint.path.is_root() { "the object".to_owned() } else { constraint.path.to_string() };
    let text = constraint.text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{path}: {}: {verdict}", shorten(&text, SHOWN))
}

impl Generated {
    /// A whole suite.
    pub fn suite(&self, crd: &str) -> String {
        format!("crd: {}\ncases:\n{}", scalar(crd), self.cases(0))
    }

    /// The cases as items of a list at this column.
    pub fn cases(&self, indent: usize) -> String {
        let mut out = String::new();
        let margin = " ".repeat(indent);
        for case in &self.cases {
            let _ = writeln!(out, "{margin}- name: {}", scalar(&case.name));
            let _ = writeln!(out, "{margin}  version: {}", scalar(&case.version));
            if case.status {
                let _ = writeln!(out, "{margin}  subresource: status");
            }
            let mut block = |key: &str, value: &Value| {
                let _ = writeln!(out, "{margin}  {key}:");
                for line in as_yaml(value).lines() {
                    let _ = writeln!(out, "{margin}    {line}");
                }
            };
            match &case.previous {
                Some(previous) => {
                    block("previous", previous);
                    block("update", &case.object);
                }
                None => block("create", &case.object),
            }
            if case.errors.is_empty() {
                let _ = writeln!(out, "{margin}  accepts: true");
                continue;
            }
            let _ = writeln!(out, "{margin}  rejects:");
            for (path, message) in &case.errors {
                let _ = writeln!(out, "{margin}  - path: {}\n{margin}    message: {}", scalar(path), scalar(message));
            }
        }
        out
    }
}

/// A text as YAML writes it on one line.
fn scalar(text: &str) -> String {
    let written = as_yaml(&json!({ "a": text }));
    match written.strip_prefix("a: ").map(str::trim_end) {
        Some(plain) if !plain.contains('\n') && !plain.starts_with(['|', '>']) => plain.to_owned(),
        _ => json!(text).to_string(),
    }
}
