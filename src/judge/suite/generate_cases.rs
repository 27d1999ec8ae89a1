//! Generates missing cases: for each constraint that no case passes or violates, a request that does.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::compare::{Budget, CaseMaker, divide};
use crate::find::conversion::text::as_yaml;
use crate::input::shorten;
use crate::model::schema::Shape;
use crate::model::{Bundle, Crd, FieldPath, Version};
use crate::server::object::{Endpoint, Response, Subresource, value_count};

use super::coverage::{CheckCoverage, Constraint, SeenChecks, constraints};
use super::expect::own_errors;

/// The cost of a value in a case, which is sent, written, read and sent again, relative to that of a condition.
const SENT: usize = 768;
/// Longer rules are shortened in names.
const SHOWN: usize = 80;

/// Generated cases for one CRD.
#[derive(Debug)]
pub(crate) struct Generated {
    /// The index of the CRD in its bundle.
    pub crd: usize,
    pub cases: Vec<NewCase>,
    /// How many constraints were not tried, because it would take too long.
    pub untried: usize,
}

#[derive(Debug)]
pub(crate) struct NewCase {
    name: String,
    version: String,
    previous: Option<Value>,
    /// Whether the status subresource is written.
    status: bool,
    object: Value,
    /// Empty for a request that is accepted.
    errors: Vec<(String, String)>,
}

/// Generates the missing cases for every served version of every CRD, in parallel. If the bundle has several variants of a CRD, a
/// case must hold on all of them, because suites name CRDs and not variants.
pub(crate) fn generate(bundle: &Bundle<'_>, known: &CheckCoverage) -> Vec<Generated> {
    let mut units: Vec<(usize, &str, Vec<usize>)> = Vec::new();
    for variants in bundle.crds.iter().enumerate().collect::<Vec<_>>().chunk_by(|a, b| a.1.name == b.1.name) {
        let Some((first, crd)) = variants.first() else { continue };
        for name in crd.versions.iter().filter(|version| version.served).map(|version| version.name) {
            // Cases for a version that not all variants serve can't hold on all of them.
            units.push((*first, name, variants.iter().map(|(index, _)| *index).collect()));
        }
    }
    let made = divide(&units, |(first, version, variants), budget| {
        let variant = |index: &usize| Variant::new(*index, bundle.crds.get(*index)?, version, known);
        let variants: Option<Vec<_>> = variants.iter().map(variant).collect();
        Some(of_version(*first, version, variants?, budget))
    });
    let mut all: Vec<Generated> = Vec::new();
    for generated in made.into_iter().flatten() {
        match all.last_mut().filter(|last| last.crd == generated.crd) {
            Some(last) => {
                last.cases.extend(generated.cases);
                last.untried += generated.untried;
            }
            None => all.push(generated),
        }
    }
    all.retain(|generated| !generated.cases.is_empty() || generated.untried > 0);
    all
}

/// A version of one variant of a CRD.
struct Variant<'b, 't> {
    crd: &'b Crd<'t>,
    version: &'b Version<'t>,
    endpoint: Endpoint,
    sides: SeenChecks,
}

impl<'b, 't> Variant<'b, 't> {
    fn new(index: usize, crd: &'b Crd<'t>, version: &str, known: &CheckCoverage) -> Option<Self> {
        let version = crd.versions.iter().find(|found| found.name == version && found.served)?;
        Some(Variant { crd, version, endpoint: Endpoint::traced(version)?, sides: known.of(index, version.index) })
    }

    fn send(&self, previous: Option<&Value>, object: &Value, status: bool) -> Response {
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
}

struct Writer<'b, 't> {
    version: &'b str,
    variants: Vec<Variant<'b, 't>>,
    /// The variant that cases are generated for.
    current: usize,
    names: BTreeSet<String>,
    cases: Vec<NewCase>,
    budget: Budget,
}

/// The errors in a response, in the form that a case expects.
fn expected_errors(outcome: &Response) -> Vec<(String, String)> {
    own_errors(&outcome.errors).map(|error| (error.path.to_string(), error.lasting_message().to_owned())).collect()
}

impl Writer<'_, '_> {
    fn passes(&self, constraint: &Constraint) -> bool {
        self.variants.get(self.current).is_some_and(|variant| variant.sides.passes(constraint))
    }

    fn fails(&self, constraint: &Constraint) -> bool {
        self.variants.get(self.current).is_some_and(|variant| variant.sides.fails(constraint))
    }

    /// Keeps a request if it is fully decided and shows what is needed.
    fn keep(
        &mut self,
        name: &str,
        previous: Option<Value>,
        object: Value,
        shows: impl Fn(&SeenChecks, &SeenChecks) -> bool,
        accepted: bool,
    ) -> bool {
        self.keep_write(name, previous, object, false, shows, accepted)
    }

    /// The same for a write to the status after the rest of the object.
    fn keep_status(&mut self, name: &str, object: Value, shows: impl Fn(&SeenChecks, &SeenChecks) -> bool, accepted: bool) -> bool {
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
        shows: impl Fn(&SeenChecks, &SeenChecks) -> bool,
        accepted: bool,
    ) -> bool {
        let Some(variant) = self.variants.get(self.current) else { return false };
        self.budget.spend(SENT * (value_count(&object) + previous.as_ref().map_or(0, value_count)));
        let outcome = variant.send(previous.as_ref(), &object, status);
        let mut shown = SeenChecks::default();
        shown.add(&outcome.seen);
        if !outcome.undecided.is_empty() || outcome.accepted() != accepted || !shows(&variant.sides, &shown) {
            return false;
        }
        let errors = expected_errors(&outcome);
        let mut answers = Vec::new();
        for (number, variant) in self.variants.iter().enumerate().filter(|(number, _)| *number != self.current) {
            let answer = variant.send(previous.as_ref(), &object, status);
            if !answer.undecided.is_empty() || answer.accepted() != accepted || expected_errors(&answer) != errors {
                return false;
            }
            answers.push((number, answer.seen));
        }
        answers.push((self.current, outcome.seen));
        for (number, seen) in answers {
            self.variants.get_mut(number).into_iter().for_each(|variant| variant.sides.add(&seen));
        }
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

fn of_version(crd: usize, version: &str, variants: Vec<Variant<'_, '_>>, budget: &Budget) -> Generated {
    let mut writer = Writer { version, variants, current: 0, names: BTreeSet::new(), cases: Vec::new(), budget: budget.clone() };
    let mut untried = 0;
    for current in 0..writer.variants.len() {
        writer.current = current;
        untried += of_variant(&mut writer);
    }
    Generated { crd, cases: writer.cases, untried }
}

/// Adds the cases for one variant, and returns for how many constraints the budget wasn't enough.
fn of_variant(writer: &mut Writer<'_, '_>) -> usize {
    let Some((crd, version)) = writer.variants.get(writer.current).map(|variant| (variant.crd, variant.version)) else { return 0 };
    let Some(schema) = &version.schema else { return 0 };
    let shape = Shape::of(schema);
    let api_version = format!("{}/{}", crd.group(), version.name);
    let mut maker = CaseMaker::new(&shape, &api_version, crd.kind(), &writer.budget);
    let wanted = constraints(crd, version);
    let subjects: Vec<_> = wanted.iter().map(Constraint::subject).collect();
    let has_status = version.status_subresource().is_some();
    let is_status = |constraint: &Constraint| has_status && constraint.path.head() == Some("status");
    let passes_more = |before: &SeenChecks, shown: &SeenChecks| wanted.iter().any(|one| shown.passes(one) && !before.passes(one));
    for (body, name) in maker.extremes().into_iter().zip(["every possible field", "only required fields"]) {
        let object = maker.whole(body);
        if has_status && object.get("status").is_some() {
            writer.keep_status(&format!("{}: {name}: status", version.name), object.clone(), passes_more, true);
        }
        writer.keep(&format!("{}: {name}", version.name), None, object, passes_more, true);
    }
    let mut untried = 0;
    for (constraint, subject) in wanted.iter().zip(&subjects) {
        if writer.budget.spend(0) {
            of_constraint(writer, &mut maker, constraint, subject, is_status(constraint));
        }
        if !writer.budget.spend(0) {
            untried += usize::from(!writer.passes(constraint) || !writer.fails(constraint));
        }
    }
    untried
}

/// Adds the cases for one constraint.
fn of_constraint<'s>(
    writer: &mut Writer<'_, '_>,
    maker: &mut CaseMaker<'s>,
    constraint: &'s Constraint,
    subject: &'s FieldPath,
    is_status: bool,
) {
    if !writer.passes(constraint) {
        let object = maker.with(subject).map(|body| maker.whole(body));
        let previous = object.clone().filter(|_| constraint.transition);
        let (title, shows) = (title(constraint, "accepted"), |_: &SeenChecks, shown: &SeenChecks| shown.passes(constraint));
        if let Some(object) = object.clone().filter(|_| is_status && !constraint.transition) {
            writer.keep_status(&title, object, shows, true);
        } else if let Some(object) = object {
            writer.keep(&title, previous, object, shows, true);
        }
    }
    if !writer.fails(constraint)
        && let Some(found) =
            maker.plainly_rejected(&constraint.path, &constraint.check).or_else(|| maker.rejected(&constraint.path, &constraint.check))
    {
        let (title, shows) = (title(constraint, "rejected"), |_: &SeenChecks, shown: &SeenChecks| shown.fails(constraint));
        match found.previous {
            None if is_status => writer.keep_status(&title, found.object, shows, false),
            previous => writer.keep(&title, previous, found.object, shows, false),
        };
    }
}

/// A name that says what the case shows: `spec.size: maximum: 5: rejected`.
fn title(constraint: &Constraint, verdict: &str) -> String {
    let path = if constraint.path.is_root() { "the object".to_owned() } else { constraint.path.to_string() };
    let text = constraint.text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{path}: {}: {verdict}", shorten(&text, SHOWN))
}

impl Generated {
    /// The text of a whole suite.
    pub fn suite(&self, crd: &str) -> String {
        format!("crd: {}\ncases:\n{}", scalar(crd), self.cases(0))
    }

    /// The cases as list items at this column.
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

/// Writes a string as YAML on one line.
fn scalar(text: &str) -> String {
    let written = as_yaml(&json!({ "a": text }));
    match written.strip_prefix("a: ").map(str::trim_end) {
        Some(plain) if !plain.contains('\n') && !plain.starts_with(['|', '>']) => plain.to_owned(),
        _ => json!(text).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Documents;
    use crate::testing::HEAD;

    #[test]
    fn constraints_that_the_work_is_not_enough_for_are_counted() {
        let fields: String = (0..50).map(|number| format!("f{number}: {{type: string, maxLength: 5}}, ")).collect();
        let text = format!(
            "{HEAD}  versions:\n    - name: v1\n      served: true\n      storage: true\n      \
             schema: {{openAPIV3Schema: {{type: object, properties: {{{fields}}}}}}}\n"
        );
        let documents = Documents::of_text("crd.yaml", &text);
        let bundle = Bundle::read(&documents);
        let generated = |budget: &Budget| {
            let variant = Variant::new(0, &bundle.crds[0], "v1", &CheckCoverage::default()).unwrap();
            of_version(0, "v1", vec![variant], budget)
        };
        let all = generated(&Budget::shared());
        // Besides the objects with all fields and without any, one that is too long for each.
        assert_eq!((all.cases.len(), all.untried), (51, 0));
        let some = generated(&Budget::shared().part(2_000));
        assert!(
            some.cases.len() > 1 && some.untried > 0 && some.cases.len() + some.untried == 51,
            "{} and {}",
            some.cases.len(),
            some.untried
        );
    }
}
