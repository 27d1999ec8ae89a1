//! Values of expressions. Values from an object are borrowed, and typed by their schema nodes as they are read.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::ops::Deref;
use std::rc::Rc;

use serde_json::Value as Json;

use crate::cel::decl::Decl;
use crate::go::duration::Duration;
use crate::go::quantity::Quantity;
use crate::go::time::Timestamp;
use crate::go::url::Url;

type JsonMap = serde_json::Map<String, Json>;

#[derive(Clone, Debug)]
pub enum Val<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(TextVal<'a>),
    Bytes(Rc<[u8]>),
    Duration(Duration),
    Timestamp(Timestamp),
    List(ListValue<'a>),
    Map(Map<'a>),
    Optional(Option<Rc<Val<'a>>>),
    /// A type, by its run-time name: lists are just `list`.
    Type(&'static str),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Url(Rc<Url>),
    Quantity(Quantity),
    Semver(Rc<semver::Version>),
    Format(&'static str),
    /// A preserved value of a node without a type, which can only be compared.
    Unknown(&'a Json),
}

/// A string from the object or the expression, or a computed one.
#[derive(Clone, Debug)]
pub enum TextVal<'a> {
    Borrowed(&'a str),
    Made(Rc<str>),
}

impl Deref for TextVal<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        match self {
            TextVal::Borrowed(text) => text,
            TextVal::Made(text) => text,
        }
    }
}

#[derive(Clone, Debug)]
pub enum ListValue<'a> {
    /// A list in the object, with its node.
    Json(&'a [Json], &'a Decl),
    /// A computed list; one made by adding to a list of the object still behaves as its node says.
    Made(Rc<Vec<Val<'a>>>, Option<&'a Decl>),
}

#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// An object or map in the object, with its node.
    Json(&'a JsonMap, &'a Decl),
    Made(Rc<BTreeMap<Key, Val<'a>>>),
}

/// A key of a computed map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Bool(bool),
    /// Signed and unsigned integers are one kind of key.
    Int(i128),
    Text(String),
}

impl Key {
    pub fn of(val: &Val<'_>) -> Option<Key> {
        Some(match val {
            Val::Bool(b) => Key::Bool(*b),
            Val::Int(i) => Key::Int(i128::from(*i)),
            Val::Uint(u) => Key::Int(i128::from(*u)),
            Val::Double(d) if d.fract() == 0.0 && d.abs() < 1e15 => Key::Int(*d as i128),
            Val::Text(text) => Key::Text(text.to_string()),
            _ => return None,
        })
    }

    pub fn to_val<'a>(&self) -> Val<'a> {
        match self {
            Key::Bool(b) => Val::Bool(*b),
            Key::Int(i) => i64::try_from(*i).map_or_else(|_| Val::Uint(*i as u64), Val::Int),
            Key::Text(text) => Val::made(text),
        }
    }
}

impl<'a> Val<'a> {
    pub fn text(text: &'a str) -> Self {
        Val::Text(TextVal::Borrowed(text))
    }

    pub fn made(text: &str) -> Self {
        Val::Text(TextVal::Made(Rc::from(text)))
    }

    pub fn list(items: Vec<Val<'a>>) -> Self {
        Val::List(ListValue::Made(Rc::new(items), None))
    }

    pub fn some(val: Val<'a>) -> Self {
        Val::Optional(Some(Rc::new(val)))
    }

    /// The run-time name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Val::Null => "null_type",
            Val::Bool(_) => "bool",
            Val::Int(_) => "int",
            Val::Uint(_) => "uint",
            Val::Double(_) => "double",
            Val::Text(_) => "string",
            Val::Bytes(_) => "bytes",
            Val::Duration(_) => "google.protobuf.Duration",
            Val::Timestamp(_) => "google.protobuf.Timestamp",
            Val::List(_) => "list",
            Val::Map(_) => "map",
            Val::Optional(_) => "optional_type",
            Val::Type(_) => "type",
            Val::Ip(_) => "net.IP",
            Val::Cidr(..) => "net.CIDR",
            Val::Url(_) => "kubernetes.URL",
            Val::Quantity(_) => "kubernetes.Quantity",
            Val::Semver(_) => "kubernetes.Semver",
            Val::Format(_) => "kubernetes.NamedFormat",
            Val::Unknown(_) => "unknown",
        }
    }

    /// Whether it is empty, zero or null, which `optional.ofNonZeroValue` drops.
    pub fn is_zero(&self) -> bool {
        match self {
            Val::Null => true,
            Val::Bool(b) => !b,
            Val::Int(i) => *i == 0,
            Val::Uint(u) => *u == 0,
            Val::Double(d) => *d == 0.0,
            Val::Text(text) => text.is_empty(),
            Val::Bytes(bytes) => bytes.is_empty(),
            Val::Duration(d) => d.nanos() == 0,
            Val::Timestamp(t) => t.is_zero(),
            Val::List(list) => list.len() == 0,
            Val::Map(map) => map.len() == 0,
            Val::Optional(inner) => inner.as_ref().is_none_or(|v| v.is_zero()),
            _ => false,
        }
    }
}

impl ListValue<'_> {
    pub fn len(&self) -> usize {
        match self {
            ListValue::Json(items, _) => items.len(),
            ListValue::Made(items, _) => items.len(),
        }
    }
}

impl Map<'_> {
    pub fn len(&self) -> usize {
        match self {
            Map::Json(map, _) => map.len(),
            Map::Made(map) => map.len(),
        }
    }
}
