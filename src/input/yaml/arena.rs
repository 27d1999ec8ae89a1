//! The packed nodes of one document.

use super::node::Span;

/// Position of a node in its tree's arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// The text of a scalar: a range of the file, or of the decoded texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextRef {
    pub offset: u32,
    pub len: u32,
}

/// The data of a node to be added.
#[derive(Debug, Clone, Copy)]
pub(super) enum Raw {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Source(TextRef),
    Decoded(TextRef),
    Seq { first: u32, len: u32 },
    Map { first: u32, len: u32 },
}

/// A node, packed: trees take about as much memory as their text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub span: Span,
    /// The kind in the lowest bits. Above them, the length of a text or the number of children.
    head: u32,
    /// Where the text, the children or the number are.
    pub at: u32,
}

const KIND_BITS: u32 = 4;
const KIND: u32 = (1 << KIND_BITS) - 1;
pub(super) const NULL: u32 = 0;
pub(super) const FALSE: u32 = 1;
pub(super) const TRUE: u32 = 2;
pub(super) const INT: u32 = 3;
pub(super) const FLOAT: u32 = 4;
pub(super) const SOURCE: u32 = 5;
pub(super) const DECODED: u32 = 6;
pub(super) const SEQ: u32 = 7;
pub(super) const MAP: u32 = 8;

/// The longest text, and the most children of a node.
pub(super) const MAX_LEN: u32 = u32::MAX >> KIND_BITS;

impl Slot {
    #[inline]
    pub fn kind(self) -> u32 {
        self.head & KIND
    }

    #[inline]
    pub fn len(self) -> u32 {
        self.head >> KIND_BITS
    }

    #[inline]
    pub fn text(self) -> TextRef {
        TextRef { offset: self.at, len: self.len() }
    }

    /// The indices of the children of a mapping or list.
    #[inline]
    fn children(self) -> std::ops::Range<usize> {
        let first = self.at as usize;
        first..first + self.len() as usize
    }
}

/// The nodes of a tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Arena {
    pub decoded: String,
    pub slots: Vec<Slot>,
    /// The bits of integers and floating-point numbers.
    pub numbers: Vec<u64>,
    pub items: Vec<NodeId>,
    pub pairs: Vec<(NodeId, NodeId)>,
    /// Wide mappings, in the order of their first pairs.
    pub wide: Vec<SortedChildren>,
    /// Long lists, in the order of their first items.
    pub long: Vec<SortedChildren>,
}

impl Arena {
    /// Adds a node; `None` if it is longer than [`MAX_LEN`].
    #[inline]
    pub fn push(&mut self, span: Span, raw: Raw) -> Option<NodeId> {
        let (kind, len, at) = match raw {
            Raw::Null => (NULL, 0, 0),
            Raw::Bool(false) => (FALSE, 0, 0),
            Raw::Bool(true) => (TRUE, 0, 0),
            Raw::Int(int) => (INT, 0, self.number(int.cast_unsigned())?),
            Raw::Float(float) => (FLOAT, 0, self.number(float.to_bits())?),
            Raw::Source(text) => (SOURCE, text.len, text.offset),
            Raw::Decoded(text) => (DECODED, text.len, text.offset),
            Raw::Seq { first, len } => (SEQ, len, first),
            Raw::Map { first, len } => (MAP, len, first),
        };
        if len > MAX_LEN {
            return None;
        }
        let id = NodeId(u32::try_from(self.slots.len()).ok()?);
        self.slots.push(Slot { span, head: len << KIND_BITS | kind, at });
        Some(id)
    }

    fn number(&mut self, bits: u64) -> Option<u32> {
        self.numbers.push(bits);
        u32::try_from(self.numbers.len() - 1).ok()
    }

    pub fn bits(&self, slot: Slot) -> u64 {
        self.numbers.get(slot.at as usize).copied().unwrap_or_default()
    }

    /// The entries of a mapping.
    #[inline]
    pub fn entries(&self, slot: Slot) -> &[(NodeId, NodeId)] {
        if slot.kind() == MAP { self.pairs.get(slot.children()).unwrap_or_default() } else { &[] }
    }

    /// The items of a list.
    #[inline]
    pub fn items(&self, slot: Slot) -> &[NodeId] {
        if slot.kind() == SEQ { self.items.get(slot.children()).unwrap_or_default() } else { &[] }
    }

    /// The text of a string that isn't in the file as such.
    pub fn decoded(&self, slot: Slot) -> Option<&str> {
        (slot.kind() == DECODED).then(|| slice(&self.decoded, slot.text()))
    }
}

/// Mappings and lists with more children use binary search: looking up each of 100,000 keys must not take quadratic time.
pub(super) const WIDE: usize = 64;

/// The entries of a mapping sorted by key, or the items of a list sorted by text.
#[derive(Debug, Clone)]
pub(super) struct SortedChildren {
    pub first: u32,
    pub order: Vec<u32>,
}

#[inline]
pub(super) fn slice(text: &str, at: TextRef) -> &str {
    text.get(at.offset as usize..at.offset as usize + at.len as usize).unwrap_or_default()
}
