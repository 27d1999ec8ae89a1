//! Fields, entries and items of values.

use std::rc::Rc;

use super::EvalError;
use super::value::{Key, Map, Val};

type Evaluated<'a> = Result<Val<'a>, EvalError>;

pub(super) fn optional(val: Option<Val<'_>>) -> Val<'_> {
    val.map_or(Val::Optional(None), Val::some)
}

/// A field of an object or an entry of a map; nothing else has fields.
pub(super) fn field<'a>(operand: &Val<'a>, name: &str) -> Result<Option<Val<'a>>, EvalError> {
    match operand {
        Val::Map(map) => map.find_text(name),
        _ => Ok(None),
    }
}

pub(super) fn index<'a>(a: &Val<'a>, b: &Val<'a>) -> Evaluated<'a> {
    match (a, b) {
        (Val::Optional(None), _) => Ok(Val::Optional(None)),
        (Val::Optional(Some(inner)), _) => optional_index(inner, b),
        (Val::List(list), _) => {
            let at = list_index(b)?;
            let found = usize::try_from(at).ok().and_then(|at| list.get(at));
            found.unwrap_or_else(|| Err(EvalError::failed(format!("index out of bounds: {at}"))))
        }
        (Val::Map(map), key) => map.find(key)?.ok_or_else(|| no_such_key(key)),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn no_such_key(key: &Val<'_>) -> EvalError {
    let name = match key {
        Val::Text(text) => text.to_string(),
        Val::Bool(flag) => flag.to_string(),
        Val::Int(number) => number.to_string(),
        Val::Uint(number) => number.to_string(),
        _ => return EvalError::failed("no such key"),
    };
    EvalError::failed(format!("no such key: {name}"))
}

pub(super) fn optional_index<'a>(a: &Val<'a>, b: &Val<'a>) -> Evaluated<'a> {
    match (a, b) {
        (Val::Optional(None), _) => Ok(Val::Optional(None)),
        (Val::Optional(Some(inner)), _) => optional_index(inner, b),
        (Val::List(list), _) => {
            let at = usize::try_from(list_index(b)?).ok();
            at.and_then(|at| list.get(at)).transpose().map(optional)
        }
        (Val::Map(map), key) => map.find(key).map(optional),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn list_index(val: &Val<'_>) -> Result<i64, EvalError> {
    match val {
        Val::Int(i) => Ok(*i),
        Val::Uint(u) => i64::try_from(*u).map_err(|_| EvalError::failed("index out of bounds")),
        Val::Double(d) if d.fract() == 0.0 && d.abs() < 1e15 => Ok(*d as i64),
        _ => Err(EvalError::failed("unsupported index type")),
    }
}

pub(super) fn insert<'a>(map: &Map<'a>, pairs: Vec<(Val<'a>, Val<'a>)>) -> Evaluated<'a> {
    let mut out = match map {
        Map::Made(map) => (**map).clone(),
        Map::Json(..) => return Err(EvalError::unsupported("an insertion into an object")),
    };
    for (key, val) in pairs {
        let key = Key::of(&key).ok_or_else(|| EvalError::failed("unsupported key type"))?;
        if out.contains_key(&key) {
            let key = match key {
                Key::Bool(key) => key.to_string(),
                Key::Int(key) => key.to_string(),
                Key::Text(key) => key,
            };
            return Err(EvalError::failed(format!("insert failed: key {key} already exists")));
        }
        out.insert(key, val);
    }
    Ok(Val::Map(Map::Made(Rc::new(out))))
}
