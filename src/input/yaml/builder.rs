//! Builds the arena of a tree for both readers; budgets are checked before anything grows.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::BuildHasher;

use crate::input::shorten;

use super::arena::{Arena, MAX_LEN, NodeId, Raw, SortedChildren, TextRef, WIDE};
use super::events::Source;
use super::node::{Span, Tree};
use super::scalar_type::{self, Typed};
use super::{Error, ErrorKind, YamlBudget};

/// A collection that hasn't ended yet.
struct Open {
    anchor: usize,
    span: Span,
    map: bool,
    flow: bool,
    children: Vec<NodeId>,
    weight: usize,
}

pub(super) struct Anchored {
    pub node: NodeId,
    pub weight: usize,
}

/// Trees with more nodes than this give their allocation to the next tree.
const REUSE_FROM: usize = 1 << 12;

/// Shorter texts aren't compared with others.
const WORTH_SHARING: usize = 16;

thread_local! {
    /// The allocation to reuse for the next tree.
    static SPARE_ARENA: Cell<Arena> = Cell::default();
}

impl Arena {
    fn cleared(mut self) -> Self {
        self.decoded.clear();
        self.slots.clear();
        self.numbers.clear();
        self.items.clear();
        self.pairs.clear();
        self.wide.clear();
        self.long.clear();
        self
    }
}

pub(super) struct Builder<'a> {
    pub slice: &'a str,
    pub base: usize,
    json: bool,
    /// Whether the slice is the text with some characters replaced.
    masked: bool,
    budget: &'a YamlBudget,
    pub tree: Tree,
    open: Vec<Open>,
    spare: Vec<Vec<NodeId>>,
    pub anchors: HashMap<usize, Anchored>,
    weight: usize,
    root: Option<NodeId>,
    /// Whether `<<` occurred.
    pub merges: bool,
    /// The first decoded text with each hash.
    decoded: foldhash::HashMap<u64, TextRef>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(source: &Source<'a>, budget: &'a YamlBudget) -> Self {
        let Source { text, slice, json, masked, span } = *source;
        let base = span.start as usize;
        let mut arena = SPARE_ARENA.take();
        // Estimated from real CRDs: a node per forty bytes, and half of the text in multi-line descriptions.
        arena.slots.reserve(slice.len() / 40);
        arena.pairs.reserve(slice.len() / 80);
        arena.decoded.reserve(slice.len() / 2);
        let tree = Tree { text: text.clone(), arena, root: NodeId(0), ambiguous: Vec::new(), json, aliased: false };
        let (open, spare, anchors) = (Vec::new(), Vec::new(), HashMap::new());
        Builder {
            slice,
            base,
            json,
            masked,
            budget,
            tree,
            open,
            spare,
            anchors,
            weight: 0,
            root: None,
            merges: false,
            decoded: Default::default(),
        }
    }

    pub(super) fn finish(mut self) -> Option<Tree> {
        let root = self.root?;
        if self.tree.arena.slots.len() == 1 && self.tree.node(root).is_null() {
            return None;
        }
        self.tree.root = root;
        if self.tree.arena.slots.len() <= REUSE_FROM {
            // The copy takes exactly the memory it needs, and the next document reuses this allocation.
            let exact = self.tree.arena.clone();
            SPARE_ARENA.set(std::mem::replace(&mut self.tree.arena, exact).cleared());
        }
        Some(self.tree)
    }

    pub(super) fn check_length(&self, bytes: usize, span: Span) -> Result<(), Error> {
        if bytes > self.budget.scalar {
            return Err(Error { kind: ErrorKind::Scalar(self.budget.scalar), span, related: None });
        }
        Ok(())
    }

    /// Adds an unquoted scalar, whose text decides its type.
    pub(super) fn plain(&mut self, text: Cow<'a, str>, span: Span) -> Result<NodeId, Error> {
        self.merges |= text == "<<";
        match scalar_type::resolve(&text, self.json) {
            Typed::Text => self.text(text, span),
            Typed::Value { raw, ambiguous } => {
                if ambiguous && !self.json {
                    self.tree.ambiguous.push(self.next());
                }
                self.push(span, raw)
            }
            Typed::OutOfRange => Err(Error { kind: ErrorKind::Number(shorten(&text, 40).into_owned()), span, related: None }),
        }
    }

    /// Adds a string that appears verbatim in the slice.
    pub(super) fn source_text(&mut self, start: usize, end: usize, span: Span) -> Result<NodeId, Error> {
        let at = Span::new(self.base + start, self.base + end);
        self.push(span, Raw::Source(TextRef { offset: at.start, len: at.end - at.start }))
    }

    /// Adds a string that was appended to the decoded texts, starting at `start`. Versions of a CRD repeat their descriptions, and
    /// equal texts are kept once.
    pub(super) fn decoded_text(&mut self, start: usize, span: Span) -> Result<NodeId, Error> {
        let at = Span::new(start, self.tree.arena.decoded.len());
        self.check_length((at.end - at.start) as usize, span)?;
        let own = TextRef { offset: at.start, len: at.end - at.start };
        let first = self.first_with_same_text(own);
        if first.offset != own.offset {
            self.tree.arena.decoded.truncate(start);
        }
        self.push(span, Raw::Decoded(first))
    }

    fn first_with_same_text(&mut self, own: TextRef) -> TextRef {
        let decoded = &self.tree.arena.decoded;
        let text = |at: TextRef| decoded.as_bytes().get(at.offset as usize..(at.offset + at.len) as usize);
        if (own.len as usize) < WORTH_SHARING {
            return own;
        }
        let hash = self.decoded.hasher().hash_one(text(own));
        let first = *self.decoded.entry(hash).or_insert(own);
        if text(first) == text(own) { first } else { own }
    }

    /// Returns the unused allocation for the next tree.
    pub(super) fn abandon(self) {
        SPARE_ARENA.set(self.tree.arena.cleared());
    }

    pub(super) fn text(&mut self, text: Cow<'a, str>, span: Span) -> Result<NodeId, Error> {
        let at = |offset: usize, text: &str| TextRef { offset: Span::new(offset, 0).start, len: Span::new(text.len(), 0).start };
        if let Cow::Borrowed(part) = &text {
            // The parser returns slices of its input, so their address gives the offset.
            let offset = (part.as_ptr() as usize).wrapping_sub(self.slice.as_ptr() as usize);
            if offset <= self.slice.len() {
                return self.push(span, Raw::Source(at(self.base + offset, part)));
            }
        }
        let unmasked = self.masked.then(|| serde_json::from_str::<String>(self.tree.text.get(span.range())?).ok()).flatten();
        let text = unmasked.map_or(text, Cow::Owned);
        let raw = Raw::Decoded(at(self.tree.arena.decoded.len(), &text));
        self.tree.arena.decoded.push_str(&text);
        self.push(span, raw)
    }

    fn next(&self) -> NodeId {
        NodeId(Span::new(self.tree.arena.slots.len(), 0).start)
    }

    #[inline]
    pub(super) fn push(&mut self, span: Span, raw: Raw) -> Result<NodeId, Error> {
        self.weigh(1, span)?;
        self.tree.arena.push(span, raw).ok_or(Error { kind: ErrorKind::Scalar(MAX_LEN as usize), span, related: None })
    }

    pub(super) fn weigh(&mut self, weight: usize, span: Span) -> Result<(), Error> {
        self.weight = self.weight.saturating_add(weight);
        if self.weight > self.budget.nodes {
            return Err(Error { kind: ErrorKind::Nodes(self.budget.nodes), span, related: None });
        }
        Ok(())
    }

    pub(super) fn open(&mut self, span: Span, flow: bool, anchor: usize, map: bool) -> Result<(), Error> {
        if self.open.len() >= self.budget.depth {
            return Err(Error { kind: ErrorKind::Depth(self.budget.depth), span, related: None });
        }
        let children = self.spare.pop().unwrap_or_default();
        self.open.push(Open { anchor, span, map, flow, children, weight: 1 });
        Ok(())
    }

    pub(super) fn end(&mut self, end: Span) -> Result<(), Error> {
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        let last = open.children.last().and_then(|id| self.tree.arena.slots.get(id.0 as usize)).map(|slot| slot.span.end);
        let stop = if open.flow { end.end } else { last.unwrap_or(open.span.end) };
        let span = Span { start: open.span.start, end: stop.max(open.span.start) };
        let node = if open.map { self.mapping(&mut open.children, span)? } else { self.sequence(&open.children, span)? };
        open.children.clear();
        self.spare.push(std::mem::take(&mut open.children));
        if open.anchor != 0 {
            self.anchors.insert(open.anchor, Anchored { node, weight: open.weight });
        }
        self.place(node, open.weight);
        Ok(())
    }

    fn sequence(&mut self, children: &[NodeId], span: Span) -> Result<NodeId, Error> {
        let first = Span::new(self.tree.arena.items.len(), 0).start;
        self.tree.arena.items.extend_from_slice(children);
        if children.len() > WIDE {
            let text = |at: &u32| children.get(*at as usize).and_then(|id| self.tree.node(*id).as_str());
            let mut order: Vec<u32> = (0..Span::new(children.len(), 0).start).collect();
            order.sort_by(|a, b| text(a).cmp(&text(b)));
            self.tree.arena.long.push(SortedChildren { first, order });
        }
        self.push(span, Raw::Seq { first, len: Span::new(children.len(), 0).start })
    }

    fn mapping(&mut self, children: &mut Vec<NodeId>, span: Span) -> Result<NodeId, Error> {
        self.merge(children, span)?;
        let first = Span::new(self.tree.arena.pairs.len(), 0).start;
        self.tree.arena.pairs.extend(children.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        let len = Span::new(children.len() / 2, 0).start;
        self.check_keys(first as usize)?;
        if len as usize > WIDE {
            let key = |at: &u32| self.tree.arena.pairs.get((first + at) as usize).map_or("", |(key, _)| self.tree.node(*key).key_text());
            let mut order: Vec<u32> = (0..len).collect();
            order.sort_unstable_by(|a, b| key(a).cmp(key(b)));
            self.tree.arena.wide.push(SortedChildren { first, order });
        }
        self.push(span, Raw::Map { first, len })
    }

    /// Expands `<<`: the mapping's own keys take precedence over merged ones, and earlier merged ones over later ones.
    fn merge(&mut self, children: &mut Vec<NodeId>, span: Span) -> Result<(), Error> {
        let is_merge = |tree: &Tree, id: NodeId| tree.node(id).source() == "<<" && tree.node(id).as_str() == Some("<<");
        if !self.merges || !children.chunks_exact(2).any(|pair| is_merge(&self.tree, pair[0])) {
            return Ok(());
        }
        let mut own = Vec::with_capacity(children.len());
        let mut merged = Vec::new();
        for pair in children.chunks_exact(2) {
            if !is_merge(&self.tree, pair[0]) {
                own.extend_from_slice(pair);
                continue;
            }
            let value = self.tree.node(pair[1]);
            let sources: Vec<_> = if value.is_seq() { value.items().collect() } else { vec![value] };
            for source in sources {
                if !source.is_map() {
                    return Err(Error { kind: ErrorKind::Merge, span: value.span(), related: None });
                }
                merged.extend(source.entries().map(|entry| (entry.key.id(), entry.value.id())));
            }
        }
        self.weigh(merged.len(), span)?;
        let mut seen: std::collections::HashSet<String> =
            own.chunks_exact(2).map(|pair| self.tree.node(pair[0]).key_text().to_owned()).collect();
        for (key, value) in merged {
            if seen.insert(self.tree.node(key).key_text().to_owned()) {
                own.extend([key, value]);
            }
        }
        *children = own;
        Ok(())
    }

    fn check_keys(&self, first: usize) -> Result<(), Error> {
        const SMALL: usize = 16;
        let keys = self.tree.arena.pairs.get(first..).unwrap_or_default();
        for (key, _) in keys {
            let node = self.tree.node(*key);
            if node.is_map() || node.is_seq() {
                return Err(Error { kind: ErrorKind::ComplexKey, span: node.span(), related: None });
            }
        }
        let text = |index: usize| keys.get(index).map_or("", |(key, _)| self.tree.node(*key).key_text());
        let mut few = [""; SMALL];
        let twice = if let Some(few) = few.get_mut(..keys.len()) {
            few.iter_mut().enumerate().for_each(|(index, slot)| *slot = text(index));
            (1..few.len()).find_map(|later| few[..later].iter().position(|earlier| *earlier == few[later]).map(|earlier| (earlier, later)))
        } else {
            let mut seen = HashMap::with_capacity_and_hasher(keys.len(), foldhash::fast::RandomState::default());
            (0..keys.len()).find_map(|later| seen.insert(text(later), later).map(|earlier| (earlier, later)))
        };
        let Some((earlier, later)) = twice else { return Ok(()) };
        let place = |index: usize| keys.get(index).map_or(Span::default(), |(key, _)| self.tree.node(*key).span());
        let before = self.tree.text.get(..place(earlier).start as usize).unwrap_or_default();
        let kind = ErrorKind::DuplicateKey { key: shorten(text(later), 80).into_owned(), first: line_number(before) };
        Err(Error { kind, span: place(later), related: Some(place(earlier)) })
    }

    pub(super) fn place(&mut self, node: NodeId, weight: usize) {
        match self.open.last_mut() {
            Some(parent) => {
                parent.children.push(node);
                parent.weight = parent.weight.saturating_add(weight);
            }
            None => self.root = Some(node),
        }
    }
}

/// The number of the line where `before` ends, counted from 1; LF, CRLF and a lone CR end a line.
fn line_number(before: &str) -> usize {
    let bytes = before.as_bytes();
    1 + bytes.iter().enumerate().filter(|&(at, &b)| b == b'\n' || (b == b'\r' && bytes.get(at + 1) != Some(&b'\n'))).count()
}

#[cfg(test)]
mod tests {
    use crate::input::yaml::{YamlBudget, parse};

    #[test]
    fn equal_decoded_texts_are_kept_once() {
        let block = |key: &str, text: &str| format!("{key}: |\n  {text}\n  of two lines\n");
        let text = [block("a", "The first description"), block("b", "Another description"), block("c", "The first description")].concat();
        let documents = parse(&text.into(), &YamlBudget::default());
        let tree = documents[0].tree.as_ref().unwrap();
        let value = |key: &str| tree.root().text(key).unwrap();
        assert_eq!(value("a"), "The first description\nof two lines\n");
        assert_eq!(value("b"), "Another description\nof two lines\n");
        assert!(std::ptr::eq(value("a"), value("c")));
        assert_eq!(tree.arena.decoded.len(), value("a").len() + value("b").len());
    }
}
