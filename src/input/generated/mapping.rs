//! Builds a mapping from entries of a document and new ones.

use std::collections::HashMap;

use serde_json::Value;

use crate::input::yaml::{Graft, Node, NodeId, Span};

/// The entries so far. A later entry with the same name replaces the earlier one.
pub(super) struct Mapping {
    entries: Vec<(NodeId, NodeId)>,
    /// The index of each entry by its name.
    names: HashMap<String, usize>,
    at: Span,
}

impl Mapping {
    /// A new mapping, located at `at`.
    pub fn new(at: Span) -> Mapping {
        Mapping { entries: Vec::new(), names: HashMap::new(), at }
    }

    /// Copies all entries of a mapping.
    pub fn all(&mut self, node: Option<Node<'_>>) -> &mut Mapping {
        for entry in node.into_iter().flat_map(Node::entries) {
            self.set(entry.name(), entry.key.id(), entry.value.id());
        }
        self
    }

    /// Copies the entries with these names.
    pub fn some(&mut self, node: Node<'_>, names: &[&str]) -> &mut Mapping {
        for entry in node.entries().filter(|entry| names.contains(&entry.name()) && !entry.value.is_null()) {
            self.set(entry.name(), entry.key.id(), entry.value.id());
        }
        self
    }

    /// Adds an entry whose value already exists.
    pub fn node(&mut self, graft: &mut Graft, name: &str, value: NodeId) -> &mut Mapping {
        let key = graft.text(name, self.at);
        self.set(name, key, value);
        self
    }

    /// Adds a new entry.
    pub fn value(&mut self, graft: &mut Graft, name: &str, value: &Value) -> &mut Mapping {
        let value = graft.value(value, self.at);
        self.node(graft, name, value)
    }

    /// Adds all entries of a new object.
    pub fn values(&mut self, graft: &mut Graft, value: &Value) -> &mut Mapping {
        for (name, value) in value.as_object().into_iter().flatten() {
            self.value(graft, name, value);
        }
        self
    }

    pub fn set(&mut self, name: &str, key: NodeId, value: NodeId) {
        match self.names.get(name).and_then(|index| self.entries.get_mut(*index)) {
            Some(entry) => *entry = (key, value),
            None => {
                self.names.insert(name.to_owned(), self.entries.len());
                self.entries.push((key, value));
            }
        }
    }

    pub fn finish(self, graft: &mut Graft) -> NodeId {
        graft.map(&self.entries, self.at)
    }
}

/// Builds a whole CRD document from its metadata and spec.
pub(super) fn crd(graft: &mut Graft, at: Span, metadata: NodeId, spec: NodeId) -> NodeId {
    let mut crd = Mapping::new(at);
    crd.value(graft, "apiVersion", &"apiextensions.k8s.io/v1".into());
    crd.value(graft, "kind", &"CustomResourceDefinition".into());
    crd.node(graft, "metadata", metadata).node(graft, "spec", spec);
    crd.finish(graft)
}
