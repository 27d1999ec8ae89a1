//! Errors in an object: the violated keyword, the server's reason, and its message.

use std::sync::Arc;

use serde_json::Value;

use super::path::{ObjectPath, Trail};
use crate::go::fmt;
use crate::input::shorten;

/// Longer values are shortened in messages.
const MAX_SHOWN: usize = 120;
/// The server shows whole values. Longer ones are shortened even in the server's wording, because an object may have many errors.
const MAX_KEPT: usize = 16 << 10;

/// The keyword, or other check, that an object violates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldErrorKind {
    Type,
    Required,
    Enum,
    MinLength,
    MaxLength,
    Pattern,
    Format,
    Minimum,
    Maximum,
    MultipleOf,
    /// A number, or the bound it is compared with, is outside its type and format.
    Range,
    MinItems,
    MaxItems,
    UniqueItems,
    MinProperties,
    MaxProperties,
    /// A key that `additionalProperties: false` forbids.
    Forbidden,
    AnyOf,
    OneOf,
    AllOf,
    Not,
    /// Two equal items in a set, or two items with the same keys in a map list.
    Duplicate,
    /// An item of a map list that isn't an object.
    ListItem,
    /// `apiVersion`, `kind` or `metadata` of an embedded resource.
    Embedded,
    /// `metadata` of the object itself.
    Metadata,
    /// A replica count or selector that the scale subresource can't read.
    Scale,
    /// An unknown field in a default.
    Unknown,
    /// A rule of `x-kubernetes-validations`.
    Rule,
    /// With its defaults, the object is too large to be stored.
    Size,
    /// Rules weren't run because of earlier errors.
    Unchecked,
}

/// The server's type of a field error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldErrorType {
    Invalid,
    TypeInvalid,
    Required,
    NotSupported,
    TooLong,
    TooMany,
    Duplicate,
    Forbidden,
}

impl FieldErrorType {
    /// The name of the reason in the causes of a rejected request.
    pub fn name(self) -> &'static str {
        match self {
            FieldErrorType::Invalid => "FieldValueInvalid",
            FieldErrorType::TypeInvalid => "FieldValueTypeInvalid",
            FieldErrorType::Required => "FieldValueRequired",
            FieldErrorType::NotSupported => "FieldValueNotSupported",
            FieldErrorType::TooLong => "FieldValueTooLong",
            FieldErrorType::TooMany => "FieldValueTooMany",
            FieldErrorType::Duplicate => "FieldValueDuplicate",
            FieldErrorType::Forbidden => "FieldValueForbidden",
        }
    }

    fn title(self) -> &'static str {
        match self {
            FieldErrorType::Invalid | FieldErrorType::TypeInvalid => "Invalid value",
            FieldErrorType::Required => "Required value",
            FieldErrorType::NotSupported => "Unsupported value",
            FieldErrorType::TooLong => "Too long",
            FieldErrorType::TooMany => "Too many",
            FieldErrorType::Duplicate => "Duplicate value",
            FieldErrorType::Forbidden => "Forbidden",
        }
    }

    /// Whether the server doesn't run the rules of `x-kubernetes-validations` after this error.
    pub(super) fn blocks_rules(self) -> bool {
        matches!(
            self,
            FieldErrorType::NotSupported
                | FieldErrorType::Required
                | FieldErrorType::TooLong
                | FieldErrorType::TooMany
                | FieldErrorType::TypeInvalid
        )
    }
}

/// How the server names the field of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Naming {
    Dotted,
    Bracketed,
    /// No field: it prints `<nil>`.
    None,
}

/// An error in an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The path of the invalid value, or of the missing field.
    pub path: ObjectPath,
    pub kind: FieldErrorKind,
    pub reason: FieldErrorType,
    /// The field name that the server reports, which for some errors is `<nil>`.
    pub field: String,
    /// The server's message, without the field; a long value is shortened.
    pub message: String,
    /// The same with the whole value, if it was shortened.
    pub(super) whole: Option<Arc<str>>,
    /// Where the detail starts in the message.
    pub(super) detail: usize,
    /// The CEL rule that failed.
    pub rule: Option<Arc<str>>,
}

impl FieldError {
    /// The message without any values from the object.
    pub fn without_value(&self) -> String {
        let path = self.path.general();
        match &self.rule {
            Some(rule) => format!("{path}: fails the rule `{rule}`"),
            None => format!("{path}: {}", self.reason.title()),
        }
    }

    pub(super) fn new(
        path: ObjectPath,
        naming: Naming,
        kind: FieldErrorKind,
        reason: FieldErrorType,
        value: Option<&Value>,
        detail: &str,
    ) -> Self {
        let field = match naming {
            Naming::Dotted => path.dotted(),
            Naming::Bracketed => path.bracketed(),
            Naming::None => String::new(),
        };
        let field = if field.is_empty() { "<nil>".to_owned() } else { field };
        let shows =
            !matches!(reason, FieldErrorType::Required | FieldErrorType::Forbidden | FieldErrorType::TooMany | FieldErrorType::TooLong);
        let value = value.filter(|_| shows).map(fmt::value);
        let message = |limit: usize| {
            let value = value.as_ref().map(|value| format!(": {}", shorten(value, limit))).unwrap_or_default();
            let detail = if detail.is_empty() { String::new() } else { format!(": {detail}") };
            format!("{}{value}{detail}", reason.title())
        };
        let is_long = value.as_ref().is_some_and(|value| value.len() > MAX_SHOWN);
        let whole = is_long.then(|| message(MAX_KEPT).into());
        let message = message(MAX_SHOWN);
        let detail = message.len() - detail.len();
        FieldError { path, kind, reason, field, message, whole, detail, rule: None }
    }

    /// The error as servers worded it before they showed values as JSON.
    pub(super) fn without_json(mut self) -> Self {
        if self.kind == FieldErrorKind::Embedded && self.reason == FieldErrorType::Required {
            self.message.push_str(": must not be empty");
        }
        let start = self.reason.title().len() + 2;
        let end = if self.detail < self.message.len() { self.detail.saturating_sub(2) } else { self.message.len() };
        let value = self.message.get(start..end).and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(value) = value.filter(|value| value.is_object() || value.is_array() || value.is_null()) {
            let shown = if value.is_null() { "\"null\"".to_owned() } else { go_syntax(&value) };
            self.message.replace_range(start..end, &shown);
            self.detail = (self.detail + shown.len()).saturating_sub(end - start);
        }
        self
    }

    /// A part of the message that every server has: without the value if it is long or a rule fails, and without limits, because
    /// servers format them differently.
    pub fn lasting_message(&self) -> &str {
        match self.reason {
            FieldErrorType::TooLong | FieldErrorType::TooMany => return self.reason.title(),
            _ if self.whole.is_none() && self.kind != FieldErrorKind::Rule => return &self.message,
            _ => {}
        }
        let detail = self.message.get(self.detail..).unwrap_or_default();
        if detail.is_empty() { self.reason.title() } else { detail }
    }

    /// The message in the server's wording, with the whole value.
    pub fn server_message(&self) -> &str {
        self.whole.as_deref().unwrap_or(&self.message)
    }

    /// The error that rules couldn't be run, reported once.
    pub(super) fn unchecked() -> Self {
        let words =
            "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
        FieldError::new(ObjectPath::root(), Naming::None, FieldErrorKind::Unchecked, FieldErrorType::Invalid, Some(&Value::Null), words)
    }

    /// The error for an object that is too large to be stored with its defaults.
    pub(super) fn too_large() -> Self {
        let words = "the object is too large with its defaults";
        FieldError::new(ObjectPath::root(), Naming::None, FieldErrorKind::Size, FieldErrorType::TooLong, None, words)
    }

    /// Converts the error of a check that started at this field to one of the whole object. The message keeps its shorter path,
    /// like the server's.
    pub(super) fn below_field(self, name: &str) -> Self {
        let mut path = ObjectPath::root().key(name);
        self.path.steps().iter().for_each(|step| path.push(step.clone()));
        let field = if self.field == "<nil>" { name.to_owned() } else { format!("{name}.{}", self.field) };
        FieldError { path, field, ..self }
    }

    pub(super) fn of_rule(self, rule: &str) -> Self {
        FieldError { rule: Some(rule.into()), ..self }
    }

    /// An error of a check that follows the structural schema.
    pub(super) fn bracketed(trail: &Trail<'_>, kind: FieldErrorKind, reason: FieldErrorType, value: Option<&Value>, detail: &str) -> Self {
        FieldError::new(trail.path(), Naming::Bracketed, kind, reason, value, detail)
    }

    /// The same for a value that is wrong.
    pub(super) fn invalid(trail: &Trail<'_>, kind: FieldErrorKind, value: &Value, detail: &str) -> Self {
        FieldError::bracketed(trail, kind, FieldErrorType::Invalid, Some(value), detail)
    }
}

/// Formats a value like Go's `%#v`.
fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(items) => format!("[]interface {{}}{{{}}}", items.iter().map(go_syntax).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| format!("{}:{}", Value::from(key.as_str()), go_syntax(value));
            let mut entries: Vec<String> = map.iter().map(entry).collect();
            entries.sort();
            format!("map[string]interface {{}}{{{}}}", entries.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_root() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}
