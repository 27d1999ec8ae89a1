//! What a schema node accepts and keeps, as independent data. Validation, comparison and generation work on this form.
//!
//! A shape is equivalent to the schema it was built from, keyword by keyword, without explicit defaults (`nullable: false`,
//! `minLength: 0`, `list-type: atomic`, …).

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::input::yaml::Node;
use crate::model::kubernetes::Server;
use crate::model::{FieldPath, PathStep};

use super::properties::Properties;
use super::{Keyword, Schema};

/// The JSON types that a node can name. A node without `type` accepts all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    pub const ALL: [Type; 6] = [Type::Object, Type::Array, Type::Integer, Type::Number, Type::String, Type::Boolean];

    pub fn parse(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|ty| ty.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Type::Object => "object",
            Type::Array => "array",
            Type::String => "string",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::Boolean => "boolean",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct NumberBounds {
    pub minimum: Option<f64>,
    pub maximum: Option<f64>,
    pub exclusive_minimum: bool,
    pub exclusive_maximum: bool,
    pub multiple_of: Option<f64>,
}

/// Limits on a count of code points, items or properties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountRange {
    pub min: u64,
    pub max: Option<u64>,
}

impl CountRange {
    /// A negative maximum, such as `maxItems: -1`: the server accepts it in a CRD, but no value has so few items.
    pub const NOTHING: CountRange = CountRange { min: u64::MAX, max: Some(0) };

    fn new(min: Option<i64>, max: Option<i64>) -> Self {
        if max.is_some_and(|max| max < 0) {
            return CountRange::NOTHING;
        }
        CountRange { min: min.and_then(|n| u64::try_from(n).ok()).unwrap_or(0), max: max.and_then(|n| u64::try_from(n).ok()) }
    }

    /// With the minimum of another range.
    #[must_use]
    pub fn with_min(self, other: CountRange) -> Self {
        if [self, other].contains(&CountRange::NOTHING) { self } else { CountRange { min: other.min, ..self } }
    }

    /// With the maximum of another range.
    #[must_use]
    pub fn with_max(self, other: CountRange) -> Self {
        if [self, other].contains(&CountRange::NOTHING) { other } else { CountRange { max: other.max, ..self } }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ListType {
    #[default]
    Atomic,
    Set,
    Map,
}

/// What happens to keys that `properties` doesn't declare.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Extra<V = Arc<Shape>> {
    /// Pruned; inside `allOf`, `anyOf`, `oneOf` and `not`, unrestricted.
    #[default]
    Closed,
    /// `additionalProperties: false`: rejected.
    Refused,
    /// `additionalProperties: true`: kept, with nested objects emptied.
    Any,
    /// Kept, and each pruned and validated by this schema.
    Values(V),
}

impl<V> Extra<V> {
    pub(crate) fn as_ref(&self) -> Extra<&V> {
        match self {
            Extra::Closed => Extra::Closed,
            Extra::Refused => Extra::Refused,
            Extra::Any => Extra::Any,
            Extra::Values(values) => Extra::Values(values),
        }
    }

    pub(crate) fn values(self) -> Option<V> {
        match self {
            Extra::Values(values) => Some(values),
            _ => None,
        }
    }

    pub(crate) fn map<W>(self, turn: impl FnOnce(V) -> W) -> Extra<W> {
        match self {
            Extra::Closed => Extra::Closed,
            Extra::Refused => Extra::Refused,
            Extra::Any => Extra::Any,
            Extra::Values(values) => Extra::Values(turn(values)),
        }
    }
}

/// A CEL rule with its attributes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CelRule {
    pub rule: String,
    pub message: Option<String>,
    pub message_expression: Option<String>,
    pub reason: Option<String>,
    pub field_path: Option<String>,
    pub optional_old_self: Option<bool>,
}

/// A schema node. Children are shared, so that changing one place in a copy only copies the path to it. The default accepts everything
/// and restricts nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shape {
    /// The server that reads it.
    pub kubernetes: Server,
    /// `None` means any type (with int-or-string or preserve-unknown-fields, or inside `allOf`, `anyOf`, `oneOf` and `not`).
    pub ty: Option<Type>,
    pub int_or_string: bool,
    pub nullable: bool,
    pub enum_values: Option<Vec<Value>>,
    pub bounds: NumberBounds,
    pub length: CountRange,
    pub pattern: Option<Arc<str>>,
    pub format: Option<Arc<str>>,
    pub items: Option<Arc<Shape>>,
    pub item_count: CountRange,
    pub unique_items: bool,
    pub list_type: ListType,
    pub map_keys: Vec<String>,
    pub properties: Properties,
    pub required: BTreeSet<String>,
    pub property_count: CountRange,
    pub extra: Extra,
    pub preserve_unknown: bool,
    pub embedded: bool,
    pub map_type_atomic: bool,
    /// `default: null` counts as none.
    pub default: Option<Value>,
    pub all_of: Vec<Shape>,
    pub any_of: Vec<Shape>,
    pub one_of: Vec<Shape>,
    pub not: Option<Arc<Shape>>,
    pub rules: Vec<CelRule>,
}

impl Shape {
    /// The shape that accepts and keeps every value.
    pub fn anything() -> Self {
        Shape { preserve_unknown: true, ..Shape::default() }
    }

    pub fn property(&self, name: &str) -> Option<&Shape> {
        self.properties.get(name).map(|child| &**child)
    }

    /// The declared node at a path.
    pub fn at(&self, steps: &[PathStep]) -> Option<&Shape> {
        steps.iter().try_fold(self, |shape, step| match step {
            PathStep::Key(name) => shape.property(name),
            PathStep::Items => shape.items.as_deref(),
            PathStep::Values => shape.values(),
        })
    }

    /// The schema of map values.
    pub(crate) fn values(&self) -> Option<&Shape> {
        self.extra.as_ref().values().map(|values| &**values)
    }

    /// The schema of a key's value: that of a declared property, or of all map values.
    pub(crate) fn value_of(&self, key: &str) -> Option<&Shape> {
        self.property(key).or_else(|| self.values())
    }

    /// The declared properties, items and map values.
    pub(crate) fn children(&self) -> impl Iterator<Item = &Shape> {
        let values = self.extra.as_ref().values();
        self.properties.values().chain(&self.items).chain(values).map(|child| &**child)
    }

    pub(crate) fn children_mut(&mut self) -> impl Iterator<Item = &mut Arc<Shape>> {
        let values = match &mut self.extra {
            Extra::Values(values) => Some(values),
            _ => None,
        };
        self.properties.values_mut().chain(&mut self.items).chain(values)
    }

    /// The children with their paths.
    pub(crate) fn children_at(&self, path: &FieldPath) -> impl Iterator<Item = (FieldPath, &Shape)> {
        let properties = self.properties.iter().map(|(name, child)| (path.key(name), &**child));
        let items = self.items.as_deref().map(|items| (path.items(), items));
        properties.chain(items).chain(self.values().map(|values| (path.values(), values)))
    }

    pub fn at_mut(&mut self, steps: &[PathStep]) -> Option<&mut Shape> {
        steps.iter().try_fold(self, |shape, step| match step {
            PathStep::Key(name) => shape.properties.get_mut(&**name).map(Arc::make_mut),
            PathStep::Items => shape.items.as_mut().map(Arc::make_mut),
            PathStep::Values => match &mut shape.extra {
                Extra::Values(values) => Some(Arc::make_mut(values)),
                _ => None,
            },
        })
    }

    /// The number of nodes from this one down.
    pub(crate) fn node_count(&self) -> usize {
        let clauses = [&self.all_of, &self.any_of, &self.one_of].into_iter().flatten().map(Shape::node_count).sum::<usize>();
        1 + clauses + self.children().map(Shape::node_count).sum::<usize>()
    }

    /// The shape of a whole schema. The recursion is limited by the depth of the tree.
    pub fn of(schema: &Schema<'_>) -> Self {
        let mut shape = Self::local(schema);
        shape.properties = schema.properties().map(|(entry, child)| (entry.name().to_owned(), Arc::new(Shape::of(&child)))).collect();
        shape.items = schema.items().map(|items| Arc::new(Shape::of(&items)));
        shape.extra = schema.extra().map(|values| Arc::new(Shape::of(&values)));
        shape
    }

    /// The shape of a whole schema, sharing the nodes that are written the same as in another.
    pub fn beside(schema: &Schema<'_>, (other, known): (&Schema<'_>, &Shape)) -> Self {
        let child = |schema: &Schema<'_>, twin: Option<(Schema<'_>, &Arc<Shape>)>| match twin {
            Some((other, known)) if schema.reads_like(&other) => Arc::clone(known),
            Some((other, known)) => Arc::new(Shape::beside(schema, (&other, known))),
            None => Arc::new(Shape::of(schema)),
        };
        let property = |name: &str| Some((other.property(name)?.1, known.properties.get(name)?));
        let mut shape = Self::local(schema);
        shape.properties = schema.properties().map(|(entry, own)| (entry.name().to_owned(), child(&own, property(entry.name())))).collect();
        shape.items = schema.items().map(|own| child(&own, other.items().zip(known.items.as_ref())));
        shape.extra = schema.extra().map(|own| child(&own, other.values().zip(known.extra.as_ref().values())));
        shape
    }

    /// The shape of what a value reaches. Declared keys that the value lacks are left out, except where rules may name any of them.
    pub(crate) fn reached(schema: &Schema<'_>, value: Node<'_>) -> Self {
        if !value.is_map() || schema.flag(Keyword::EmbeddedResource) || schema.cel_rules().len() > 0 {
            return Self::of(schema);
        }
        let mut shape = Self::local(schema);
        let declared = value.entries().filter_map(|entry| Some((entry, schema.property(entry.name())?.1)));
        shape.properties = declared.map(|(entry, child)| (entry.name().to_owned(), Arc::new(Self::reached(&child, entry.value)))).collect();
        if shape.properties.len() < value.len() {
            shape.extra = schema.extra().map(|values| Arc::new(Self::of(&values)));
        }
        shape
    }

    /// The shape of this node alone: with `allOf`, `anyOf`, `oneOf` and `not`, but without properties, items and additional
    /// properties.
    pub fn local(schema: &Schema<'_>) -> Self {
        let count = |min, max| CountRange::new(schema.count(min), schema.count(max));
        let text = |word| schema.text(word).filter(|text| !text.is_empty()).map(Arc::from);
        let clauses = |word| schema.clauses(word).map(|clause| Shape::of(&clause)).collect();
        Shape {
            kubernetes: schema.kubernetes(),
            ty: schema.ty().and_then(Type::parse),
            int_or_string: schema.is_int_or_string(),
            nullable: schema.flag(Keyword::Nullable),
            enum_values: schema.enum_values().filter(|values| values.len() > 0).map(|values| values.map(|node| node.to_json()).collect()),
            bounds: NumberBounds {
                minimum: schema.number(Keyword::Minimum),
                maximum: schema.number(Keyword::Maximum),
                exclusive_minimum: schema.flag(Keyword::ExclusiveMinimum),
                exclusive_maximum: schema.flag(Keyword::ExclusiveMaximum),
                multiple_of: schema.number(Keyword::MultipleOf),
            },
            length: count(Keyword::MinLength, Keyword::MaxLength),
            pattern: text(Keyword::Pattern),
            format: text(Keyword::Format),
            item_count: count(Keyword::MinItems, Keyword::MaxItems),
            unique_items: schema.flag(Keyword::UniqueItems),
            list_type: match schema.text(Keyword::ListType) {
                Some("set") => ListType::Set,
                Some("map") => ListType::Map,
                _ => ListType::Atomic,
            },
            map_keys: schema.names(Keyword::ListMapKeys).map(str::to_owned).collect(),
            required: schema.names(Keyword::Required).map(str::to_owned).collect(),
            property_count: count(Keyword::MinProperties, Keyword::MaxProperties),
            extra: match schema.extra() {
                Extra::Values(_) | Extra::Closed => Extra::Closed,
                Extra::Any => Extra::Any,
                Extra::Refused => Extra::Refused,
            },
            preserve_unknown: schema.preserves_unknown(),
            embedded: schema.flag(Keyword::EmbeddedResource),
            map_type_atomic: schema.text(Keyword::MapType) == Some("atomic"),
            default: schema.default().map(|node| node.to_json()),
            all_of: clauses(Keyword::AllOf),
            any_of: clauses(Keyword::AnyOf),
            one_of: clauses(Keyword::OneOf),
            not: schema.not().map(|not| Arc::new(Shape::of(&not))),
            rules: schema.cel_rules().map(|rule| CelRule::of(&rule)).collect(),
            ..Shape::default()
        }
    }
}

impl CelRule {
    fn of(rule: &super::view::ValidationRule<'_>) -> Self {
        let text = |key| rule.text(key).map(str::to_owned);
        CelRule {
            rule: rule.rule().to_owned(),
            message: text("message"),
            message_expression: text("messageExpression"),
            reason: text("reason"),
            field_path: text("fieldPath"),
            optional_old_self: rule.optional_old_self(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{YamlBudget, parse};

    fn with_schema(text: &str, then: impl FnOnce(Schema<'_>)) {
        let documents = parse(&text.into(), &YamlBudget::default());
        then(Schema::new(documents[0].tree.as_ref().unwrap().root()));
    }

    #[test]
    fn a_shape_shares_what_is_written_the_same_in_another() {
        let text = |limit: u32| {
            format!(
                "properties:
  changed:
    properties:
      limit: {{maxLength: {limit}, type: string}}
      other: {{items: {{type: string}}, type: array}}
    type: object
  same:
    additionalProperties: {{type: string}}
    type: object
type: object
"
            )
        };
        with_schema(&text(5), |old| {
            with_schema(&text(6), |new| {
                let known = Shape::of(&old);
                let shape = Shape::beside(&new, (&old, &known));
                assert_eq!(shape, Shape::of(&new));
                let shared = |path: &[PathStep]| std::ptr::eq(known.at(path).unwrap(), shape.at(path).unwrap());
                let [changed, same, limit, other] = ["changed", "same", "limit", "other"].map(|name| PathStep::Key(name.into()));
                assert!(shared(&[same]));
                assert!(shared(&[changed.clone(), other]));
                assert!(!shared(std::slice::from_ref(&changed)) && !shared(&[changed, limit]));
            });
        });
        // The same text where everything undeclared is kept means something else.
        with_schema("additionalProperties: {additionalProperties: true}\n", |schema| {
            let (open, known) = (schema.clone().within(true), Shape::of(&schema));
            assert_eq!(Shape::beside(&open, (&schema, &known)), Shape::of(&open));
        });
    }
}
