//! `metadata`: what of it the server reads, and what it asks of names, labels, annotations, owners and finalizers.

use serde_json::{Map, Value};

use crate::go::strfmt::name;
use crate::go::time::Timestamp;

use super::error::{Error, Kind, Reason};
use super::path::{ObjectPath, Trail};

/// All annotations of one object together, keys and values.
const ANNOTATION_BYTES: usize = 256 << 10;
/// The server adds five characters to what is left of a `generateName`.
const GENERATED: usize = 58;

/// What a field of `metadata` must be for the server to read the object at all.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Flag,
    Number,
    Time,
    Any,
    Texts,
    TextMap,
    /// A list of objects with these fields; others are dropped.
    List(&'static [(&'static str, Form)]),
}

const FIELDS: &[(&str, Form)] = &[
    ("name", Form::Text),
    ("generateName", Form::Text),
    ("namespace", Form::Text),
    ("selfLink", Form::Text),
    ("uid", Form::Text),
    ("resourceVersion", Form::Text),
    ("creationTimestamp", Form::Time),
    ("deletionTimestamp", Form::Time),
    ("generation", Form::Number),
    ("deletionGracePeriodSeconds", Form::Number),
    ("labels", Form::TextMap),
    ("annotations", Form::TextMap),
    ("finalizers", Form::Texts),
    ("ownerReferences", Form::List(OWNER)),
    ("managedFields", Form::List(MANAGED)),
];

const OWNER: &[(&str, Form)] = &[
    ("apiVersion", Form::Text),
    ("kind", Form::Text),
    ("name", Form::Text),
    ("uid", Form::Text),
    ("controller", Form::Flag),
    ("blockOwnerDeletion", Form::Flag),
];

const MANAGED: &[(&str, Form)] = &[
    ("manager", Form::Text),
    ("operation", Form::Text),
    ("apiVersion", Form::Text),
    ("time", Form::Time),
    ("fieldsType", Form::Text),
    ("fieldsV1", Form::Any),
    ("subresource", Form::Text),
];

fn form_of(fields: &[(&str, Form)], field: &str) -> Option<Form> {
    fields.iter().find(|(name, _)| *name == field).map(|(_, form)| *form)
}

impl Form {
    fn fits(self, value: &Value) -> bool {
        let text = |value: &Value| value.is_string() || value.is_null();
        if value.is_null() {
            return true;
        }
        match self {
            Form::Any => true,
            Form::Text => value.is_string(),
            Form::Flag => value.is_boolean(),
            Form::Number => value.is_i64(),
            Form::Time => value.as_str().is_some_and(|text| Timestamp::parse(text).is_some()),
            Form::Texts => value.as_array().is_some_and(|items| items.iter().all(text)),
            Form::TextMap => value.as_object().is_some_and(|map| map.values().all(text)),
            Form::List(_) => value.as_array().is_some_and(|items| items.iter().all(|item| item.is_object() || item.is_null())),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Form::Any => "anything",
            Form::Text => "a string",
            Form::Flag => "true or false",
            Form::Number => "an integer",
            Form::Time => "a time in RFC 3339 form",
            Form::Texts => "a list of strings",
            Form::TextMap => "a map of strings",
            Form::List(_) => "a list of objects",
        }
    }
}

/// Drops what `metadata` doesn't know; a field of another type makes the whole object unreadable.
pub(super) fn read(value: &mut Value, trail: &Trail<'_>, kind: Kind, dropped: &mut Vec<ObjectPath>) -> Option<Error> {
    let Some(map) = value.as_object_mut() else {
        return (!value.is_null()).then(|| Error::bracketed(trail, kind, Reason::Invalid, Some(value), "must be an object"));
    };
    read_fields(map, FIELDS, trail, kind, dropped)
}

fn read_fields(
    map: &mut Map<String, Value>,
    fields: &'static [(&str, Form)],
    trail: &Trail<'_>,
    kind: Kind,
    dropped: &mut Vec<ObjectPath>,
) -> Option<Error> {
    for (field, value) in map.iter_mut() {
        let Some(form) = form_of(fields, field) else { continue };
        let trail = Trail::Key(trail, field);
        if !form.fits(value) {
            return Some(Error::bracketed(&trail, kind, Reason::Invalid, Some(value), &format!("must be {}", form.name())));
        }
        let Form::List(fields) = form else { continue };
        for (index, item) in value.as_array_mut().into_iter().flatten().enumerate() {
            let Some(item) = item.as_object_mut() else { continue };
            let error = read_fields(item, fields, &Trail::Index(&trail, index), kind, dropped);
            if error.is_some() {
                return error;
            }
        }
    }
    map.retain(|field, _| {
        let known = form_of(fields, field).is_some();
        if !known {
            dropped.push(Trail::Key(trail, field).path());
        }
        known
    });
    None
}

/// What is asked of a text.
pub(super) type TextForm = fn(&str) -> Option<String>;

/// What is asked of a name, and of the beginning of one.
struct Names {
    whole: TextForm,
    prefix: TextForm,
}

/// Names of objects.
const OBJECT: Names = Names { whole: name::subdomain, prefix: name::subdomain_prefix };
/// Names of embedded resources: of any kind, so that only what no kind allows is refused.
const EMBEDDED: Names = Names { whole: name::path_segment, prefix: name::path_segment_prefix };

/// What is the same for every `metadata`.
fn check(map: &Map<String, Value>, trail: &Trail<'_>, kind: Kind, names: &Names, errors: &mut Vec<Error>) {
    let mut say = |trail: &Trail<'_>, value: &Value, words: Option<String>| {
        if let Some(words) = words {
            errors.push(Error::bracketed(trail, kind, Reason::Invalid, Some(value), &words));
        }
    };
    let text = |field: &str| map.get(field).filter(|value| value.as_str().is_some_and(|text| !text.is_empty()));
    for (field, form) in [("generateName", names.prefix), ("name", names.whole), ("namespace", name::label)] {
        if let Some(value) = text(field) {
            say(&Trail::Key(trail, field), value, value.as_str().and_then(form));
        }
    }
    let labels = Trail::Key(trail, "labels");
    for (key, value) in map.get("labels").and_then(Value::as_object).into_iter().flatten() {
        say(&labels, &Value::from(key.as_str()), name::qualified(key));
        say(&labels, value, value.as_str().and_then(name::label_value));
    }
    let annotations = Trail::Key(trail, "annotations");
    let mut size = 0;
    for (key, value) in map.get("annotations").and_then(Value::as_object).into_iter().flatten() {
        size += key.len() + value.as_str().map_or(0, str::len);
        say(&annotations, &Value::from(key.as_str()), name::qualified(&key.to_lowercase()));
    }
    if size > ANNOTATION_BYTES {
        errors.push(Error::bracketed(&annotations, kind, Reason::TooLong, None, &format!("may not be more than {ANNOTATION_BYTES} bytes")));
    }
    owners(map, trail, kind, errors);
    finalizers(map, trail, kind, errors);
}

fn list<'m>(map: &'m Map<String, Value>, field: &str) -> &'m [Value] {
    map.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn owners(map: &Map<String, Value>, trail: &Trail<'_>, kind: Kind, errors: &mut Vec<Error>) {
    let all = Trail::Key(trail, "ownerReferences");
    let owners = list(map, "ownerReferences");
    for (index, owner) in owners.iter().enumerate() {
        let one = Trail::Index(&all, index);
        let text = |field: &str| owner.get(field).and_then(Value::as_str).unwrap_or_default();
        for field in ["apiVersion", "kind", "name", "uid"] {
            let (text, called) = if field == "apiVersion" { (text(field), "version") } else { (text(field), field) };
            if text.is_empty() || (field == "apiVersion" && !name::names_version(text)) {
                let words = format!("{called} must not be empty");
                errors.push(Error::bracketed(&Trail::Key(&one, field), kind, Reason::Invalid, Some(&text.into()), &words));
            }
        }
        if (text("apiVersion"), text("kind")) == ("v1", "Event") {
            errors.push(Error::bracketed(&one, kind, Reason::Invalid, Some(owner), "/v1, Kind=Event is disallowed from being an owner"));
        }
    }
    let controllers = owners.iter().filter(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true)).count();
    for _ in 1..controllers {
        let words = "Only one reference can have Controller set to true";
        errors.push(Error::bracketed(&all, kind, Reason::Invalid, map.get("ownerReferences"), words));
    }
}

fn finalizers(map: &Map<String, Value>, trail: &Trail<'_>, kind: Kind, errors: &mut Vec<Error>) {
    let all = Trail::Key(trail, "finalizers");
    let list = list(map, "finalizers");
    for item in list {
        let words = name::qualified(item.as_str().unwrap_or_default());
        errors.extend(words.map(|words| Error::bracketed(&all, kind, Reason::Invalid, Some(item), &words)));
    }
    // One asks to keep what the object owns, the other to wait until it is gone.
    if ["orphan", "foregroundDeletion"].iter().all(|name| list.iter().any(|item| item == name)) {
        let words = "finalizer orphan and foregroundDeletion cannot be both set";
        errors.push(Error::bracketed(&all, kind, Reason::Invalid, map.get("finalizers"), words));
    }
}

/// What the server sets itself in a whole object, and takes as it is given in an embedded one.
pub(super) fn check_embedded(map: &Map<String, Value>, trail: &Trail<'_>, errors: &mut Vec<Error>) {
    check(map, trail, Kind::Embedded, &EMBEDDED, errors);
    if let Some(value) = map.get("generation").filter(|value| value.as_i64().is_some_and(|number| number < 0)) {
        let words = "must be greater than or equal to 0";
        errors.push(Error::bracketed(&Trail::Key(trail, "generation"), Kind::Embedded, Reason::Invalid, Some(value), words));
    }
    let all = Trail::Key(trail, "managedFields");
    for (index, entry) in list(map, "managedFields").iter().enumerate() {
        let one = Trail::Index(&all, index);
        let text = |field: &str| entry.get(field).and_then(Value::as_str).unwrap_or_default();
        for (field, wrong, words) in [
            ("operation", !matches!(text("operation"), "Apply" | "Update"), "must be `Apply` or `Update`"),
            ("fieldsType", !matches!(text("fieldsType"), "" | "FieldsV1"), "must be `FieldsV1`"),
        ] {
            if wrong {
                let trail = Trail::Key(&one, field);
                errors.push(Error::bracketed(&trail, Kind::Embedded, Reason::Invalid, Some(&text(field).into()), words));
            }
        }
    }
}

/// `metadata` of a whole object, which needs a name.
pub(super) fn check_root(object: &Value, errors: &mut Vec<Error>) {
    let Some(map) = object.get("metadata").and_then(Value::as_object) else { return };
    let root = Trail::Root;
    let trail = Trail::Key(&root, "metadata");
    let text = |field: &str| map.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = Trail::Key(&trail, "name");
    match (text("name"), text("generateName")) {
        (Some(_), _) => {}
        (None, None) => {
            let words = "name or generateName is required";
            errors.push(Error::bracketed(&name, Kind::Metadata, Reason::Required, None, words));
        }
        (None, Some(prefix)) => {
            let generated: String = prefix.chars().take(GENERATED).chain("xxxxx".chars()).collect();
            let words = (OBJECT.whole)(&generated).filter(|_| (OBJECT.prefix)(prefix).is_none());
            errors.extend(words.map(|words| Error::bracketed(&name, Kind::Metadata, Reason::Invalid, Some(&generated.into()), &words)));
        }
    }
    check(map, &trail, Kind::Metadata, &OBJECT, errors);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(object: &Value) -> Vec<String> {
        let mut errors = Vec::new();
        check_root(object, &mut errors);
        errors.into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn metadata_of_an_object_is_checked() {
        assert!(fields(&json!({"metadata": {"name": "a.b", "namespace": "x", "labels": {"a/b": "C"}}})).is_empty());
        assert!(fields(&json!({"metadata": {"generateName": "a-"}})).is_empty());
        assert_eq!(fields(&json!({"metadata": {}})), ["metadata.name"]);
        assert_eq!(fields(&json!({"metadata": {"name": "A", "namespace": "x.y"}})), ["metadata.name", "metadata.namespace"]);
        assert_eq!(fields(&json!({"metadata": {"name": "a", "labels": {"a b": "-"}}})), ["metadata.labels", "metadata.labels"]);
        assert_eq!(fields(&json!({"metadata": {"generateName": "a."}})), ["metadata.generateName"]);
        assert_eq!(fields(&json!({"metadata": {"generateName": "a.-"}})), ["metadata.name"]);
        assert!(fields(&json!({"metadata": {"name": "a", "generation": -1, "creationTimestamp": null}})).is_empty());
        assert_eq!(fields(&json!({"metadata": {"name": "a", "finalizers": ["bad one", "good/one"]}})), ["metadata.finalizers"]);
        assert_eq!(fields(&json!({"metadata": {"name": "a", "finalizers": ["orphan", "foregroundDeletion"]}})), ["metadata.finalizers"]);
    }

    #[test]
    fn owners_are_whole_and_at_most_one_controls() {
        let owner = |version: &str| json!({"apiVersion": version, "kind": "Pod", "name": "a", "uid": "b", "controller": true});
        let of = |owners: Value| fields(&json!({"metadata": {"name": "a", "ownerReferences": owners}}));
        assert!(of(json!([owner("v1")])).is_empty());
        let parts = ["apiVersion", "kind", "name", "uid"].map(|part| format!("metadata.ownerReferences[0].{part}"));
        assert_eq!(of(json!([{}])), parts);
        assert_eq!(of(json!([owner("a/b/c")])), ["metadata.ownerReferences[0].apiVersion"]);
        assert_eq!(of(json!([owner("v1"), owner("v1")])), ["metadata.ownerReferences"]);
        let event = json!([{"apiVersion": "v1", "kind": "Event", "name": "a", "uid": "b"}]);
        assert_eq!(of(event), ["metadata.ownerReferences[0]"]);
    }

    #[test]
    fn what_a_server_sets_itself_counts_in_embedded_resources() {
        let of = |value: Value| {
            let mut errors = Vec::new();
            check_embedded(value.as_object().unwrap(), &Trail::Root, &mut errors);
            errors.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert_eq!(of(json!({"generation": -1})), ["generation"]);
        assert_eq!(of(json!({"managedFields": [{"operation": "Apply"}, {"fieldsType": "x"}]})).len(), 2);
        assert!(of(json!({"generateName": "a.", "generation": 0})).is_empty());
    }

    #[test]
    fn unknown_fields_are_dropped_and_wrong_types_stop_the_reading() {
        let mut dropped = Vec::new();
        let mut value = json!({"name": "a", "colour": "red"});
        assert!(read(&mut value, &Trail::Root, Kind::Metadata, &mut dropped).is_none());
        assert_eq!((value, dropped.len()), (json!({"name": "a"}), 1));
        let error = read(&mut json!({"labels": {"a": 1}}), &Trail::Root, Kind::Metadata, &mut dropped);
        assert_eq!(error.map(|error| error.field).as_deref(), Some("labels"));
        for (wrong, field) in [
            (json!({"creationTimestamp": "foo"}), "creationTimestamp"),
            (json!({"creationTimestamp": "2024-13-01T00:00:00Z"}), "creationTimestamp"),
            (json!({"ownerReferences": [{"controller": "yes"}]}), "ownerReferences[0].controller"),
            (json!({"managedFields": [{"time": 1}]}), "managedFields[0].time"),
        ] {
            let error = read(&mut wrong.clone(), &Trail::Root, Kind::Metadata, &mut dropped);
            assert_eq!(error.map(|error| error.field).as_deref(), Some(field), "{wrong}");
        }
        let mut right = json!({"creationTimestamp": null, "deletionTimestamp": "2024-01-01T00:00:00Z", "ownerReferences": [{"x": 1}]});
        assert!(read(&mut right, &Trail::Root, Kind::Metadata, &mut dropped).is_none());
        assert_eq!(right["ownerReferences"], json!([{}]));
    }
}
