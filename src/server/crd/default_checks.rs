//! Checks defaults: the server prunes and validates each one against its own schema.

use serde_json::Value;

use crate::input::shorten;
use crate::input::yaml::{Data, Node};
use crate::model::PathStep;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Keyword, Schema, Shape};
use crate::server::object::{self, FieldErrorKind};

use super::schema_walk::{CrdSchemaWalk, DefaultSite};

/// Validates every default outside maps. Returns whether the server finds no errors.
pub(super) fn check<'t>(walk: &mut CrdSchemaWalk<'_, 't>, root: &Schema<'t>, sites: &[DefaultSite<'t>]) -> bool {
    let before = walk.collector.count();
    for site in sites.iter().filter(|site| !site.in_map) {
        refuse(walk, root, site);
    }
    walk.collector.count() == before
}

fn refuse<'t>(walk: &mut CrdSchemaWalk<'_, 't>, root: &Schema<'t>, site: &DefaultSite<'t>) {
    for error in errors(root, site) {
        if error.kind == FieldErrorKind::Unknown && !walk.checks.pruned_defaults {
            continue;
        }
        let effect = if error.kind == FieldErrorKind::Unknown { Effect::Unknown } else { Effect::Invalid };
        let below = match error.field.as_str() {
            "<nil>" => String::new(),
            field if field.starts_with('[') => field.to_owned(),
            field => format!(".{field}"),
        };
        let (node, _) = error.path.locate(site.value);
        let version = walk.version.to_owned();
        let field = format!("{}.default{below}", site.field);
        let fact = walk.collector.refuse((Subject::Field, Aspect::Default, effect), start(node), field, error.message);
        fact.version = Some(version);
        fact.path = site.path.clone();
        fact.words.insert(Word::Default, shown_default(site.value));
        fact.key = Some(below);
    }
}

/// Whether the schema only has a type and an enum that the default satisfies. Most defaults do, which avoids validating them.
fn is_plain(schema: &Schema<'_>, value: Node<'_>) -> bool {
    use Keyword as K;
    let known = [K::Type, K::Default, K::Enum, K::Items, K::Description, K::Title];
    let listed = |values: Node<'_>| values.is_empty() || values.items().any(|one| one.same(value));
    let simple = match value.data() {
        Data::Str(_) | Data::Bool(_) | Data::Int(_) => !schema.has(K::Items),
        Data::Seq => schema.items().is_some_and(|items| value.items().all(|item| is_plain(&items, item))),
        _ => false,
    };
    simple
        && schema.ty().is_some_and(|ty| fits(ty, value.data()))
        && schema.words().all(|(word, _)| known.contains(&word))
        && schema.word(K::Enum).is_none_or(listed)
}

fn errors(root: &Schema<'_>, site: &DefaultSite<'_>) -> Vec<object::FieldError> {
    if !site.meta && is_plain(&site.schema, site.value) {
        return Vec::new();
    }
    let mut shape = Shape::reached(&site.schema, site.value);
    // The root is a resource, whether or not it is declared as one.
    shape.embedded |= site.path.is_root();
    let own = object::default_of_schema(&shape);
    if !site.meta {
        return own;
    }
    // A default inside metadata is first validated as part of its resource, and unknown fields in it are allowed.
    let around: Vec<_> = enclosing_resource_errors(root, site).unwrap_or_default();
    if around.is_empty() { own.into_iter().filter(|error| error.kind != FieldErrorKind::Unknown).collect() } else { around }
}

/// The errors of a resource that has only this default in its metadata.
fn enclosing_resource_errors(root: &Schema<'_>, site: &DefaultSite<'_>) -> Option<Vec<object::FieldError>> {
    let mut schema = root.clone();
    let (mut owner, mut below) = (root.clone(), 0);
    for (index, step) in site.path.steps().iter().enumerate() {
        schema = match step {
            PathStep::Key(name) => schema.property(name)?.1,
            PathStep::Items => schema.items()?,
            PathStep::Values => return None,
        };
        if schema.flag(Keyword::EmbeddedResource) {
            (owner, below) = (schema.clone(), index + 1);
        }
    }
    let steps = site.path.steps().get(below..)?;
    let mut value = steps.iter().rev().fold(site.value.to_json(), |inner, step| match step {
        PathStep::Key(name) => Value::Object([(name.to_string(), inner)].into_iter().collect()),
        _ => Value::Array(vec![inner]),
    });
    let object = value.as_object_mut()?;
    object.entry("apiVersion").or_insert_with(|| "validation/v1".into());
    object.entry("kind").or_insert_with(|| "Validation".into());
    let mut shape = Shape::of(&owner);
    shape.embedded = true;
    shape.default = Some(value);
    let mut errors = object::default_of_schema(&shape);
    errors.retain(|error| matches!(error.kind, FieldErrorKind::Embedded | FieldErrorKind::Metadata));
    // The server reports the path of the default, not the path in the resource, and all errors at once.
    let message = errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join(", ");
    errors.truncate(1);
    for error in &mut errors {
        error.field = "<nil>".into();
        error.path = object::ObjectPath::root();
        error.message = format!("must result in valid metadata: {message}");
    }
    Some(errors)
}

/// The first key of a mapping, or the node itself, to point at.
fn start(node: Node<'_>) -> Node<'_> {
    node.entry_at(0).map(|entry| entry.key).unwrap_or(node)
}

/// Formats a default for messages, shortened.
pub(crate) fn shown_default(value: Node<'_>) -> String {
    shorten(&value.to_json().to_string(), 60).into_owned()
}

/// Whether a value has a JSON Schema type.
pub(crate) fn fits(ty: &str, data: Data<'_>) -> bool {
    match (ty, data) {
        ("string", Data::Str(_)) | ("boolean", Data::Bool(_)) | ("number", Data::Int(_) | Data::Float(_)) => true,
        ("integer", Data::Int(_)) | ("array", Data::Seq) | ("object", Data::Map) => true,
        ("integer", Data::Float(value)) => value.fract() == 0.0,
        _ => false,
    }
}
