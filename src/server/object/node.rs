//! A compiled shape: patterns and rules compiled, formats resolved, and a summary of what is below.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::cel::decl::Decl;
use crate::go::regexp::Pattern;
use crate::go::strfmt::Format;
use crate::model::number::NumberDomain;
use crate::model::schema::Shape;
use crate::model::schema::shape::{Extra, ListType, Type};
use crate::server::key_fate::PruneNode;

use super::apply_defaults::DefaultNode;
use super::check::CheckNode;
use super::enumeration::{EnumIndex, any_allows};
use super::rules::Programs;
use super::types::{ReadPurpose, Types, has_format, number_domain, string_format};

/// Which checks a declared node or anything below it needs, so that the rest can be skipped.
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

/// A shape with everything that is prepared from it.
#[derive(Debug)]
pub(super) struct CompiledNode {
    pub shape: Arc<Shape>,
    /// Whether this is the root of a resource, where rules see its type and name.
    root: bool,
    decl: OnceLock<Arc<Decl>>,
    pub types: Types,
    /// The format that strings must have.
    pub format: Option<Format>,
    has_format: bool,
    pub numbers: NumberDomain,
    pattern: OnceLock<Result<Pattern, Arc<str>>>,
    /// For a long enum.
    listed: Option<EnumIndex>,
    pub items: Option<Arc<CompiledNode>>,
    pub properties: CompiledFields,
    pub extra: Extra<Arc<CompiledNode>>,
    pub any_of: Vec<CompiledNode>,
    pub one_of: Vec<CompiledNode>,
    pub all_of: Vec<CompiledNode>,
    pub not: Option<Box<CompiledNode>>,
    /// One for each rule of the shape.
    pub programs: Vec<Programs>,
    /// Whether CEL has a type for this node; otherwise rules can't see it or anything below it.
    pub visible: bool,
    pub below: Below,
}

/// Declared properties, sorted by name.
#[derive(Debug)]
pub(super) struct CompiledFields(Vec<(Box<str>, Arc<CompiledNode>)>);

impl CompiledFields {
    pub fn get(&self, name: &str) -> Option<&CompiledNode> {
        self.shared(name).map(|node| &**node)
    }

    fn shared(&self, name: &str) -> Option<&Arc<CompiledNode>> {
        let at = self.0.binary_search_by(|(own, _)| (**own).cmp(name)).ok()?;
        self.0.get(at).map(|(_, node)| node)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &CompiledNode)> {
        self.0.iter().map(|(name, node)| (&**name, &**node))
    }
}

impl CompiledNode {
    /// The CEL declaration of the node.
    pub fn decl(&self) -> &Arc<Decl> {
        self.decl.get_or_init(|| Arc::new(Decl::of(&self.shape, self.root || self.shape.embedded)))
    }

    /// The default; null counts as none.
    pub fn default(&self) -> Option<&Value> {
        self.shape.default.as_ref()
    }

    /// The recursion is limited by the depth of the shape.
    pub fn compile(shape: &Shape, purpose: ReadPurpose) -> Self {
        Self::build(&Arc::new(shape.clone()), purpose, purpose == ReadPurpose::Request, None)
    }

    /// Compiles a shape for requests, sharing the nodes whose shapes are shared with those of another.
    pub fn compile_beside(shape: &Shape, other: &CompiledNode) -> Self {
        Self::build(&Arc::new(shape.clone()), ReadPurpose::Request, true, Some(other))
    }

    fn build(shape: &Arc<Shape>, purpose: ReadPurpose, root: bool, other: Option<&CompiledNode>) -> Self {
        let clause = |shape: &Shape| CompiledNode::build(&Arc::new(shape.clone()), purpose, false, None);
        let clauses = |shapes: &[Shape]| shapes.iter().map(clause).collect();
        let child = |shape: &Arc<Shape>, twin: Option<&Arc<CompiledNode>>| match twin {
            Some(twin) if Arc::ptr_eq(shape, &twin.shape) => Arc::clone(twin),
            twin => Arc::new(CompiledNode::build(shape, purpose, false, twin.map(|twin| &**twin))),
        };
        let property = |(name, shape): (&String, &Arc<Shape>)| {
            let twin = other.and_then(|other| other.properties.shared(name));
            (name.as_str().into(), child(shape, twin))
        };
        let mut node = CompiledNode {
            shape: Arc::clone(shape),
            root,
            decl: OnceLock::new(),
            types: Types::of(shape, purpose),
            format: string_format(shape, purpose),
            has_format: has_format(shape, purpose),
            numbers: number_domain(shape, purpose),
            pattern: OnceLock::new(),
            listed: shape.enum_values.as_deref().and_then(EnumIndex::of),
            items: shape.items.as_ref().map(|items| child(items, other.and_then(|other| other.items.as_ref()))),
            properties: CompiledFields(shape.properties.iter().map(property).collect()),
            extra: shape.extra.as_ref().map(|values| child(values, other.and_then(|other| other.extra.as_ref().values()))),
            any_of: clauses(&shape.any_of),
            one_of: clauses(&shape.one_of),
            all_of: clauses(&shape.all_of),
            not: shape.not.as_ref().map(|not| Box::new(CompiledNode::build(not, purpose, false, None))),
            programs: shape.rules.iter().map(|_| Programs::default()).collect(),
            visible: true,
            below: Below::default(),
        };
        node.visible = node.is_visible();
        node.below = node.survey();
        node
    }

    fn survey(&self) -> Below {
        let mut below = Below {
            defaults: self.default().is_some(),
            lists: self.shape.list_type != ListType::Atomic,
            embedded: self.shape.embedded,
            rules: !self.programs.is_empty(),
        };
        let values = self.extra.as_ref().values().map(|values| &**values);
        for child in self.properties.iter().map(|(_, node)| node).chain(self.items.as_deref()).chain(values) {
            below.join(child.below);
        }
        below.rules &= self.visible;
        below
    }

    fn is_visible(&self) -> bool {
        match (self.shape.int_or_string, self.shape.ty) {
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
}

impl PruneNode for &CompiledNode {
    fn property(&self, name: &str) -> Option<Self> {
        self.properties.get(name)
    }

    fn items(&self) -> Option<Self> {
        self.items.as_deref()
    }

    fn extra(&self) -> Extra<Self> {
        self.extra.as_ref().map(|values| &**values)
    }

    fn preserves_unknown(&self) -> bool {
        self.shape.preserve_unknown
    }

    fn is_embedded(&self) -> bool {
        self.shape.embedded
    }
}

impl CheckNode for &CompiledNode {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn types(&self) -> Types {
        self.types
    }

    fn string_format(&self) -> Option<Format> {
        self.format
    }

    fn has_format(&self) -> bool {
        self.has_format
    }

    fn numbers(&self) -> Cow<'_, NumberDomain> {
        Cow::Borrowed(&self.numbers)
    }

    fn matches_pattern(&self, pattern: &str, text: &str) -> Result<bool, Arc<str>> {
        let pattern = self.pattern.get_or_init(|| Pattern::new(pattern).map_err(|error| error.to_string().into()));
        pattern.as_ref().map(|pattern| pattern.is_match(text)).map_err(Arc::clone)
    }

    fn enum_allows(&self, listed: &[Value], value: &Value) -> bool {
        match &self.listed {
            Some(index) => index.allows(value),
            None => any_allows(value, listed),
        }
    }

    fn any_of(&self) -> impl Iterator<Item = Self> {
        self.any_of.iter()
    }

    fn one_of(&self) -> impl Iterator<Item = Self> {
        self.one_of.iter()
    }

    fn all_of(&self) -> impl Iterator<Item = Self> {
        self.all_of.iter()
    }

    fn not(&self) -> Option<Self> {
        self.not.as_deref()
    }
}

impl<'n> DefaultNode for &'n CompiledNode {
    fn is_nullable(&self) -> bool {
        self.shape.nullable
    }

    fn default(&self) -> Option<&Value> {
        CompiledNode::default(self)
    }

    fn defaulted(&self) -> impl Iterator<Item = (&str, Self)> {
        let node: &'n CompiledNode = self;
        node.shape.properties.defaulted().filter_map(|(name, _)| Some((name, node.properties.get(name)?)))
    }

    fn has_defaults(&self) -> bool {
        self.below.defaults
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::shape;

    #[test]
    fn nodes_of_shared_shapes_are_compiled_once() {
        let old = shape(&json!({"properties": {"a": {"type": "string"}, "b": {"items": {"type": "string"}, "type": "array"}}}));
        let mut new = old.clone();
        new.properties.insert("a".to_owned(), Arc::new(shape(&json!({"type": "integer"}))));
        let known = CompiledNode::compile(&old, ReadPurpose::Request);
        let compiled = CompiledNode::compile_beside(&new, &known);
        let shared = |name: &str| std::ptr::eq(known.properties.get(name).unwrap(), compiled.properties.get(name).unwrap());
        assert!(shared("b") && !shared("a"));
        assert!(compiled.properties.get("a").unwrap().types.has(Type::Integer));
    }
}
