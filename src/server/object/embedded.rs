//! Embedded resources: they need `apiVersion` and `kind`, and their `metadata` is decoded like that of any object.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::declared::{child, walk};
use super::error::{FieldError, FieldErrorKind, FieldErrorType};
use super::metadata::{self, METADATA_PROPERTIES};
use super::node::CompiledNode;
use super::path::{ObjectPath, Trail};
use crate::go::strfmt::name;
use crate::input::yaml::{YamlBudget, parse};
use crate::model::schema::shape::{Extra, Type};
use crate::model::schema::{Schema, Shape};

/// Decodes the metadata of every embedded resource; the first that can't be decoded ends the request.
pub(super) fn read(value: &mut Value, node: &CompiledNode, trail: &Trail<'_>, dropped: &mut Vec<ObjectPath>) -> Option<FieldError> {
    if !node.below.embedded {
        return None;
    }
    match value {
        Value::Object(map) => {
            for (name, value) in map.iter_mut() {
                if node.shape.embedded {
                    let trail = Trail::Key(trail, name);
                    let error = match name.as_str() {
                        "apiVersion" | "kind" => {
                            (!value.is_string()).then(|| FieldError::invalid(&trail, FieldErrorKind::Embedded, value, "must be a string"))
                        }
                        "metadata" => {
                            let error = metadata::read(value, &trail, FieldErrorKind::Embedded, dropped);
                            metadata::drop_empty(value);
                            error
                        }
                        _ => None,
                    };
                    if error.is_some() {
                        return error;
                    }
                }
                let error = child(&node, name, trail).and_then(|(node, trail)| read(value, node, &trail, dropped));
                if error.is_some() {
                    return error;
                }
            }
            None
        }
        Value::Array(items) => {
            let node = node.items.as_deref()?;
            items.iter_mut().enumerate().find_map(|(index, item)| read(item, node, &Trail::Index(trail, index), dropped))
        }
        _ => None,
    }
}

/// Restricts the metadata of embedded resources to what is left after [`read`]: no empty strings, maps or lists. Sending an empty
/// value is the same as omitting it, so a search needn't consider them.
pub(crate) fn without_empty_metadata(shape: &mut Shape) {
    if !has_embedded(shape) {
        return;
    }
    if shape.embedded
        && let Some(metadata) = shape.properties.get_mut("metadata")
    {
        for field in Arc::make_mut(metadata).properties.values_mut() {
            let field = Arc::make_mut(field);
            for count in [&mut field.length, &mut field.item_count, &mut field.property_count] {
                count.min = count.min.max(1);
            }
        }
    }
    shape.children_mut().filter(|child| has_embedded(child)).for_each(|child| without_empty_metadata(Arc::make_mut(child)));
}

/// Declares the standard metadata fields of embedded resources, which the server keeps even if the schema doesn't declare them.
pub(crate) fn with_standard_metadata(shape: &mut Shape) {
    if !has_embedded(shape) {
        return;
    }
    if shape.embedded {
        let metadata = shape.properties.entry("metadata".to_owned());
        let metadata = metadata.or_insert_with(|| Arc::new(Shape { ty: Some(Type::Object), ..Shape::default() }));
        let properties = STANDARD_METADATA.properties.iter();
        properties.for_each(|(name, standard)| declare(Arc::make_mut(metadata), name, standard));
    }
    shape.children_mut().filter(|child| has_embedded(child)).for_each(|child| with_standard_metadata(Arc::make_mut(child)));
}

static STANDARD_METADATA: LazyLock<Shape> = LazyLock::new(|| {
    let text = json!({"properties": *METADATA_PROPERTIES}).to_string();
    let documents = parse(&text.as_str().into(), &YamlBudget::default());
    let root = documents.first().and_then(|document| document.tree.as_ref().ok()).expect("JSON can be read").root();
    Shape::of(&Schema::new(root))
});

/// Declares a field, and what is below it, where the schema itself says nothing.
fn declare(parent: &mut Shape, name: &str, standard: &Arc<Shape>) {
    let Some(own) = parent.properties.get_mut(name) else {
        if matches!(parent.extra, Extra::Closed) {
            parent.properties.insert(name.to_owned(), Arc::clone(standard));
        }
        return;
    };
    let own = Arc::make_mut(own);
    if own.ty == Some(Type::Object) && own.extra == Extra::Closed {
        own.extra = standard.extra.clone();
    }
    standard.properties.iter().for_each(|(name, below)| declare(own, name, below));
    match (&mut own.items, &standard.items) {
        (Some(items), Some(standard)) => standard.properties.iter().for_each(|(name, below)| declare(Arc::make_mut(items), name, below)),
        (items, standard) if own.ty == Some(Type::Array) => items.clone_from(standard),
        _ => {}
    }
}

/// Whether there is an embedded resource in a schema.
pub(crate) fn has_embedded(shape: &Shape) -> bool {
    shape.embedded || shape.children().any(has_embedded)
}

/// Checks embedded resources.
pub(super) fn check(value: &Value, node: &CompiledNode, trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    walk(value, &node, trail, &|node| node.below.embedded, &mut |value, node, trail| {
        if let Value::Object(map) = value
            && node.shape.embedded
        {
            resource(map, trail, errors);
        }
    });
}

/// Whether the server accepts an embedded resource; `None` if it has metadata, which isn't checked here.
pub(super) fn is_resource(map: &Map<String, Value>) -> Option<bool> {
    let mut errors = Vec::new();
    type_names(map, &Trail::Root, &mut errors);
    match map.get("metadata") {
        _ if !errors.is_empty() => Some(false),
        None => Some(true),
        Some(Value::Object(metadata)) if metadata.is_empty() => Some(true),
        Some(_) => None,
    }
}

fn type_names(map: &Map<String, Value>, trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    for (field, form) in [("apiVersion", api_version as fn(&str) -> Option<String>), ("kind", kind)] {
        let trail = Trail::Key(trail, field);
        let Some(value) = map.get(field) else {
            errors.push(FieldError::bracketed(&trail, FieldErrorKind::Embedded, FieldErrorType::Required, None, ""));
            continue;
        };
        let fault = match value.as_str() {
            Some("") => Some("must not be empty".to_owned()),
            Some(text) => form(text),
            None => Some("must be a string".to_owned()),
        };
        errors.extend(fault.map(|fault| FieldError::invalid(&trail, FieldErrorKind::Embedded, value, &fault)));
    }
}

fn resource(map: &Map<String, Value>, trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    type_names(map, trail, errors);
    if let Some(metadata) = map.get("metadata").and_then(Value::as_object) {
        metadata::check_embedded(metadata, &Trail::Key(trail, "metadata"), errors);
    }
}

/// What the checks of `apiVersion` and `kind` accept, as patterns for a search.
pub(crate) const EMBEDDED_TYPE_PATTERNS: [(&str, &str); 2] =
    [("apiVersion", "^([^/]+/?[^/]*|/[^/]*)$"), ("kind", "^[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$")];

fn api_version(text: &str) -> Option<String> {
    (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn kind(text: &str) -> Option<String> {
    name::letter_label(&text.to_lowercase()).map(|words| format!("may have mixed case, but should otherwise match: {words}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::go::regexp::Pattern;
    use serde_json::json;

    #[test]
    fn the_patterns_accept_what_the_checks_accept() {
        for text in ["", "v1", "a/v1", "/v1", "a/", "a/b/c", "FieldErrorKind", "k-1", "-k", "k-", "1k", "a b", "K"] {
            for (field, pattern) in EMBEDDED_TYPE_PATTERNS {
                let mut resource = json!({"apiVersion": "v1", "kind": "FieldErrorKind"});
                resource[field] = text.into();
                let accepted = is_resource(resource.as_object().unwrap()) == Some(true);
                assert_eq!(Pattern::new(pattern).unwrap().is_match(text), accepted, "{field}: {text:?}");
            }
        }
    }
}
