//! Models what the server's pruning does with a key. Everything else uses this model.
//!
//! Returns the [`KeyFate`] of a key, given a schema node in any of its forms ([`PruneNode`]). Pruning values (`object/prune.rs`),
//! comparing schemas, reporting changes, version loss and conversions all use it.

use crate::model::schema::shape::{Extra, Shape};
use crate::model::schema::{Keyword, Schema, is_meta};

/// What happens to a key of an object, and what prunes the value below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyFate<N> {
    /// Declared in `properties`: kept, and pruned by the schema given there.
    Declared(N),
    /// A key of a map: kept, and pruned by the schema in `additionalProperties`.
    MapValue(N),
    /// `apiVersion`, `kind` or `metadata` of an embedded resource: kept, whatever the schema declares.
    Meta,
    /// Undeclared under `x-kubernetes-preserve-unknown-fields`: kept with everything below it.
    Kept,
    /// `additionalProperties: true`: scalars are kept, but objects below lose all their keys, even with
    /// `x-kubernetes-preserve-unknown-fields`.
    Emptied,
    /// `additionalProperties: false`: pruning treats it as `Emptied`, then validation refuses it.
    Refused,
    Pruned,
}

/// What prunes a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pruning<N> {
    /// A declared node. `keeps`: undeclared keys are kept, because of this node or of the enclosing list.
    Schema { node: N, keeps: bool },
    /// Nothing is pruned: below an undeclared key that is preserved.
    Nothing,
    /// Every key of every object is pruned, as below `additionalProperties: true`. Scalars and lists stay.
    EveryKey,
}

/// A schema node as pruning sees it.
pub(crate) trait PruneNode: Clone {
    fn property(&self, name: &str) -> Option<Self>;
    fn items(&self) -> Option<Self>;
    fn extra(&self) -> Extra<Self>;
    fn preserves_unknown(&self) -> bool;
    fn is_embedded(&self) -> bool;

    /// Whether a key is kept because every resource has it.
    fn keeps_meta(&self, key: &str) -> bool {
        self.is_embedded() && is_meta(key)
    }
}

impl<N> KeyFate<N> {
    /// Whether the value is removed by pruning.
    pub fn is_pruned(&self) -> bool {
        matches!(self, KeyFate::Pruned)
    }

    /// The same fate, without the schema.
    pub fn without_schema(&self) -> KeyFate<()> {
        match self {
            KeyFate::Declared(_) => KeyFate::Declared(()),
            KeyFate::MapValue(_) => KeyFate::MapValue(()),
            KeyFate::Meta => KeyFate::Meta,
            KeyFate::Kept => KeyFate::Kept,
            KeyFate::Emptied => KeyFate::Emptied,
            KeyFate::Refused => KeyFate::Refused,
            KeyFate::Pruned => KeyFate::Pruned,
        }
    }
}

impl<N: PruneNode> KeyFate<N> {
    /// What prunes the value of the key; `None` if the key itself is pruned.
    pub fn below(self) -> Option<Pruning<N>> {
        match self {
            KeyFate::Declared(node) | KeyFate::MapValue(node) => Some(Pruning::of(node)),
            KeyFate::Meta | KeyFate::Kept => Some(Pruning::Nothing),
            KeyFate::Emptied | KeyFate::Refused => Some(Pruning::EveryKey),
            KeyFate::Pruned => None,
        }
    }
}

impl<N: PruneNode> Pruning<N> {
    pub fn of(node: N) -> Self {
        let keeps = node.preserves_unknown();
        Pruning::Schema { node, keeps }
    }

    pub fn key_fate(&self, key: &str) -> KeyFate<N> {
        if let Pruning::Schema { node, .. } = self {
            if node.keeps_meta(key) {
                return KeyFate::Meta;
            }
            if let Some(property) = node.property(key) {
                return KeyFate::Declared(property);
            }
        }
        self.undeclared()
    }

    /// The fate of a key that `properties` doesn't declare.
    pub fn undeclared(&self) -> KeyFate<N> {
        match self {
            Pruning::Nothing => KeyFate::Kept,
            Pruning::EveryKey => KeyFate::Pruned,
            Pruning::Schema { node, keeps } => match node.extra() {
                Extra::Values(values) => KeyFate::MapValue(values),
                Extra::Any => KeyFate::Emptied,
                Extra::Refused => KeyFate::Refused,
                Extra::Closed if *keeps => KeyFate::Kept,
                Extra::Closed => KeyFate::Pruned,
            },
        }
    }

    /// Whether pruning keeps keys that `properties` doesn't declare.
    pub fn keeps_undeclared_keys(&self) -> bool {
        !self.undeclared().is_pruned()
    }

    /// What prunes the items of a list. Under a list that preserves unknown fields they do so too, down to the next declared
    /// property.
    pub fn items(&self) -> Self {
        match self {
            Pruning::Nothing => Pruning::Nothing,
            Pruning::EveryKey => Pruning::EveryKey,
            Pruning::Schema { node, keeps } => match node.items() {
                Some(items) => {
                    let keeps = *keeps || items.preserves_unknown();
                    Pruning::Schema { node: items, keeps }
                }
                None if *keeps => Pruning::Nothing,
                None => Pruning::EveryKey,
            },
        }
    }
}

impl PruneNode for &Shape {
    fn property(&self, name: &str) -> Option<Self> {
        Shape::property(self, name)
    }

    fn items(&self) -> Option<Self> {
        self.items.as_deref()
    }

    fn extra(&self) -> Extra<Self> {
        self.extra.as_ref().map(|values| &**values)
    }

    fn preserves_unknown(&self) -> bool {
        self.preserve_unknown
    }

    fn is_embedded(&self) -> bool {
        self.embedded
    }
}

impl PruneNode for Schema<'_> {
    fn property(&self, name: &str) -> Option<Self> {
        Schema::property(self, name).map(|(_, child)| child)
    }

    fn items(&self) -> Option<Self> {
        Schema::items(self)
    }

    fn extra(&self) -> Extra<Self> {
        Schema::extra(self)
    }

    fn preserves_unknown(&self) -> bool {
        Schema::preserves_unknown(self)
    }

    fn is_embedded(&self) -> bool {
        self.flag(Keyword::EmbeddedResource)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{YamlBudget, parse};

    fn fate(schema: &str, key: &str) -> KeyFate<()> {
        let documents = parse(&schema.into(), &YamlBudget::default());
        let view = Schema::new(documents[0].tree.as_ref().unwrap().root());
        let shape = Shape::of(&view);
        let of_shape = Pruning::of(&shape).key_fate(key).without_schema();
        let of_view = Pruning::of(view).key_fate(key).without_schema();
        assert_eq!(of_view, of_shape, "both forms of a schema say the same");
        of_view
    }

    #[test]
    fn every_key_has_one_fate() {
        let preserve = "x-kubernetes-preserve-unknown-fields: true";
        for (schema, key, expected) in [
            ("{type: object}".to_owned(), "a", KeyFate::Pruned),
            ("{type: object, properties: {a: {type: string}}}".to_owned(), "a", KeyFate::Declared(())),
            ("{type: object, properties: {a: {type: string}}}".to_owned(), "b", KeyFate::Pruned),
            ("{type: object, additionalProperties: {type: string}}".to_owned(), "a", KeyFate::MapValue(())),
            ("{type: object, additionalProperties: true}".to_owned(), "a", KeyFate::Emptied),
            (format!("{{type: object, additionalProperties: true, {preserve}}}"), "a", KeyFate::Emptied),
            ("{type: object, additionalProperties: false}".to_owned(), "a", KeyFate::Refused),
            (format!("{{type: object, {preserve}, properties: {{a: {{type: object}}}}}}"), "a", KeyFate::Declared(())),
            (format!("{{type: object, {preserve}}}"), "b", KeyFate::Kept),
            ("{type: object, x-kubernetes-embedded-resource: true}".to_owned(), "metadata", KeyFate::Meta),
            ("{type: object, x-kubernetes-embedded-resource: true}".to_owned(), "spec", KeyFate::Pruned),
        ] {
            assert_eq!(fate(&schema, key), expected, "{key} under {schema}");
        }
    }
}
