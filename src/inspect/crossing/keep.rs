//! What one version keeps at one place of an object, as the server's pruning sees it.

use crate::schema::{Additional, Keyword, Schema};
use crate::yaml::Node;

/// One version's word on one place.
#[derive(Clone)]
pub(super) enum Room<'t> {
    /// Not spoken of any more: what is lost here was told further up.
    Told,
    /// Pruned.
    Absent,
    /// Kept as it is, with everything in it: an undeclared key under preserve-unknown-fields.
    Free,
    /// A value under `additionalProperties: true`, or an item without a schema: scalars stay, objects are emptied.
    Hollow,
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

/// What the server keeps of every resource, also of an embedded one.
pub(super) const META: [&str; 3] = ["apiVersion", "kind", "metadata"];

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

    pub fn is_absent(&self) -> bool {
        matches!(self, Room::Absent)
    }

    pub fn child(&self, name: &str) -> Room<'t> {
        match self {
            Room::Told => Room::Told,
            Room::Free => Room::Free,
            Room::Absent | Room::Hollow => Room::Absent,
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
            Room::Hollow => Room::Absent,
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

    pub fn is_embedded(&self) -> bool {
        self.schema.flag(Keyword::EmbeddedResource)
    }

    /// Whether the field must be given, with no default to stand in for it.
    pub fn must_be_given(&self) -> bool {
        self.required && self.schema.default().is_none()
    }

    pub fn is_map(&self) -> bool {
        matches!(self.schema.additional(), Additional::Schema(_) | Additional::Flag(true))
    }

    /// Whether a value of this schema can hold an object.
    pub fn holds_objects(&self) -> bool {
        match self.schema.ty() {
            Some("object") | None => !self.schema.is_int_or_string(),
            Some("array") => self.items().declared().is_some_and(Declared::holds_objects),
            _ => false,
        }
    }

    /// Whether something stays in an object or in the objects of a list that are written here.
    pub fn holds_fields(&self) -> bool {
        match self.schema.ty() {
            Some("array") => self.items().declared().is_some_and(Declared::holds_fields),
            Some("object") => self.keeps || self.is_map() || self.is_embedded() || self.schema.property_count() > 0,
            _ => false,
        }
    }

    fn child(&self, name: &str) -> Room<'t> {
        if self.is_embedded() && META.contains(&name) {
            return Room::Free;
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
            None if self.keeps => Room::Free,
            None => Room::Hollow,
        }
    }

    fn values(&self) -> Room<'t> {
        match self.schema.additional() {
            Additional::Schema(values) => {
                let key = self.schema.entry(Keyword::AdditionalProperties).map_or(self.key, |entry| entry.key);
                Room::Declared(Box::new(Declared::new(values, key)))
            }
            Additional::Flag(_) => Room::Hollow,
            Additional::Absent if self.keeps => Room::Free,
            Additional::Absent => Room::Absent,
        }
    }
}
