//! One text taken apart into several fields, and the reverse.

use serde_json::Value;

use crate::find::conversion::address::{Names, get, take};

use super::reason::{Conflict, Reason};
use super::template::Template;
use super::transfer::place;

/// What a part is outside of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartType {
    #[default]
    String,
    Integer,
}

/// A template and the type of each of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    pub template: Template,
    pub types: Vec<PartType>,
}

impl Form {
    fn read(&self, index: usize, text: String) -> Result<Value, Reason> {
        match self.types.get(index).copied().unwrap_or_default() {
            PartType::String => Ok(Value::String(text)),
            PartType::Integer => text.parse::<i64>().map(Value::from).map_err(|_| Reason::Unreadable(text, "an integer")),
        }
    }

    fn write(&self, index: usize, value: &Value) -> Result<String, Reason> {
        match (self.types.get(index).copied().unwrap_or_default(), value) {
            (PartType::String, Value::String(text)) => Ok(text.clone()),
            (PartType::Integer, Value::Number(number)) if number.is_i64() => Ok(number.to_string()),
            (PartType::String, other) => Err(Reason::ty("a string", other)),
            (PartType::Integer, other) => Err(Reason::ty("an integer", other)),
        }
    }
}

pub(super) fn split(container: &mut Value, from: &Names, parts: &[Names], form: &Form, conflict: Conflict) -> Result<(), Reason> {
    let text = match get(container, from) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::String(text)) => text.clone(),
        Some(other) => return Err(Reason::ty("a string", other)),
    };
    let texts = form.template.split(&text)?;
    take(container, from);
    for (index, (names, text)) in parts.iter().zip(texts).enumerate() {
        place(container, names, form.read(index, text)?, conflict)?;
    }
    Ok(())
}

pub(super) fn merge(container: &mut Value, parts: &[Names], to: &Names, form: &Form, conflict: Conflict) -> Result<(), Reason> {
    let present = |names: &Names| get(container, names).filter(|value| !value.is_null());
    if parts.iter().all(|names| present(names).is_none()) {
        return Ok(());
    }
    let mut texts = Vec::with_capacity(parts.len());
    for (index, names) in parts.iter().enumerate() {
        let missing = || Reason::PartMissing(form.template.names.get(index).cloned().unwrap_or_default());
        texts.push(form.write(index, present(names).ok_or_else(missing)?)?);
    }
    for names in parts {
        take(container, names);
    }
    place(container, to, Value::String(form.template.join(&texts)), conflict)
}
