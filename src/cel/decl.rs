//! The CEL declaration of a schema node: its type, and how large its values can get.
//!
//! A [`Decl`] is built from a [`Shape`], and is the only source for checking, costing and evaluating rules. Sizes are the server's
//! own estimates; they decide whether a rule is within its budget.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::FixedState;

use crate::model::kubernetes::{self, Feature};
use crate::model::schema::Shape;
use crate::model::schema::shape::{CountRange, Extra, ListType, Type as JsonType};

use super::name;
use super::need::Need;
use super::types::CelType;

/// The size of the largest request, which limits everything that the schema doesn't.
pub const MAX_REQUEST: i64 = kubernetes::MAX_REQUEST as i64;
/// The length of the longest `duration` and `date-time`, including quotes.
const MAX_TIME: u64 = 32;
const DATE: i64 = 12;
/// The length of the longest name in code points; a generated name is longer than its prefix.
const MAX_NAME: u64 = 253;
const MIN_DATE_TIME: i64 = 21;
const MIN_DURATION: i64 = 3;
/// The size of `""`, `{}` or `[]`.
const MIN_QUOTED: i64 = 2;
const MIN_BOOL: i64 = 4;

/// What CEL knows about a schema node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decl {
    /// A hash that distinguishes most nodes quickly.
    print: u64,
    /// The number of nodes from here down.
    pub nodes: usize,
    pub kind: DeclKind,
    pub nullable: bool,
    /// Bytes of a string, items of a list, entries of a map; 0 for types without a size.
    pub max_size: u64,
    /// The minimum size of a value in JSON, in bytes.
    pub min_bytes: i64,
    /// Whether `max_size` comes from the schema rather than from the maximum request size.
    pub bounded: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeclKind {
    Bool,
    Int,
    Double,
    String,
    Bytes,
    Duration,
    Date,
    DateTime,
    /// `x-kubernetes-int-or-string`, which has the type `dyn`.
    IntOrString,
    List {
        item: Arc<Decl>,
        list_type: ListType,
        keys: Vec<String>,
    },
    Map {
        value: Arc<Decl>,
    },
    Object(ObjectDecl),
    /// Preserved by `x-kubernetes-preserve-unknown-fields` without a type: can be compared, but not accessed.
    Unknown,
    /// A value without a schema, of type `dyn`: each part has its JSON type.
    Json,
    /// A node that CEL can't represent; a value there is an error.
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectDecl {
    /// By the name in the schema, not the escaped one.
    pub fields: BTreeMap<String, Arc<Decl>>,
}

impl Decl {
    /// The declaration of `shape`. `root` for the root of a resource, where its type and name are always visible.
    pub fn of(shape: &Shape, root: bool) -> Decl {
        let (kind, max_size, min_bytes, bounded) = Self::parts(shape, root);
        Decl::new(kind, shape.nullable, max_size, min_bytes, bounded)
    }

    fn new(kind: DeclKind, nullable: bool, max_size: u64, min_bytes: i64, bounded: bool) -> Decl {
        let mut hasher = FixedState::default().build_hasher();
        let nodes = kind.print(&mut hasher);
        (nullable, max_size, min_bytes, bounded).hash(&mut hasher);
        Decl { print: hasher.finish(), nodes, kind, nullable, max_size, min_bytes, bounded }
    }

    fn parts(shape: &Shape, root: bool) -> (DeclKind, u64, i64, bool) {
        if shape.int_or_string {
            let (size, bounded) = text_size(shape);
            return (DeclKind::IntOrString, size, 1, bounded);
        }
        match shape.ty {
            Some(JsonType::Boolean) => (DeclKind::Bool, 0, MIN_BOOL, true),
            Some(JsonType::Integer) => (DeclKind::Int, 0, 1, true),
            Some(JsonType::Number) => (DeclKind::Double, 0, 1, true),
            Some(JsonType::String) => Self::string(shape),
            Some(JsonType::Array) => Self::list(shape),
            Some(JsonType::Object) => Self::object(shape, root),
            None if shape.preserve_unknown => (DeclKind::Unknown, 0, 0, true),
            None => (DeclKind::Nothing, 0, 0, true),
        }
    }

    fn string(shape: &Shape) -> (DeclKind, u64, i64, bool) {
        match shape.format.as_deref() {
            Some("byte") => {
                let bound = shape.length.max;
                (DeclKind::Bytes, bound.unwrap_or_else(request_text), MIN_QUOTED, bound.is_some())
            }
            Some("duration") => (DeclKind::Duration, MAX_TIME, MIN_DURATION, true),
            Some("date") => (DeclKind::Date, DATE as u64, DATE, true),
            Some("date-time") => (DeclKind::DateTime, MAX_TIME, MIN_DATE_TIME, true),
            _ => {
                let (size, bounded) = text_size(shape);
                (DeclKind::String, size, MIN_QUOTED, bounded)
            }
        }
    }

    fn list(shape: &Shape) -> (DeclKind, u64, i64, bool) {
        let Some(items) = &shape.items else { return (DeclKind::Nothing, 0, 0, true) };
        let item = Decl::of(items, items.embedded);
        let (size, bounded) = count(shape.item_count, (MAX_REQUEST - 2) / (item.min_bytes + 1));
        let kind = DeclKind::List { item: Arc::new(item), list_type: shape.list_type, keys: shape.map_keys.clone() };
        (kind, size, MIN_QUOTED, bounded)
    }

    fn object(shape: &Shape, root: bool) -> (DeclKind, u64, i64, bool) {
        let completed = root && !is_complete(shape);
        // A resource that is completed with metadata loses its additional properties.
        if let (Extra::Values(values), false) = (&shape.extra, completed) {
            let value = Decl::of(values, values.embedded);
            let (size, bounded) = count(shape.property_count, (MAX_REQUEST - 2) / (value.min_bytes + 6));
            return (DeclKind::Map { value: Arc::new(value) }, size, MIN_QUOTED, bounded);
        }
        let mut fields: BTreeMap<_, _> =
            shape.properties.iter().map(|(name, property)| (name.clone(), Arc::new(Decl::of(property, property.embedded)))).collect();
        if completed {
            resource_fields(&mut fields, shape);
        }
        let mut min_bytes = MIN_QUOTED;
        for name in &shape.required {
            let defaulted = shape.property(name).is_some_and(|p| p.default.is_some());
            if let Some(field) = fields.get(name).filter(|field| field.exposed() && !defaulted) {
                min_bytes += name.len() as i64 + field.min_bytes + 4;
            }
        }
        (DeclKind::Object(ObjectDecl { fields }), 0, min_bytes, true)
    }

    /// The declaration of a property.
    pub fn property(&self, name: &str) -> Option<&Arc<Decl>> {
        match &self.kind {
            DeclKind::Object(object) => object.fields.get(name),
            _ => None,
        }
    }

    /// The declaration of a list's items.
    pub fn items(&self) -> Option<&Arc<Decl>> {
        match &self.kind {
            DeclKind::List { item, .. } => Some(item),
            _ => None,
        }
    }

    /// The declaration of a map's values.
    pub fn values(&self) -> Option<&Arc<Decl>> {
        match &self.kind {
            DeclKind::Map { value } => Some(value),
            _ => None,
        }
    }

    /// The node restricted to what an expression reads. The size of an object that isn't read as a whole is unknown.
    pub fn reduced(self: &Arc<Self>, need: &Need) -> Arc<Decl> {
        let sized = |kind| Arc::new(Decl::new(kind, self.nullable, self.max_size, self.min_bytes, self.bounded));
        match (&self.kind, need) {
            (DeclKind::Object(object), Need::Fields(needs)) => {
                let read = |(name, need): (&String, &Need)| Some((name.clone(), object.fields.get(name)?.reduced(need)));
                Arc::new(Decl::part(needs.iter().filter_map(read).collect(), self.nullable))
            }
            // Only its presence is tested, so no element is read.
            (DeclKind::List { item, list_type, keys }, Need::Fields(needs)) if needs.is_empty() => {
                sized(DeclKind::List { item: item.reduced(need), list_type: *list_type, keys: keys.clone() })
            }
            (DeclKind::Map { value }, Need::Fields(needs)) if needs.is_empty() => sized(DeclKind::Map { value: value.reduced(need) }),
            _ => Arc::clone(self),
        }
    }

    /// A node outside any schema. It has no sizes, because only the server's cost estimates need them.
    pub(crate) fn outside_a_schema(kind: DeclKind) -> Decl {
        Decl::new(kind, false, 0, 0, true)
    }

    /// Whether some object in it has a field that may be null.
    pub fn has_nullable_field(&self) -> bool {
        match &self.kind {
            DeclKind::Object(object) => object.fields.values().any(|field| field.nullable || field.has_nullable_field()),
            DeclKind::List { item, .. } => item.has_nullable_field(),
            DeclKind::Map { value } => value.has_nullable_field(),
            _ => false,
        }
    }

    fn part(fields: BTreeMap<String, Arc<Decl>>, nullable: bool) -> Decl {
        Decl::new(DeclKind::Object(ObjectDecl { fields }), nullable, 0, 0, true)
    }

    /// Whether expressions can access a value of this node.
    pub fn exposed(&self) -> bool {
        match &self.kind {
            DeclKind::Unknown | DeclKind::Nothing => false,
            DeclKind::List { item, .. } => item.exposed(),
            DeclKind::Map { value } => value.exposed(),
            _ => true,
        }
    }

    /// The CEL type. `name` is the type name for objects of this node; objects of different nodes never have the same type.
    pub fn cel_type(&self, name: &dyn Fn() -> String) -> CelType {
        match &self.kind {
            DeclKind::Bool => CelType::Bool,
            DeclKind::Int => CelType::Int,
            DeclKind::Double => CelType::Double,
            DeclKind::String => CelType::String,
            DeclKind::Bytes => CelType::Bytes,
            DeclKind::Duration => CelType::Duration,
            DeclKind::Date | DeclKind::DateTime => CelType::Timestamp,
            DeclKind::IntOrString | DeclKind::Unknown | DeclKind::Json | DeclKind::Nothing => CelType::Dyn,
            DeclKind::List { item, .. } => CelType::list(item.cel_type(&|| name() + ".@idx")),
            DeclKind::Map { value } => CelType::map(CelType::String, value.cel_type(&|| name() + ".@elem")),
            DeclKind::Object(_) => CelType::Struct(name().into()),
        }
    }

    /// The node for the name of an object type that [`Decl::cel_type`] made from this one with the name `root`.
    pub fn named<'d>(&'d self, root: &str, name: &str) -> Option<&'d Decl> {
        let mut node = self;
        let path = name.strip_prefix(root)?;
        for step in path.split('.').skip(1) {
            node = match (&node.kind, step) {
                (DeclKind::List { item, .. }, "@idx") => item,
                (DeclKind::Map { value }, "@elem") => value,
                (DeclKind::Object(object), field) => object.field(field)?.1,
                _ => return None,
            };
        }
        Some(node)
    }
}

impl Hash for Decl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.print.hash(state);
    }
}

impl DeclKind {
    /// Hashes this node with the hashes of those below it. Returns the number of nodes.
    fn print(&self, hasher: &mut impl Hasher) -> usize {
        std::mem::discriminant(self).hash(hasher);
        let below = |decl: &Decl, hasher: &mut _| {
            decl.hash(hasher);
            decl.nodes
        };
        1 + match self {
            DeclKind::List { item, list_type, keys } => {
                (std::mem::discriminant(list_type), keys).hash(hasher);
                below(item, hasher)
            }
            DeclKind::Map { value } => below(value, hasher),
            DeclKind::Object(object) => {
                let mut nodes = 0;
                for (name, field) in &object.fields {
                    name.hash(hasher);
                    nodes += below(field, hasher);
                }
                nodes
            }
            _ => 0,
        }
    }
}

impl ObjectDecl {
    /// The field that an expression calls `ident`: its name in the schema and its node, if expressions can access it.
    pub fn field(&self, ident: &str) -> Option<(&str, &Decl)> {
        let (raw, decl) = match name::is_plain(ident) {
            true => self.fields.get_key_value(ident)?,
            false => self.fields.get_key_value(&name::unescape(ident)?)?,
        };
        let known = (name::is_plain(raw) && raw == ident || name::escape(raw).as_deref() == Some(ident)) && decl.exposed();
        known.then_some((raw.as_str(), &**decl))
    }
}

/// Whether a resource itself declares everything that rules always see of one.
fn is_complete(shape: &Shape) -> bool {
    let is = |shape: Option<&Shape>, ty| shape.is_some_and(|s| s.ty == Some(ty));
    let metadata = shape.property("metadata");
    let named = |key| is(metadata.and_then(|m| m.property(key)), JsonType::String);
    is(shape.property("kind"), JsonType::String)
        && is(shape.property("apiVersion"), JsonType::String)
        && is(metadata, JsonType::Object)
        && named("name")
        && named("generateName")
}

/// Adds `apiVersion`, `kind` and `metadata` to a resource that doesn't declare all of them, as a rule at its root sees them.
fn resource_fields(fields: &mut BTreeMap<String, Arc<Decl>>, shape: &Shape) {
    let sized = |bytes, bounded| Arc::new(Decl::new(DeclKind::String, false, bytes, MIN_QUOTED, bounded));
    let text = || sized(request_text(), false);
    let bounded = shape.kubernetes.has(Feature::BoundedNames);
    let declared = |key| shape.property("metadata")?.property(key)?.length.max;
    let name = |key, most: u64| match bounded {
        true => sized(declared(key).map_or(most, |own: u64| own.min(most)) * 4, true),
        false => text(),
    };
    let names = [("name", MAX_NAME), ("generateName", MAX_NAME - 1)].map(|(key, most)| (key.to_string(), name(key, most)));
    let metadata = ObjectDecl { fields: names.into() };
    fields.insert("kind".into(), text());
    fields.insert("apiVersion".into(), text());
    fields.insert("metadata".into(), Arc::new(Decl::new(DeclKind::Object(metadata), false, 0, MIN_QUOTED, true)));
}

/// The length of the longest string that fits a request.
fn request_text() -> u64 {
    (MAX_REQUEST - 2) as u64
}

/// The maximum size of a string in bytes: `maxLength` counts code points of up to four bytes each.
fn text_size(shape: &Shape) -> (u64, bool) {
    if let Some(max) = shape.length.max {
        return (max.saturating_mul(4), true);
    }
    match &shape.enum_values {
        Some(values) if !shape.int_or_string => (values.iter().filter_map(|v| v.as_str()).map(str::len).max().unwrap_or(0) as u64, true),
        _ => (request_text(), false),
    }
}

fn count(declared: CountRange, otherwise: i64) -> (u64, bool) {
    declared.max.map_or((otherwise.max(0) as u64, false), |max| (max, true))
}

#[cfg(test)]
mod tests;
