//! The validated object as CEL values: typed by its schema nodes, read lazily, compared like the server does.

use std::rc::Rc;

use serde_json::Value as Json;

use super::value::{Key, ListValue, Map, Val};
use super::{EvalError, Fuel, json};
use crate::cel::decl::{Decl, DeclKind};
use crate::cel::name;
use crate::go::base64::{self, Base64Alphabet};
use crate::go::duration::Duration;
use crate::go::time::Timestamp;
use crate::model::kubernetes::Feature;
use crate::model::schema::shape::ListType;

type Evaluated<'a> = Result<Val<'a>, EvalError>;

/// A value of the object, typed by its node.
pub fn read<'a>(json: &'a Json, decl: &'a Decl) -> Evaluated<'a> {
    let wrong = |expected: &str| Err(EvalError::failed(format!("invalid data, expected {expected}")));
    match (&decl.kind, json) {
        (DeclKind::Json, json) => Ok(json::to_val(json)),
        (_, Json::Null) if decl.nullable => Ok(Val::Null),
        (_, Json::Null) => Err(EvalError::failed("invalid data, got null for schema with nullable=false")),
        (DeclKind::IntOrString, Json::String(text)) => Ok(Val::text(text)),
        (DeclKind::Int | DeclKind::IntOrString, Json::Number(n)) if n.is_i64() => Ok(Val::Int(n.as_i64().unwrap_or_default())),
        (DeclKind::Double, Json::Number(n)) => Ok(Val::Double(n.as_f64().unwrap_or(f64::NAN))),
        (DeclKind::Bool, Json::Bool(b)) => Ok(Val::Bool(*b)),
        (DeclKind::String, Json::String(text)) => Ok(Val::text(text)),
        // Rules use the URL alphabet and validation the standard one, so rules can't read a value with a special character of
        // either.
        (DeclKind::Bytes, Json::String(text)) => {
            base64::decode(text, Base64Alphabet::Url).map_or_else(|| wrong("base64"), |b| Ok(Val::Bytes(b.into())))
        }
        (DeclKind::Duration, Json::String(text)) => {
            Duration::parse_format(text).map_or_else(|| wrong("a duration"), |d| Ok(Val::Duration(d)))
        }
        (DeclKind::Date, Json::String(text)) => Timestamp::parse_date(text).map_or_else(|| wrong("a date"), |t| Ok(Val::Timestamp(t))),
        (DeclKind::DateTime, Json::String(text)) => {
            Timestamp::parse_format(text).map_or_else(|| wrong("a date-time"), |t| Ok(Val::Timestamp(t)))
        }
        (DeclKind::List { .. }, Json::Array(items)) => Ok(Val::List(ListValue::Json(items, decl))),
        (DeclKind::Map { .. } | DeclKind::Object(_), Json::Object(map)) => Ok(Val::Map(Map::Json(map, decl))),
        (DeclKind::Unknown, json) => Ok(Val::Unknown(json)),
        (kind, json) => wrong(&expected(kind, json)),
    }
}

/// What the server says about a value of another type than its node.
fn expected(kind: &DeclKind, json: &Json) -> String {
    let scalar = |name: &str| format!("{name}, got {}", go_type(json));
    match kind {
        DeclKind::Bool => scalar("bool"),
        DeclKind::Int => scalar("int"),
        DeclKind::Double => scalar("float"),
        DeclKind::String | DeclKind::Bytes | DeclKind::Duration | DeclKind::Date | DeclKind::DateTime => scalar("string"),
        DeclKind::IntOrString => "XIntOrString value to be either a string or integer".to_owned(),
        DeclKind::List { .. } => "an array for the provided schema with type=array".to_owned(),
        DeclKind::Map { .. } | DeclKind::Object(_) => "a map for the provided schema with type=object".to_owned(),
        DeclKind::Unknown | DeclKind::Json | DeclKind::Nothing => "a value with a type".to_owned(),
    }
}

/// The Go type of decoded JSON, as `%T` prints it.
fn go_type(json: &Json) -> &'static str {
    match json {
        Json::Null => "<nil>",
        Json::Bool(_) => "bool",
        Json::Number(number) if number.is_i64() => "int64",
        Json::Number(_) => "float64",
        Json::String(_) => "string",
        Json::Array(_) => "[]interface {}",
        Json::Object(_) => "map[string]interface {}",
    }
}

/// The value that an optional variable holds. cel-go unwraps it to plain data, which then has no schema: its fields are read by their
/// raw names, nulls are present, and texts with a format are just texts.
pub fn without_schema(val: Val<'_>) -> Val<'_> {
    match val {
        Val::Map(Map::Json(map, _)) => json::map_to_val(map),
        Val::List(ListValue::Json(items, _)) => json::list_to_val(items),
        Val::Unknown(json) => json::to_val(json),
        other => other,
    }
}

impl<'a> ListValue<'a> {
    pub fn get(&self, index: usize) -> Option<Evaluated<'a>> {
        match self {
            ListValue::Json(items, decl) => {
                let json = items.get(index)?;
                Some(item_decl(decl).map_or_else(|| Ok(Val::Unknown(json)), |item| read(json, item)))
            }
            ListValue::Made(items, _) => items.get(index).cloned().map(Ok),
        }
    }

    pub fn items(&self) -> impl Iterator<Item = Evaluated<'a>> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }

    /// The node that decides how the list is compared and concatenated.
    fn list_decl(&self) -> Option<&'a Decl> {
        match self {
            ListValue::Json(_, decl) => Some(decl),
            ListValue::Made(_, decl) => *decl,
        }
    }

    fn semantics(&self) -> (ListType, &'a [String]) {
        match self.list_decl().map(|d| &d.kind) {
            Some(DeclKind::List { list_type, keys, .. }) => (*list_type, keys),
            _ => (ListType::Atomic, &[]),
        }
    }

    /// `self + other`: sets are united, map lists merged by key, other lists concatenated.
    pub fn plus(&self, other: &ListValue<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
        let mut items = self.items().collect::<Result<Vec<_>, _>>()?;
        let (list_type, keys) = self.semantics();
        for item in other.items() {
            let item = item?;
            let at = match list_type {
                ListType::Atomic => None,
                ListType::Set => position(&items, |have| have.same_raw(&item, fuel))?,
                ListType::Map => position(&items, |have| fuel.burn(0).map(|()| same_keys(have, &item, keys)))?,
            };
            match (at, list_type) {
                (Some(_), ListType::Set) => {}
                (Some(at), _) => {
                    if let Some(slot) = items.get_mut(at) {
                        *slot = item;
                    }
                }
                (None, _) => items.push(item),
            }
        }
        Ok(Val::List(ListValue::Made(Rc::new(items), self.list_decl())))
    }

    fn equals(&self, other: &ListValue<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
        if self.len() != other.len() {
            return Ok(false);
        }
        let (list_type, keys) = self.semantics();
        if list_type == ListType::Atomic {
            return all(self.items().zip(other.items()), |(a, b)| a?.equals(&b?, fuel));
        }
        let mut mine = self.items().collect::<Result<Vec<_>, _>>()?;
        // A later item with the same key hides an earlier one.
        mine.reverse();
        all(other.items(), |item| {
            let item = item?;
            if list_type == ListType::Set {
                return Ok(position(&mine, |have| have.same_raw(&item, fuel))?.is_some());
            }
            let twin = position(&mine, |have| fuel.burn(0).map(|()| same_keys(have, &item, keys)))?;
            twin.and_then(|at| mine.get(at)).map_or(Ok(false), |twin| twin.equals(&item, fuel))
        })
    }
}

/// The first item that passes the test.
fn position<'a>(items: &[Val<'a>], mut test: impl FnMut(&Val<'a>) -> Result<bool, EvalError>) -> Result<Option<usize>, EvalError> {
    for (at, item) in items.iter().enumerate() {
        if test(item)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn all<T>(mut items: impl Iterator<Item = T>, mut test: impl FnMut(T) -> Result<bool, EvalError>) -> Result<bool, EvalError> {
    items.try_fold(true, |so_far, item| if so_far { test(item) } else { Ok(false) })
}

fn item_decl(decl: &Decl) -> Option<&Decl> {
    match &decl.kind {
        DeclKind::List { item, .. } => Some(item),
        _ => None,
    }
}

/// Whether two items of a map list have the same keys. Keys are looked up like the server does: by escaped name, in raw data.
fn same_keys(a: &Val<'_>, b: &Val<'_>, keys: &[String]) -> bool {
    let raw = |val: &Val<'_>, key: &str| match val {
        Val::Map(Map::Json(map, _)) => map.get(name::escape(key).as_deref().unwrap_or(key)).cloned(),
        _ => None,
    };
    keys.iter().all(|key| raw(a, key) == raw(b, key))
}

impl<'a> Map<'a> {
    /// The value of a key; an object hides undeclared fields and nulls.
    pub fn find(&self, key: &Val<'a>) -> Result<Option<Val<'a>>, EvalError> {
        match self {
            Map::Made(map) => Ok(Key::of(key).and_then(|key| map.get(&key).cloned())),
            Map::Json(..) => match key {
                Val::Text(text) => self.find_text(text),
                _ => Err(EvalError::no_such_overload()),
            },
        }
    }

    pub fn find_text(&self, key: &str) -> Result<Option<Val<'a>>, EvalError> {
        match self {
            Map::Made(map) => Ok(map.get(&Key::Text(key.to_string())).cloned()),
            Map::Json(map, decl) => match &decl.kind {
                DeclKind::Map { value } => map.get(key).map(|json| read(json, value)).transpose(),
                DeclKind::Object(object) => {
                    let Some(raw) = name::unescape(key) else { return Ok(None) };
                    let Some(json) = map.get(&raw).filter(|json| !json.is_null()) else { return Ok(None) };
                    object.fields.get(&raw).map(|field| read(json, field)).transpose()
                }
                _ => Ok(None),
            },
        }
    }

    /// The keys in a fixed order, as values.
    pub fn keys(&self) -> Vec<Val<'a>> {
        match self {
            Map::Made(map) => map.keys().map(Key::to_val).collect(),
            Map::Json(map, decl) => {
                let declared = |key: &&String| match &decl.kind {
                    DeclKind::Object(object) => object.fields.contains_key(key.as_str()),
                    _ => true,
                };
                let mut keys: Vec<&'a String> = map.keys().filter(declared).collect();
                keys.sort();
                keys.into_iter().map(|key| Val::text(key)).collect()
            }
        }
    }

    fn equals(&self, other: &Map<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
        if self.len() != other.len() {
            return Ok(false);
        }
        match self {
            Map::Made(map) => all(map.iter(), |(key, mine)| match other.find(&key.to_val())? {
                Some(theirs) => mine.equals(&theirs, fuel),
                None => Ok(false),
            }),
            Map::Json(map, decl) => all(map.iter(), |(key, json)| {
                if value_decl(decl, key).is_none() {
                    return same_unknown(json, other, key);
                }
                match (self.find_text(key)?, other.find_text(key)?) {
                    (Some(mine), Some(theirs)) => mine.equals(&theirs, fuel),
                    // Neither object shows the field, because it is null.
                    (None, None) => Ok(fuel.environment.has(Feature::NullFieldsEqual)),
                    _ => Ok(false),
                }
            }),
        }
    }
}

fn value_decl<'a>(decl: &'a Decl, key: &str) -> Option<&'a Decl> {
    match &decl.kind {
        DeclKind::Map { value } => Some(value),
        DeclKind::Object(object) => object.fields.get(key).map(|f| &**f),
        _ => None,
    }
}

/// Compares undeclared data of an object: as written, and only if both objects have it.
fn same_unknown(json: &Json, other: &Map<'_>, key: &str) -> Result<bool, EvalError> {
    match other {
        Map::Json(theirs, _) => Ok(theirs.get(key).is_none_or(|their| their == json)),
        Map::Made(_) => Err(EvalError::no_such_overload()),
    }
}

impl<'a> Val<'a> {
    /// CEL's `==`. Values of different types are unequal, except that numbers are compared by value, and comparing an object or
    /// list of the schema with something else is an error.
    pub fn equals(&self, other: &Val<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
        use super::operators::compare_numbers;
        fuel.burn(if let Val::Text(text) = self { text.len() } else { 0 })?;
        match (self, other) {
            (Val::Null, Val::Null) => Ok(true),
            (Val::Null, _) | (_, Val::Null) => Ok(false),
            (Val::Text(a), Val::Text(b)) => Ok(**a == **b),
            (Val::Bool(a), Val::Bool(b)) => Ok(a == b),
            (Val::Bytes(a), Val::Bytes(b)) => Ok(a == b),
            (Val::Duration(a), Val::Duration(b)) => Ok(a == b),
            (Val::Timestamp(a), Val::Timestamp(b)) => Ok(a == b),
            (Val::Type(a), Val::Type(b)) => Ok(a == b),
            (Val::List(a), Val::List(b)) => a.equals(b, fuel),
            (Val::Map(a), Val::Map(b)) => a.equals(b, fuel),
            (Val::List(ListValue::Json(..)) | Val::Map(Map::Json(..)), _) => Err(EvalError::no_such_overload()),
            (Val::Optional(None), Val::Optional(None)) => Ok(true),
            (Val::Optional(Some(a)), Val::Optional(Some(b))) => a.equals(b, fuel),
            (Val::Ip(a), Val::Ip(b)) => Ok(a == b),
            (Val::Cidr(a, x), Val::Cidr(b, y)) => Ok(a == b && x == y),
            (Val::Url(a), Val::Url(b)) => Ok(a.to_string() == b.to_string()),
            (Val::Quantity(a), Val::Quantity(b)) => Ok(a == b),
            (Val::Semver(a), Val::Semver(b)) => Ok(a.cmp_precedence(b).is_eq()),
            (Val::Format(a), Val::Format(b)) => Ok(a == b),
            (Val::Unknown(a), Val::Unknown(b)) => Ok(a == b),
            (Val::Unknown(a), b) => json::to_val(a).same_raw(b, fuel),
            (a, b) => Ok(compare_numbers(a, b).is_some_and(|o| o == Some(std::cmp::Ordering::Equal))),
        }
    }

    /// Equality of the data of two values, like Go compares map keys: without conversion between kinds of numbers.
    fn same_raw(&self, other: &Val<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
        match (self, other) {
            (Val::Int(a), Val::Int(b)) => Ok(a == b),
            (Val::Double(a), Val::Double(b)) => Ok(a == b),
            (Val::Int(_) | Val::Double(_) | Val::Uint(_), Val::Int(_) | Val::Double(_) | Val::Uint(_)) => Ok(false),
            _ => match self.equals(other, fuel) {
                Err(EvalError::Failed(_)) => Ok(false),
                other => other,
            },
        }
    }
}
