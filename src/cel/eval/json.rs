//! Converts between JSON and CEL values without a schema.

use std::rc::Rc;

use serde_json::{Number, Value as Json};

use super::value::{Key, Map, Val};
use super::{EvalError, Fuel};

/// A JSON value with its natural type. Whole numbers are signed.
pub fn to_val(json: &Json) -> Val<'_> {
    match json {
        Json::Null => Val::Null,
        Json::Bool(b) => Val::Bool(*b),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Val::Int(whole),
            None => Val::Double(number.as_f64().unwrap_or_default()),
        },
        Json::String(text) => Val::text(text),
        Json::Array(items) => list_to_val(items),
        Json::Object(map) => map_to_val(map),
    }
}

pub fn list_to_val(items: &[Json]) -> Val<'_> {
    Val::list(items.iter().map(to_val).collect())
}

pub fn map_to_val(map: &serde_json::Map<String, Json>) -> Val<'_> {
    let entries = map.iter().map(|(key, value)| (Key::Text(key.clone()), to_val(value)));
    Val::Map(Map::Made(Rc::new(entries.collect())))
}

/// The JSON of a value. Parts of a value can be shared, so writing them out may take much longer than computing them.
pub fn from_val(val: &Val<'_>, fuel: &mut Fuel) -> Result<Json, EvalError> {
    let not_json = || EvalError::failed("the result is not a JSON value");
    fuel.burn(if let Val::Text(text) = val { text.len() } else { 0 })?;
    Ok(match val {
        Val::Null => Json::Null,
        Val::Bool(b) => Json::Bool(*b),
        Val::Int(i) => Json::from(*i),
        Val::Uint(u) => Json::from(*u),
        Val::Double(d) => Json::Number(Number::from_f64(*d).ok_or_else(not_json)?),
        Val::Text(text) => Json::String(text.to_string()),
        Val::List(list) => Json::Array(list.items().map(|item| from_val(&item?, fuel)).collect::<Result<_, _>>()?),
        Val::Map(map) => {
            let mut entries = serde_json::Map::new();
            for key in map.keys() {
                let Some(value) = map.find(&key)? else { continue };
                let name = match key {
                    Val::Text(text) => text.to_string(),
                    Val::Bool(b) => b.to_string(),
                    Val::Int(i) => i.to_string(),
                    Val::Uint(u) => u.to_string(),
                    _ => return Err(not_json()),
                };
                fuel.burn(name.len())?;
                entries.insert(name, from_val(&value, fuel)?);
            }
            Json::Object(entries)
        }
        Val::Unknown(json) => (*json).clone(),
        _ => return Err(not_json()),
    })
}
