//! What one version keeps at one place of an object, as the server's pruning sees it.

use crate::input::yaml::Node;
use crate::model::schema::{Additional, Keyword, Schema};

/// One version's word on one place, and the key that it stands by.
#[derive(Clone)]
pub(super) enum Room<'t> {
    /// Not spoken of any more: what is lost here was told further up.
    Told,
    /// Pruned.
    Absent,
    /// Kept as it is, with everything in it: an undeclared key under preserve-unknown-fields.
    Free(Node<'t>),
    /// The same for what the server keeps of an embedded resource without being told: `metadata`, and two strings.
    Meta {
        key: Node<'t>,
        is_string: bool,
    },
    /// A value under `additionalProperties: true`, or an item without a schema: scalars stay, objects are emptied.
    Hollow(Node<'t>),
    Declared(Box<Declared<'t>>),
}

#[derive(Clone)]
pub(super) struct Declared<'t> {
    pub schema: Schema<'t>,
    /// The key that leads here.
    pub key: Node<'t>,
    /// Undeclared keys stay: by its own word, or by that of the list around it.
    pub keeps: bool,
    required: bool,
}

/// What can hold fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Object,
    List,
}

/// What the server keeps of every resource, also of an embedded one.
const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

impl<'t> Room<'t> {
    pub fn root(schema: &Schema<'t>, key: Node<'t>) -> Self {
        Room::Declared(Box::new(Declared::new(schema.clone(), key)))
    }

    pub fn declared(&self) -> Option<&Declared<'t>> {
        match self {
            Room::Declared(declared) => Some(declared),
            _ => None,
        }
    }

    pub fn key(&self) -> Option<Node<'t>> {
        match self {
            Room::Told | Room::Absent => None,
            Room::Free(key) | Room::Meta { key, .. } | Room::Hollow(key) => Some(*key),
            Room::Declared(here) => Some(here.key),
        }
    }

    pub fn is_told(&self) -> bool {
        matches!(self, Room::Told)
    }

    pub fn is_absent(&self) -> bool {
        matches!(self, Room::Absent)
    }

    /// Whether the version knows of the field, be it that nobody wrote it down.
    pub fn is_named(&self) -> bool {
        matches!(self, Room::Declared(_) | Room::Meta { .. })
    }

    pub fn is_map(&self) -> bool {
        self.declared().is_some_and(Declared::is_map)
    }

    /// Whether keys that nobody declares stay.
    pub fn is_open(&self) -> bool {
        match self {
            Room::Free(_) => true,
            Room::Meta { is_string, .. } => !is_string,
            Room::Declared(here) => here.keeps || here.is_map(),
            Room::Told | Room::Absent | Room::Hollow(_) => false,
        }
    }

    /// Whether it says so, and not only that it drops nothing.
    pub fn promises_keys(&self) -> bool {
        self.is_map() || matches!(self, Room::Meta { is_string: false, .. })
    }

    /// Whether something stays in an object that is written here, or in the objects of a list.
    pub fn holds_fields(&self) -> bool {
        match self {
            Room::Free(_) => true,
            Room::Meta { is_string, .. } => !is_string,
            Room::Declared(here) => here.holds_fields(),
            Room::Told | Room::Absent | Room::Hollow(_) => false,
        }
    }

    pub fn child(&self, name: &str) -> Room<'t> {
        match self {
            Room::Told | Room::Meta { is_string: true, .. } => Room::Told,
            Room::Free(key) | Room::Meta { key, .. } => Room::Free(*key),
            Room::Absent | Room::Hollow(_) => Room::Absent,
            Room::Declared(here) => here.child(name),
        }
    }

    pub fn items(&self) -> Room<'t> {
        match self {
            Room::Declared(here) => here.items(),
            other => other.clone(),
        }
    }

    /// What becomes of a key that no version names.
    pub fn values(&self) -> Room<'t> {
        match self {
            Room::Declared(here) => here.values(),
            Room::Meta { is_string: true, .. } => Room::Told,
            Room::Meta { key, .. } => Room::Free(*key),
            Room::Hollow(_) => Room::Absent,
            other => other.clone(),
        }
    }
}

impl<'t> Declared<'t> {
    fn new(schema: Schema<'t>, key: Node<'t>) -> Self {
        let keeps = schema.preserves_unknown();
        Declared { schema, key, keeps, required: false }
    }

    /// The names that this version declares here.
    pub fn names(&self) -> impl Iterator<Item = &'t str> + use<'_, 't> {
        let meta = if self.is_embedded() { META.as_slice() } else { &[] };
        self.schema.properties().map(|(entry, _)| entry.name()).chain(meta.iter().copied())
    }

    fn is_embedded(&self) -> bool {
        self.schema.flag(Keyword::EmbeddedResource)
    }

    /// Whether the field must be given, with no default to stand in for it.
    pub fn must_be_given(&self) -> bool {
        self.required && self.schema.default().is_none()
    }

    pub fn is_map(&self) -> bool {
        matches!(self.schema.additional(), Additional::Schema(_) | Additional::Flag(true))
    }

    pub fn is_any_type(&self) -> bool {
        self.schema.ty().is_none() && !self.schema.is_int_or_string()
    }

    /// What it holds by its type; nothing where it holds scalars, or whatever is written.
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

    fn child(&self, name: &str) -> Room<'t> {
        if self.is_embedded() && META.contains(&name) {
            return Room::Meta { key: self.key, is_string: name != "metadata" };
        }
        match self.schema.property(name) {
            Some((entry, schema)) => {
                let mut child = Declared::new(schema, entry.key);
                child.required = self.schema.is_required(name);
                Room::Declared(Box::new(child))
            }
            None => self.values(),
        }
    }

    fn items(&self) -> Room<'t> {
        match self.schema.items() {
            Some(items) => {
                let key = self.schema.entry(Keyword::Items).map_or(self.key, |entry| entry.key);
                let mut child = Declared::new(items, key);
                child.keeps |= self.keeps;
                Room::Declared(Box::new(child))
            }
            None if self.keeps => Room::Free(self.key),
            None => Room::Hollow(self.key),
        }
    }

    fn values(&self) -> Room<'t> {
        match self.schema.additional() {
            Additional::Schema(values) => {
                let key = self.schema.entry(Keyword::AdditionalProperties).map_or(self.key, |entry| entry.key);
                Room::Declared(Box::new(Declared::new(values, key)))
            }
            Additional::Flag(_) => Room::Hollow(self.key),
            Additional::Absent if self.keeps => Room::Free(self.key),
            Additional::Absent => Room::Absent,
        }
    }
}
