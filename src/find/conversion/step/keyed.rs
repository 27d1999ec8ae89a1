//! A map becomes a list of items that name their key, and the reverse.

use serde_json::{Map, Value};

use crate::find::conversion::address::{Names, take};

use super::reason::{Conflict, Reason};
use super::transfer::place;

/// How an entry of a map is written as an item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keying {
    /// The field of an item that holds the key.
    pub key: String,
    /// The field that holds the value; without one the value is an object, and its fields stand beside the key.
    pub value: Option<String>,
}

impl Keying {
    fn item(&self, key: String, value: Value) -> Result<Value, Reason> {
        let mut item = match (&self.value, value) {
            (Some(field), value) => Map::from_iter([(field.clone(), value)]),
            (None, Value::Object(fields)) => fields,
            (None, other) => return Err(Reason::ty("an object", &other)),
        };
        match item.insert(self.key.clone(), Value::String(key)) {
            None => Ok(Value::Object(item)),
            Some(_) => Err(Reason::Duplicate(self.key.clone())),
        }
    }

    fn entry(&self, item: Value) -> Result<(String, Value), Reason> {
        let mut fields = match item {
            Value::Object(fields) => fields,
            other => return Err(Reason::ty("an object", &other)),
        };
        let Some(Value::String(key)) = fields.remove(&self.key) else { return Err(Reason::Keyless(self.key.clone())) };
        let Some(field) = &self.value else { return Ok((key, Value::Object(fields))) };
        let value = fields.remove(field).unwrap_or(Value::Null);
        if fields.is_empty() { Ok((key, value)) } else { Err(Reason::TooMuch { key: self.key.clone(), value: field.clone() }) }
    }
}

/// Items come in the order of their keys.
pub(super) fn to_list(container: &mut Value, from: &Names, to: &Names, keying: &Keying, conflict: Conflict) -> Result<(), Reason> {
    match take(container, from) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(map)) => {
            let items: Result<Vec<Value>, Reason> = map.into_iter().map(|(key, value)| keying.item(key, value)).collect();
            place(container, to, Value::Array(items?), conflict)
        }
        Some(list @ Value::Array(_)) if from == to => place(container, to, list, conflict),
        Some(other) => Err(Reason::ty("an object", &other)),
    }
}

pub(super) fn to_map(container: &mut Value, from: &Names, to: &Names, keying: &Keying, conflict: Conflict) -> Result<(), Reason> {
    match take(container, from) {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Array(items)) => {
            let mut map = Map::new();
            for item in items {
                let (key, value) = keying.entry(item)?;
                if map.contains_key(&key) {
                    return Err(Reason::Duplicate(key));
                }
                map.insert(key, value);
            }
            place(container, to, Value::Object(map), conflict)
        }
        Some(map @ Value::Object(_)) if from == to => place(container, to, map, conflict),
        Some(other) => Err(Reason::ty("a list", &other)),
    }
}
