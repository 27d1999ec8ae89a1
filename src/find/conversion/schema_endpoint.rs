//! The schema at one end of a conversion: it validates, normalises and generates objects.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::compare;
use crate::model::schema::shape::{ListType, Type};
use crate::model::schema::{Shape, is_meta};
use crate::server::object::{Compiled, Response, value_count};

use super::manifest::api_version;

/// The schema of the version that a conversion starts from or produces.
#[derive(Debug)]
pub struct SchemaEndpoint {
    pub shape: Shape,
    compiled: Compiled,
    api_version: String,
    kind: String,
    samples: OnceLock<Vec<Value>>,
    /// How many schemas objects are generated for in the same run.
    share: usize,
}

/// How many values all objects together may have that are sent to find one with distinct values.
const MOST_TRIED: usize = 200_000;

impl SchemaEndpoint {
    pub fn new(shape: Shape, group: &str, version: &str, kind: &str) -> Self {
        let api_version = api_version(group, version);
        SchemaEndpoint { compiled: Compiled::new(&shape), shape, api_version, kind: kind.to_owned(), samples: OnceLock::new(), share: 1 }
    }

    /// Generates fewer objects, because they are generated for this many schemas.
    #[must_use]
    pub fn sharing_work(self, share: usize) -> Self {
        SchemaEndpoint { share, ..self }
    }

    /// Builds an object from a body by adding API version, kind and name.
    pub fn object(&self, body: Value) -> Value {
        let mut object = json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": "example"}});
        if let (Value::Object(object), Value::Object(body)) = (&mut object, body) {
            object.extend(body);
        }
        object
    }

    /// The server's response to a request that creates the object.
    pub fn request(&self, object: &Value) -> Response {
        self.compiled.request(object.clone())
    }

    /// Whether an object is valid, with nothing pruned or undecided.
    pub fn accepts(&self, object: &Value) -> bool {
        let outcome = self.request(object);
        outcome.accepted() && outcome.pruned.is_empty() && outcome.undecided.is_empty()
    }

    /// The object as the server stores it under this schema.
    pub fn pruned(&self, object: &Value) -> Value {
        let mut object = object.clone();
        self.compiled.prune(&mut object);
        object
    }

    /// The normal form of an object: pruned, defaulted, with sets and keyed lists in a fixed order.
    pub fn normalised(&self, object: &Value) -> Value {
        let mut object = self.compiled.read(object.clone());
        sort(&mut object, &self.shape);
        drop_empty_metadata_maps(&mut object);
        object
    }

    /// Objects at the boundaries of the schema, all accepted and kept; the same ones on every call.
    pub fn samples(&self) -> &[Value] {
        self.samples.get_or_init(|| {
            let mut objects: Vec<Value> = Vec::new();
            let filled = compare::filled(&self.shape).map(|body| self.object(body)).map(|object| self.with_distinct_values(object));
            let bodies = compare::around(&self.shape, self.share).into_iter().map(|body| self.object(body));
            // Two items in an order that isn't sorted.
            let pair = filled.as_ref().and_then(|object| self.with_doubled_item(object)).map(|object| self.with_distinct_values(object));
            for object in filled.into_iter().chain(pair).chain(bodies) {
                if self.accepts(&object) {
                    let doubled = self.with_doubled_item(&object);
                    objects.push(object);
                    objects.extend(doubled);
                }
            }
            let fractional = objects.iter().find_map(|object| self.with_fractions(object));
            objects.extend(fractional);
            objects
        })
    }

    /// Like [`SchemaEndpoint::samples`], if nothing else is needed.
    pub fn into_samples(self) -> Vec<Value> {
        self.samples();
        self.samples.into_inner().unwrap_or_default()
    }

    /// Gives every string and number a different value, in descending order where the schema allows it.
    fn with_distinct_values(&self, mut object: Value) -> Value {
        let mut leaves = Vec::new();
        let spec = object.as_object().into_iter().flatten().filter(|(key, _)| !is_meta(key));
        spec.for_each(|(key, value)| collect(value, &format!("/{}", escaped(key)), &mut leaves));
        let tried = (MOST_TRIED / self.share.max(1) / value_count(&object).max(1)).min(DISTINCT);
        for (number, pointer) in leaves.into_iter().enumerate().take(tried) {
            let Some(slot) = object.pointer_mut(&pointer) else { continue };
            let fresh = match slot {
                Value::String(_) => Value::String(format!("x{:02}", DISTINCT - number)),
                Value::Number(_) => Value::from(DISTINCT - number),
                _ => continue,
            };
            let before = std::mem::replace(slot, fresh);
            if !self.accepts(&object)
                && let Some(slot) = object.pointer_mut(&pointer)
            {
                *slot = before;
            }
        }
        object
    }

    /// Puts a fraction wherever the schema allows one, if anywhere.
    fn with_fractions(&self, object: &Value) -> Option<Value> {
        let mut leaves = Vec::new();
        numbers(object, &self.shape, "", &mut leaves);
        let mut object = object.clone();
        let mut found = false;
        for pointer in leaves.into_iter().take(DISTINCT) {
            let Some(number) = object.pointer(&pointer).and_then(Value::as_f64) else { continue };
            // Try a half, then a fraction near the value.
            for fraction in [0.5, number + 0.5, number - 0.5] {
                let Some(slot) = object.pointer_mut(&pointer) else { break };
                let before = std::mem::replace(slot, Value::from(fraction));
                if self.accepts(&object) {
                    found = true;
                    break;
                }
                if let Some(slot) = object.pointer_mut(&pointer) {
                    *slot = before;
                }
            }
        }
        found.then_some(object)
    }

    /// Adds a second item to a list of one, where most list conversions go wrong.
    fn with_doubled_item(&self, object: &Value) -> Option<Value> {
        fn double(value: &mut Value) -> bool {
            match value {
                Value::Object(map) => map.iter_mut().any(|(_, child)| double(child)),
                Value::Array(items) => match items.as_mut_slice() {
                    [one] => {
                        let copy = one.clone();
                        items.push(copy);
                        true
                    }
                    _ => items.iter_mut().any(double),
                },
                _ => false,
            }
        }
        let mut copy = object.clone();
        (double(&mut copy) && self.accepts(&copy)).then_some(copy)
    }
}

/// How many values of one object are made distinct.
const DISTINCT: usize = 64;

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn collect(value: &Value, at: &str, leaves: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, child)| collect(child, &format!("{at}/{}", escaped(key)), leaves)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, child)| collect(child, &format!("{at}/{index}"), leaves)),
        _ => leaves.push(at.to_owned()),
    }
}

/// Collects the paths of numbers that may be fractions.
fn numbers(value: &Value, shape: &Shape, at: &str, leaves: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, child) in map {
                if let Some(below) = shape.value_of(key) {
                    numbers(child, below, &format!("{at}/{}", escaped(key)), leaves);
                }
            }
        }
        Value::Array(items) => {
            if let Some(below) = &shape.items {
                items.iter().enumerate().for_each(|(index, item)| numbers(item, below, &format!("{at}/{index}"), leaves));
            }
        }
        Value::Number(_) if shape.ty == Some(Type::Number) => leaves.push(at.to_owned()),
        _ => {}
    }
}

fn sort(value: &mut Value, shape: &Shape) {
    match value {
        Value::Object(map) => {
            for (key, child) in map.iter_mut() {
                if let Some(below) = shape.value_of(key) {
                    sort(child, below);
                }
            }
        }
        Value::Array(items) => {
            if let Some(below) = &shape.items {
                items.iter_mut().for_each(|item| sort(item, below));
            }
            match shape.list_type {
                ListType::Atomic => {}
                ListType::Set => items.sort_by_cached_key(Value::to_string),
                ListType::Map => items.sort_by_cached_key(|item| {
                    let keys: Vec<String> = shape.map_keys.iter().map(|key| item.get(key).unwrap_or(&Value::Null).to_string()).collect();
                    keys
                }),
            }
        }
        _ => {}
    }
}

/// Drops empty `labels` and `annotations`, because the server doesn't store them.
fn drop_empty_metadata_maps(object: &mut Value) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    for key in ["labels", "annotations"] {
        if metadata.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            metadata.remove(key);
        }
    }
}
