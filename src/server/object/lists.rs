//! Checks lists of type `set` or `map`: no two equal items, no two items with the same keys.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::model::schema::Shape;
use crate::model::schema::shape::ListType;

use super::declared::walk;
use super::error::{FieldError, FieldErrorKind, FieldErrorType};
use super::node::CompiledNode;
use super::path::Trail;

/// Whether the items of a list satisfy its list type: no duplicates in a set, no two items with the same keys in a map.
pub(super) fn list_type_holds(list_type: ListType, keys: &[String], items: &[Value]) -> bool {
    let mut errors = Vec::new();
    list(items, (list_type, keys), &Trail::Root, &mut errors);
    errors.is_empty()
}

/// The first item of a set, or keys of a map list item, that a list has twice.
pub(crate) fn repeated(shape: &Shape, items: &[Value]) -> Option<Value> {
    let found: Cow<'_, [Value]> = match shape.list_type {
        ListType::Atomic => return None,
        ListType::Set => items.into(),
        ListType::Map => items.iter().map(|item| keys_of(item, &shape.map_keys)).collect(),
    };
    let index = second_ones(found.iter().map(Value::to_string)).into_iter().next()?;
    found.get(index).cloned()
}

fn list(items: &[Value], (list_type, keys): (ListType, &[String]), trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    match list_type {
        ListType::Atomic => {}
        ListType::Set => duplicates(items, trail, errors),
        ListType::Map => keyed(items, keys, trail, errors),
    }
}

/// Finds the duplicates in every set and map list below.
pub(super) fn check(value: &Value, node: &CompiledNode, trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    walk(value, &node, trail, &|node| node.below.lists, &mut |value, node, trail| {
        if let Value::Array(items) = value {
            list(items, (node.shape.list_type, &node.shape.map_keys), trail, errors);
        }
    });
}

fn keyed(items: &[Value], keys: &[String], trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    if let Some((index, item)) = items.iter().enumerate().find(|(_, item)| !item.is_object() && !item.is_null()) {
        let words = "must be an object for an array of list-type map";
        errors.push(FieldError::invalid(&Trail::Index(trail, index), FieldErrorKind::ListItem, item, words));
        return;
    }
    let found: Vec<Value> = items.iter().map(|item| keys_of(item, keys)).collect();
    duplicates(&found, trail, errors);
}

fn keys_of(item: &Value, keys: &[String]) -> Value {
    keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect::<Map<_, _>>().into()
}

/// Reports each value that occurs more than once, at its second occurrence.
fn duplicates(values: &[Value], trail: &Trail<'_>, errors: &mut Vec<FieldError>) {
    for index in second_ones(values.iter().map(Value::to_string)) {
        let at = Trail::Index(trail, index);
        errors.push(FieldError::bracketed(&at, FieldErrorKind::Duplicate, FieldErrorType::Duplicate, values.get(index), ""));
    }
}

/// The positions where a value occurs for the second time; further occurrences aren't reported.
fn second_ones(texts: impl Iterator<Item = String>) -> Vec<usize> {
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut found = Vec::new();
    for (index, text) in texts.enumerate() {
        let times = times.entry(text).or_default();
        *times += 1;
        if *times == 2 {
            found.push(index);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn items_of_a_map_list_are_distinguished_by_their_keys() {
        let keys = ["a".to_owned(), "b".to_owned()];
        let holds = |items: Value| list_type_holds(ListType::Map, &keys, items.as_array().unwrap());
        assert!(holds(json!([{"a": "1", "b": "1"}, {"a": "1", "b": "2"}])));
        assert!(!holds(json!([{"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "1", "c": "2"}])));
        assert!(!holds(json!([{"a": "1"}, {"a": "1"}])), "a key that is missing is missing in both");
        assert!(!holds(json!(["x"])), "only objects have keys");
    }
}
