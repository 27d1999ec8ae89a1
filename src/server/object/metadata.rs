//! Decodes and checks the `metadata` of objects and embedded resources.

use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::go::strfmt::name;
use crate::server::decoded_type::{self, DecodedType, OBJECT_META};
use crate::server::object_meta::{self, MetadataFault, NamePart};

use super::error::{FieldError, FieldErrorKind, Naming};
use super::path::{ObjectPath, Trail};

/// Drops unknown fields of `metadata`. If a known field has the wrong type, the whole object can't be decoded.
pub(super) fn read(value: &mut Value, trail: &Trail<'_>, kind: FieldErrorKind, dropped: &mut Vec<ObjectPath>) -> Option<FieldError> {
    let Some(map) = value.as_object_mut() else {
        return (!value.is_null()).then(|| FieldError::invalid(trail, kind, value, "must be an object"));
    };
    read_fields(map, OBJECT_META, trail, kind, dropped)
}

fn read_fields(
    map: &mut Map<String, Value>,
    fields: &'static [(&str, DecodedType)],
    trail: &Trail<'_>,
    kind: FieldErrorKind,
    dropped: &mut Vec<ObjectPath>,
) -> Option<FieldError> {
    for (name, value) in map.iter_mut() {
        let Some(ty) = decoded_type::field(fields, name) else { continue };
        let trail = Trail::Key(trail, name);
        if !decodes(ty, value) {
            return Some(FieldError::invalid(&trail, kind, value, &format!("must be {}", ty.description())));
        }
        let DecodedType::List(DecodedType::Struct(fields)) = ty else { continue };
        for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
            let Some(item) = item.as_object_mut() else { continue };
            let error = read_fields(item, fields, &Trail::Index(&trail, index), kind, dropped);
            if error.is_some() {
                return error;
            }
        }
    }
    map.retain(|name, _| {
        let known = decoded_type::field(fields, name).is_some();
        if !known {
            dropped.push(Trail::Key(trail, name).path());
        }
        known
    });
    None
}

/// The schema of the standard metadata fields, which the server keeps and checks whether or not a schema declares them.
pub(crate) static METADATA_PROPERTIES: LazyLock<Value> = LazyLock::new(|| decoded_type::properties(OBJECT_META));

/// Whether a field can be decoded with its items and entries. The server reports the field, not the item.
fn decodes(ty: &DecodedType, value: &Value) -> bool {
    ty.decodes(decoded_type::data(value))
        && match (ty, value) {
            (DecodedType::List(inner), Value::Array(items)) => items.iter().all(|item| decodes(inner, item)),
            (DecodedType::Map(inner), Value::Object(map)) => map.values().all(|value| decodes(inner, value)),
            _ => true,
        }
}

/// Checks names of objects.
fn object_names(text: &str, part: NamePart) -> Vec<String> {
    let fault = match part {
        NamePart::Whole => name::subdomain(text),
        NamePart::Prefix => name::subdomain_prefix(text),
    };
    fault.into_iter().collect()
}

/// Checks names of embedded resources, which can be of any kind, so only names that no kind allows are refused.
fn embedded_names(text: &str, part: NamePart) -> Vec<String> {
    let fault = match part {
        NamePart::Whole => name::path_segment(text),
        NamePart::Prefix => name::path_segment_prefix(text),
    };
    fault.into_iter().collect()
}

/// Drops empty values, because the server doesn't write them after decoding metadata. Null counts as empty metadata.
pub(super) fn drop_empty(value: &mut Value) {
    match value {
        Value::Null => *value = Value::Object(Map::new()),
        Value::Object(map) => map.retain(|_, value| match value {
            Value::Null => false,
            Value::String(text) => !text.is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Number(number) => number.as_i64() != Some(0),
            Value::Bool(_) => true,
        }),
        _ => {}
    }
}

/// Checks the `metadata` of an embedded resource.
pub(super) fn check_embedded(map: &Map<String, Value>, trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    let faults = object_meta::check(map, &embedded_names).into_iter().chain(object_meta::check_server_fields(map));
    errors.extend(faults.map(|fault| error(fault, trail, FieldErrorKind::Embedded)));
}

/// Checks the `metadata` of a whole object, which needs a name.
pub(super) fn check_root(object: &Value, errors: &mut Vec<FieldError>) {
    let Some(map) = object.get("metadata").and_then(Value::as_object) else { return };
    let root = Trail::Root;
    let trail = Trail::Key(&root, "metadata");
    errors.extend(object_meta::check_named(map, &object_names).into_iter().map(|fault| error(fault, &trail, FieldErrorKind::Metadata)));
}

/// Checks the `metadata` of an update. A name or namespace that the new object omits is taken from the request's path, and a client
/// is assumed to send the current `resourceVersion`.
pub(super) fn check_update(old: &Value, new: &Value, errors: &mut Vec<FieldError>) {
    let metadata = |object: &'_ Value| object.get("metadata").and_then(Value::as_object).cloned();
    let (Some(before), Some(after)) = (metadata(old), metadata(new)) else { return check_root(new, errors) };
    let root = Trail::Root;
    let trail = Trail::Key(&root, "metadata");
    errors.extend(
        object_meta::check_update(&before, &after, &embedded_names).into_iter().map(|fault| error(fault, &trail, FieldErrorKind::Metadata)),
    );
}

fn error(fault: MetadataFault, trail: &Trail<'_>, kind: FieldErrorKind) -> FieldError {
    let below = |path: &ObjectPath| {
        let mut below = trail.path();
        path.steps().iter().for_each(|step| below.push(step.clone()));
        below
    };
    let error = FieldError::new(below(&fault.path), Naming::Bracketed, kind, fault.reason, Some(&fault.value), &fault.detail);
    FieldError { path: below(&fault.place()), ..error }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_needs_a_name_that_its_kind_allows() {
        let fields = |metadata: Value| {
            let mut errors = Vec::new();
            check_root(&json!({"metadata": metadata}), &mut errors);
            errors.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert!(fields(json!({"generateName": "a-", "generation": -1})).is_empty());
        assert_eq!(fields(json!({})), ["metadata.name"]);
        assert_eq!(fields(json!({"name": "A"})), ["metadata.name"]);
        assert_eq!(fields(json!({"name": "a", "ownerReferences": [{}]})).first().unwrap(), "metadata.ownerReferences.apiVersion");
    }

    #[test]
    fn an_embedded_resource_needs_no_name_and_its_generation_counts() {
        let fields = |metadata: Value| {
            let mut errors = Vec::new();
            check_embedded(metadata.as_object().unwrap(), &Trail::Root, &mut errors);
            errors.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert!(fields(json!({"generateName": "a."})).is_empty());
        assert_eq!(fields(json!({"name": "a/b", "generation": -1})), ["name", "generation"]);
    }

    #[test]
    fn unknown_fields_are_dropped_and_wrong_types_fail_decoding() {
        let mut dropped = Vec::new();
        let mut value = json!({"name": "a", "colour": "red"});
        assert!(read(&mut value, &Trail::Root, FieldErrorKind::Metadata, &mut dropped).is_none());
        assert_eq!((value, dropped.len()), (json!({"name": "a"}), 1));
        let error = read(&mut json!({"labels": {"a": 1}}), &Trail::Root, FieldErrorKind::Metadata, &mut dropped);
        assert_eq!(error.map(|error| error.field).as_deref(), Some("labels"));
        for (wrong, field) in [
            (json!({"creationTimestamp": "foo"}), "creationTimestamp"),
            (json!({"creationTimestamp": "2024-13-01T00:00:00Z"}), "creationTimestamp"),
            (json!({"ownerReferences": [{"controller": "yes"}]}), "ownerReferences[0].controller"),
            (json!({"managedFields": [{"time": 1}]}), "managedFields[0].time"),
        ] {
            let error = read(&mut wrong.clone(), &Trail::Root, FieldErrorKind::Metadata, &mut dropped);
            assert_eq!(error.map(|error| error.field).as_deref(), Some(field), "{wrong}");
        }
        let mut right = json!({"creationTimestamp": null, "deletionTimestamp": "2024-01-01T00:00:00Z", "ownerReferences": [{"x": 1}]});
        assert!(read(&mut right, &Trail::Root, FieldErrorKind::Metadata, &mut dropped).is_none());
        assert_eq!(right["ownerReferences"], json!([{}]));
    }
}
