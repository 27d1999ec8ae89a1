//! Checks types, enums, strings and numbers.

use serde_json::{Number, Value};

use crate::model::kubernetes::Feature;
use crate::model::number::{self, Broken, is_json_integer};
use crate::model::schema::shape::CountRange;
use crate::server::object::error::{FieldError, FieldErrorKind, FieldErrorType, Naming};
use crate::server::object::path::Trail;
use crate::server::object::types::JsonKind;

use super::{CheckNode, Findings, error, name, wrong_type};

/// How many values of an enum a message lists.
const MAX_LISTED: usize = 1_000;

pub(super) fn typed<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    let types = node.types();
    let kind = JsonKind::of(value);
    let whole = !types.whole_only() || value.as_f64().is_none_or(|number| kind == JsonKind::Int || is_json_integer(number));
    if types.kinds(node.has_format(), false).has(kind) && whole {
        out.passed += 1;
        return;
    }
    // What the server leaves to the format check is compared with the format, even where the type is wrong as well.
    let by_format = !matches!(kind, JsonKind::String | JsonKind::Array) && (node.has_format() || node.numbers().format.is_some());
    out.fail(|| match &node.shape().format {
        Some(format) if by_format => wrong_type(trail, format, kind.format_name()),
        _ => wrong_type(trail, &types.names(), kind.name()),
    });
}

fn reports_fraction_twice<N: CheckNode>(value: &Value, node: &N) -> bool {
    node.types().whole_only() && value.is_f64() && node.shape().kubernetes.words(Feature::FractionsReportedTwice)
}

pub(super) fn enumerated<N: CheckNode>(value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    let Some(values) = node.shape().enum_values.as_ref().filter(|values| !values.is_empty()) else { return };
    let allowed = node.enum_allows(values, value);
    out.saw(trail, FieldErrorKind::Enum, allowed);
    if allowed {
        return;
    }
    out.fail(|| {
        // The server treats all of them as strings, including numbers.
        let quoted = |value: &Value| if value.is_string() { value.to_string() } else { Value::from(value.to_string()).to_string() };
        let allowed: Vec<String> = values.iter().take(MAX_LISTED).map(quoted).collect();
        let more = if values.len() > MAX_LISTED { ", …" } else { "" };
        error(
            trail,
            FieldErrorKind::Enum,
            FieldErrorType::NotSupported,
            Some(value),
            &format!("supported values: {}{more}", allowed.join(", ")),
        )
    });
}

/// Only the first of the three that fails is reported.
pub(super) fn string<N: CheckNode>(text: &str, value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
    if node.shape().length.max.is_some() || node.shape().length.min > 0 {
        if node.shape().length == CountRange::NOTHING {
            out.saw(trail, FieldErrorKind::MaxLength, false);
            return out.fail(|| error(trail, FieldErrorKind::MaxLength, FieldErrorType::TooLong, None, "value is too long"));
        }
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

pub(super) fn numeric<N: CheckNode>(number: &Number, value: &Value, node: &N, trail: &Trail<'_>, out: &mut Findings) {
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
            (FieldErrorKind::MultipleOf, Broken::Factor, bounds.multiple_of.is_some_and(|factor| factor < 1.0)),
        ] {
            if set {
                out.saw(trail, kind, !failures.iter().any(|failure| failure.broken == broken));
            }
        }
    }
    for failure in failures {
        out.fail(|| {
            let (kind, naming) = match failure.broken {
                Broken::MultipleOf | Broken::Factor => (FieldErrorKind::MultipleOf, Naming::Dotted),
                Broken::Minimum => (FieldErrorKind::Minimum, Naming::Dotted),
                Broken::Maximum => (FieldErrorKind::Maximum, Naming::Dotted),
                Broken::Range => (FieldErrorKind::Range, Naming::None),
            };
            let detail = match failure.broken {
                Broken::Range => format!("{} {}", failure.words, name(trail)),
                Broken::Factor => format!("factor MultipleOf declared for {} must be positive: {}", name(trail), failure.words),
                _ => format!("{} in body {}", name(trail), failure.words),
            };
            let shown = match failure.broken {
                Broken::Range => &Value::from(""),
                Broken::Factor => &serde_json::from_str(&failure.words).unwrap_or_default(),
                _ => value,
            };
            FieldError::new(trail.path(), naming, kind, FieldErrorType::Invalid, Some(shown), &detail)
        });
    }
}

pub(super) fn too_many<N: CheckNode>(node: &N, size: u64, max: u64) -> String {
    format!("{size}: must have at most {max} {}", unit(node, max, "item"))
}

/// The server has no limit to show for a negative maximum.
pub(super) fn too_many_for_nothing(size: u64) -> String {
    format!("{size}: has too many items")
}

fn unit<N: CheckNode>(node: &N, count: u64, unit: &str) -> String {
    let singular = count == 1 && node.shape().kubernetes.words(Feature::SingularUnits);
    if singular { unit.to_owned() } else { format!("{unit}s") }
}
