//! One document, and the handle to walk its nodes.

use super::arena::{Arena, DECODED, FALSE, FLOAT, INT, MAP, NULL, NodeId, SEQ, SOURCE, Slot, TRUE, WIDE, slice};
use crate::input::Text;

/// Half-open byte range in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clamp(start), end: clamp(end) }
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One document: nodes in the order in which they end, with children in contiguous runs.
#[derive(Debug)]
pub struct Tree {
    pub(super) text: Text,
    pub(super) arena: Arena,
    pub(super) root: NodeId,
    pub(super) ambiguous: Vec<NodeId>,
    pub(super) json: bool,
    /// Whether the document has aliases.
    pub(super) aliased: bool,
}

impl Tree {
    pub fn root(&self) -> Node<'_> {
        Node { tree: self, id: self.root }
    }

    /// The text of the whole file.
    pub fn text(&self) -> &Text {
        &self.text
    }

    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node { tree: self, id }
    }

    /// Plain scalars that YAML 1.1 reads differently from how they look (`on`, `0777`, `1_000`).
    pub fn ambiguous(&self) -> impl Iterator<Item = Node<'_>> {
        self.ambiguous.iter().map(|&id| self.node(id))
    }

    /// Whether the document is JSON, where `1.0` stays a float on the way to the server.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// The number of nodes, keys included.
    pub fn node_count(&self) -> usize {
        self.arena.slots.len()
    }

    /// Whether the document has aliases.
    pub fn is_aliased(&self) -> bool {
        self.aliased
    }

    #[inline]
    pub(super) fn slot(&self, id: NodeId) -> Slot {
        // ok: ids are only made by the builder of this very arena
        self.arena.slots[id.0 as usize]
    }
}

/// The data of a node, to match on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Data<'t> {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(&'t str),
    Seq,
    Map,
}

/// A handle to a node, as cheap to copy as a reference.
#[derive(Clone, Copy)]
pub struct Node<'t> {
    tree: &'t Tree,
    id: NodeId,
}

/// One key and its value.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'t> {
    pub key: Node<'t>,
    pub value: Node<'t>,
}

impl<'t> Entry<'t> {
    pub fn name(&self) -> &'t str {
        self.key.key_text()
    }
}

impl std::fmt::Debug for Node<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{:?}", self.data(), self.span().range())
    }
}

impl<'t> Node<'t> {
    pub fn id(self) -> NodeId {
        self.id
    }

    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    #[inline]
    pub fn span(self) -> Span {
        self.tree.slot(self.id).span
    }

    #[inline]
    pub fn data(self) -> Data<'t> {
        let slot = self.tree.slot(self.id);
        match slot.kind() {
            FALSE => Data::Bool(false),
            TRUE => Data::Bool(true),
            INT => Data::Int(self.tree.arena.bits(slot).cast_signed()),
            FLOAT => Data::Float(f64::from_bits(self.tree.arena.bits(slot))),
            SOURCE => Data::Str(slice(&self.tree.text, slot.text())),
            DECODED => Data::Str(slice(&self.tree.arena.decoded, slot.text())),
            SEQ => Data::Seq,
            MAP => Data::Map,
            _ => Data::Null,
        }
    }

    /// The text as written in the file.
    pub fn source(self) -> &'t str {
        self.tree.text.get(self.span().range()).unwrap_or_default()
    }

    #[inline]
    pub fn is_null(self) -> bool {
        self.tree.slot(self.id).kind() == NULL
    }

    #[inline]
    pub fn is_map(self) -> bool {
        self.tree.slot(self.id).kind() == MAP
    }

    #[inline]
    pub fn is_seq(self) -> bool {
        self.tree.slot(self.id).kind() == SEQ
    }

    #[inline]
    pub fn as_str(self) -> Option<&'t str> {
        match self.data() {
            Data::Str(s) => Some(s),
            _ => None,
        }
    }

    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        match self.data() {
            Data::Bool(b) => Some(b),
            _ => None,
        }
    }

    #[inline]
    pub fn as_int(self) -> Option<i64> {
        match self.data() {
            Data::Int(i) => Some(i),
            Data::Float(f) if f.fract() == 0.0 && f.abs() < 9.0e15 => Some(f as i64),
            _ => None,
        }
    }

    #[inline]
    pub fn as_f64(self) -> Option<f64> {
        match self.data() {
            Data::Int(i) => Some(i as f64),
            Data::Float(f) => Some(f),
            _ => None,
        }
    }

    /// Some scalar of the same tree, which has neither entries nor items.
    pub(crate) fn leaf(self) -> Node<'t> {
        // The first node to end can't be a collection with children.
        Node { tree: self.tree, id: NodeId(0) }
    }

    /// The number of children: entries of a mapping or items of a list.
    #[inline]
    pub fn len(self) -> usize {
        let slot = self.tree.slot(self.id);
        if matches!(slot.kind(), SEQ | MAP) { slot.len() as usize } else { 0 }
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The entries of a mapping in file order; empty for other nodes.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = Entry<'t>> + ExactSizeIterator + Clone + 't {
        let tree = self.tree;
        let entries = tree.arena.entries(tree.slot(self.id)).iter();
        entries.map(move |&(key, value)| Entry { key: tree.node(key), value: tree.node(value) })
    }

    /// The items of a list in order; empty for other nodes.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Node<'t>> + ExactSizeIterator + Clone + 't {
        let tree = self.tree;
        tree.arena.items(tree.slot(self.id)).iter().map(move |&id| tree.node(id))
    }

    #[inline]
    pub fn entry_at(self, index: usize) -> Option<Entry<'t>> {
        let tree = self.tree;
        let &(key, value) = tree.arena.entries(tree.slot(self.id)).get(index)?;
        Some(Entry { key: tree.node(key), value: tree.node(value) })
    }

    #[inline]
    pub fn item_at(self, index: usize) -> Option<Node<'t>> {
        let tree = self.tree;
        tree.arena.items(tree.slot(self.id)).get(index).map(|&id| tree.node(id))
    }

    pub fn entry(self, name: &str) -> Option<Entry<'t>> {
        if self.len() <= WIDE {
            return self.entries().find(|entry| entry.name() == name);
        }
        let (slot, wide) = (self.tree.slot(self.id), &self.tree.arena.wide);
        let index = wide.binary_search_by_key(&slot.at, |mapping| mapping.first).ok().filter(|_| slot.kind() == MAP)?;
        let entry = |at: &u32| self.entry_at(*at as usize);
        let order = &wide.get(index)?.order;
        let found = order.binary_search_by(|at| entry(at).map_or("", |entry| entry.name()).cmp(name)).ok()?;
        order.get(found).and_then(entry)
    }

    /// The first item of a list that equals this string.
    pub fn item_with_text(self, text: &str) -> Option<Node<'t>> {
        if !self.is_seq() || self.len() <= WIDE {
            return self.items().find(|item| item.as_str() == Some(text));
        }
        let (slot, long) = (self.tree.slot(self.id), &self.tree.arena.long);
        let order = &long.get(long.binary_search_by_key(&slot.at, |list| list.first).ok()?)?.order;
        let item = |at: &u32| self.item_at(*at as usize);
        let before = order.partition_point(|at| item(at).and_then(Node::as_str) < Some(text));
        order.get(before).and_then(item).filter(|item| item.as_str() == Some(text))
    }

    /// The value of a key; null counts as absent, as it does for the server.
    pub fn get(self, name: &str) -> Option<Node<'t>> {
        self.entry(name).map(|entry| entry.value).filter(|value| !value.is_null())
    }

    /// The string under a key.
    pub fn text(self, name: &str) -> Option<&'t str> {
        self.get(name).and_then(Node::as_str)
    }

    /// The items of the list under a key.
    pub fn items_of(self, name: &str) -> impl Iterator<Item = Node<'t>> + use<'t> {
        self.get(name).into_iter().flat_map(Node::items)
    }

    /// The entries of the mapping under a key.
    pub fn entries_of(self, name: &str) -> impl Iterator<Item = Entry<'t>> + use<'t> {
        self.get(name).into_iter().flat_map(Node::entries)
    }

    /// A key as JSON spells it: `1:` is "1", `on:` is "true".
    #[inline]
    pub fn key_text(self) -> &'t str {
        let slot = self.tree.slot(self.id);
        match slot.kind() {
            SOURCE => slice(&self.tree.text, slot.text()),
            DECODED => slice(&self.tree.arena.decoded, slot.text()),
            TRUE => "true",
            FALSE => "false",
            NULL => "null",
            _ => self.source(),
        }
    }

    /// Converts to a plain value, within the budgets of the tree.
    pub fn to_json(self) -> serde_json::Value {
        use serde_json::Value;
        match self.data() {
            Data::Null => Value::Null,
            Data::Bool(b) => Value::Bool(b),
            Data::Int(i) => Value::from(i),
            Data::Float(f) => Value::from(f),
            Data::Str(s) => Value::from(s),
            Data::Seq => self.items().map(Node::to_json).collect(),
            Data::Map => self.entries().map(|e| (e.name().to_owned(), e.value.to_json())).collect::<serde_json::Map<_, _>>().into(),
        }
    }

    /// Whether two mappings or lists have the same bytes, and therefore the same data in the same order. This isn't enough for a
    /// scalar: its tag and its chomping indicator are written before it.
    pub fn same_text(self, other: Node<'_>) -> bool {
        let plain = (self.is_map() || self.is_seq()) && !self.tree.aliased && !other.tree.aliased && self.tree.json == other.tree.json;
        plain && self.source() == other.source() && (self.tree.json || self.column().is_some_and(|column| other.column() == Some(column)))
    }

    /// The number of bytes between the start of the line and the node; `None` if that is far away. Indentation is part of the
    /// meaning.
    fn column(self) -> Option<usize> {
        const FAR: usize = 1024;
        let start = self.span().start as usize;
        let before = self.tree.text.as_bytes().get(start.saturating_sub(FAR)..start)?;
        match memchr::memrchr2(b'\n', b'\r', before) {
            Some(at) => Some(before.len() - at - 1),
            None => (before.len() < FAR).then_some(before.len()),
        }
    }

    /// Whether two nodes have the same data, ignoring the order of keys.
    pub fn same(self, other: Node<'_>) -> bool {
        self.same_text(other) || self.equals(other)
    }

    fn equals(self, other: Node<'_>) -> bool {
        match (self.data(), other.data()) {
            (Data::Seq, Data::Seq) => self.len() == other.len() && self.items().zip(other.items()).all(|(a, b)| a.equals(b)),
            (Data::Map, Data::Map) => self.len() == other.len() && self.same_entries(other),
            (Data::Float(a), Data::Int(b)) | (Data::Int(b), Data::Float(a)) => a == b as f64,
            (a, b) => a == b,
        }
    }

    fn same_entries(self, other: Node<'_>) -> bool {
        let aligned = self.entries().zip(other.entries()).all(|(a, b)| a.name() == b.name());
        if aligned {
            return self.entries().zip(other.entries()).all(|(a, b)| a.value.equals(b.value));
        }
        let index: std::collections::HashMap<&str, Node<'_>> = other.entries().map(|e| (e.name(), e.value)).collect();
        self.entries().all(|a| index.get(a.name()).is_some_and(|b| a.value.equals(*b)))
    }
}
