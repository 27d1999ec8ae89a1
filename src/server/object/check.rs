//! Validates a value against a node, keyword by keyword, in the order and with the messages of the server's validator.
//!
//! This is the only place that defines what a keyword accepts: requests are checked with compiled nodes, and the solver's
//! candidates with the shapes that it compares ([`CheckNode`]).
//!
//! The first pass only counts; a second one, for an object that failed, collects the errors. `anyOf` and `oneOf` report the errors
//! of the clause that passed the most checks, so checks are counted like the server does.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Number, Value};

use crate::go::regexp::Pattern;
use crate::go::strfmt::Format;
use crate::model::kubernetes::Feature;
use crate::model::number::{self, Broken, NumberDomain, is_json_integer};
use crate::model::schema::Shape;
use crate::model::schema::shape::Extra;
use crate::server::key_fate::PruneNode;

use super::enumeration;
use super::error::{FieldError, FieldErrorKind, FieldErrorType, Naming};
use super::path::{ObjectPath, Trail};
use super::ratchet::{Correlated, Tolerance, Tolerated};
use super::trace::{Check, Seen};
use super::types::{JsonKind, ReadPurpose, Types, number_domain, string_format};

/// A schema node as validation sees it.
pub(crate) trait CheckNode: PruneNode {
    /// The keywords that need no preparation.
    fn shape(&self) -> &Shape;

    fn types(&self) -> Types {
        Types::of(self.shape(), ReadPurpose::Request)
    }

    fn string_format(&self) -> Option<Format> {
        string_format(self.shape(), ReadPurpose::Request)
    }

    /// Whether a format takes part in the type check.
    fn has_format(&self) -> bool {
        self.string_format().is_some()
    }

    fn numbers(&self) -> Cow<'_, NumberDomain> {
        Cow::Owned(number_domain(self.shape(), ReadPurpose::Request))
    }

    /// Whether the node's pattern matches, or why it can't be evaluated here.
    fn matches_pattern(&self, pattern: &str, text: &str) -> Result<bool, Arc<str>> {
        Pattern::new(pattern).map(|pattern| pattern.is_match(text)).map_err(|error| error.to_string().into())
    }

    fn any_of(&self) -> impl Iterator<Item = Self>;
    fn one_of(&self) -> impl Iterator<Item = Self>;
    fn all_of(&self) -> impl Iterator<Item = Self>;
    fn not(&self) -> Option<Self>;
}

/// The results so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Whether errors are only counted.
    quiet: bool,
    pub failures: usize,
    pub errors: Vec<FieldError>,
    /// Errors that ratcheting tolerates, because the update didn't change the invalid value.
    pub warnings: Vec<Tolerated>,
    /// Checks of the server that can't be made here.
    pub undecided: Vec<(ObjectPath, String)>,
    /// The checks made at declared nodes, if requested.
    pub seen: Option<Vec<Seen>>,
    /// The number of checks that passed: the server reports the clause that passed the most.
    passed: u32,
}

impl Findings {
    pub(super) fn quiet() -> Self {
        Findings { quiet: true, ..Findings::default() }
    }

    /// Whether everything passed; `None` if a check can't be made here.
    pub(super) fn verdict(&self) -> Option<bool> {
        match (self.failures, self.undecided.is_empty()) {
            (0, true) => Some(true),
            (0, false) => None,
            _ => Some(false),
        }
    }

    /// Whether further checks can't change the verdict, and their errors aren't needed.
    fn is_settled(&self) -> bool {
        self.quiet && self.failures > 0
    }

    fn like(&self) -> Self {
        Findings { quiet: self.quiet, ..Findings::default() }
    }

    fn merge(&mut self, other: Findings) {
        self.failures += other.failures;
        self.passed += other.passed;
        self.errors.extend(other.errors);
        self.warnings.extend(other.warnings);
        self.undecided.extend(other.undecided);
        if let Some(seen) = &mut self.seen {
            seen.extend(other.seen.into_iter().flatten());
        }
    }

    /// Records the result of a check.
    fn saw(&mut self, trail: &Trail<'_>, kind: FieldErrorKind, holds: bool) {
        if let Some(seen) = &mut self.seen {
            seen.push(Seen { path: trail.path().general(), check: Check::Keyword(kind), holds, update: false });
        }
    }

    /// Whether a clause is closer to passing than another one, by the server's measure.
    fn is_closer(&self, other: &Findings) -> bool {
        other.failures > 0 && (self.failures == 0 || self.passed > other.passed)
    }

    fn fail(&mut self, error: impl FnOnce() -> FieldError) {
        self.failures += 1;
        if !self.quiet {
            self.errors.push(error());
        }
    }
}

/// Validates `value`, and finds which errors an update from the old value of `correlated` may keep.
pub(super) fn run<N: CheckNode>(value: &Value, node: &N, correlated: Option<Correlated<'_>>, trace: bool) -> Findings {
    if trace {
        let mut findings = Findings { seen: Some(Vec::new()), ..Findings::default() };
        check(value, node, &Trail::Root, correlated, &mut findings);
        findings.errors = distinct(findings.errors, |error| error);
        findings.warnings = distinct(findings.warnings, |tolerated| &tolerated.error);
        return findings;
    }
    let mut findings = Findings::quiet();
    check(value, node, &Trail::Root, None, &mut findings);
    if findings.failures > 0 {
        findings = Findings::default();
        check(value, node, &Trail::Root, correlated, &mut findings);
        findings.errors = distinct(findings.errors, |error| error);
        findings.warnings = distinct(findings.warnings, |tolerated| &tolerated.error);
    }
    findings
}

/// The same check can be made at a declared node and in its clauses; it is reported once.
fn distinct<T>(found: Vec<T>, error: impl Fn(&T) -> &FieldError) -> Vec<T> {
    let mut seen = std::collections::HashSet::new();
    let mut is_new = |error: &FieldError| seen.insert((error.path.clone(), error.kind, error.message.clone()));
    found.into_iter().filter(|found| is_new(error(found))).collect()
}

/// Validates with ratcheting: given the old value, errors of an unchanged value become warnings.
fn check<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, correlated: Option<Correlated<'_>>, out: &mut Findings) {
    let Some(correlated) = correlated else { return validate(value, node, trail, None, out) };
    let mut own = Findings { seen: out.seen.is_some().then(Vec::new), ..out.like() };
    validate(value, node, trail, Some(correlated), &mut own);
    if own.failures > 0 && correlated.is_tolerated() {
        own.failures = 0;
        own.seen.iter_mut().for_each(|seen| seen.retain(|seen| seen.holds));
        let tolerated = |error| Tolerated { error, because: Tolerance::Unchanged(trail.path()) };
        own.warnings.extend(own.errors.drain(..).map(tolerated));
    }
    out.merge(own);
}

pub(super) fn validate<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, correlated: Option<Correlated<'_>>, out: &mut Findings) {
    let (types, format) = (node.types(), node.string_format());
    if value.is_null() {
        if types.kinds(node.has_format(), node.shape().nullable).has(JsonKind::Null) {
            out.passed += 1;
        } else {
            out.fail(|| wrong_type(trail, &types.names(), "null"));
        }
        enumerated(value, node, trail, out);
        return;
    }
    if !types.is_empty() || node.has_format() {
        typed(value, node, trail, out);
        out.passed += 1;
    }
    if out.is_settled() {
        return;
    }
    composition(value, node, trail, out);
    out.passed += 1;
    match value {
        Value::String(text) => {
            string(text, value, node, trail, out);
            out.passed += 1;
            if let Some(format) = &format {
                let valid = format.is_valid(text);
                out.saw(trail, FieldErrorKind::Format, valid);
                if !valid {
                    out.fail(|| {
                        let format = node.shape().format.as_deref().unwrap_or_default();
                        let detail = format!("{} in body must be of type {format}: {text:?}", name(trail));
                        error(trail, FieldErrorKind::Format, FieldErrorType::TypeInvalid, Some(value), &detail)
                    });
                }
                out.passed += 1;
            }
        }
        Value::Number(number) => {
            numeric(number, value, node, trail, out);
            out.passed += 2;
        }
        Value::Array(items) => {
            array(items, value, node, trail, correlated, out);
            out.passed += 2;
        }
        _ => {}
    }
    enumerated(value, node, trail, out);
    out.passed += 1;
    if let Value::Object(map) = value {
        object(map, node, trail, correlated, out);
        out.passed += 1;
    }
    out.passed += 1;
}

/// The path as the server's validator writes it in messages.
fn name(trail: &Trail<'_>) -> String {
    trail.path().dotted()
}

fn error(trail: &Trail<'_>, kind: FieldErrorKind, reason: FieldErrorType, value: Option<&Value>, detail: &str) -> FieldError {
    FieldError::new(trail.path(), Naming::Dotted, kind, reason, value, detail)
}

fn wrong_type(trail: &Trail<'_>, expected: &str, found: &str) -> FieldError {
    let detail = format!("{} in body must be of type {expected}: {found:?}", name(trail));
    error(trail, FieldErrorKind::Type, FieldErrorType::TypeInvalid, Some(&Value::from(found)), &detail)
}

fn typed<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    let types = node.types();
    let kind = JsonKind::of(value);
    let whole = !types.whole_only() || value.as_f64().is_none_or(|number| kind == JsonKind::Int || is_json_integer(number));
    if types.kinds(node.has_format(), false).has(kind) && whole {
        out.passed += 1;
        return;
    }
    out.fail(|| match &node.shape().format {
        Some(format) if types.is_empty() => wrong_type(trail, format, kind.format_name()),
        // The server names a number of a known size like Go does.
        Some(format) if reports_fraction_twice(value, node) && matches!(&**format, "int32" | "int64") => {
            wrong_type(trail, format, "float64")
        }
        _ => wrong_type(trail, &types.names(), kind.name()),
    });
}

fn reports_fraction_twice<N: CheckNode>(value: &Value, node: &N) -> bool {
    node.types().whole_only() && value.is_f64() && node.shape().kubernetes.words(Feature::FractionsReportedTwice)
}

fn enumerated<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    let Some(values) = node.shape().enum_values.as_ref().filter(|values| !values.is_empty()) else { return };
    let allowed = values.iter().any(|allowed| enumeration::enum_allows(value, allowed));
    out.saw(trail, FieldErrorKind::Enum, allowed);
    if allowed {
        return;
    }
    out.fail(|| {
        // The server treats all of them as strings, including numbers.
        let quoted = |value: &Value| if value.is_string() { value.to_string() } else { Value::from(value.to_string()).to_string() };
        let allowed: Vec<String> = values.iter().map(quoted).collect();
        error(trail, FieldErrorKind::Enum, FieldErrorType::NotSupported, Some(value), &format!("supported values: {}", allowed.join(", ")))
    });
}

/// Only the first of the three that fails is reported.
fn string<N: CheckNode>(text: &str, value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    if node.shape().length.max.is_some() || node.shape().length.min > 0 {
        let length = text.chars().count() as u64;
        if let Some(max) = node.shape().length.max {
            out.saw(trail, FieldErrorKind::MaxLength, length <= max);
        }
        if let Some(max) = node.shape().length.max.filter(|&max| length > max) {
            let detail = match node.shape().kubernetes.words(Feature::ByteLimits) {
                true => format!("may not be more than {max} {}", unit(node, max, "byte")),
                false => format!("may not be longer than {max}"),
            };
            return out.fail(|| error(trail, FieldErrorKind::MaxLength, FieldErrorType::TooLong, None, &detail));
        }
        if node.shape().length.min > 0 {
            out.saw(trail, FieldErrorKind::MinLength, length >= node.shape().length.min);
        }
        if length < node.shape().length.min {
            let min = node.shape().length.min;
            return out.fail(|| {
                let detail = format!("{} in body should be at least {min} chars long", name(trail));
                error(trail, FieldErrorKind::MinLength, FieldErrorType::Invalid, Some(value), &detail)
            });
        }
    }
    let Some(pattern) = &node.shape().pattern else { return };
    let matched = node.matches_pattern(pattern, text);
    if let Ok(holds) = matched {
        out.saw(trail, FieldErrorKind::Pattern, holds);
    }
    match matched {
        Ok(true) => {}
        Ok(false) => out.fail(|| {
            let detail = format!("{} in body should match '{pattern}'", name(trail));
            error(trail, FieldErrorKind::Pattern, FieldErrorType::Invalid, Some(value), &detail)
        }),
        Err(reason) => out.undecided.push((trail.path(), reason.to_string())),
    }
}

fn numeric<N: CheckNode>(number: &Number, value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    let mut failures: Vec<_> = node.numbers().failures(number::Value::of(number)).into_iter().collect();
    if node.types().whole_only() && value.is_f64() && !reports_fraction_twice(value, node) {
        failures.retain(|failure| failure.broken != Broken::Range);
    }
    if out.seen.is_some() {
        let bounds = &node.shape().bounds;
        for (kind, broken, set) in [
            (FieldErrorKind::Minimum, Broken::Minimum, bounds.minimum.is_some()),
            (FieldErrorKind::Maximum, Broken::Maximum, bounds.maximum.is_some()),
            (FieldErrorKind::MultipleOf, Broken::MultipleOf, bounds.multiple_of.is_some()),
        ] {
            if set {
                out.saw(trail, kind, !failures.iter().any(|failure| failure.broken == broken));
            }
        }
    }
    for failure in failures {
        out.fail(|| {
            let (kind, naming) = match failure.broken {
                Broken::MultipleOf => (FieldErrorKind::MultipleOf, Naming::Dotted),
                Broken::Minimum => (FieldErrorKind::Minimum, Naming::Dotted),
                Broken::Maximum => (FieldErrorKind::Maximum, Naming::Dotted),
                Broken::Range => (FieldErrorKind::Range, Naming::None),
            };
            let detail = match failure.broken {
                Broken::Range => format!("{} {}", failure.words, name(trail)),
                _ => format!("{} in body {}", name(trail), failure.words),
            };
            let shown = if failure.broken == Broken::Range { &Value::from("") } else { value };
            FieldError::new(trail.path(), naming, kind, FieldErrorType::Invalid, Some(shown), &detail)
        });
    }
}

fn too_many<N: CheckNode>(node: &N, size: u64, max: u64) -> String {
    format!("{size}: must have at most {max} {}", unit(node, max, "item"))
}

fn unit<N: CheckNode>(node: &N, count: u64, unit: &str) -> String {
    let singular = count == 1 && node.shape().kubernetes.words(Feature::SingularUnits);
    if singular { unit.to_owned() } else { format!("{unit}s") }
}

fn array<N: CheckNode>(
    items: &[Value],
    value: &Value,
    node: &N,
    trail: &Trail<'_>,
    correlated: Option<Correlated<'_>>,
    out: &mut Findings,
) {
    if let Some(child) = node.items() {
        for (index, item) in items.iter().enumerate() {
            if out.is_settled() {
                return;
            }
            check(item, &child, &Trail::Index(trail, index), correlated.and_then(|correlated| correlated.index(index)), out);
        }
    }
    let size = items.len() as u64;
    if node.shape().item_count.min > 0 {
        out.saw(trail, FieldErrorKind::MinItems, size >= node.shape().item_count.min);
    }
    if let Some(max) = node.shape().item_count.max {
        out.saw(trail, FieldErrorKind::MaxItems, size <= max);
    }
    if size < node.shape().item_count.min {
        let min = node.shape().item_count.min;
        out.fail(|| {
            let detail = format!("{} in body should have at least {min} items", name(trail));
            error(trail, FieldErrorKind::MinItems, FieldErrorType::Invalid, Some(&Value::from(size)), &detail)
        });
    }
    if let Some(max) = node.shape().item_count.max.filter(|&max| size > max) {
        out.fail(|| error(trail, FieldErrorKind::MaxItems, FieldErrorType::TooMany, None, &too_many(node, size, max)));
    }
    if node.shape().unique_items && enumeration::has_duplicates(items) {
        out.fail(|| {
            let detail = format!("{} in body shouldn't contain duplicates", name(trail));
            error(trail, FieldErrorKind::UniqueItems, FieldErrorType::Invalid, Some(value), &detail)
        });
    }
}

fn object<N: CheckNode>(map: &Map<String, Value>, node: &N, trail: &Trail<'_>, correlated: Option<Correlated<'_>>, out: &mut Findings) {
    let size = map.len() as u64;
    if node.shape().property_count.min > 0 {
        out.saw(trail, FieldErrorKind::MinProperties, size >= node.shape().property_count.min);
    }
    if let Some(max) = node.shape().property_count.max {
        out.saw(trail, FieldErrorKind::MaxProperties, size <= max);
    }
    if size < node.shape().property_count.min {
        let min = node.shape().property_count.min;
        out.fail(|| {
            let detail = format!("{} in body should have at least {min} properties", name(trail));
            error(trail, FieldErrorKind::MinProperties, FieldErrorType::Invalid, Some(&Value::from(size)), &detail)
        });
    }
    if let Some(max) = node.shape().property_count.max.filter(|&max| size > max) {
        out.fail(|| error(trail, FieldErrorKind::MaxProperties, FieldErrorType::TooMany, None, &too_many(node, size, max)));
    }
    let child_correlated = |key: &str| {
        let hidden = trail.is_root() && matches!(key, "apiVersion" | "kind");
        correlated.filter(|_| !hidden).and_then(|correlated| correlated.key(key))
    };
    let extra = node.extra();
    for (key, value) in map {
        if out.is_settled() {
            return;
        }
        if let Some(child) = node.property(key) {
            check(value, &child, &Trail::Key(trail, key), child_correlated(key), out);
            continue;
        }
        match &extra {
            Extra::Values(child) => check(value, child, &Trail::Entry(trail, key), child_correlated(key), out),
            Extra::Refused => out.fail(|| {
                let detail = format!("{}.{key} in body is a forbidden property", name(trail));
                error(trail, FieldErrorKind::Forbidden, FieldErrorType::Invalid, Some(&Value::from(key.as_str())), &detail)
            }),
            Extra::Any | Extra::Closed => {}
        }
    }
    for key in &node.shape().required {
        if let Some(seen) = &mut out.seen {
            let check = Check::Required(key.as_str().into());
            seen.push(Seen { path: trail.path().general(), check, holds: map.contains_key(&**key), update: false });
        }
        if !map.contains_key(&**key) {
            out.fail(|| error(&Trail::Key(trail, key), FieldErrorKind::Required, FieldErrorType::Required, None, ""));
        }
    }
}

/// Checks `anyOf`, `oneOf`, `allOf` and `not`, in this order. Ratcheting doesn't apply inside them.
fn composition<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    out.passed += 1;
    let fresh = out.like();
    let of_clause = |clause: N| {
        let mut own = fresh.like();
        validate(value, &clause, trail, None, &mut own);
        own
    };
    let whole = |kind, words: String| {
        let detail = format!("{:?} {words}", name(trail));
        FieldError::new(trail.path(), Naming::None, kind, FieldErrorType::Invalid, Some(&Value::from("")), &detail)
    };
    let mut best: Option<Findings> = None;
    for clause in node.any_of() {
        let own = of_clause(clause);
        let valid = own.verdict() == Some(true);
        if valid || best.as_ref().is_none_or(|best| own.is_closer(best)) {
            best = Some(own);
        }
        if valid {
            break;
        }
    }
    if let Some(best) = best {
        out.saw(trail, FieldErrorKind::AnyOf, best.failures == 0);
        if best.failures > 0 {
            out.fail(|| whole(FieldErrorKind::AnyOf, "must validate at least one schema (anyOf)".to_owned()));
        }
        out.merge(best);
    }
    if !node.shape().one_of.is_empty() {
        let mut closest: Option<Findings> = None;
        let mut first: Option<Findings> = None;
        let (mut valid, mut undecided) = (0, Vec::new());
        for clause in node.one_of() {
            let mut own = of_clause(clause);
            match own.verdict() {
                Some(true) => {
                    valid += 1;
                    first = first.or(Some(own));
                }
                Some(false) if closest.as_ref().is_none_or(|closest| own.is_closer(closest)) => closest = Some(own),
                Some(false) => {}
                None => undecided.append(&mut own.undecided),
            }
        }
        if undecided.is_empty() {
            out.saw(trail, FieldErrorKind::OneOf, valid == 1);
        }
        match valid {
            0 | 1 if !undecided.is_empty() => out.undecided.append(&mut undecided),
            0 => {
                out.fail(|| whole(FieldErrorKind::OneOf, "must validate one and only one schema (oneOf). Found none valid".to_owned()));
                closest.into_iter().for_each(|closest| out.merge(closest));
            }
            1 => first.into_iter().for_each(|first| out.merge(first)),
            n => out.fail(|| {
                whole(FieldErrorKind::OneOf, format!("must validate one and only one schema (oneOf). Found {n} valid alternatives"))
            }),
        }
    }
    let mut valid = 0;
    for clause in node.all_of() {
        let own = of_clause(clause);
        valid += usize::from(own.failures == 0);
        out.merge(own);
    }
    if !node.shape().all_of.is_empty() {
        out.saw(trail, FieldErrorKind::AllOf, valid == node.shape().all_of.len());
    }
    if valid < node.shape().all_of.len() {
        let none = if valid == 0 { ". None validated" } else { "" };
        out.fail(|| whole(FieldErrorKind::AllOf, format!("must validate all the schemas (allOf){none}")));
    }
    if let Some(not) = node.not() {
        let mut own = of_clause(not);
        if let Some(valid) = own.verdict() {
            out.saw(trail, FieldErrorKind::Not, !valid);
        }
        match own.verdict() {
            Some(true) => out.fail(|| whole(FieldErrorKind::Not, "must not validate the schema (not)".to_owned())),
            Some(false) => {}
            None => out.undecided.append(&mut own.undecided),
        }
    }
}
