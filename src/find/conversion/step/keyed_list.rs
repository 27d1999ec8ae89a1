//! Converts map entries to list items that contain their key, and back.

use serde_json::{Map, Value};

use super::parse::StepNode;
use super::reason::StepFailure;

/// The item fields that hold the key and the value of a map entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemFields {
    pub key: String,
    /// If `None`, the map's values are objects, and their fields are put next to the key.
    pub value: Option<String>,
}

impl ItemFields {
    pub fn parse(step: &StepNode<'_, '_>) -> Option<ItemFields> {
        Some(ItemFields { key: step.text("key")?.to_owned(), value: step.text("value").map(str::to_owned) })
    }

    pub fn item(&self, key: String, value: Value) -> Result<Value, StepFailure> {
        let mut item = match (&self.value, value) {
            (Some(field), value) => Map::from_iter([(field.clone(), value)]),
            (None, Value::Object(fields)) => fields,
            (None, other) => return Err(StepFailure::ty("an object", &other)),
        };
        match item.insert(self.key.clone(), Value::String(key)) {
            None => Ok(Value::Object(item)),
            Some(_) => Err(StepFailure::Duplicate(self.key.clone())),
        }
    }

    pub fn entry(&self, item: Value) -> Result<(String, Value), StepFailure> {
        let mut fields = match item {
            Value::Object(fields) => fields,
            other => return Err(StepFailure::ty("an object", &other)),
        };
        let Some(Value::String(key)) = fields.remove(&self.key) else { return Err(StepFailure::Keyless(self.key.clone())) };
        let Some(field) = &self.value else { return Ok((key, Value::Object(fields))) };
        let value = fields.remove(field).unwrap_or(Value::Null);
        if fields.is_empty() { Ok((key, value)) } else { Err(StepFailure::TooMuch { key: self.key.clone(), value: field.clone() }) }
    }
}
