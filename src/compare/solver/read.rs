//! How the server reads what a client sent: a value and the schema it stands under come in; what is pruned, dropped or
//! defaulted is decided here, for one value (`stored`) and for one key whose value is not known yet (`Effect`).

use serde_json::{Map, Value};

use crate::model::schema::is_meta;
use crate::model::schema::shape::{Extra, Shape};

/// Deeper values are not read further; no schema that the server takes gets there.
const MAX_DEPTH: u32 = 256;

/// The schema that prunes, drops nulls and sets defaults at some value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spine<'s> {
    /// A declared node. `keep`: keys that it doesn't declare survive (its own preserve-unknown-fields, or that of the list around it).
    Node { shape: &'s Shape, keep: bool, pair: Option<Pair<'s>> },
    /// Below an undeclared key that is preserved: everything survives.
    Free,
    /// Below `additionalProperties: true`: scalars survive, objects lose all their keys.
    Emptied,
    /// An object whose only key has this schema: how a field is compared on its own.
    Field(&'s Shape),
    /// The same for a value of a map.
    Entry(&'s Shape),
    /// The same for an item of a list.
    Item(&'s Shape),
}

/// Two nodes that are compared without their children. A child that both have counts as the one of the first; a child
/// that only the first has counts as kept by the second; a child that only the second has is its own.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'s> {
    pub(crate) first: &'s Shape,
    pub(crate) second: &'s Shape,
    /// A child that only the second has counts as kept by the first, too.
    pub(crate) joined: bool,
}

impl<'s> Pair<'s> {
    pub(crate) fn has(self, shape: &Shape) -> bool {
        std::ptr::eq(self.first, shape) || std::ptr::eq(self.second, shape)
    }

    /// The children of one of the two that the other doesn't have.
    fn more(self, owner: &Shape) -> impl Iterator<Item = (&'s String, &'s Shape)> {
        let second = self.joined || std::ptr::eq(owner, self.second);
        let own = second.then_some(&self.second.properties).into_iter().flatten();
        own.filter(move |(name, _)| !self.first.properties.contains_key(*name)).map(|(name, child)| (name, &**child))
    }

    pub(crate) fn child(self, owner: &Shape, key: &str) -> Option<&'s Shape> {
        let second = self.joined || std::ptr::eq(owner, self.second);
        self.first.property(key).or_else(|| self.second.property(key).filter(|_| second))
    }

    /// The children of one of the two, by name.
    pub(crate) fn children(self, owner: &Shape) -> impl Iterator<Item = (&'s String, &'s Shape)> {
        self.first.properties.iter().map(|(name, child)| (name, &**child)).chain(self.more(owner))
    }

    /// Whether both have the same children.
    pub(crate) fn is_even(self) -> bool {
        self.joined || self.more(self.second).next().is_none()
    }

    pub(crate) fn items(self) -> Option<&'s Shape> {
        self.first.items.as_deref().or(self.second.items.as_deref())
    }

    /// The schema of map values, for a node that has one.
    pub(crate) fn values(self, own: &'s Shape) -> &'s Shape {
        match &self.first.extra {
            Extra::Values(values) => values,
            _ => own,
        }
    }
}

/// What the server makes of a key.
#[derive(Debug, Clone)]
pub(crate) enum Effect<'s> {
    /// The key is not there for validation, and not stored.
    Absent,
    Null,
    /// Its default, complete with the defaults inside it.
    Default(Value),
    /// The value that was sent, read under this spine.
    Sent(Spine<'s>),
}

/// What a client may do with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Request {
    Absent,
    Null,
    Value,
}

/// Where a key stands in its object's schema.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Seat<'s> {
    /// Named in `properties`.
    Declared(&'s Shape),
    /// A value of `additionalProperties`.
    Extra(&'s Shape),
    /// Kept without a schema.
    Kept(Spine<'s>),
    Pruned,
}

impl<'s> Spine<'s> {
    pub(crate) fn of(shape: &'s Shape) -> Self {
        Spine::Node { shape, keep: shape.preserve_unknown, pair: None }
    }

    /// The keys that the schema declares.
    pub(crate) fn names(self) -> Vec<&'s String> {
        match self {
            Spine::Node { shape, pair: Some(pair), .. } => pair.children(shape).map(|(name, _)| name).collect(),
            Spine::Node { shape, .. } => shape.properties.keys().collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn shape(self) -> Option<&'s Shape> {
        match self {
            Spine::Node { shape, .. } => Some(shape),
            _ => None,
        }
    }

    pub(crate) fn seat(self, key: &str) -> Seat<'s> {
        match self {
            Spine::Free => Seat::Kept(Spine::Free),
            Spine::Emptied | Spine::Item(_) => Seat::Pruned,
            Spine::Field(shape) => Seat::Declared(shape),
            Spine::Entry(shape) => Seat::Extra(shape),
            Spine::Node { shape, keep, pair } => {
                let child = pair.map_or_else(|| shape.property(key), |pair| pair.child(shape, key));
                if let Some(child) = child {
                    return Seat::Declared(child);
                }
                if shape.embedded && is_meta(key) {
                    return Seat::Kept(Spine::Free);
                }
                match &shape.extra {
                    Extra::Values(values) => Seat::Extra(pair.map_or(values, |pair| pair.values(values))),
                    Extra::Any | Extra::Refused => Seat::Kept(Spine::Emptied),
                    Extra::Closed if keep => Seat::Kept(Spine::Free),
                    Extra::Closed => Seat::Pruned,
                }
            }
        }
    }

    /// The spine of list items.
    pub(crate) fn items(self) -> Spine<'s> {
        match self {
            Spine::Node { shape, keep, pair } => {
                let items = shape.items.as_deref().map(|own| pair.and_then(Pair::items).unwrap_or(own));
                match items {
                    Some(items) => Spine::Node { shape: items, keep: keep || items.preserve_unknown, pair: None },
                    None if keep => Spine::Free,
                    None => Spine::Emptied,
                }
            }
            Spine::Item(shape) => Spine::of(shape),
            other => other,
        }
    }

    /// What becomes of an item that is null, or of one that is not.
    pub(crate) fn item_effect(self, request: Request) -> Effect<'s> {
        let items = self.items();
        if request != Request::Null {
            return Effect::Sent(items);
        }
        match items.shape() {
            Some(shape) if !shape.nullable => match &shape.default {
                Some(default) => Effect::Default(completed(default, shape)),
                None => Effect::Null,
            },
            _ => Effect::Null,
        }
    }
}

impl<'s> Seat<'s> {
    pub(crate) fn effect(self, request: Request) -> Effect<'s> {
        match (self, request) {
            (Seat::Pruned, _) | (Seat::Extra(_) | Seat::Kept(_), Request::Absent) => Effect::Absent,
            (Seat::Declared(shape), Request::Absent) => default_or_absent(shape),
            (Seat::Declared(shape) | Seat::Extra(shape), Request::Null) => {
                if shape.nullable {
                    Effect::Null
                } else {
                    default_or_absent(shape)
                }
            }
            (Seat::Kept(_), Request::Null) => Effect::Null,
            (Seat::Declared(shape) | Seat::Extra(shape), Request::Value) => Effect::Sent(Spine::of(shape)),
            (Seat::Kept(spine), Request::Value) => Effect::Sent(spine),
        }
    }

    pub(crate) fn is_pruned(self) -> bool {
        matches!(self, Seat::Pruned)
    }
}

fn default_or_absent<'s>(shape: &Shape) -> Effect<'s> {
    match &shape.default {
        Some(default) => Effect::Default(completed(default, shape)),
        None => Effect::Absent,
    }
}

/// A default with the defaults that its own schema sets inside it.
pub(crate) fn completed(default: &Value, shape: &Shape) -> Value {
    let mut value = default.clone();
    set_defaults(&mut value, Spine::of(shape), MAX_DEPTH);
    value
}

/// What is stored of a value: pruned, without nulls that nothing allows, with its defaults. `lost` tells whether
/// something other than a null was pruned.
pub(crate) fn stored(value: &Value, spine: Spine<'_>, lost: &mut bool) -> Value {
    let mut read = kept(value, spine, lost, MAX_DEPTH);
    set_defaults(&mut read, spine, MAX_DEPTH);
    read
}

fn kept(value: &Value, spine: Spine<'_>, lost: &mut bool, depth: u32) -> Value {
    if depth == 0 {
        return value.clone();
    }
    match value {
        Value::Object(map) => {
            let mut out = Map::new();
            for (key, value) in map {
                let seat = spine.seat(key);
                if value.is_null() {
                    let stays = match seat {
                        Seat::Pruned => false,
                        Seat::Declared(shape) | Seat::Extra(shape) => shape.nullable || shape.default.is_some(),
                        Seat::Kept(_) => true,
                    };
                    if stays {
                        out.insert(key.clone(), Value::Null);
                    }
                    continue;
                }
                match seat.effect(Request::Value) {
                    Effect::Sent(below) => {
                        out.insert(key.clone(), kept(value, below, lost, depth - 1));
                    }
                    _ => *lost = true,
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => {
            let below = spine.items();
            Value::Array(items.iter().map(|item| kept(item, below, lost, depth - 1)).collect())
        }
        scalar => scalar.clone(),
    }
}

fn set_defaults(value: &mut Value, spine: Spine<'_>, depth: u32) {
    if depth == 0 || !matches!(spine, Spine::Node { .. }) {
        return;
    }
    match value {
        Value::Object(map) => {
            for name in spine.names() {
                let Seat::Declared(child) = spine.seat(name) else { continue };
                let Some(default) = &child.default else { continue };
                if map.get(name).is_none_or(|present| present.is_null() && !child.nullable) {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (key, value) in map.iter_mut() {
                match spine.seat(key) {
                    Seat::Declared(child) => set_defaults(value, Spine::of(child), depth - 1),
                    Seat::Extra(child) => {
                        replace_null(value, child);
                        set_defaults(value, Spine::of(child), depth - 1);
                    }
                    Seat::Kept(_) | Seat::Pruned => {}
                }
            }
        }
        Value::Array(items) => {
            let Spine::Node { shape: child, .. } = spine.items() else { return };
            for item in items {
                replace_null(item, child);
                set_defaults(item, Spine::of(child), depth - 1);
            }
        }
        _ => {}
    }
}

fn replace_null(value: &mut Value, shape: &Shape) {
    if value.is_null() && !shape.nullable {
        *value = shape.default.clone().unwrap_or(Value::Null);
    }
}
