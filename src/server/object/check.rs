//! Validates a value against a node, keyword by keyword, in the order and with the messages of the server's validator.
//!
//! This is the only place that defines what a keyword accepts: requests are checked with compiled nodes, and the solver's
//! candidates with the shapes that it compares ([`CheckNode`]).
//!
//! The first pass only counts; a second one, for an object that failed, collects the errors. `anyOf` and `oneOf` report the errors
//! of the clause that passed the most checks, so checks are counted like the server does.

mod findings;
mod scalar;

use std::borrow::Cow;
use std::sync::Arc;

use foldhash::{HashSet, HashSetExt};
use serde_json::{Map, Value};

use crate::go::fmt;
use crate::go::regexp::Pattern;
use crate::go::strfmt::Format;
use crate::model::number::NumberDomain;
use crate::model::schema::Shape;
use crate::model::schema::shape::{CountRange, Extra};
use crate::server::key_fate::PruneNode;

use super::enumeration;
use super::error::{FieldError, FieldErrorKind, FieldErrorType, Naming};
use super::path::Trail;
use super::ratchet::{Correlated, Tolerance, Tolerated};
use super::trace::{Check, Seen};
use super::types::{JsonKind, ReadPurpose, Types, number_domain, string_format};

pub(super) use findings::Findings;
use findings::MAX_WORK;
use scalar::{enumerated, numeric, string, too_many, too_many_for_nothing, typed};

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

    /// Whether the node's enum lists a value.
    fn enum_allows(&self, listed: &[Value], value: &Value) -> bool {
        super::enumeration::any_allows(value, listed)
    }

    fn any_of(&self) -> impl Iterator<Item = Self>;
    fn one_of(&self) -> impl Iterator<Item = Self>;
    fn all_of(&self) -> impl Iterator<Item = Self>;
    fn not(&self) -> Option<Self>;
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
    if findings.failures == 0 {
        return findings.complete();
    }
    findings = Findings::default();
    check(value, node, &Trail::Root, correlated, &mut findings);
    findings = findings.complete();
    findings.errors = distinct(findings.errors, |error| error);
    findings.warnings = distinct(findings.warnings, |tolerated| &tolerated.error);
    findings
}

/// The same check can be made at a declared node and in its clauses; it is reported once.
fn distinct<T>(found: Vec<T>, error: impl Fn(&T) -> &FieldError) -> Vec<T> {
    if found.len() < 2 {
        return found;
    }
    let mut seen = HashSet::with_capacity(found.len());
    let is_new: Vec<bool> = found.iter().map(error).map(|error| seen.insert((&error.path, error.kind, &error.message))).collect();
    found.into_iter().zip(is_new).filter(|(_, is_new)| *is_new).map(|(found, _)| found).collect()
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
    out.work += 1;
    if out.work > MAX_WORK {
        return;
    }
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
                        let detail = format!("{} in body must be of type {format}: {}", name(trail), fmt::quote(text));
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

fn array<N: CheckNode>(
    items: &[Value],
    value: &Value,
    node: &N,
    trail: &Trail<'_>,
    correlated: Option<Correlated<'_>>,
    out: &mut Findings,
) {
    if let Some(child) = node.items() {
        let correlated = correlated.map(Correlated::items);
        for (index, item) in items.iter().enumerate() {
            if out.is_settled() {
                return;
            }
            check(item, &child, &Trail::Index(trail, index), correlated.as_ref().and_then(|items| items.at(index)), out);
        }
    }
    let size = items.len() as u64;
    if node.shape().item_count == CountRange::NOTHING {
        out.saw(trail, FieldErrorKind::MaxItems, false);
        out.fail(|| error(trail, FieldErrorKind::MaxItems, FieldErrorType::TooMany, None, &too_many_for_nothing(size)));
    } else {
        item_count(size, node, trail, out);
    }
    if node.shape().unique_items && enumeration::has_duplicates(items) {
        out.fail(|| {
            let detail = format!("{} in body shouldn't contain duplicates", name(trail));
            error(trail, FieldErrorKind::UniqueItems, FieldErrorType::Invalid, Some(value), &detail)
        });
    }
}

fn item_count<N: CheckNode>(size: u64, node: &N, trail: &Trail<'_>, out: &mut Findings) {
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
}

fn object<N: CheckNode>(map: &Map<String, Value>, node: &N, trail: &Trail<'_>, correlated: Option<Correlated<'_>>, out: &mut Findings) {
    property_count(map.len() as u64, node, trail, out);
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

fn property_count<N: CheckNode>(size: u64, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    if node.shape().property_count == CountRange::NOTHING {
        out.saw(trail, FieldErrorKind::MaxProperties, false);
        return out.fail(|| error(trail, FieldErrorKind::MaxProperties, FieldErrorType::TooMany, None, &too_many_for_nothing(size)));
    }
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
}

/// Checks `anyOf`, `oneOf`, `allOf` and `not`, in this order. Ratcheting doesn't apply inside them.
fn composition<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    out.passed += 1;
    let mut fresh = out.like();
    let mut of_clause = |clause: N| {
        let mut own = fresh.like();
        validate(value, &clause, trail, None, &mut own);
        fresh.work = own.work;
        own
    };
    let whole = |kind, words: String| {
        let detail = format!("{} {words}", fmt::quote(&name(trail)));
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
    out.work = fresh.work;
}
