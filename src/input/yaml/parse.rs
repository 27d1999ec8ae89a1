//! Parser events → arena, under budgets that are checked before anything grows.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, Tag};

use crate::input::Text;
use crate::input::shorten;

use super::node::{Arena, NodeId, Raw, Slot, Span, TextRef, Tree};
use super::scalar::{self, Typed};
use super::{Budget, Document, Error, ErrorKind, split};

/// Reads every document of a file. A broken one is returned as its error and doesn't hide the others.
pub fn parse(text: &Text, budget: &Budget) -> Vec<Document> {
    let json = matches!(text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).as_bytes().first(), Some(b'{'));
    let spans = if json { vec![Span::new(0, text.len())] } else { split::documents(text) };
    if let Some(over) = spans.get(budget.documents) {
        let error = Error { kind: ErrorKind::Documents(budget.documents), span: *over, related: None };
        return vec![Document { span: *over, tree: Err(error) }];
    }
    use rayon::prelude::*;
    const WORTH_A_THREAD: usize = 64 << 10;
    if text.len() < WORTH_A_THREAD || spans.len() < 2 {
        return spans.into_iter().flat_map(|span| part(text, span, json, budget)).collect();
    }
    spans.into_par_iter().flat_map_iter(|span| part(text, span, json, budget)).collect()
}

/// The documents of one stretch: one, unless `...` ends them early.
fn part(text: &Text, span: Span, json: bool, budget: &Budget) -> Vec<Document> {
    let Some(slice) = text.get(span.range()) else { return Vec::new() };
    let source = Source { text, slice, span, json, masked: false };
    let documents = read(&source, budget);
    match documents.last() {
        Some(Document { tree: Err(_), .. }) if json => match mask_controls(slice) {
            Some(masked) => read(&Source { slice: &masked, masked: true, ..source }, budget),
            None => documents,
        },
        _ => documents,
    }
}

/// What the parser reads.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a Text,
    /// The part of the text that is parsed; of the same length where characters are masked.
    slice: &'a str,
    span: Span,
    json: bool,
    masked: bool,
}

/// Replaces characters that JSON allows in strings and YAML doesn't by others of the same length, if there are any.
fn mask_controls(slice: &str) -> Option<String> {
    let (mut masked, mut found) = (String::with_capacity(slice.len()), false);
    let (mut in_string, mut escaped) = (false, false);
    for c in slice.chars() {
        let mask = match c {
            '\u{7f}' => Some('?'),
            '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' => Some('\u{bf}'),
            '\u{fffe}' | '\u{ffff}' => Some('\u{fffd}'),
            _ => None,
        };
        let mask = mask.filter(|_| in_string && !escaped);
        found |= mask.is_some();
        masked.push(mask.unwrap_or(c));
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
    }
    found.then_some(masked)
}

fn read(source: &Source<'_>, budget: &Budget) -> Vec<Document> {
    let (slice, span) = (source.slice, source.span);
    let mut documents = Vec::new();
    let mut options = granit_parser::options! {
        flow_nesting_limit: budget.depth,
        block_nesting_limit: budget.depth,
        simple_key_max_lookahead: 4096,
    };
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(slice, options);
    let mut builder: Option<Builder<'_>> = None;
    while let Some(step) = parser.next_event() {
        let outcome = match step {
            Ok((Event::DocumentStart(..), _)) => {
                builder = Some(Builder::new(source, budget));
                Ok(())
            }
            Ok((Event::DocumentEnd, _)) => {
                if let Some(done) = builder.take() {
                    documents.extend(done.finish().map(|tree| Document { span, tree: Ok(Arc::new(tree)) }));
                }
                Ok(())
            }
            Ok((event, at)) => match builder.as_mut() {
                Some(builder) => builder.event(event, at).map_err(|error| match (&error.kind, template(slice)) {
                    // `{{ x }}` is valid YAML by accident: a mapping as the key of a mapping.
                    (ErrorKind::ComplexKey, Some(start)) => Error {
                        kind: ErrorKind::Template,
                        span: Span::new(span.start as usize + start, span.start as usize + start + 2),
                        related: None,
                    },
                    _ => error,
                }),
                None => Ok(()),
            },
            Err(error) => Err(syntax(slice, span.start as usize, &error, budget)),
        };
        if let Err(error) = outcome {
            documents.push(Document { span, tree: Err(error) });
            return documents;
        }
    }
    documents
}

/// Names the cause of a syntax error where the text shows it.
fn syntax(slice: &str, base: usize, error: &granit_parser::ScanError, budget: &Budget) -> Error {
    use granit_parser::ErrorKind as Scan;
    let offset = error.marker().byte_offset().unwrap_or(0).min(slice.len());
    let at = |start: usize, len: usize| Span::new(base + start, base + (start + len).min(slice.len()));
    let found = |start: usize, len: usize, kind: ErrorKind| Error { kind, span: at(start, len), related: None };
    if let Some(start) = conflict_marker(slice) {
        return found(start, 7, ErrorKind::Conflict);
    }
    if let Some(start) = template(slice) {
        return found(start, 2, ErrorKind::Template);
    }
    if let Some((start, c)) = slice.char_indices().find(|&(_, c)| is_forbidden_control(c)) {
        return found(start, c.len_utf8(), ErrorKind::Control(c as u32));
    }
    let kind = match error.kind() {
        Scan::RecursionLimitExceeded => ErrorKind::Depth(budget.depth),
        Scan::TabNotAllowed | Scan::TabInBlockIndentation | Scan::TabInIndentation | Scan::TabAtBlockScalarStart => ErrorKind::Tab,
        _ if line_of(slice, offset).trim_start_matches(' ').starts_with('\t') => ErrorKind::Tab,
        _ => ErrorKind::Syntax(error.info()),
    };
    found(offset, 1, kind)
}

fn line_of(slice: &str, offset: usize) -> &str {
    let head = slice.get(..offset).unwrap_or(slice);
    let start = head.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    slice.get(start..).unwrap_or_default().split(['\n', '\r']).next().unwrap_or_default()
}

fn conflict_marker(slice: &str) -> Option<usize> {
    let mut offset = 0;
    for line in slice.split_inclusive('\n') {
        if line.starts_with("<<<<<<< ") || line.starts_with(">>>>>>> ") {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

/// The first `{{` that isn't inside quotes or a comment of its line.
fn template(slice: &str) -> Option<usize> {
    let mut offset = 0;
    for line in slice.split_inclusive('\n') {
        if let Some(at) = line.find("{{") {
            let before = &line[..at];
            let quoted = before.matches('"').count() % 2 == 1 || before.matches('\'').count() % 2 == 1;
            let comment = before.trim_start().starts_with('#') || before.contains(" #");
            if !quoted && !comment && line[at..].contains("}}") {
                return Some(offset + at);
            }
        }
        offset += line.len();
    }
    None
}

fn is_forbidden_control(c: char) -> bool {
    matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}')
}

/// A collection that is still open.
struct Open {
    anchor: usize,
    span: Span,
    map: bool,
    flow: bool,
    children: Vec<NodeId>,
    weight: usize,
}

struct Anchored {
    node: NodeId,
    weight: usize,
}

/// A tree with more nodes keeps the room it grew in.
const ROOMY: usize = 1 << 12;

thread_local! {
    /// What the next tree grows in.
    static ROOM: Cell<Arena> = Cell::default();
}

impl Arena {
    fn cleared(mut self) -> Self {
        self.decoded.clear();
        self.slots.clear();
        self.items.clear();
        self.pairs.clear();
        self
    }
}

struct Builder<'a> {
    slice: &'a str,
    base: usize,
    json: bool,
    /// Whether the slice is the text with some characters replaced.
    masked: bool,
    budget: &'a Budget,
    tree: Tree,
    open: Vec<Open>,
    spare: Vec<Vec<NodeId>>,
    anchors: HashMap<usize, Anchored>,
    weight: usize,
    root: Option<NodeId>,
    /// Whether `<<` was met.
    merges: bool,
}

impl<'a> Builder<'a> {
    fn new(source: &Source<'a>, budget: &'a Budget) -> Self {
        let Source { text, slice, json, masked, span } = *source;
        let base = span.start as usize;
        let mut arena = ROOM.take();
        // What real CRDs have: a node in some forty bytes, and half of the text in descriptions of several lines.
        arena.slots.reserve(slice.len() / 40);
        arena.pairs.reserve(slice.len() / 80);
        arena.decoded.reserve(slice.len() / 2);
        let tree = Tree { text: text.clone(), arena, root: NodeId(0), ambiguous: Vec::new(), json, aliased: false };
        let (open, spare, anchors) = (Vec::new(), Vec::new(), HashMap::new());
        Builder { slice, base, json, masked, budget, tree, open, spare, anchors, weight: 0, root: None, merges: false }
    }

    fn finish(mut self) -> Option<Tree> {
        let root = self.root?;
        if matches!(self.tree.arena.slots.get(root.0 as usize)?.raw, Raw::Null) && self.tree.arena.slots.len() == 1 {
            return None;
        }
        self.tree.root = root;
        if self.tree.arena.slots.len() <= ROOMY {
            // A copy takes exactly what it needs, and the next document grows into memory that is there already.
            let exact = self.tree.arena.clone();
            ROOM.set(std::mem::replace(&mut self.tree.arena, exact).cleared());
        }
        Some(self.tree)
    }

    fn event(&mut self, event: Event<'a>, at: granit_parser::Span) -> Result<(), Error> {
        let range = at.byte_range().unwrap_or(0..0);
        let span = Span::new(self.base + range.start, self.base + range.end);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(text, style, tag.as_deref(), span)?;
                if anchor != 0 {
                    self.anchors.insert(anchor, Anchored { node, weight: 1 });
                }
                self.place(node, 1);
                Ok(())
            }
            Event::SequenceStart(style, anchor, tag) => self.start(span, style, anchor, tag.as_deref(), false),
            Event::MappingStart(style, anchor, tag) => self.start(span, style, anchor, tag.as_deref(), true),
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(anchor) => {
                let Some(target) = self.anchors.get(&anchor) else {
                    let name = self.slice.get(range).unwrap_or("*").trim_start_matches('*').to_owned();
                    return Err(Error { kind: ErrorKind::SelfReference(name), span, related: None });
                };
                let (node, weight) = (target.node, target.weight);
                self.tree.aliased = true;
                self.weigh(weight, span)?;
                self.place(node, weight);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn scalar(&mut self, text: std::borrow::Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<NodeId, Error> {
        if text.len() > self.budget.scalar {
            return Err(Error { kind: ErrorKind::Scalar(self.budget.scalar), span, related: None });
        }
        self.merges |= text == "<<";
        let core = match tag {
            None => None,
            Some(tag) => match tag.core_suffix() {
                Some(suffix @ ("str" | "int" | "float" | "bool" | "null")) => Some(suffix.to_owned()),
                _ => return Err(self.bad_tag(tag, span)),
            },
        };
        let typed = matches!(style, ScalarStyle::Plain) || core.as_deref().is_some_and(|suffix| suffix != "str");
        if !typed || core.as_deref() == Some("str") {
            return self.text(text, span);
        }
        match scalar::resolve(&text, self.json) {
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

    fn text(&mut self, text: std::borrow::Cow<'a, str>, span: Span) -> Result<NodeId, Error> {
        let at = |offset: usize, text: &str| TextRef { offset: Span::new(offset, 0).start, len: Span::new(text.len(), 0).start };
        if let std::borrow::Cow::Borrowed(part) = &text {
            // The parser hands out slices of its own input: their address is the offset.
            let offset = (part.as_ptr() as usize).wrapping_sub(self.slice.as_ptr() as usize);
            if offset <= self.slice.len() {
                return self.push(span, Raw::Source(at(self.base + offset, part)));
            }
        }
        let unmasked = self.masked.then(|| serde_json::from_str::<String>(self.tree.text.get(span.range())?).ok()).flatten();
        let text = unmasked.map_or(text, std::borrow::Cow::Owned);
        let raw = Raw::Decoded(at(self.tree.arena.decoded.len(), &text));
        self.tree.arena.decoded.push_str(&text);
        self.push(span, raw)
    }

    fn bad_tag(&self, tag: &Tag, span: Span) -> Error {
        Error { kind: ErrorKind::Tag(shorten(&tag.original(), 80).into_owned()), span, related: None }
    }

    fn next(&self) -> NodeId {
        NodeId(Span::new(self.tree.arena.slots.len(), 0).start)
    }

    #[inline]
    fn push(&mut self, span: Span, raw: Raw) -> Result<NodeId, Error> {
        self.weigh(1, span)?;
        let id = self.next();
        self.tree.arena.slots.push(Slot { span, raw });
        Ok(id)
    }

    fn weigh(&mut self, weight: usize, span: Span) -> Result<(), Error> {
        self.weight = self.weight.saturating_add(weight);
        if self.weight > self.budget.nodes {
            return Err(Error { kind: ErrorKind::Nodes(self.budget.nodes), span, related: None });
        }
        Ok(())
    }

    fn start(
        &mut self,
        span: Span,
        style: granit_parser::StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        map: bool,
    ) -> Result<(), Error> {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(if map { "map" } else { "seq" })
        {
            return Err(self.bad_tag(tag, span));
        }
        if self.open.len() >= self.budget.depth {
            return Err(Error { kind: ErrorKind::Depth(self.budget.depth), span, related: None });
        }
        let flow = matches!(style, granit_parser::StructureStyle::Flow);
        let children = self.spare.pop().unwrap_or_default();
        self.open.push(Open { anchor, span, map, flow, children, weight: 1 });
        Ok(())
    }

    fn end(&mut self, end: Span) -> Result<(), Error> {
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
        self.push(span, Raw::Seq { first, len: Span::new(children.len(), 0).start })
    }

    fn mapping(&mut self, children: &mut Vec<NodeId>, span: Span) -> Result<NodeId, Error> {
        self.merge(children, span)?;
        let first = Span::new(self.tree.arena.pairs.len(), 0).start;
        self.tree.arena.pairs.extend(children.chunks_exact(2).map(|pair| (pair[0], pair[1])));
        let len = Span::new(children.len() / 2, 0).start;
        self.check_keys(first as usize)?;
        self.push(span, Raw::Map { first, len })
    }

    /// Expands `<<`: keys of the mapping itself win over merged ones, earlier merged ones over later ones.
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
            let mut seen = HashMap::with_capacity(keys.len());
            (0..keys.len()).find_map(|later| seen.insert(text(later), later).map(|earlier| (earlier, later)))
        };
        let Some((earlier, later)) = twice else { return Ok(()) };
        let place = |index: usize| keys.get(index).map_or(Span::default(), |(key, _)| self.tree.node(*key).span());
        let before = self.tree.text.get(..place(earlier).start as usize).unwrap_or_default();
        let kind = ErrorKind::DuplicateKey { key: shorten(text(later), 80).into_owned(), first: line_number(before) };
        Err(Error { kind, span: place(later), related: Some(place(earlier)) })
    }

    fn place(&mut self, node: NodeId, weight: usize) {
        match self.open.last_mut() {
            Some(parent) => {
                parent.children.push(node);
                parent.weight = parent.weight.saturating_add(weight);
            }
            None => self.root = Some(node),
        }
    }
}

/// Line of the end of `before`, counted from 1; LF, CRLF and a lone CR end a line.
fn line_number(before: &str) -> usize {
    let bytes = before.as_bytes();
    1 + bytes.iter().enumerate().filter(|&(at, &b)| b == b'\n' || (b == b'\r' && bytes.get(at + 1) != Some(&b'\n'))).count()
}
