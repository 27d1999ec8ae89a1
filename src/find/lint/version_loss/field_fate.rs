//! What one version keeps of a field, according to the server's pruning.

use crate::input::yaml::Node;
use crate::model::schema::{Keyword, Schema};
use crate::server::key_fate::{KeyFate, Pruning};

/// What happens to a field in one version, with the key in the file that causes it.
#[derive(Clone)]
pub(super) enum FieldFate<'t> {
    /// No longer examined, because the loss was reported further up.
    Reported,
    Pruned,
    /// Kept with everything in it: an undeclared key under preserve-unknown-fields.
    Kept(Node<'t>),
    /// The same for the fields that the server always keeps of an embedded resource: `metadata`, and two strings.
    Meta {
        key: Node<'t>,
        is_string: bool,
    },
    /// A value under `additionalProperties: true`, or an item without a schema: scalars stay, objects lose their content.
    Emptied(Node<'t>),
    Declared(Box<Declared<'t>>),
}

#[derive(Clone)]
pub(super) struct Declared<'t> {
    pub schema: Schema<'t>,
    /// The key of the schema.
    pub key: Node<'t>,
    /// Undeclared keys are kept, by this schema or by the enclosing list.
    pub keeps: bool,
    required: bool,
}

/// A type that can contain fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Object,
    List,
}

/// The fields that the server keeps for every resource, including embedded ones.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl<'t> FieldFate<'t> {
    pub fn root(schema: &Schema<'t>, key: Node<'t>) -> Self {
        FieldFate::Declared(Box::new(Declared::new(schema.clone(), key)))
    }

    pub fn declared(&self) -> Option<&Declared<'t>> {
        match self {
            FieldFate::Declared(declared) => Some(declared),
            _ => None,
        }
    }

    pub fn key(&self) -> Option<Node<'t>> {
        match self {
            FieldFate::Reported | FieldFate::Pruned => None,
            FieldFate::Kept(key) | FieldFate::Meta { key, .. } | FieldFate::Emptied(key) => Some(*key),
            FieldFate::Declared(here) => Some(here.key),
        }
    }

    pub fn is_reported(&self) -> bool {
        matches!(self, FieldFate::Reported)
    }

    pub fn is_pruned(&self) -> bool {
        matches!(self, FieldFate::Pruned)
    }

    /// Whether the version knows the field, even if only implicitly.
    pub fn is_named(&self) -> bool {
        matches!(self, FieldFate::Declared(_) | FieldFate::Meta { .. })
    }

    pub fn is_map(&self) -> bool {
        self.declared().is_some_and(Declared::is_map)
    }

    /// Whether undeclared keys are kept.
    pub fn is_open(&self) -> bool {
        match self {
            FieldFate::Kept(_) => true,
            FieldFate::Meta { is_string, .. } => !is_string,
            FieldFate::Declared(here) => here.keeps || here.is_map(),
            FieldFate::Reported | FieldFate::Pruned | FieldFate::Emptied(_) => false,
        }
    }

    /// Whether it declares that, rather than just dropping nothing.
    pub fn promises_keys(&self) -> bool {
        self.is_map() || matches!(self, FieldFate::Meta { is_string: false, .. })
    }

    /// Whether something is kept in an object written here, or in the objects of a list.
    pub fn holds_fields(&self) -> bool {
        match self {
            FieldFate::Kept(_) => true,
            FieldFate::Meta { is_string, .. } => !is_string,
            FieldFate::Declared(here) => here.holds_fields(),
            FieldFate::Reported | FieldFate::Pruned | FieldFate::Emptied(_) => false,
        }
    }

    pub fn child(&self, name: &str) -> FieldFate<'t> {
        match self {
            FieldFate::Reported | FieldFate::Meta { is_string: true, .. } => FieldFate::Reported,
            FieldFate::Kept(key) | FieldFate::Meta { key, .. } => FieldFate::Kept(*key),
            FieldFate::Pruned | FieldFate::Emptied(_) => FieldFate::Pruned,
            FieldFate::Declared(here) => here.child(name),
        }
    }

    pub fn items(&self) -> FieldFate<'t> {
        match self {
            FieldFate::Declared(here) => here.items(),
            other => other.clone(),
        }
    }

    /// What happens to a key that no version declares.
    pub fn values(&self) -> FieldFate<'t> {
        match self {
            FieldFate::Declared(here) => here.values(),
            FieldFate::Meta { is_string: true, .. } => FieldFate::Reported,
            FieldFate::Meta { key, .. } => FieldFate::Kept(*key),
            FieldFate::Emptied(_) => FieldFate::Pruned,
            other => other.clone(),
        }
    }
}

impl<'t> Declared<'t> {
    fn new(schema: Schema<'t>, key: Node<'t>) -> Self {
        let keeps = schema.preserves_unknown();
        Declared { schema, key, keeps, required: false }
    }

    fn pruning(&self) -> Pruning<Schema<'t>> {
        Pruning::Schema { node: self.schema.clone(), keeps: self.keeps }
    }

    /// The names that this version declares here.
    pub fn names(&self) -> impl Iterator<Item = &'t str> + use<'_, 't> {
        let meta = if self.is_embedded() { META.as_slice() } else { &[] };
        self.schema.properties().map(|(entry, _)| entry.name()).chain(meta.iter().copied())
    }

    fn is_embedded(&self) -> bool {
        self.schema.flag(Keyword::EmbeddedResource)
    }

    /// Whether the field must be given because it has no default.
    pub fn must_be_given(&self) -> bool {
        self.required && self.schema.default().is_none()
    }

    pub fn is_map(&self) -> bool {
        self.schema.has(Keyword::AdditionalProperties) && self.schema.additional_flag() != Some(false)
    }

    pub fn is_any_type(&self) -> bool {
        self.schema.ty().is_none() && !self.schema.is_int_or_string()
    }

    /// The container type; `None` for scalars and untyped values.
    pub fn form(&self) -> Option<Form> {
        match self.schema.ty() {
            _ if self.schema.is_int_or_string() => None,
            Some("object") => Some(Form::Object),
            Some("array") => Some(Form::List),
            _ => None,
        }
    }

    fn holds_fields(&self) -> bool {
        match self.form() {
            Some(Form::List) => self.items().holds_fields(),
            Some(Form::Object) => self.keeps || self.is_map() || self.is_embedded() || self.schema.property_count() > 0,
            None => self.is_any_type() && self.keeps,
        }
    }

    fn child(&self, name: &str) -> FieldFate<'t> {
        match self.pruning().key_fate(name) {
            KeyFate::Meta => FieldFate::Meta { key: self.key, is_string: name != "metadata" },
            KeyFate::Declared(schema) => {
                let key = self.schema.property(name).map_or(self.key, |(entry, _)| entry.key);
                let mut child = Declared::new(schema, key);
                child.required = self.schema.is_required(name);
                FieldFate::Declared(Box::new(child))
            }
            _ => self.values(),
        }
    }

    fn items(&self) -> FieldFate<'t> {
        match self.pruning().items() {
            Pruning::Schema { node, keeps } => {
                let key = self.schema.entry(Keyword::Items).map_or(self.key, |entry| entry.key);
                FieldFate::Declared(Box::new(Declared { schema: node, key, keeps, required: false }))
            }
            Pruning::Nothing => FieldFate::Kept(self.key),
            Pruning::EveryKey => FieldFate::Emptied(self.key),
        }
    }

    fn values(&self) -> FieldFate<'t> {
        match self.pruning().undeclared() {
            KeyFate::Declared(values) | KeyFate::MapValue(values) => {
                let key = self.schema.entry(Keyword::AdditionalProperties).map_or(self.key, |entry| entry.key);
                FieldFate::Declared(Box::new(Declared::new(values, key)))
            }
            KeyFate::Emptied | KeyFate::Refused => FieldFate::Emptied(self.key),
            KeyFate::Kept | KeyFate::Meta => FieldFate::Kept(self.key),
            KeyFate::Pruned => FieldFate::Pruned,
        }
    }
}
