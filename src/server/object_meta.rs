//! Validates `ObjectMeta`: names, labels, annotations, owners and finalizers of CRDs and objects.

use serde_json::{Map, Value};

use super::object::{FieldErrorType, ObjectPath, ObjectStep};
use crate::go::strfmt::name;

/// The limit in bytes for all keys and values of `metadata.annotations` together.
pub const MAX_ANNOTATION_BYTES: usize = 256 << 10;
/// The server keeps this many characters of `generateName` and appends five more.
const MAX_PREFIX_LENGTH: usize = 58;

/// Whether a whole name is checked, or a prefix that the server completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamePart {
    Whole,
    Prefix,
}

/// Checks the names of a type, and returns the server's messages.
pub(super) type NameCheck<'a> = &'a dyn Fn(&str, NamePart) -> Vec<String>;

/// An error in a field of `metadata`.
#[derive(Debug)]
pub(super) struct MetadataFault {
    /// The path below `metadata` that the server reports.
    pub path: ObjectPath,
    /// The map entry or list item that is wrong, which the server omits from its path.
    pub entry: Option<ObjectStep>,
    pub reason: FieldErrorType,
    pub value: Value,
    pub detail: String,
}

impl MetadataFault {
    fn new(path: ObjectPath, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        MetadataFault { path, entry: None, reason: FieldErrorType::Invalid, value: value.into(), detail: detail.into() }
    }

    fn of_field(field: &str, value: impl Into<Value>, detail: impl Into<String>) -> Self {
        MetadataFault::new(ObjectPath::root().key(field), value, detail)
    }

    fn at_entry(self, entry: ObjectStep) -> Self {
        MetadataFault { entry: Some(entry), ..self }
    }

    /// The path below `metadata` to the value that is wrong.
    pub fn place(&self) -> ObjectPath {
        let mut place = ObjectPath::root();
        for (index, step) in self.path.steps().iter().enumerate() {
            place.push(step.clone());
            if let Some(entry) = self.entry.as_ref().filter(|_| index == 0) {
                place.push(entry.clone());
            }
        }
        place
    }
}

/// Checks the `metadata` of a whole object, which needs a name. The server generates it from `generateName` before validation.
pub(super) fn check_named(metadata: &Map<String, Value>, names: NameCheck<'_>) -> Vec<MetadataFault> {
    let mut faults = check(metadata, names);
    if text(metadata, "name").is_empty() {
        let prefix = text(metadata, "generateName");
        if prefix.is_empty() {
            let detail = "name or generateName is required";
            faults.push(MetadataFault { reason: FieldErrorType::Required, ..MetadataFault::of_field("name", Value::Null, detail) });
        } else {
            let generated: String = prefix.chars().take(MAX_PREFIX_LENGTH).chain("xxxxx".chars()).collect();
            let wrong = names(&generated, NamePart::Whole);
            faults.extend(wrong.into_iter().map(|fault| MetadataFault::of_field("name", generated.as_str(), fault)));
        }
    }
    faults
}

/// Checks the `metadata` of an update: errors in the new one, and fields that an update can't change.
pub(super) fn check_update(old: &Map<String, Value>, new: &Map<String, Value>, names: NameCheck<'_>) -> Vec<MetadataFault> {
    let mut faults = check(new, names);
    if is_set(old, "deletionTimestamp") {
        let before = list(old, "finalizers");
        let added: Vec<String> = list(new, "finalizers")
            .iter()
            .filter(|one| !before.contains(one))
            .filter_map(Value::as_str)
            .map(|one| format!("{one:?}"))
            .collect();
        if !added.is_empty() {
            let found = added.join(", ");
            let detail = format!("no new finalizers can be added if the object is being deleted, found new finalizers []string{{{found}}}");
            faults.push(MetadataFault { reason: FieldErrorType::Forbidden, ..MetadataFault::of_field("finalizers", Value::Null, detail) });
        }
    }
    for field in ["name", "namespace", "uid", "deletionTimestamp", "deletionGracePeriodSeconds"] {
        // Before comparing, the server restores fields that it set itself, if the client omitted or can't change them.
        let kept = field.starts_with("deletion") && is_set(old, field);
        let compared = field != "namespace" || is_set(old, field);
        if compared && !kept && is_set(new, field) && new.get(field) != old.get(field) {
            faults.push(MetadataFault::of_field(field, new.get(field).cloned().unwrap_or_default(), "field is immutable"));
        }
    }
    faults
}

fn is_set(metadata: &Map<String, Value>, field: &str) -> bool {
    metadata.get(field).is_some_and(|value| !value.is_null() && value != "")
}

/// Like Go's `ValidateObjectMeta`, without the fields that the server sets itself. A name may be missing.
pub(super) fn check(metadata: &Map<String, Value>, names: NameCheck<'_>) -> Vec<MetadataFault> {
    let mut faults = Vec::new();
    for (field, part) in [("generateName", NamePart::Prefix), ("name", NamePart::Whole)] {
        let text = text(metadata, field);
        if !text.is_empty() {
            faults.extend(names(text, part).into_iter().map(|fault| MetadataFault::of_field(field, text, fault)));
        }
    }
    let namespace = text(metadata, "namespace");
    if !namespace.is_empty() {
        faults.extend(name::label(namespace).map(|fault| MetadataFault::of_field("namespace", namespace, fault)));
    }
    for (key, value) in entries(metadata, "labels") {
        let entry = || ObjectStep::Entry(key.into());
        faults.extend(name::qualified(key).map(|fault| MetadataFault::of_field("labels", key, fault).at_entry(entry())));
        faults.extend(name::label_value(value).map(|fault| MetadataFault::of_field("labels", value, fault).at_entry(entry())));
    }
    let mut bytes = 0;
    for (key, value) in entries(metadata, "annotations") {
        bytes += key.len() + value.len();
        let fault = name::qualified(&key.to_lowercase());
        faults.extend(fault.map(|fault| MetadataFault::of_field("annotations", key, fault).at_entry(ObjectStep::Entry(key.into()))));
    }
    if bytes > MAX_ANNOTATION_BYTES {
        let detail = format!("may not be more than {MAX_ANNOTATION_BYTES} bytes");
        faults.push(MetadataFault { reason: FieldErrorType::TooLong, ..MetadataFault::of_field("annotations", Value::Null, detail) });
    }
    check_owners(metadata, &mut faults);
    check_finalizers(metadata, &mut faults);
    faults
}

/// Checks the fields that the server sets itself in a whole object, but accepts from the client in an embedded one.
pub(super) fn check_server_fields(metadata: &Map<String, Value>) -> Vec<MetadataFault> {
    let mut faults = Vec::new();
    if let Some(generation) = metadata.get("generation").and_then(Value::as_i64).filter(|&generation| generation < 0) {
        faults.push(MetadataFault::of_field("generation", generation, "must be greater than or equal to 0"));
    }
    for (index, entry) in list(metadata, "managedFields").iter().enumerate() {
        let path = |field: &str| {
            let mut path = ObjectPath::root().key("managedFields");
            path.push(ObjectStep::Index(index));
            path.key(field)
        };
        let part = |field| entry.get(field).and_then(Value::as_str).unwrap_or_default();
        for (field, allowed, detail) in
            [("operation", &["Apply", "Update"], "must be `Apply` or `Update`"), ("fieldsType", &["", "FieldsV1"], "must be `FieldsV1`")]
        {
            if !allowed.contains(&part(field)) {
                faults.push(MetadataFault::new(path(field), part(field), detail));
            }
        }
    }
    faults
}

fn check_owners(metadata: &Map<String, Value>, faults: &mut Vec<MetadataFault>) {
    const OWNERS: &str = "ownerReferences";
    let mut has_controller = false;
    for (index, owner) in list(metadata, OWNERS).iter().enumerate() {
        let part = |field| owner.get(field).and_then(Value::as_str).unwrap_or_default();
        let mut refuse = |path: ObjectPath, value: Value, detail: &str| {
            faults.push(MetadataFault::new(path, value, detail).at_entry(ObjectStep::Index(index)));
        };
        for (field, detail) in [
            ("apiVersion", "version must not be empty"),
            ("kind", "must not be empty"),
            ("name", "must not be empty"),
            ("uid", "must not be empty"),
        ] {
            if part(field).is_empty() || (field == "apiVersion" && !name::names_version(part(field))) {
                refuse(ObjectPath::root().key(OWNERS).key(field), part(field).into(), detail);
            }
        }
        if (part("apiVersion"), part("kind")) == ("v1", "Event") {
            refuse(ObjectPath::root().key(OWNERS), owner.clone(), "/v1, Kind=Event is disallowed from being an owner");
        }
        let controls = owner.get("controller").and_then(Value::as_bool) == Some(true);
        if controls && has_controller {
            let all = metadata.get(OWNERS).cloned().unwrap_or_default();
            refuse(ObjectPath::root().key(OWNERS), all, "Only one reference can have Controller set to true");
        }
        has_controller |= controls;
    }
}

fn check_finalizers(metadata: &Map<String, Value>, faults: &mut Vec<MetadataFault>) {
    const FINALIZERS: &str = "finalizers";
    let list = list(metadata, FINALIZERS);
    for (index, item) in list.iter().enumerate() {
        let fault = name::qualified(item.as_str().unwrap_or_default());
        faults.extend(fault.map(|fault| MetadataFault::of_field(FINALIZERS, item.clone(), fault).at_entry(ObjectStep::Index(index))));
    }
    // One asks to keep dependents, the other to wait until they are deleted.
    if ["orphan", "foregroundDeletion"].iter().all(|name| list.iter().any(|item| item == name)) {
        let detail = "finalizer orphan and foregroundDeletion cannot be both set";
        faults.push(MetadataFault::of_field(FINALIZERS, list.to_vec(), detail));
    }
}

fn text<'m>(metadata: &'m Map<String, Value>, field: &str) -> &'m str {
    metadata.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn list<'m>(metadata: &'m Map<String, Value>, field: &str) -> &'m [Value] {
    metadata.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The entries of a map of strings; null counts as the empty string.
fn entries<'m>(metadata: &'m Map<String, Value>, field: &str) -> impl Iterator<Item = (&'m str, &'m str)> {
    let map = metadata.get(field).and_then(Value::as_object);
    map.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(metadata: &Value) -> Vec<String> {
        let names = |text: &str, part| match part {
            NamePart::Whole => name::subdomain(text).into_iter().collect(),
            NamePart::Prefix => name::subdomain_prefix(text).into_iter().collect::<Vec<_>>(),
        };
        let map = metadata.as_object().unwrap();
        check_named(map, &names).into_iter().map(|fault| fault.path.bracketed()).collect()
    }

    #[test]
    fn names_labels_annotations_and_finalizers_are_checked() {
        assert!(fields(&json!({"name": "a.b", "namespace": "x", "labels": {"a/b": "C"}})).is_empty());
        assert!(fields(&json!({"generateName": "a-"})).is_empty());
        assert_eq!(fields(&json!({})), ["name"]);
        assert_eq!(fields(&json!({"name": "A", "namespace": "x.y"})), ["name", "namespace"]);
        assert_eq!(fields(&json!({"name": "a", "labels": {"a b": "-"}})), ["labels", "labels"]);
        assert_eq!(fields(&json!({"generateName": "a."})), ["generateName"]);
        assert_eq!(fields(&json!({"generateName": "a.-"})), ["name"]);
        assert_eq!(fields(&json!({"generateName": "A"})), ["generateName", "name"]);
        assert!(fields(&json!({"generateName": "a".repeat(250)})).is_empty(), "the server shortens the prefix");
        assert!(fields(&json!({"name": "a", "generation": -1, "creationTimestamp": null})).is_empty());
        assert_eq!(fields(&json!({"name": "a", "finalizers": ["bad one", "good/one"]})), ["finalizers"]);
        assert_eq!(fields(&json!({"name": "a", "finalizers": ["orphan", "foregroundDeletion"]})), ["finalizers"]);
        assert!(fields(&json!({"name": "a", "annotations": {"A": "x".repeat(MAX_ANNOTATION_BYTES - 1)}})).is_empty());
        assert_eq!(fields(&json!({"name": "a", "annotations": {"A": "x".repeat(MAX_ANNOTATION_BYTES)}})), ["annotations"]);
    }

    #[test]
    fn owners_must_be_complete_with_at_most_one_controller() {
        let owner = |version: &str| json!({"apiVersion": version, "kind": "Pod", "name": "a", "uid": "b", "controller": true});
        let of = |owners: Value| fields(&json!({"name": "a", "ownerReferences": owners}));
        assert!(of(json!([owner("v1")])).is_empty());
        let parts = ["apiVersion", "kind", "name", "uid"].map(|part| format!("ownerReferences.{part}"));
        assert_eq!(of(json!([{}])), parts);
        assert_eq!(of(json!([owner("a/b/c")])), ["ownerReferences.apiVersion"]);
        assert_eq!(of(json!([owner("v1"), owner("v1")])), ["ownerReferences"]);
        let event = json!([{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "b"}]);
        assert_eq!(of(event), ["ownerReferences"]);
    }

    #[test]
    fn fields_that_the_server_sets_are_checked_on_request() {
        let of = |value: Value| check_server_fields(value.as_object().unwrap()).len();
        assert_eq!(of(json!({"generation": -1})), 1);
        assert_eq!(of(json!({"managedFields": [{"operation": "Apply"}, {"fieldsType": "x"}]})), 2);
        assert_eq!(of(json!({"generateName": "a.", "generation": 0})), 0);
    }

    #[test]
    fn an_object_that_is_being_deleted_gets_no_new_finalizers() {
        let update = |old: &Value, new: &Value| {
            let faults = check_update(old.as_object().unwrap(), new.as_object().unwrap(), &|_, _| Vec::new());
            faults.into_iter().map(|fault| fault.path.bracketed()).collect::<Vec<_>>()
        };
        let with = |finalizers: &[&str]| json!({"name": "a", "finalizers": finalizers});
        let mut deleted = with(&["x.example.com/a"]);
        assert!(update(&deleted, &with(&["x.example.com/a", "x.example.com/b"])).is_empty());
        deleted["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
        assert_eq!(update(&deleted, &with(&["x.example.com/a", "x.example.com/b"])), ["finalizers"]);
        assert!(update(&deleted, &with(&["x.example.com/a"])).is_empty());
        assert!(update(&deleted, &with(&[])).is_empty());
    }

    #[test]
    fn identity_is_immutable() {
        let update = |old: Value, new: Value| {
            let faults = check_update(old.as_object().unwrap(), new.as_object().unwrap(), &|_, _| Vec::new());
            faults.into_iter().map(|fault| fault.path.bracketed()).collect::<Vec<_>>()
        };
        assert_eq!(update(json!({"name": "a", "uid": "1"}), json!({"name": "b", "uid": "2"})), ["name", "uid"]);
        assert!(update(json!({"name": "a", "uid": "1"}), json!({"name": "a"})).is_empty(), "the server restores what is left out");
        assert!(update(json!({"name": "a"}), json!({"name": "a", "namespace": "x"})).is_empty());
        assert_eq!(update(json!({"name": "a", "namespace": "x"}), json!({"name": "a", "namespace": "y"})), ["namespace"]);
    }
}
