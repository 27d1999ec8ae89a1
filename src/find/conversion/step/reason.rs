//! Why a step can't be done on an object.

use serde_json::Value;
use thiserror::Error;

use crate::server::object::ObjectPath;

/// What happens where source and target of a step are both there and differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conflict {
    #[default]
    Error,
    /// What stands at the target stays.
    PreferNew,
    /// What stands at the source wins.
    PreferOld,
}

#[derive(Debug, Clone, PartialEq, Error)]
pub enum Reason {
    #[error("old and new form are both there and differ; say `conflict: prefer-new` or `prefer-old`, or remove one")]
    Conflict,
    #[error("something that is no object stands in the way")]
    Blocked,
    #[error("the value {0} is not in the table")]
    Unmapped(Value),
    #[error("`{text}` doesn't have the form `{template}`")]
    Form { text: String, template: String },
    #[error("the part `{0}` is missing")]
    PartMissing(String),
    #[error("{found} where {expected} is expected")]
    Type { expected: &'static str, found: String },
    #[error("`{0}` can't be read as {1}")]
    Unreadable(String, &'static str),
    #[error("{0} is too large for 64 bits after scaling")]
    Overflow(Value),
    #[error("the key `{0}` is there twice")]
    Duplicate(String),
    #[error("an item has no `{0}` to be its key")]
    Keyless(String),
    #[error("an item has more than `{key}` and `{value}`")]
    TooMuch { key: String, value: String },
    #[error("the expression fails: {0}")]
    Cel(String),
    #[error("this must be converted by hand: {0}")]
    Manual(String),
}

impl Reason {
    pub(crate) fn ty(expected: &'static str, found: &Value) -> Reason {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        Reason::Type { expected, found: found.to_owned() }
    }
}

impl From<crate::find::conversion::address::Blocked> for Reason {
    fn from(_: crate::find::conversion::address::Blocked) -> Self {
        Reason::Blocked
    }
}

/// A step that could not be done, and where in the object.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{path}: {reason} (step {}, {name})", step + 1)]
pub struct Refusal {
    /// Position of the step in its manifest.
    pub step: usize,
    /// What the manifest calls the step.
    pub name: &'static str,
    pub path: ObjectPath,
    pub reason: Reason,
}
