//! A version's schema, ready to judge objects, to make some, and to bring them into their normal form.

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::compare;
use crate::model::schema::shape::{Extra, ListType, Type};
use crate::model::schema::{Shape, is_meta};
use crate::server::object::{Compiled, Outcome};

/// One end of a conversion.
#[derive(Debug)]
pub struct Ground {
    pub shape: Shape,
    compiled: Compiled,
    api_version: String,
    kind: String,
    samples: OnceLock<Vec<Value>>,
}

impl Ground {
    pub fn new(shape: Shape, group: &str, version: &str, kind: &str) -> Self {
        let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        Ground { compiled: Compiled::new(&shape), shape, api_version, kind: kind.to_owned(), samples: OnceLock::new() }
    }

    /// A body with all that makes it an object.
    pub fn whole(&self, body: Value) -> Value {
        let mut object = json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": "example"}});
        if let (Value::Object(object), Value::Object(body)) = (&mut object, body) {
            object.extend(body);
        }
        object
    }

    /// What the server says to a request to create the object.
    pub fn request(&self, object: &Value) -> Outcome {
        self.compiled.request(object.clone())
    }

    /// Valid, with nothing pruned and nothing left open.
    pub fn accepts(&self, object: &Value) -> bool {
        let outcome = self.request(object);
        outcome.accepted() && outcome.pruned.is_empty() && outcome.undecided.is_empty()
    }

    /// What is left of an object that is stored under this schema.
    pub fn pruned(&self, object: &Value) -> Value {
        let mut object = object.clone();
        self.compiled.prune(&mut object);
        object
    }

    /// What objects with the same meaning have in common: pruned, defaulted, sets and keyed lists in a fixed order.
    pub fn normal(&self, object: &Value) -> Value {
        let mut object = object.clone();
        self.compiled.prune(&mut object);
        self.compiled.fill(&mut object);
        sort(&mut object, &self.shape);
        tidy(&mut object);
        object
    }

    /// Objects at the boundaries of the schema, each of them accepted and kept. The same ones each time.
    pub fn samples(&self) -> &[Value] {
        self.samples.get_or_init(|| {
            let mut objects: Vec<Value> = Vec::new();
            let filled = compare::filled(&self.shape).map(|body| self.whole(body)).map(|object| self.told_apart(object));
            let bodies = compare::around(&self.shape).into_iter().map(|body| self.whole(body));
            // Two items in an order that is not that of their names.
            let pair = filled.as_ref().and_then(|object| self.doubled(object)).map(|object| self.told_apart(object));
            for object in filled.into_iter().chain(pair).chain(bodies) {
                if self.accepts(&object) {
                    let doubled = self.doubled(&object);
                    objects.push(object);
                    objects.extend(doubled);
                }
            }
            let broken = objects.iter().find_map(|object| self.with_fractions(object));
            objects.extend(broken);
            objects
        })
    }

    /// The object with every text and number made different from all others, later ones smaller, where the schema allows it.
    fn told_apart(&self, mut object: Value) -> Value {
        let mut leaves = Vec::new();
        let spec = object.as_object().into_iter().flatten().filter(|(key, _)| !is_meta(key));
        spec.for_each(|(key, value)| collect(value, &format!("/{}", escaped(key)), &mut leaves));
        for (number, pointer) in leaves.into_iter().enumerate().take(DISTINCT) {
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

    /// The object with a fraction wherever a number may be one.
    fn with_fractions(&self, object: &Value) -> Option<Value> {
        let mut leaves = Vec::new();
        numbers(object, &self.shape, "", &mut leaves);
        let mut object = object.clone();
        let mut found = false;
        for pointer in leaves.into_iter().take(DISTINCT) {
            let Some(number) = object.pointer(&pointer).and_then(Value::as_f64) else { continue };
            // A half, and else one near what is there.
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

    /// The object with a list of one item made a list of two, which is where most conversions of lists go wrong.
    fn doubled(&self, object: &Value) -> Option<Value> {
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

/// Leaves that are told apart in one object.
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

/// Where numbers stand that need not be whole.
fn numbers(value: &Value, shape: &Shape, at: &str, leaves: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, child) in map {
                let below = shape.property(key).or(match &shape.extra {
                    Extra::Values(values) => Some(values),
                    _ => None,
                });
                if let Some(below) = below {
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
                let below = shape.property(key).or(match &shape.extra {
                    Extra::Values(values) => Some(values),
                    _ => None,
                });
                if let Some(below) = below {
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
                ListType::Set => items.sort_by_key(Value::to_string),
                ListType::Map => items.sort_by_key(|item| {
                    let keys: Vec<String> = shape.map_keys.iter().map(|key| item.get(key).unwrap_or(&Value::Null).to_string()).collect();
                    keys
                }),
            }
        }
        _ => {}
    }
}

/// The server doesn't store empty maps of labels and annotations.
fn tidy(object: &mut Value) {
    let Some(Value::Object(metadata)) = object.get_mut("metadata") else { return };
    for key in ["labels", "annotations"] {
        if metadata.get(key).and_then(Value::as_object).is_some_and(Map::is_empty) {
            metadata.remove(key);
        }
    }
}
