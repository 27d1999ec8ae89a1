//! How the server reads what a client sends: whether a key or item with an unknown value is pruned, dropped or defaulted
//! ([`Effect`]). Known values are processed by the server's own code ([`stored`]).

use serde_json::Value;

use crate::model::schema::is_meta;
use crate::model::schema::shape::{Extra, Shape};
use crate::server::key_fate::{KeyFate, PruneNode, Pruning};
use crate::server::null_fate::{NullFate, NullPosition};
use crate::server::object::{CheckNode, DefaultNode, fill_in, store};

/// The schema that prunes, drops nulls and applies defaults at some value.
pub(crate) type ReadBy<'s> = Pruning<Reader<'s>>;

/// A schema node that reads values.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reader<'s> {
    Node {
        shape: &'s Shape,
        pair: Option<Pair<'s>>,
    },
    /// An object whose only key has this schema, to compare a field by itself.
    Field(&'s Shape),
    /// The same for a map value.
    Entry(&'s Shape),
    /// The same for a list item.
    Item(&'s Shape),
}

/// Two nodes that are compared without their children. A child on both sides counts as the first one's; a child that only the first
/// has counts as kept by the second; a child that only the second has is its own.
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
    pub(crate) fn has_same_children(self) -> bool {
        self.joined || self.more(self.second).next().is_none()
    }

    pub(crate) fn items(self) -> Option<&'s Shape> {
        self.first.items.as_deref().or(self.second.items.as_deref())
    }

    /// The schema of map values, if a node has one.
    pub(crate) fn values(self, own: &'s Shape) -> &'s Shape {
        match &self.first.extra {
            Extra::Values(values) => values,
            _ => own,
        }
    }
}

/// What the server does with a key.
#[derive(Debug, Clone)]
pub(crate) enum Effect<'s> {
    /// The key doesn't exist for validation, and isn't stored.
    Absent,
    Null,
    /// Its default, including the defaults inside it.
    Default(Value),
    /// The value as sent, read by this.
    Sent(ReadBy<'s>),
}

/// What a client may send for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SentKey {
    Absent,
    Null,
    Value,
}

impl<'s> Reader<'s> {
    pub(crate) fn of(shape: &'s Shape) -> Self {
        Reader::Node { shape, pair: None }
    }

    /// The shape that decides what happens to null and to a missing value.
    pub(super) fn own(&self) -> &'s Shape {
        match self {
            Reader::Node { shape, .. } | Reader::Field(shape) | Reader::Entry(shape) | Reader::Item(shape) => shape,
        }
    }
}

impl PruneNode for Reader<'_> {
    fn property(&self, name: &str) -> Option<Self> {
        match *self {
            Reader::Node { shape, pair: None } => shape.property(name).map(Reader::of),
            Reader::Node { shape, pair: Some(pair) } => pair.child(shape, name).map(Reader::of),
            Reader::Field(shape) => Some(Reader::of(shape)),
            Reader::Entry(_) | Reader::Item(_) => None,
        }
    }

    fn items(&self) -> Option<Self> {
        match *self {
            Reader::Node { shape, pair } => {
                let own = shape.items.as_deref()?;
                Some(Reader::of(pair.and_then(Pair::items).unwrap_or(own)))
            }
            Reader::Item(shape) => Some(Reader::of(shape)),
            Reader::Field(_) | Reader::Entry(_) => Some(*self),
        }
    }

    fn extra(&self) -> Extra<Self> {
        match *self {
            Reader::Node { shape, pair } => shape.extra.as_ref().map(|own| Reader::of(pair.map_or(&**own, |pair| pair.values(own)))),
            Reader::Entry(shape) => Extra::Values(Reader::of(shape)),
            Reader::Field(_) | Reader::Item(_) => Extra::Closed,
        }
    }

    fn preserves_unknown(&self) -> bool {
        matches!(self, Reader::Node { shape, .. } if shape.preserve_unknown)
    }

    fn is_embedded(&self) -> bool {
        matches!(self, Reader::Node { shape, .. } if shape.embedded)
    }

    /// Declared metadata of an embedded resource is searched like any other field, because of its conditions.
    fn keeps_meta(&self, key: &str) -> bool {
        self.is_embedded() && is_meta(key) && self.property(key).is_none()
    }
}

impl DefaultNode for Reader<'_> {
    fn is_nullable(&self) -> bool {
        self.own().nullable
    }

    fn default(&self) -> Option<&Value> {
        self.own().default.as_ref()
    }

    fn defaulted(&self) -> impl Iterator<Item = (&str, Self)> {
        ReadBy::of(*self).defaulted().map(|(name, child)| (name, Reader::of(child)))
    }
}

impl CheckNode for Reader<'_> {
    fn shape(&self) -> &Shape {
        self.own()
    }

    fn any_of(&self) -> impl Iterator<Item = Self> {
        self.own().any_of.iter().map(Reader::of)
    }

    fn one_of(&self) -> impl Iterator<Item = Self> {
        self.own().one_of.iter().map(Reader::of)
    }

    fn all_of(&self) -> impl Iterator<Item = Self> {
        self.own().all_of.iter().map(Reader::of)
    }

    fn not(&self) -> Option<Self> {
        self.own().not.as_deref().map(Reader::of)
    }
}

impl<'s> ReadBy<'s> {
    pub(crate) fn shape_of(shape: &'s Shape) -> Self {
        Pruning::of(Reader::of(shape))
    }

    pub(crate) fn reader(self) -> Option<Reader<'s>> {
        match self {
            Pruning::Schema { node, .. } => Some(node),
            Pruning::Nothing | Pruning::EveryKey => None,
        }
    }

    pub(crate) fn shape(self) -> Option<&'s Shape> {
        match self {
            Pruning::Schema { node: Reader::Node { shape, .. }, .. } => Some(shape),
            _ => None,
        }
    }

    /// The keys that the schema declares, with their schemas.
    pub(crate) fn declared(self) -> impl Iterator<Item = (&'s str, &'s Shape)> {
        let (plain, paired) = match self.reader() {
            Some(Reader::Node { shape, pair: None }) => (Some(&shape.properties), None),
            Some(Reader::Node { shape, pair: Some(pair) }) => (None, Some(pair.children(shape))),
            _ => (None, None),
        };
        let plain = plain.into_iter().flatten().map(|(name, child)| (name.as_str(), &**child));
        plain.chain(paired.into_iter().flatten().map(|(name, child)| (name.as_str(), child)))
    }

    /// Those that have a default.
    pub(crate) fn defaulted(self) -> impl Iterator<Item = (&'s str, &'s Shape)> {
        let (plain, paired) = match self.reader() {
            Some(Reader::Node { shape, pair: None }) => (Some(shape.properties.defaulted()), None),
            Some(Reader::Node { shape, pair: Some(pair) }) => (None, Some(pair.children(shape))),
            _ => (None, None),
        };
        let paired = paired.into_iter().flatten().filter(|(_, child)| child.default.is_some());
        plain.into_iter().flatten().chain(paired.map(|(name, child)| (name.as_str(), child)))
    }

    /// What happens to an item that is null, or that isn't.
    pub(crate) fn item_effect(self, request: SentKey) -> Effect<'s> {
        let items = self.items();
        match (request, items.shape()) {
            (SentKey::Null, Some(shape)) => null_effect(shape, NullPosition::Item),
            (SentKey::Null, None) => Effect::Null,
            _ => Effect::Sent(items),
        }
    }
}

impl<'s> KeyFate<Reader<'s>> {
    /// What the server does with a key that has this fate.
    pub(crate) fn effect(self, request: SentKey) -> Effect<'s> {
        match (self, request) {
            (KeyFate::Declared(reader), SentKey::Absent) => default_or(reader.own(), Effect::Absent),
            (KeyFate::Pruned, _) | (_, SentKey::Absent) => Effect::Absent,
            (KeyFate::Declared(reader) | KeyFate::MapValue(reader), SentKey::Null) => null_effect(reader.own(), NullPosition::Key),
            (_, SentKey::Null) => Effect::Null,
            (fate, SentKey::Value) => fate.below().map_or(Effect::Absent, Effect::Sent),
        }
    }
}

/// What the server does with a null.
fn null_effect<'s>(shape: &Shape, position: NullPosition) -> Effect<'s> {
    match NullFate::of(shape.nullable, shape.default.is_some(), position) {
        NullFate::Kept => Effect::Null,
        NullFate::Defaulted => default_or(shape, Effect::Null),
        NullFate::Dropped => Effect::Absent,
    }
}

fn default_or<'s>(shape: &Shape, otherwise: Effect<'s>) -> Effect<'s> {
    shape.default.as_ref().map_or(otherwise, |default| Effect::Default(completed(default, shape)))
}

/// A default, completed with the defaults that its own schema sets inside it.
pub(crate) fn completed(default: &Value, shape: &Shape) -> Value {
    let mut value = default.clone();
    fill_in(&mut value, &Reader::of(shape));
    value
}

/// What is stored of a value: pruned, without disallowed nulls, with its defaults. `lost` is set if something other than a null was
/// pruned.
pub(crate) fn stored(value: &Value, by: ReadBy<'_>, lost: &mut bool) -> Value {
    let (value, pruned) = store(value, &by);
    *lost |= pruned;
    value
}
