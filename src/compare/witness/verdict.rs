//! Decides whether the responses of both sides to a request show the requested difference.

use serde_json::Value;

use crate::compare::condition::errors_of;
use crate::model::fact::Outcome;
use crate::model::{FieldPath, PathStep};
use crate::server::object::{FieldError, FieldErrorKind, ObjectPath, Response, differences};

use super::Cause;

pub(super) fn verdict(old: &Response, new: &Response, path: &FieldPath, cause: Cause<'_>) -> Option<(Outcome, String)> {
    let shows = |error: &&FieldError| match cause {
        // It follows from the other errors.
        _ if error.kind == FieldErrorKind::Unchecked => false,
        Cause::Near | Cause::Refusal => concerns(&error.path.general(), path),
        Cause::Lost => false,
        Cause::Here(_) => path.starts_with(&error.path.general()),
        Cause::Rule(text) => error.rule.as_deref() == Some(text) && concerns(&error.path.general(), path),
    };
    if !new.errors.is_empty() {
        // The error closest to the path describes it best.
        let close = new.errors.iter().filter(shows);
        let asked = |error: &FieldError| matches!(cause, Cause::Here(keyword) if errors_of(keyword).contains(&error.kind));
        let closest = close.max_by_key(|error| (asked(error), error.path.general().steps().len().min(path.steps().len() + 1)));
        let lost = |error: &FieldError| {
            let dropped = new.pruned.iter().find(|pruned| cause == Cause::Near && concerns(&pruned.general(), path))?;
            Some(format!("{}: {}, and {} would be dropped", error.field, error.message, dropped.dotted()))
        };
        let because = match closest {
            Some(error) => format!("{}: {}", error.field, error.message),
            None => new.errors.iter().find(|error| error.kind != FieldErrorKind::Unchecked).and_then(lost)?,
        };
        return Some((Outcome::Rejected, because));
    }
    let concerned = |pruned: &&ObjectPath| concerns(&pruned.general(), path) && matches!(cause, Cause::Near | Cause::Lost);
    if let Some(path) = new.pruned.iter().find(concerned) {
        return Some((Outcome::Pruned, format!("{} is dropped", path.dotted())));
    }
    // A change of what is stored doesn't show that a condition rejects a value.
    if cause != Cause::Near {
        return None;
    }
    let changed = differences(&old.stored, &new.stored, Value::eq).into_iter().find(|changed| concerns(&changed.path.general(), path))?;
    let is = changed.new.map_or("nothing".to_owned(), Value::to_string);
    let was = changed.old.map_or("was absent".to_owned(), |value| format!("was stored as {value}"));
    Some((Outcome::Changed, format!("{} is stored as {is}, and {was}", changed.path.dotted())))
}

/// Whether a request is refused because of a change: by the rule alone, or by the keyword.
pub(super) fn refuses(new: &Response, path: &FieldPath, cause: Cause<'_>) -> bool {
    match cause {
        Cause::Rule(text) => new.errors.iter().all(|error| error.rule.as_deref() == Some(text)),
        Cause::Here(keyword) => {
            new.errors.iter().any(|error| errors_of(keyword).contains(&error.kind) && path.starts_with(&error.path.general()))
        }
        Cause::Near | Cause::Refusal | Cause::Lost => false,
    }
}

/// Whether an event at one path concerns another: one is a prefix of the other.
pub(super) fn concerns(at: &FieldPath, path: &FieldPath) -> bool {
    // A key that is missing from a map is named by itself, and a field may be a key of a map on the other side.
    let alike = |(a, b): (&PathStep, &PathStep)| {
        a == b || matches!((a, b), (PathStep::Key(_), PathStep::Values) | (PathStep::Values, PathStep::Key(_)))
    };
    at.steps().iter().zip(path.steps()).all(alike)
}
