//! Builds an intermediate schema between two others: it declares the fields of both and requires nothing that one of them doesn't,
//! so that objects of either form are accepted and kept while they are converted.

use serde_json::{Map, Value, json};

use crate::compare::condition_keywords;
use crate::model::schema::Keyword;

/// Builds a schema that accepts and keeps whatever either schema accepts and keeps, as far as a single schema can.
pub(super) fn relaxed(old: &Value, new: &Value) -> Value {
    let (Value::Object(before), Value::Object(after)) = (old, new) else { return new.clone() };
    if old == new {
        return new.clone();
    }
    let mut schema = after.clone();
    if let Some(scalar) = of_both_types(before, after) {
        return scalar;
    }
    // Keywords that the schemas don't agree on are left out; types were handled above, and enums follow.
    let settled = [Keyword::Type, Keyword::IntOrString, Keyword::Enum];
    for keyword in condition_keywords().chain([Keyword::Default, Keyword::Validations]).filter(|word| !settled.contains(word)) {
        if before.get(keyword.name()) != after.get(keyword.name()) {
            schema.remove(keyword.name());
        }
    }
    match (before.get("enum").and_then(Value::as_array), after.get("enum").and_then(Value::as_array)) {
        (Some(old), Some(new)) => {
            let more = new.iter().filter(|value| !old.contains(value));
            schema.insert("enum".to_owned(), Value::Array(old.iter().chain(more).cloned().collect()));
        }
        _ => {
            schema.remove("enum");
        }
    }
    let required = |schema: &Map<String, Value>| schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let both: Vec<Value> = required(before).into_iter().filter(|name| required(after).contains(name)).collect();
    schema.remove("required");
    if !both.is_empty() {
        schema.insert("required".to_owned(), Value::Array(both));
    }
    for flag in ["nullable", "x-kubernetes-preserve-unknown-fields"] {
        if [before, after].iter().any(|side| side.get(flag) == Some(&Value::Bool(true))) {
            schema.insert(flag.to_owned(), true.into());
        }
    }
    if let Some(properties) = properties(before, after) {
        schema.insert("properties".to_owned(), properties);
    }
    for child in ["items", "additionalProperties"] {
        if let (Some(old), Some(new)) = (before.get(child), after.get(child)) {
            schema.insert(child.to_owned(), relaxed(old, new));
        }
    }
    Value::Object(schema)
}

/// The fields of both sides.
fn properties(old: &Map<String, Value>, new: &Map<String, Value>) -> Option<Value> {
    let of = |side: &Map<String, Value>| side.get("properties").and_then(Value::as_object).cloned();
    let (before, after) = (of(old), of(new));
    if before.is_none() && after.is_none() {
        return None;
    }
    let (before, mut all) = (before.unwrap_or_default(), after.unwrap_or_default());
    for (name, old) in before {
        let merged = all.get(&name).map_or_else(|| old.clone(), |new| relaxed(&old, new));
        all.insert(name, merged);
    }
    Some(Value::Object(all))
}

/// If the types differ, returns a schema for values of both: int-or-string, number, or an object that preserves unknown fields.
fn of_both_types(old: &Map<String, Value>, new: &Map<String, Value>) -> Option<Value> {
    let ty = |side: &Map<String, Value>| side.get("type").and_then(Value::as_str).map(str::to_owned);
    let (was, is) = (ty(old)?, ty(new)?);
    match (was.as_str(), is.as_str()) {
        _ if was == is => None,
        ("integer", "string") | ("string", "integer") => Some(json!({"x-kubernetes-int-or-string": true})),
        ("integer", "number") | ("number", "integer") => Some(json!({"type": "number"})),
        _ => Some(json!({"x-kubernetes-preserve-unknown-fields": true})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_declared_and_none_is_required() {
        let old = json!({"type": "object", "required": ["a", "c"], "properties": {"a": {"type": "string"}, "c": {"enum": ["x"], "type": "string"}}});
        let new = json!({"type": "object", "required": ["b", "c"], "properties": {"b": {"type": "string"}, "c": {"enum": ["y"], "type": "string"}}});
        let both = json!({"type": "object", "required": ["c"], "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}, "c": {"enum": ["x", "y"], "type": "string"}}});
        assert_eq!(relaxed(&old, &new), both);
        assert_eq!(relaxed(&json!({"type": "integer"}), &json!({"type": "string"})), json!({"x-kubernetes-int-or-string": true}));
        assert_eq!(relaxed(&new, &new), new);
    }
}
