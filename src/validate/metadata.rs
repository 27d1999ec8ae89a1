//! `metadata`: what of it the server reads, and what it asks of names, labels and annotations.

use serde_json::{Map, Value};

use super::error::{Error, Kind, Reason};
use super::name;
use super::path::{ObjectPath, Trail};

/// All annotations of one object together, keys and values.
const ANNOTATION_BYTES: usize = 256 << 10;

/// What a field of `metadata` must be for the server to read the object at all.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Number,
    Texts,
    TextMap,
    List,
}

fn form_of(field: &str) -> Option<Form> {
    Some(match field {
        "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" | "creationTimestamp" | "deletionTimestamp" => {
            Form::Text
        }
        "generation" | "deletionGracePeriodSeconds" => Form::Number,
        "labels" | "annotations" => Form::TextMap,
        "finalizers" => Form::Texts,
        "ownerReferences" | "managedFields" => Form::List,
        _ => return None,
    })
}

impl Form {
    fn fits(self, value: &Value) -> bool {
        if value.is_null() {
            return true;
        }
        match self {
            Form::Text => value.is_string(),
            Form::Number => value.is_i64(),
            Form::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Form::TextMap => value.as_object().is_some_and(|map| map.values().all(|value| value.is_string() || value.is_null())),
            Form::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_object)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Form::Text => "a string",
            Form::Number => "an integer",
            Form::Texts => "a list of strings",
            Form::TextMap => "a map of strings",
            Form::List => "a list of objects",
        }
    }
}

/// Drops what `metadata` doesn't know; a field of another type makes the whole object unreadable.
pub(super) fn read(value: &mut Value, trail: &Trail<'_>, kind: Kind, dropped: &mut Vec<ObjectPath>) -> Option<Error> {
    let Some(map) = value.as_object_mut() else {
        return (!value.is_null()).then(|| Error::bracketed(trail, kind, Reason::Invalid, Some(value), "must be an object"));
    };
    for (field, value) in map.iter() {
        if let Some(form) = form_of(field).filter(|form| !form.fits(value)) {
            return Some(Error::bracketed(
                &Trail::Key(trail, field),
                kind,
                Reason::Invalid,
                Some(value),
                &format!("must be {}", form.name()),
            ));
        }
    }
    map.retain(|field, _| {
        let known = form_of(field).is_some();
        if !known {
            dropped.push(Trail::Key(trail, field).path());
        }
        known
    });
    None
}

/// What is asked of a name.
pub(super) type NameForm = fn(&str) -> Option<String>;

/// Names, labels and annotations.
pub(super) fn check(map: &Map<String, Value>, trail: &Trail<'_>, kind: Kind, name_form: NameForm, errors: &mut Vec<Error>) {
    let mut say = |trail: &Trail<'_>, value: &Value, words: Option<String>| {
        if let Some(words) = words {
            errors.push(Error::bracketed(trail, kind, Reason::Invalid, Some(value), &words));
        }
    };
    let text = |field: &str| map.get(field).filter(|value| value.as_str().is_some_and(|text| !text.is_empty()));
    let words = |value: &Value, form: NameForm| value.as_str().and_then(form);
    if let Some(value) = text("name") {
        say(&Trail::Key(trail, "name"), value, words(value, name_form));
    }
    if let Some(value) = text("generateName") {
        // The server adds a suffix, so that a dash or dot at the end is fine.
        let whole = value.as_str().map(|text| format!("{text}x")).unwrap_or_default();
        say(&Trail::Key(trail, "generateName"), value, name_form(&whole));
    }
    if let Some(value) = text("namespace") {
        say(&Trail::Key(trail, "namespace"), value, words(value, name::label));
    }
    let labels = Trail::Key(trail, "labels");
    for (key, value) in map.get("labels").and_then(Value::as_object).into_iter().flatten() {
        say(&labels, &Value::from(key.as_str()), name::qualified(key));
        say(&labels, value, words(value, name::label_value));
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
}

/// `metadata` of a whole object, which needs a name.
pub(super) fn check_root(object: &Value, errors: &mut Vec<Error>) {
    let Some(map) = object.get("metadata").and_then(Value::as_object) else { return };
    let root = Trail::Root;
    let trail = Trail::Key(&root, "metadata");
    let named = ["name", "generateName"].iter().any(|field| map.get(*field).and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
    if !named {
        let words = "name or generateName is required";
        errors.push(Error::bracketed(&Trail::Key(&trail, "name"), Kind::Metadata, Reason::Required, None, words));
    }
    check(map, &trail, Kind::Metadata, name::subdomain, errors);
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
    }

    #[test]
    fn unknown_fields_are_dropped_and_wrong_types_stop_the_reading() {
        let mut dropped = Vec::new();
        let mut value = json!({"name": "a", "colour": "red"});
        assert!(read(&mut value, &Trail::Root, Kind::Metadata, &mut dropped).is_none());
        assert_eq!((value, dropped.len()), (json!({"name": "a"}), 1));
        let error = read(&mut json!({"labels": {"a": 1}}), &Trail::Root, Kind::Metadata, &mut dropped);
        assert_eq!(error.map(|error| error.field).as_deref(), Some("labels"));
    }
}
