//! Why a step can't be applied to an object.

use serde_json::Value;
use thiserror::Error;

use crate::server::object::ObjectPath;

/// What to do if the source and the target of a step both have a value, and the values differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conflict {
    #[default]
    Error,
    /// Keep the value at the target.
    PreferNew,
    /// Replace it with the value at the source.
    PreferOld,
}

#[derive(Debug, Clone, PartialEq, Error)]
pub enum StepFailure {
    #[error("the old and the new field have different values; set `conflict: prefer-new` or `prefer-old`, or remove one of them")]
    Conflict,
    #[error("a parent of the target is not an object")]
    ParentNotObject,
    #[error("`values` has no entry for {0}")]
    Unmapped(Value),
    #[error("`{text}` doesn't match the template `{template}`")]
    Form { text: String, template: String },
    #[error("the field of the template part `{0}` is missing")]
    PartMissing(String),
    #[error("expected {expected}, found {found}")]
    Type { expected: &'static str, found: String },
    #[error("`{0}` can't be parsed as {1}")]
    Unreadable(String, &'static str),
    #[error("{0} is too large for 64 bits after scaling")]
    Overflow(Value),
    #[error("duplicate key `{0}`")]
    Duplicate(String),
    #[error("an item has no string in its key field `{0}`")]
    Keyless(String),
    #[error("an item has other fields than `{key}` and `{value}`")]
    TooMuch { key: String, value: String },
    #[error("the expression fails: {0}")]
    Cel(String),
    #[error("needs a manual step: {0}")]
    Manual(String),
}

impl StepFailure {
    pub(crate) fn ty(expected: &'static str, found: &Value) -> StepFailure {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        StepFailure::Type { expected, found: found.to_owned() }
    }
}

impl From<crate::find::conversion::address::ParentNotObject> for StepFailure {
    fn from(_: crate::find::conversion::address::ParentNotObject) -> Self {
        StepFailure::ParentNotObject
    }
}

/// A step that couldn't be applied, with the place in the object.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{path}: {reason} (step {}, {name})", step + 1)]
pub struct StepRefusal {
    /// Position of the step in its manifest.
    pub step: usize,
    /// The name of the step's kind in the manifest.
    pub name: &'static str,
    pub path: ObjectPath,
    pub reason: StepFailure,
}
