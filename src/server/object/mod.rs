//! Models what an API server does with one object: it prunes, drops nulls, applies defaults, and validates the result.
//!
//! Given a [`Shape`] and an object, returns what would be stored, what was dropped and defaulted, and every error.

mod apply_defaults;
mod check;
mod check_default;
mod check_files;
mod crd_upgrade;
mod declared;
mod differences;
mod embedded;
mod endpoint;
mod enumeration;
mod error;
mod impact;
mod lists;
mod metadata;
mod node;
mod path;
mod prune;
mod ratchet;
mod rules;
mod scale;
mod trace;
mod types;
mod updates;

use serde_json::Value;

use crate::model::FieldPath;
use crate::model::kubernetes::Feature;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;
use crate::server::key_fate::Pruning;

pub(crate) use apply_defaults::{DefaultNode, value_count};
pub(crate) use check::CheckNode;
pub use check_default::default_of_schema;
pub use check_files::{ObjectReport, ObjectVerdict, Request, check_objects};
pub use crd_upgrade::Upgrade;
pub(crate) use declared::{clause_accepts, declared_accepts};
pub(crate) use differences::differences;
pub(crate) use embedded::{EMBEDDED_TYPE_PATTERNS, has_embedded, with_standard_metadata, without_empty_metadata};
pub use endpoint::{Endpoint, Subresource};
pub(crate) use enumeration::only_listed;
pub use error::{FieldError, FieldErrorKind, FieldErrorType};
pub use impact::{Hit, HitObject, ImpactChecker, ObjectHarm};
pub(crate) use lists::repeated;
pub(crate) use metadata::METADATA_PROPERTIES;
pub use path::{ObjectPath, ObjectStep};
pub use ratchet::{Tolerance, Tolerated};
pub use scale::Scale;
pub use trace::{Check, Seen};
pub(crate) use types::{JsonKind, JsonKinds, enforced_format, number_domains};
pub use updates::check_updates;

use apply_defaults::Filled;
use node::CompiledNode;
use path::Trail;
use ratchet::Correlated;
use rules::{Ratchet, RuleResults};
use types::ReadPurpose;

/// The part of an object that a request is checked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    /// A write to the status subresource: only `status` is validated by the schema, but lists and rules for the whole object.
    Status,
}

fn put_status(object: &mut Value, status: Option<Value>) {
    if let Some(map) = object.as_object_mut() {
        match status {
            Some(status) => map.insert("status".to_owned(), status),
            None => map.remove("status"),
        };
    }
}

/// What is stored of a value that is pruned this way: without unknown fields and disallowed nulls, with its defaults. Also returns
/// whether something other than a null was pruned.
pub(crate) fn store<N: DefaultNode>(value: &Value, by: &Pruning<N>) -> (Value, bool) {
    let (mut value, mut lost) = (value.clone(), false);
    prune::prune(&mut value, by, &Trail::Root, false, &mut |_, dropped| lost |= !dropped.is_null());
    if let Pruning::Schema { node, .. } = by {
        prune::nulls(&mut value, node, &Trail::Root, &mut |_| {});
        fill_in(&mut value, node);
    }
    (value, lost)
}

/// Whether the node's format is one that strings are checked for.
pub(crate) fn checks_format(shape: &Shape) -> bool {
    types::string_format(shape, ReadPurpose::Request).is_some()
}

/// Whether lists pass where the type is string, because of the format. Rules fail on them.
pub(crate) fn lets_lists_pass(shape: &Shape) -> bool {
    shape.ty == Some(Type::String) && checks_format(shape)
}

/// Applies the defaults of a node to a value.
pub(crate) fn fill_in<N: DefaultNode>(value: &mut Value, node: &N) {
    apply_defaults::defaults(value, node, &Trail::Root, &mut Filled::unlisted());
}

/// A version's schema, ready for many objects.
#[derive(Debug)]
pub struct Compiled {
    root: CompiledNode,
    /// Whether outcomes record which checks were made.
    trace: bool,
}

/// The result of a request.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// The object as it would be stored; if there are errors, as it was validated.
    pub stored: Value,
    /// Unknown fields that were dropped.
    pub pruned: Vec<ObjectPath>,
    /// Fields dropped because they were null.
    pub nulls: Vec<ObjectPath>,
    /// Fields that got their default.
    pub defaulted: Vec<ObjectPath>,
    /// Why the request is refused.
    pub errors: Vec<FieldError>,
    /// Errors that ratcheting tolerates, because the update didn't change the invalid value.
    pub warnings: Vec<Tolerated>,
    /// Checks of the server that can't be made here, with the reason.
    pub undecided: Vec<(ObjectPath, String)>,
    /// Which checks were made, if the schema was compiled to record them.
    pub seen: Vec<Seen>,
    /// Steps that the checks and the CEL rules took.
    pub steps: usize,
}

impl Response {
    pub fn accepted(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Compiled {
    pub fn new(root: &Shape) -> Self {
        Compiled { root: CompiledNode::compile(root, ReadPurpose::Request), trace: false }
    }

    /// Like [`Compiled::new`], for a schema that shares nodes with another that is already compiled.
    pub(crate) fn beside(root: &Shape, other: &Compiled) -> Self {
        Compiled { root: CompiledNode::compile_beside(root, &other.root), trace: false }
    }

    /// Like [`Compiled::new`], but outcomes record which checks were made.
    pub(crate) fn traced(root: &Shape) -> Self {
        Compiled { trace: true, ..Compiled::new(root) }
    }

    /// Drops unknown fields and nulls, like the server does on every read and write; returns the paths of the unknown fields.
    pub fn prune(&self, object: &mut Value) -> Vec<ObjectPath> {
        let dropped = prune::unknown(object, &self.root, true);
        prune::nulls(object, &&self.root, &Trail::Root, &mut |_| {});
        dropped
    }

    /// Applies defaults, like the server does for requests and for objects read from storage.
    pub fn fill(&self, object: &mut Value) -> Vec<ObjectPath> {
        let mut filled = Filled::listed();
        apply_defaults::defaults(object, &&self.root, &Trail::Root, &mut filled);
        filled.paths.unwrap_or_default()
    }

    /// How a server reads a stored object: pruned and with its defaults, whether or not it is valid.
    pub fn read(&self, mut object: Value) -> Value {
        self.prune(&mut object);
        self.fill(&mut object);
        object
    }

    /// A request to create the object.
    ///
    /// An object with `metadata` is a whole one, so its names are checked too.
    pub fn request(&self, object: Value) -> Response {
        let mut outcome = self.admit(object);
        if outcome.accepted() {
            self.validate(&mut outcome, None, Part::Whole);
        }
        outcome
    }

    /// A request to create an object whose status has a subresource: the server drops `status`, including defaults, before
    /// validation.
    pub(crate) fn request_without_status(&self, object: Value) -> Response {
        let mut outcome = self.admit(object);
        outcome.stored.as_object_mut().map(|object| object.remove("status"));
        if outcome.accepted() {
            self.validate(&mut outcome, None, Part::Whole);
        }
        outcome
    }

    /// A request to replace the stored object `old` with `new`.
    pub fn request_update(&self, old: &Value, new: Value) -> Response {
        let mut outcome = self.admit(new);
        if outcome.accepted() {
            self.validate(&mut outcome, Some(old), Part::Whole);
        }
        outcome
    }

    /// The same if the status has a subresource: the status doesn't change.
    pub(crate) fn request_update_without_status(&self, old: &Value, new: Value) -> Response {
        let mut outcome = self.admit(new);
        if outcome.accepted() {
            put_status(&mut outcome.stored, old.get("status").cloned());
            self.validate(&mut outcome, Some(old), Part::Whole);
        }
        outcome
    }

    /// A request to the status subresource of the stored object `old`: only the status of `new` counts.
    pub(crate) fn request_status(&self, old: &Value, new: Value) -> Response {
        let mut outcome = self.admit(new);
        if outcome.accepted() {
            let status = outcome.stored.get("status").cloned();
            outcome.stored = old.clone();
            put_status(&mut outcome.stored, status);
            let within = |path: &ObjectPath| path.starts_with(&ObjectPath::root().key("status"));
            for paths in [&mut outcome.pruned, &mut outcome.nulls, &mut outcome.defaulted] {
                paths.retain(within);
            }
            self.validate(&mut outcome, Some(old), Part::Status);
        }
        outcome
    }

    /// What a client could have meant by an unknown field: the names declared next to it.
    pub(crate) fn declared_siblings(&self, path: &ObjectPath) -> Vec<&str> {
        let Some((_, parents)) = path.steps().split_last() else { return Vec::new() };
        let parent = parents.iter().try_fold(&*self.root.shape, |shape, step| match step {
            ObjectStep::Key(name) | ObjectStep::Entry(name) => shape.value_of(name),
            ObjectStep::Index(_) => shape.items.as_deref(),
        });
        parent.into_iter().flat_map(|shape| shape.properties.keys()).map(String::as_str).collect()
    }

    /// Processes an object before validation; an error here means that it couldn't be decoded.
    fn admit(&self, mut object: Value) -> Response {
        let mut outcome = Response::default();
        let root = Trail::Root;
        let unread = object
            .get_mut("metadata")
            .and_then(|value| metadata::read(value, &Trail::Key(&root, "metadata"), FieldErrorKind::Metadata, &mut outcome.pruned));
        outcome.pruned.extend(prune::unknown(&mut object, &self.root, true));
        prune::nulls(&mut object, &&self.root, &root, &mut |trail| outcome.nulls.push(trail.path()));
        let unread = unread.or_else(|| embedded::read(&mut object, &self.root, &root, &mut outcome.pruned));
        let mut filled = Filled::listed();
        apply_defaults::defaults(&mut object, &&self.root, &root, &mut filled);
        outcome.errors.extend(unread);
        outcome.errors.extend(filled.is_cut().then(FieldError::too_large));
        outcome.defaulted = filled.paths.unwrap_or_default();
        outcome.stored = object;
        outcome
    }

    /// Runs the server's checks in order.
    fn validate(&self, outcome: &mut Response, old: Option<&Value>, part: Part) {
        let (object, root) = (&outcome.stored, Trail::Root);
        let mut errors = Vec::new();
        match old {
            Some(old) => metadata::check_update(old, object, &mut errors),
            None => metadata::check_root(object, &mut errors),
        }
        let by = match part {
            Part::Whole => Feature::Ratcheting,
            Part::Status => Feature::StatusRatcheting,
        };
        let correlated = old.map(|old| Correlated { old, new: object, shape: &self.root.shape, by });
        match part {
            Part::Whole => {
                let findings = check::run(object, &&self.root, correlated, self.trace);
                outcome.steps = findings.steps();
                outcome.seen.extend(findings.seen.into_iter().flatten());
                errors.extend(findings.errors);
                outcome.warnings = findings.warnings;
                outcome.undecided = findings.undecided;
                embedded::check(object, &self.root, &root, &mut errors);
            }
            Part::Status => {
                if let Some((status, node)) = object.get("status").zip(self.root.properties.get("status")) {
                    let findings = check::run(status, &node, correlated.and_then(|correlated| correlated.key("status")), self.trace);
                    let below = |seen: Seen| Seen { path: FieldPath::root().key("status").join(seen.path.steps()), ..seen };
                    outcome.seen.extend(findings.seen.into_iter().flatten().map(below));
                    let from_root = self.root.shape.kubernetes.words(Feature::StatusPaths);
                    errors.extend(findings.errors.into_iter().map(|error| {
                        let field = (!from_root).then(|| error.field.clone());
                        let error = error.below_field("status");
                        FieldError { field: field.unwrap_or_else(|| error.field.clone()), ..error }
                    }));
                    outcome.warnings.extend(findings.warnings.into_iter().map(|tolerated| tolerated.below_field("status")));
                    outcome.undecided = findings.undecided;
                }
            }
        }
        let duplicates = |object: &Value| {
            let mut errors = Vec::new();
            lists::check(object, &self.root, &root, &mut errors);
            errors
        };
        let found = duplicates(object);
        // An update isn't checked for duplicates if the old object already had some.
        if !found.is_empty() && old.is_some_and(|old| !duplicates(old).is_empty()) {
            let tolerated = |error| Tolerated { error, because: Tolerance::DuplicatesBefore };
            outcome.warnings.extend(found.into_iter().map(tolerated));
        } else {
            errors.extend(found);
        }
        if self.root.below.rules && errors.iter().any(|error| error.reason.blocks_rules()) {
            errors.push(FieldError::unchecked());
        } else {
            let mut results = RuleResults::new(self.trace);
            rules::check(object, old, &self.root, &root, Ratchet::of(correlated), &mut results);
            errors.extend(results.errors);
            outcome.warnings.extend(results.warnings);
            outcome.undecided.extend(results.undecided);
            outcome.seen.extend(results.seen.into_iter().flatten());
            outcome.steps = outcome.steps.saturating_add(results.steps);
        }
        let older = !self.root.shape.kubernetes.words(Feature::JsonValues);
        outcome.errors = if older { errors.into_iter().map(FieldError::without_json).collect() } else { errors };
        outcome.seen.iter_mut().for_each(|seen| seen.update = old.is_some());
    }

    /// Validates a default against its own node: as a new value, then as an update of itself.
    fn validate_default(&self, value: &Value) -> Vec<FieldError> {
        let errors = check::run(value, &&self.root, None, false).errors;
        if !errors.is_empty() {
            return errors;
        }
        let mut results = RuleResults::default();
        rules::check(value, None, &self.root, &Trail::Root, Ratchet::default(), &mut results);
        if results.errors.is_empty() {
            rules::check(value, Some(value), &self.root, &Trail::Root, Ratchet::default(), &mut results);
        }
        results.errors
    }
}

#[cfg(test)]
mod tests;
