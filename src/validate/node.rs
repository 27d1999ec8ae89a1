//! A shape made ready to be run: patterns and rules compiled, formats resolved, and what lies below known in advance.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::cel::decl::Decl;
use crate::schema::Shape;
use crate::schema::format::Format;
use crate::schema::number::{NumberDomain, NumberFormat, NumberKind};
use crate::schema::pattern::Pattern;
use crate::schema::shape::{self, Count, ListType, Type};

use super::rules::Rule;

/// The JSON types a node names; none means all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Types(u8);

impl Types {
    fn bit(ty: Type) -> u8 {
        match ty {
            Type::Object => 1,
            Type::Array => 2,
            Type::String => 4,
            Type::Integer => 8,
            Type::Number => 16,
            Type::Boolean => 32,
        }
    }

    pub fn of(types: &[Type]) -> Self {
        Types(types.iter().fold(0, |bits, &ty| bits | Self::bit(ty)))
    }

    pub fn has(self, ty: Type) -> bool {
        self.0 & Self::bit(ty) != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// As the server writes them in a message.
    pub fn names(self) -> String {
        let all = [Type::Object, Type::Array, Type::Integer, Type::Number, Type::String, Type::Boolean];
        let named: Vec<&str> = all.into_iter().filter(|&ty| self.has(ty)).map(Type::name).collect();
        named.join(",")
    }
}

/// What happens to keys that `properties` doesn't name.
#[derive(Debug)]
pub(super) enum Extra {
    Closed,
    Refused,
    Any,
    Values(Box<Node>),
}

#[derive(Debug)]
pub(super) enum List {
    Atomic,
    Set,
    Map(Vec<Box<str>>),
}

/// What a node or anything below it on the spine asks for, so that a walk can stay out of the rest.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Below {
    pub defaults: bool,
    pub lists: bool,
    pub embedded: bool,
    pub rules: bool,
}

impl Below {
    fn join(&mut self, other: Below) {
        self.defaults |= other.defaults;
        self.lists |= other.lists;
        self.embedded |= other.embedded;
        self.rules |= other.rules;
    }
}

/// For whom a shape is compiled: the server reads a node differently when it checks a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Request,
    /// Here `x-kubernetes-int-or-string` alone doesn't restrict the type.
    Default,
}

#[derive(Debug)]
pub(super) struct Node {
    pub types: Types,
    pub nullable: bool,
    /// The format of strings that stands here, and its name as written.
    pub format: Option<(Arc<str>, Format)>,
    pub enum_values: Vec<Value>,
    pub numbers: NumberDomain,
    pub length: Count,
    pattern: Option<Lazy>,
    pub items: Option<Box<Node>>,
    pub item_count: Count,
    pub unique_items: bool,
    pub properties: Fields,
    pub required: Vec<Box<str>>,
    pub property_count: Count,
    pub extra: Extra,
    pub preserve: bool,
    pub embedded: bool,
    pub default: Option<Value>,
    pub any_of: Vec<Node>,
    pub one_of: Vec<Node>,
    pub all_of: Vec<Node>,
    pub not: Option<Box<Node>>,
    pub list: List,
    pub map_atomic: bool,
    pub rules: Vec<Rule>,
    /// Whether CEL has a type for this node; what it has none for is invisible to rules, with all that is below.
    pub visible: bool,
    pub below: Below,
}

/// Declared properties, sorted by name.
#[derive(Debug)]
pub(super) struct Fields(Vec<(Box<str>, Node)>);

impl Fields {
    fn of(properties: &BTreeMap<String, Box<Shape>>, compile: impl Fn(&str, &Shape) -> Node) -> Self {
        Fields(properties.iter().map(|(name, property)| (name.as_str().into(), compile(name, property))).collect())
    }

    pub fn get(&self, name: &str) -> Option<&Node> {
        let at = self.0.binary_search_by(|(own, _)| (**own).cmp(name)).ok()?;
        self.0.get(at).map(|(_, node)| node)
    }

    pub fn contains(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.0.iter().map(|(name, node)| (&**name, node))
    }
}

/// A pattern that is read when the first value comes.
#[derive(Debug)]
struct Lazy {
    text: Arc<str>,
    read: OnceLock<Result<Pattern, Arc<str>>>,
}

impl Node {
    /// The pattern, or why it can't be run here.
    pub fn pattern(&self) -> Option<&Result<Pattern, Arc<str>>> {
        let lazy = self.pattern.as_ref()?;
        Some(lazy.read.get_or_init(|| Pattern::new(&lazy.text).map_err(|error| error.to_string().into())))
    }

    /// Recursion is bounded by the depth of the shape.
    pub fn compile(shape: &Shape, purpose: Purpose) -> Self {
        Self::build(shape, purpose, purpose == Purpose::Request, None)
    }

    fn clause(shape: &Shape, purpose: Purpose) -> Self {
        Self::build(shape, purpose, false, None)
    }

    /// `root` for the root of a resource, whose type and name rules can see; `decl` is what a node around it made of it for its own rules.
    fn build(shape: &Shape, purpose: Purpose, root: bool, decl: Option<&Arc<Decl>>) -> Self {
        let decl = Decl::for_rules(shape, root, decl);
        let decl = decl.as_ref();
        let child = |shape: &Shape, decl: Option<&Arc<Decl>>| Node::build(shape, purpose, false, decl);
        let types = match (shape.int_or_string, purpose) {
            (true, Purpose::Request) => Types::of(&[Type::Integer, Type::String]),
            _ => Types::of(shape.ty.as_slice()),
        };
        let only = if shape.int_or_string && purpose == Purpose::Request { None } else { shape.ty };
        let texts = matches!(only, None | Some(Type::String));
        let format = shape.format.as_ref().filter(|_| texts).and_then(|name| Some((Arc::clone(name), Format::of(name)?)));
        let clauses = |shapes: &[Shape]| shapes.iter().map(|shape| Node::clause(shape, purpose)).collect();
        let mut node = Node {
            types,
            nullable: shape.nullable,
            enum_values: shape.enum_values.clone().unwrap_or_default(),
            numbers: numbers(shape, only),
            format,
            length: shape.length,
            pattern: shape.pattern.as_ref().map(|text| Lazy { text: Arc::clone(text), read: OnceLock::new() }),
            items: shape.items.as_deref().map(|items| Box::new(child(items, decl.and_then(|decl| decl.items())))),
            item_count: shape.item_count,
            unique_items: shape.unique_items,
            properties: Fields::of(&shape.properties, |name, property| child(property, decl.and_then(|decl| decl.property(name)))),
            required: shape.required.iter().map(|name| name.as_str().into()).collect(),
            property_count: shape.property_count,
            extra: match &shape.extra {
                shape::Extra::Closed => Extra::Closed,
                shape::Extra::Refused => Extra::Refused,
                shape::Extra::Any => Extra::Any,
                shape::Extra::Values(values) => Extra::Values(Box::new(child(values, decl.and_then(|decl| decl.values())))),
            },
            preserve: shape.preserve_unknown,
            embedded: shape.embedded,
            default: shape.default.clone().filter(|default| !default.is_null()),
            any_of: clauses(&shape.any_of),
            one_of: clauses(&shape.one_of),
            all_of: clauses(&shape.all_of),
            not: shape.not.as_deref().map(|not| Box::new(Node::clause(not, purpose))),
            list: match shape.list_type {
                ListType::Atomic => List::Atomic,
                ListType::Set => List::Set,
                ListType::Map => List::Map(shape.map_keys.iter().map(|key| key.as_str().into()).collect()),
            },
            map_atomic: shape.map_type_atomic,
            rules: decl.map_or_else(Vec::new, |decl| Rule::of(shape, decl)),
            visible: true,
            below: Below::default(),
        };
        node.visible = node.is_visible(shape);
        node.below = node.survey();
        node
    }

    fn survey(&self) -> Below {
        let mut below = Below {
            defaults: self.default.is_some(),
            lists: !matches!(self.list, List::Atomic),
            embedded: self.embedded,
            rules: !self.rules.is_empty(),
        };
        let values = match &self.extra {
            Extra::Values(values) => Some(&**values),
            _ => None,
        };
        for child in self.properties.iter().map(|(_, node)| node).chain(self.items.as_deref()).chain(values) {
            below.join(child.below);
        }
        below.rules &= self.visible;
        below
    }

    fn is_visible(&self, shape: &Shape) -> bool {
        match (shape.int_or_string, shape.ty) {
            (true, _) => true,
            (false, None) => false,
            (false, Some(Type::Array)) => self.items.as_ref().is_some_and(|items| items.visible),
            (false, Some(Type::Object)) => match &self.extra {
                Extra::Values(values) => values.visible,
                _ => true,
            },
            (false, Some(_)) => true,
        }
    }

    /// The schema of a key's value: a declared property, or that of all map values.
    pub fn field(&self, name: &str) -> Option<&Node> {
        match (self.properties.get(name), &self.extra) {
            (Some(property), _) => Some(property),
            (None, Extra::Values(values)) => Some(values),
            _ => None,
        }
    }
}

/// The numbers of a node. A format of strings is the type check's business.
fn numbers(shape: &Shape, ty: Option<Type>) -> NumberDomain {
    let kind = match ty {
        Some(Type::Integer) => NumberKind::Integer,
        Some(Type::Number) => NumberKind::Number,
        _ => NumberKind::Untyped,
    };
    let bounds = &shape.bounds;
    NumberDomain {
        kind,
        minimum: bounds.minimum,
        exclusive_minimum: bounds.exclusive_minimum,
        maximum: bounds.maximum,
        exclusive_maximum: bounds.exclusive_maximum,
        multiple_of: bounds.multiple_of,
        format: shape.format.as_deref().and_then(|name| NumberFormat::of(kind, name)).filter(|format| *format != NumberFormat::Text),
    }
}
