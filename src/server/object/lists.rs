//! Lists that are sets or maps: no two equal items, no two items of one key.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::model::schema::shape::{Extra, ListType};

use super::error::{Error, Kind, Reason};
use super::node::Node;
use super::path::Trail;

/// Whether the items of a list keep to its list type: no duplicates in a set, no two items of one key in a map.
pub(crate) fn list_type_holds(list_type: ListType, keys: &[String], items: &[Value]) -> bool {
    let mut errors = Vec::new();
    list(items, (list_type, keys), &Trail::Root, &mut errors);
    errors.is_empty()
}

fn list(items: &[Value], (list_type, keys): (ListType, &[String]), trail: &Trail<'_>, errors: &mut Vec<Error>) {
    match list_type {
        ListType::Atomic => {}
        ListType::Set => set(items, trail, errors),
        ListType::Map => keyed(items, keys, trail, errors),
    }
}

/// The duplicates of every set and map list below.
pub(super) fn check(value: &Value, node: &Node, trail: &Trail<'_>, errors: &mut Vec<Error>) {
    if !node.below.lists {
        return;
    }
    match value {
        Value::Object(map) => object(map, node, trail, errors),
        Value::Array(items) => {
            list(items, (node.shape.list_type, &node.shape.map_keys), trail, errors);
            if let Some(child) = &node.items {
                for (index, item) in items.iter().enumerate() {
                    check(item, child, &Trail::Index(trail, index), errors);
                }
            }
        }
        _ => {}
    }
}

fn object(map: &Map<String, Value>, node: &Node, trail: &Trail<'_>, errors: &mut Vec<Error>) {
    if let Extra::Values(child) = &node.extra {
        for (name, value) in map {
            check(value, child, &Trail::Entry(trail, name), errors);
        }
    }
    for (name, value) in map {
        if let Some(child) = node.properties.get(name.as_str()) {
            check(value, child, &Trail::Key(trail, name), errors);
        }
    }
}

fn set(items: &[Value], trail: &Trail<'_>, errors: &mut Vec<Error>) {
    for index in second_ones(items.iter().map(Value::to_string)) {
        errors.push(Error::bracketed(&Trail::Index(trail, index), Kind::Duplicate, Reason::Duplicate, items.get(index), ""));
    }
}

fn keyed(items: &[Value], keys: &[String], trail: &Trail<'_>, errors: &mut Vec<Error>) {
    if let Some(index) = items.iter().position(|item| !item.is_object() && !item.is_null()) {
        let words = "must be an object for an array of list-type map";
        errors.push(Error::bracketed(&Trail::Index(trail, index), Kind::ListItem, Reason::Invalid, items.get(index), words));
        return;
    }
    let key_of =
        |item: &Value| -> Value { keys.iter().filter_map(|key| Some((key.clone(), item.get(key)?.clone()))).collect::<Map<_, _>>().into() };
    let found: Vec<Value> = items.iter().map(key_of).collect();
    for index in second_ones(found.iter().map(Value::to_string)) {
        errors.push(Error::bracketed(&Trail::Index(trail, index), Kind::Duplicate, Reason::Duplicate, found.get(index), ""));
    }
}

/// Positions where a value comes up for the second time; a third time is not told again.
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
