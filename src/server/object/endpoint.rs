//! One version of a CRD as clients write to it: create, update, and the status and scale subresources.

use serde_json::Value;

use crate::model::Version;
use crate::model::schema::Shape;

use super::error::{FieldError, FieldErrorKind, FieldErrorType, Naming};
use super::path::ObjectPath;
use super::scale::{Scale, ScaleError};
use super::{Compiled, Response};

/// A part of an object with its own endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subresource {
    Status,
    Scale,
}

impl Subresource {
    pub fn name(self) -> &'static str {
        match self {
            Subresource::Status => "status",
            Subresource::Scale => "scale",
        }
    }
}

/// A version of a CRD, ready for requests.
#[derive(Debug)]
pub struct Endpoint {
    compiled: Compiled,
    scale: Scale,
    /// Whether `status` has a subresource.
    status: bool,
    /// For a deprecated version, the warning in its CRD.
    deprecation: Option<Option<String>>,
}

impl Endpoint {
    /// Returns `None` for a version without a schema.
    pub fn new(version: &Version<'_>) -> Option<Self> {
        Self::compile(version, Compiled::new)
    }

    /// Like [`Endpoint::new`], but outcomes record which checks were made.
    pub fn traced(version: &Version<'_>) -> Option<Self> {
        Self::compile(version, Compiled::traced)
    }

    fn compile(version: &Version<'_>, compile: impl FnOnce(&Shape) -> Compiled) -> Option<Self> {
        let shape = Shape::of(version.schema.as_ref()?);
        Some(Endpoint {
            compiled: compile(&shape),
            scale: Scale::of(version),
            status: version.status_subresource().is_some(),
            deprecation: version.deprecated.then(|| version.deprecation_warning.map(|text| text.value.to_owned())),
        })
    }

    pub(crate) fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// Validates the object as given, including its status.
    pub fn validate(&self, object: Value) -> Response {
        self.complete(self.compiled.request(object))
    }

    /// A create. If `status` has a subresource, the server drops it.
    pub fn create(&self, object: Value) -> Response {
        if self.status { self.complete(self.compiled.request_without_status(object)) } else { self.validate(object) }
    }

    /// A create, followed by a write of the status if it has a subresource.
    pub fn create_with_status(&self, object: Value) -> Response {
        let mut outcome = self.validate(object.clone());
        if !self.status || outcome.stored.get("status").is_none() {
            return outcome;
        }
        let created = self.create(object).errors;
        let (both, by_status): (Vec<FieldError>, Vec<FieldError>) = outcome.errors.into_iter().partition(|error| created.contains(error));
        let note = |error: FieldError, words: &str| FieldError { message: format!("{} ({words})", error.message), ..error };
        let by_create = created.into_iter().filter(|error| !both.contains(error)).map(|error| note(error, "a create drops `status`"));
        outcome.errors = by_create.collect();
        outcome.errors.extend(by_status.into_iter().map(|error| note(error, "refused by the status subresource")));
        outcome.errors.extend(both);
        outcome
    }

    /// How a server reads this stored object: pruned and with its defaults, whether or not it is valid.
    pub fn read(&self, object: Value) -> Value {
        self.compiled.read(object)
    }

    /// The same object read through this version with strategy None, which only changes `apiVersion`.
    pub fn convert(&self, mut object: Value, api_version: &str) -> Value {
        if let Some(map) = object.as_object_mut() {
            map.insert("apiVersion".to_owned(), api_version.into());
        }
        self.compiled.prune(&mut object);
        object
    }

    /// An update of `old`, as the server has read it, to what the client sends. If `status` has a subresource, it doesn't change.
    pub fn update(&self, old: &Value, new: Value) -> Response {
        let outcome =
            if self.status { self.compiled.request_update_without_status(old, new) } else { self.compiled.request_update(old, new) };
        self.complete(outcome)
    }

    /// A write to a subresource of `old`; `None` if the version doesn't have it.
    pub fn update_subresource(&self, subresource: Subresource, old: &Value, new: Value) -> Option<Response> {
        match subresource {
            Subresource::Status if !self.status => None,
            Subresource::Status => {
                let mut outcome = self.compiled.request_status(old, new);
                self.scale.check_status(&outcome.stored, &mut outcome.errors);
                Some(outcome)
            }
            Subresource::Scale => match self.scale.scaled(old, &new) {
                Ok(scaled) => Some(self.update(old, scaled)),
                Err(ScaleError::Refused(error)) => Some(Response { stored: old.clone(), errors: vec![error], ..Response::default() }),
                Err(ScaleError::NoSubresource) => None,
            },
        }
    }

    /// The warnings that the server returns: the version is deprecated, fields are unknown, finalizers have bad names, and rules
    /// fail on unchanged values.
    pub fn warnings(&self, outcome: &Response, old: Option<&Value>) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Some(text) = &self.deprecation {
            let word = |key: &str| outcome.stored.get(key).and_then(Value::as_str).unwrap_or_default();
            warnings.push(text.clone().unwrap_or_else(|| format!("{} {} is deprecated", word("apiVersion"), word("kind"))));
        }
        warnings.extend(outcome.pruned.iter().map(|path| format!("unknown field \"{}\"", path.dotted())));
        let finalizers = |object: &Value| object.pointer("/metadata/finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
        let before = old.map(finalizers).unwrap_or_default();
        for name in finalizers(&outcome.stored).iter().filter(|name| !before.contains(name)).filter_map(Value::as_str) {
            if !name.contains('/') && !matches!(name, "orphan" | "foregroundDeletion" | "kubernetes") {
                warnings.push(format!(
                    "metadata.finalizers: {name:?}: prefer a domain-qualified finalizer name including a path (/) to avoid accidental \
                     conflicts with other finalizer writers"
                ));
            }
        }
        let rules = outcome.warnings.iter().map(|tolerated| &tolerated.error).filter(|error| error.kind == FieldErrorKind::Rule);
        warnings.extend(rules.map(|error| format!("{}: {}", error.field, error.server_message())));
        warnings
    }

    fn complete(&self, mut outcome: Response) -> Response {
        if outcome.stored.get("metadata").is_none() {
            let path = ObjectPath::root().key("metadata").key("name");
            let words = "name or generateName is required";
            outcome.errors.push(FieldError::new(path, Naming::Dotted, FieldErrorKind::Metadata, FieldErrorType::Required, None, words));
        }
        self.scale.check(&outcome.stored, &mut outcome.errors);
        outcome
    }
}
