//! Builds a tree from parts of another one and new nodes.
//!
//! Existing parts keep their places. A new node gets the place of the node it is derived from, so that a finding about it points
//! there.

use serde_json::Value;

use super::arena::{Arena, NodeId, Raw, TextRef};
use super::node::{Span, Tree};

/// A tree that grows from the nodes of another one.
pub struct Graft {
    arena: Arena,
}

impl Tree {
    /// Returns a tree with all nodes of this one, and the root that `build` makes.
    pub fn graft<E>(&self, build: impl FnOnce(&mut Graft) -> Result<NodeId, E>) -> Result<Tree, E> {
        let mut graft = Graft { arena: self.arena.clone() };
        let root = build(&mut graft)?;
        Ok(Tree {
            text: self.text.clone(),
            arena: graft.arena,
            root,
            ambiguous: self.ambiguous.clone(),
            json: self.json,
            // The text at the place of a new mapping isn't its content, so nodes must not be compared by their text.
            aliased: true,
        })
    }
}

impl Graft {
    fn push(&mut self, raw: Raw, span: Span) -> NodeId {
        // Too long a text or list doesn't get here, because the tree that it is made from has shorter ones.
        self.arena.push(span, raw).unwrap_or(NodeId(0))
    }

    pub fn text(&mut self, text: &str, at: Span) -> NodeId {
        let raw = Raw::Decoded(TextRef { offset: number(self.arena.decoded.len()), len: number(text.len()) });
        self.arena.decoded.push_str(text);
        self.push(raw, at)
    }

    pub fn list(&mut self, items: &[NodeId], at: Span) -> NodeId {
        let raw = Raw::Seq { first: number(self.arena.items.len()), len: number(items.len()) };
        self.arena.items.extend_from_slice(items);
        self.push(raw, at)
    }

    pub fn map(&mut self, entries: &[(NodeId, NodeId)], at: Span) -> NodeId {
        let raw = Raw::Map { first: number(self.arena.pairs.len()), len: number(entries.len()) };
        self.arena.pairs.extend_from_slice(entries);
        self.push(raw, at)
    }

    /// The entries of a mapping that was built before.
    pub fn entries(&self, id: NodeId) -> Vec<(NodeId, NodeId)> {
        self.arena.slots.get(id.0 as usize).map_or_else(Vec::new, |slot| self.arena.entries(*slot).to_vec())
    }

    /// The text of a key that was built before.
    pub fn key(&self, id: NodeId) -> String {
        self.arena.slots.get(id.0 as usize).and_then(|slot| self.arena.decoded(*slot)).unwrap_or_default().to_owned()
    }

    /// Adds a new value.
    pub fn value(&mut self, value: &Value, at: Span) -> NodeId {
        match value {
            Value::Null => self.push(Raw::Null, at),
            Value::Bool(value) => self.push(Raw::Bool(*value), at),
            Value::Number(value) => {
                let raw = value.as_i64().map_or_else(|| Raw::Float(value.as_f64().unwrap_or(0.0)), Raw::Int);
                self.push(raw, at)
            }
            Value::String(text) => self.text(text, at),
            Value::Array(items) => {
                let items: Vec<NodeId> = items.iter().map(|item| self.value(item, at)).collect();
                self.list(&items, at)
            }
            Value::Object(map) => {
                let entries: Vec<(NodeId, NodeId)> = map.iter().map(|(name, value)| (self.text(name, at), self.value(value, at))).collect();
                self.map(&entries, at)
            }
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
