//! A value against a node, keyword by keyword as the server's validator does it, in its order and with its words.
//!
//! The first run only counts; a second one, for an object that failed, collects what to say. Junctors choose the
//! clause whose errors are told by how many checks it passed, so those are counted as the server counts them.

use serde_json::{Map, Number, Value};

use crate::model::number::{self, Broken, is_json_integer};
use crate::model::schema::shape::{Extra, Type};

use super::enumeration;
use super::error::{Error, Kind, Naming, Reason};
use super::node::Node;
use super::path::{ObjectPath, Trail};
use super::ratchet::Twin;

/// What a run found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Whether errors are only counted.
    quiet: bool,
    pub failures: usize,
    pub errors: Vec<Error>,
    /// Errors that an update is forgiven, because it didn't touch what is wrong.
    pub warnings: Vec<Error>,
    /// Checks that the server makes and that can't be made here.
    pub undecided: Vec<(ObjectPath, String)>,
    /// Checks that were made, the measure by which the server picks the clause to talk about.
    passed: u32,
}

impl Findings {
    fn like(&self) -> Self {
        Findings { quiet: self.quiet, ..Findings::default() }
    }

    fn merge(&mut self, other: Findings) {
        self.failures += other.failures;
        self.passed += other.passed;
        self.errors.extend(other.errors);
        self.warnings.extend(other.warnings);
        self.undecided.extend(other.undecided);
    }

    fn fail(&mut self, error: impl FnOnce() -> Error) {
        self.failures += 1;
        if !self.quiet {
            self.errors.push(error());
        }
    }
}

/// What is wrong with `value`, and what of it an update from `twin`'s old value is forgiven.
pub(super) fn run(value: &Value, node: &Node, twin: Option<Twin<'_>>) -> Findings {
    let mut findings = Findings { quiet: true, ..Findings::default() };
    check(value, node, &Trail::Root, None, &mut findings);
    if findings.failures > 0 {
        findings = Findings::default();
        check(value, node, &Trail::Root, twin, &mut findings);
        findings.errors = distinct(findings.errors);
        findings.warnings = distinct(findings.warnings);
    }
    findings
}

/// The same check can be made on the spine and in clauses; it is told once.
fn distinct(errors: Vec<Error>) -> Vec<Error> {
    let mut seen = std::collections::HashSet::new();
    errors.into_iter().filter(|error| seen.insert((error.path.clone(), error.kind, error.message.clone()))).collect()
}

/// A node with its old value at hand: what is wrong there and was there before is forgiven.
fn check(value: &Value, node: &Node, trail: &Trail<'_>, twin: Option<Twin<'_>>, out: &mut Findings) {
    let Some(twin) = twin else { return validate(value, node, trail, None, out) };
    let mut own = out.like();
    validate(value, node, trail, Some(twin), &mut own);
    if own.failures > 0 && twin.is_unchanged() {
        own.failures = 0;
        own.warnings.append(&mut own.errors);
    }
    out.merge(own);
}

fn validate(value: &Value, node: &Node, trail: &Trail<'_>, twin: Option<Twin<'_>>, out: &mut Findings) {
    if value.is_null() {
        if !node.types.is_empty() && !node.shape.nullable {
            out.fail(|| wrong_type(trail, &node.types.names(), "null"));
        } else {
            out.passed += 1;
        }
        enumerated(value, node, trail, out);
        return;
    }
    if !node.types.is_empty() || node.format.is_some() {
        typed(value, node, trail, out);
        out.passed += 1;
    }
    junctors(value, node, trail, out);
    out.passed += 1;
    match value {
        Value::String(text) => {
            string(text, value, node, trail, out);
            out.passed += 1;
            if let Some(format) = &node.format {
                if !format.is_valid(text) {
                    out.fail(|| {
                        let format = node.shape.format.as_deref().unwrap_or_default();
                        let detail = format!("{} in body must be of type {format}: {text:?}", name(trail));
                        error(trail, Kind::Format, Reason::TypeInvalid, Some(value), &detail)
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
            array(items, value, node, trail, twin, out);
            out.passed += 2;
        }
        _ => {}
    }
    enumerated(value, node, trail, out);
    out.passed += 1;
    if let Value::Object(map) = value {
        object(map, value, node, trail, twin, out);
        out.passed += 1;
    }
    out.passed += 1;
}

/// The path as the server's validator writes it in its messages.
fn name(trail: &Trail<'_>) -> String {
    trail.path().dotted()
}

fn error(trail: &Trail<'_>, kind: Kind, reason: Reason, value: Option<&Value>, detail: &str) -> Error {
    Error::new(trail.path(), Naming::Dotted, kind, reason, value, detail)
}

fn wrong_type(trail: &Trail<'_>, expected: &str, found: &str) -> Error {
    let detail = format!("{} in body must be of type {expected}: {found:?}", name(trail));
    error(trail, Kind::Type, Reason::TypeInvalid, Some(&Value::from(found)), &detail)
}

/// The server's name for the JSON type of a value.
fn type_of(value: &Value) -> (Option<Type>, &'static str) {
    match value {
        Value::Null => (None, "null"),
        Value::Bool(_) => (Some(Type::Boolean), "boolean"),
        Value::Number(number) if number.as_i64().is_some() => (Some(Type::Integer), "integer"),
        Value::Number(_) => (Some(Type::Number), "number"),
        Value::String(_) => (Some(Type::String), "string"),
        Value::Array(_) => (Some(Type::Array), "array"),
        Value::Object(_) => (Some(Type::Object), "object"),
    }
}

fn typed(value: &Value, node: &Node, trail: &Trail<'_>, out: &mut Findings) {
    let types = node.types;
    let (found, found_name) = type_of(value);
    let counts = types.has(Type::Number) || types.has(Type::Integer);
    // Beside a format of strings, both strings and lists pass whatever the type is.
    let excused = node.format.is_some() && !counts && matches!(value, Value::String(_) | Value::Array(_));
    let fits = found.is_some_and(|found| types.has(found))
        || match value {
            Value::Number(number) => match number.as_i64() {
                Some(_) => types.has(Type::Number),
                None => types.has(Type::Integer) && number.as_f64().is_some_and(is_json_integer),
            },
            _ => false,
        };
    if excused || fits {
        out.passed += 1;
        return;
    }
    out.fail(|| match &node.shape.format {
        Some(format) if types.is_empty() => wrong_type(trail, format, found_name),
        _ => wrong_type(trail, &types.names(), found_name),
    });
}

fn enumerated(value: &Value, node: &Node, trail: &Trail<'_>, out: &mut Findings) {
    let Some(values) = node.shape.enum_values.as_ref().filter(|values| !values.is_empty()) else { return };
    if values.iter().any(|allowed| enumeration::enum_lists(value, allowed)) {
        return;
    }
    out.fail(|| {
        let allowed: Vec<String> = values.iter().map(Value::to_string).collect();
        error(trail, Kind::Enum, Reason::NotSupported, Some(value), &format!("supported values: {}", allowed.join(", ")))
    });
}

/// The first of the three that fails is told.
fn string(text: &str, value: &Value, node: &Node, trail: &Trail<'_>, out: &mut Findings) {
    if node.shape.length.max.is_some() || node.shape.length.min > 0 {
        let length = text.chars().count() as u64;
        if let Some(max) = node.shape.length.max.filter(|&max| length > max) {
            let detail = format!("may not be more than {max} bytes");
            return out.fail(|| error(trail, Kind::MaxLength, Reason::TooLong, None, &detail));
        }
        if length < node.shape.length.min {
            let min = node.shape.length.min;
            return out.fail(|| {
                let detail = format!("{} in body should be at least {min} chars long", name(trail));
                error(trail, Kind::MinLength, Reason::Invalid, Some(value), &detail)
            });
        }
    }
    match node.pattern() {
        Some(Ok(pattern)) if !pattern.is_match(text) => out.fail(|| {
            let detail = format!("{} in body should match '{}'", name(trail), pattern.text());
            error(trail, Kind::Pattern, Reason::Invalid, Some(value), &detail)
        }),
        Some(Err(reason)) => out.undecided.push((trail.path(), reason.to_string())),
        _ => {}
    }
}

fn numeric(number: &Number, value: &Value, node: &Node, trail: &Trail<'_>, out: &mut Findings) {
    for failure in node.numbers.failures(number::Value::of(number)) {
        out.fail(|| {
            let (kind, naming) = match failure.broken {
                Broken::MultipleOf => (Kind::MultipleOf, Naming::Dotted),
                Broken::Minimum => (Kind::Minimum, Naming::Dotted),
                Broken::Maximum => (Kind::Maximum, Naming::Dotted),
                Broken::Range => (Kind::Range, Naming::None),
            };
            let detail = match failure.broken {
                Broken::Range => format!("{} {}", failure.words, name(trail)),
                _ => format!("{} in body {}", name(trail), failure.words),
            };
            Error::new(trail.path(), naming, kind, Reason::Invalid, Some(value), &detail)
        });
    }
}

fn array(items: &[Value], value: &Value, node: &Node, trail: &Trail<'_>, twin: Option<Twin<'_>>, out: &mut Findings) {
    if let Some(child) = &node.items {
        for (index, item) in items.iter().enumerate() {
            check(item, child, &Trail::Index(trail, index), twin.and_then(|twin| twin.index(index)), out);
        }
    }
    let size = items.len() as u64;
    if size < node.shape.item_count.min {
        let min = node.shape.item_count.min;
        out.fail(|| {
            let detail = format!("{} in body should have at least {min} items", name(trail));
            error(trail, Kind::MinItems, Reason::Invalid, Some(&Value::from(size)), &detail)
        });
    }
    if let Some(max) = node.shape.item_count.max.filter(|&max| size > max) {
        out.fail(|| error(trail, Kind::MaxItems, Reason::TooMany, None, &format!("{size}: must have at most {max} items")));
    }
    if node.shape.unique_items && enumeration::has_duplicates(items) {
        out.fail(|| {
            let detail = format!("{} in body shouldn't contain duplicates", name(trail));
            error(trail, Kind::UniqueItems, Reason::Invalid, Some(value), &detail)
        });
    }
}

fn object(map: &Map<String, Value>, value: &Value, node: &Node, trail: &Trail<'_>, twin: Option<Twin<'_>>, out: &mut Findings) {
    let size = map.len() as u64;
    if size < node.shape.property_count.min {
        let min = node.shape.property_count.min;
        out.fail(|| {
            let detail = format!("{} in body should have at least {min} properties", name(trail));
            error(trail, Kind::MinProperties, Reason::Invalid, Some(value), &detail)
        });
    }
    if let Some(max) = node.shape.property_count.max.filter(|&max| size > max) {
        out.fail(|| error(trail, Kind::MaxProperties, Reason::TooMany, None, &format!("{size}: must have at most {max} items")));
    }
    let child_twin = |key: &str| {
        let hidden = trail.is_root() && matches!(key, "apiVersion" | "kind");
        twin.filter(|_| !hidden).and_then(|twin| twin.key(key))
    };
    for (key, value) in map {
        if let Some(child) = node.properties.get(key.as_str()) {
            check(value, child, &Trail::Key(trail, key), child_twin(key), out);
            continue;
        }
        match &node.extra {
            Extra::Values(child) => check(value, child, &Trail::Entry(trail, key), child_twin(key), out),
            Extra::Refused => out.fail(|| {
                let detail = format!("{}.{key} in body is a forbidden property", name(trail));
                error(trail, Kind::Forbidden, Reason::Invalid, Some(&Value::from(key.as_str())), &detail)
            }),
            Extra::Any | Extra::Closed => {}
        }
    }
    for key in &node.shape.required {
        if !map.contains_key(&**key) {
            out.fail(|| error(&Trail::Key(trail, key), Kind::Required, Reason::Required, None, ""));
        }
    }
}

/// `anyOf`, `oneOf`, `allOf` and `not`, in this order. Nothing inside of them is forgiven on an update.
fn junctors(value: &Value, node: &Node, trail: &Trail<'_>, out: &mut Findings) {
    out.passed += 1;
    let judge = |clause: &Node, out: &mut Findings| {
        let mut own = out.like();
        validate(value, clause, trail, None, &mut own);
        out.undecided.append(&mut own.undecided);
        own
    };
    let whole = |kind, words: String| {
        let detail = format!("{:?} {words}", name(trail));
        Error::new(trail.path(), Naming::None, kind, Reason::Invalid, Some(&Value::from("")), &detail)
    };
    if !node.any_of.is_empty() {
        let mut best: Option<Findings> = None;
        for clause in &node.any_of {
            let own = judge(clause, out);
            let valid = own.failures == 0;
            if valid || best.as_ref().is_none_or(|best| own.passed > best.passed) {
                best = Some(own);
            }
            if valid {
                break;
            }
        }
        if best.as_ref().is_some_and(|best| best.failures > 0) {
            out.fail(|| whole(Kind::AnyOf, "must validate at least one schema (anyOf)".to_owned()));
        }
        best.into_iter().for_each(|best| out.merge(best));
    }
    if !node.one_of.is_empty() {
        let mut best: Option<Findings> = None;
        let mut first: Option<Findings> = None;
        let mut valid = 0;
        for clause in &node.one_of {
            let own = judge(clause, out);
            if own.failures == 0 {
                valid += 1;
                first = first.or(Some(own));
            } else if best.as_ref().is_none_or(|best| own.passed > best.passed) {
                best = Some(own);
            }
        }
        match valid {
            0 => {
                out.fail(|| whole(Kind::OneOf, "must validate one and only one schema (oneOf). Found none valid".to_owned()));
                best.into_iter().for_each(|best| out.merge(best));
            }
            1 => first.into_iter().for_each(|first| out.merge(first)),
            n => out.fail(|| whole(Kind::OneOf, format!("must validate one and only one schema (oneOf). Found {n} valid alternatives"))),
        }
    }
    if !node.all_of.is_empty() {
        let mut valid = 0;
        for clause in &node.all_of {
            let own = judge(clause, out);
            valid += usize::from(own.failures == 0);
            out.merge(own);
        }
        if valid < node.all_of.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            out.fail(|| whole(Kind::AllOf, format!("must validate all the schemas (allOf){none}")));
        }
    }
    if let Some(not) = &node.not
        && judge(not, out).failures == 0
    {
        out.fail(|| whole(Kind::Not, "must not validate the schema (not)".to_owned()));
    }
}
