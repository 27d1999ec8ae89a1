//! Edits that turn the text of one value into another: renamed keys, removed and added lines, replaced scalars.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::input::yaml::{Data, Entry, Node};

use super::emit::{self, Order};
use super::patched::Patched;
use super::{Renames, column, equal};

/// A replacement of a byte range of the file.
#[derive(Debug)]
pub(super) struct TextEdit {
    pub start: usize,
    pub end: usize,
    pub text: String,
}

/// The indentation added to the lines of a new list item.
const MARGIN: &str = "  ";

pub(super) struct TextPatch<'p> {
    file: &'p str,
    renames: &'p Renames,
    order: &'p Order<'p>,
    edits: Vec<TextEdit>,
    /// Whether a change can't be made in place.
    stuck: bool,
}

impl<'p> TextPatch<'p> {
    pub fn new(file: &'p str, renames: &'p Renames, order: &'p Order<'p>) -> Self {
        TextPatch { file, renames, order, edits: Vec::new(), stuck: false }
    }

    /// Returns the object's text with all edits applied.
    pub fn apply(mut self, node: Node<'_>, target: &Map<String, Value>, fields: Option<&BTreeSet<&str>>) -> Option<Patched> {
        if self.is_flow(node) || !node.is_map() || node.is_empty() || target.is_empty() {
            return None;
        }
        self.mapping(node, target, 0, fields);
        if self.stuck {
            return None;
        }
        self.drop_unneeded_margins();
        self.edits.sort_by_key(|edit| (edit.start, edit.end));
        let (start, end) = (node.span().range().start, self.end(node));
        let mut parts: Vec<usize> = node.entries().skip(1).map(|entry| self.line_start(entry.key.span().range().start)).collect();
        parts.insert(0, start);
        Patched::new(self.file, start..end, &parts, &self.edits, node.tree().is_aliased())
    }

    /// Drops the extra indentation of lines that are removed or rewritten anyway.
    fn drop_unneeded_margins(&mut self) {
        let is_margin = |edit: &TextEdit| edit.start == edit.end && edit.text == MARGIN;
        if !self.edits.iter().any(is_margin) {
            return;
        }
        let mut spans: Vec<(usize, usize, bool)> =
            self.edits.iter().filter(|edit| edit.start < edit.end).map(|edit| (edit.start, edit.end, edit.text.is_empty())).collect();
        spans.sort_unstable();
        // For each span, the furthest end of it and all earlier ones.
        let mut furthest: Vec<usize> = spans.iter().map(|(_, end, _)| *end).collect();
        (1..furthest.len()).for_each(|index| {
            if let [before, this] = furthest.get_mut(index - 1..=index).unwrap_or_default() {
                *this = (*this).max(*before);
            }
        });
        let within = |at: usize| {
            let earlier = spans.partition_point(|(start, ..)| *start < at);
            let covered = earlier.checked_sub(1).and_then(|last| furthest.get(last)).is_some_and(|end| at < *end);
            let mut here = spans.get(earlier..).unwrap_or_default().iter().take_while(|(start, ..)| *start == at);
            covered || here.any(|(_, _, gone)| *gone)
        };
        self.edits.retain(|edit| !is_margin(edit) || !within(edit.start));
    }

    fn edit(&mut self, start: usize, end: usize, text: impl Into<String>) {
        self.edits.push(TextEdit { start, end, text: text.into() });
    }

    /// The byte after a node's last character.
    pub fn end(&self, node: Node<'_>) -> usize {
        let own = node.span().range().end;
        let last = match node.data() {
            _ if self.is_flow(node) => None,
            Data::Map => node.entries().next_back().map(|entry| {
                if entry.value.is_null() { self.end(entry.key).max(entry.value.span().range().end) } else { self.end(entry.value) }
            }),
            Data::Seq => node.items().next_back().map(|item| self.end(item)),
            _ => None,
        };
        let end = last.unwrap_or(own);
        let trimmed = self.file.get(node.span().range().start..end).map_or(0, |text| text.trim_end_matches(['\n', '\r', ' ']).len());
        node.span().range().start + trimmed
    }

    fn is_flow(&self, node: Node<'_>) -> bool {
        (node.is_map() || node.is_seq()) && self.file.get(node.span().range().start..).is_some_and(|text| text.starts_with(['{', '[']))
    }

    fn line_start(&self, at: usize) -> usize {
        self.file.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1)
    }

    /// The byte after the line break.
    fn line_end(&self, at: usize) -> usize {
        self.file.get(at..).and_then(|tail| tail.find('\n')).map_or(self.file.len(), |break_at| at + break_at + 1)
    }

    /// `shift` is the additional indentation of these lines.
    fn value(&mut self, node: Node<'_>, target: &Value, shift: usize) {
        if equal(node, target) {
            return;
        }
        match (node.data(), target) {
            (Data::Map, Value::Object(map)) if !self.is_flow(node) && !node.is_empty() && !map.is_empty() => {
                self.mapping(node, map, shift, None)
            }
            (Data::Seq, Value::Array(items)) if !self.is_flow(node) && node.len() == items.len() => {
                node.items().zip(items).for_each(|(node, item)| self.value(node, item, shift));
            }
            (Data::Map | Data::Seq, _) if !self.is_flow(node) => self.stuck = true,
            (_, Value::Object(map)) if !map.is_empty() => self.stuck = true,
            (_, Value::Array(items)) if !items.is_empty() && !self.is_flow(node) => self.stuck = true,
            _ => {
                let range = node.span().range();
                self.edit(range.start, range.end, emit::inline(target, self.order));
            }
        }
    }

    /// `fields` limits the entries to edit.
    fn mapping(&mut self, node: Node<'_>, target: &Map<String, Value>, shift: usize, fields: Option<&BTreeSet<&str>>) {
        let entries: Vec<Entry<'_>> = node.entries().collect();
        let indent = entries.first().map_or(0, |entry| column(self.file, entry.key.span().range().start));
        let mut taken: Vec<&str> = Vec::new();
        let mut place = None;
        for (index, entry) in entries.iter().enumerate() {
            if fields.is_some_and(|fields| !fields.contains(entry.name())) {
                place = Some(entry);
                continue;
            }
            let known = target.get_key_value(entry.name());
            let new = known.or_else(|| target.get_key_value(self.renamed(entry.name(), &entries, target, &taken)?));
            match new {
                Some((name, value)) => {
                    if name != entry.name() {
                        let range = entry.key.span().range();
                        self.edit(range.start, range.end, emit::key(name));
                    }
                    self.entry_value(entry, value, indent, shift);
                    taken.push(name);
                    place = Some(entry);
                }
                None => self.remove(&entries, index, indent),
            }
        }
        if taken.len() == target.len() {
            return;
        }
        let taken: BTreeSet<&str> = taken.into_iter().collect();
        let added: Map<String, Value> =
            target.iter().filter(|(name, _)| !taken.contains(name.as_str())).map(|(k, v)| (k.clone(), v.clone())).collect();
        let Some(last) = place else {
            self.stuck = true;
            return;
        };
        // New entries go on a new line after the last remaining entry.
        let end = self.line_end(self.end(last.value).max(self.end(last.key)));
        let text = emit::block(&Value::Object(added), self.order, indent + shift);
        let gap = if self.file.get(..end).is_some_and(|head| head.ends_with('\n')) { "" } else { "\n" };
        let text = if end >= self.file.len() && gap == "\n" { format!("\n{}", text.trim_end_matches('\n')) } else { text };
        self.edit(end, end, text);
    }

    /// Edits the value of an entry; its type may change.
    fn entry_value(&mut self, entry: &Entry<'_>, target: &Value, indent: usize, shift: usize) {
        let node = entry.value;
        if equal(node, target) {
            return;
        }
        match (node.data(), target) {
            // A mapping becomes the only item of a list, so its lines are indented.
            (Data::Map, Value::Array(items)) if !self.is_flow(node) && items.len() == 1 && !node.is_empty() => {
                let Some(item @ Value::Object(map)) = items.first() else { return self.replace(entry, target, indent, shift) };
                let start = node.span().range().start;
                if map.is_empty() || self.line_start(start) == self.line_start(entry.key.span().range().start) {
                    return self.replace(entry, target, indent, shift);
                }
                self.edit(start, start, "- ");
                let mut line = self.line_end(start);
                let end = self.end(node);
                while line < end {
                    if self.file.get(line..).is_some_and(|text| !text.starts_with(['\n', '\r'])) {
                        self.edit(line, line, MARGIN);
                    }
                    line = self.line_end(line);
                }
                self.value(node, item, shift + 2);
            }
            // The first item replaces the list: its dash and the other items are removed.
            (Data::Seq, Value::Object(map)) if !self.is_flow(node) && !map.is_empty() => {
                let Some(first) = node.items().next().filter(|item| item.is_map() && !self.is_flow(*item) && !item.is_empty()) else {
                    return self.replace(entry, target, indent, shift);
                };
                let start = first.span().range().start;
                let Some(dash) = self.file.get(..start).and_then(|head| head.rfind('-')) else {
                    return self.replace(entry, target, indent, shift);
                };
                self.edit(dash, dash + 1, " ");
                if node.len() > 1 {
                    let (from, to) = (self.line_end(self.end(first)), self.line_end(self.end(node)));
                    self.edit(from, to, "");
                }
                self.value(first, target, shift);
            }
            (Data::Map, Value::Object(map)) if !self.is_flow(node) && !node.is_empty() && !map.is_empty() => {
                self.mapping(node, map, shift, None)
            }
            (Data::Seq, Value::Array(items)) if !self.is_flow(node) && node.len() == items.len() => self.value(node, target, shift),
            _ => self.replace(entry, target, indent, shift),
        }
    }

    /// Rewrites the value of an entry, from its colon to the end of its lines.
    fn replace(&mut self, entry: &Entry<'_>, target: &Value, indent: usize, shift: usize) {
        let small = !matches!(target, Value::Object(_) | Value::Array(_))
            || matches!(target, Value::Object(map) if map.is_empty())
            || matches!(target, Value::Array(items) if items.is_empty());
        let node = entry.value;
        let range = node.span().range();
        let plain = !(node.is_map() || node.is_seq()) || self.is_flow(node);
        let one_line = self.file.get(range.clone()).is_some_and(|text| !text.contains('\n'));
        if self.is_flow(node) && one_line {
            self.edit(range.start, range.end, emit::inline(target, self.order));
            return;
        }
        if small && plain && one_line && !node.is_null() && !matches!(target, Value::String(text) if text.contains('\n')) {
            self.edit(range.start, range.end, emit::inline(target, self.order));
            return;
        }
        let key_end = self.end(entry.key);
        let Some(colon) = self.file.get(key_end..).and_then(|tail| tail.find(':')).map(|at| key_end + at + 1) else {
            self.stuck = true;
            return;
        };
        let end = self.line_end(self.end(node).max(colon));
        let text = emit::after_key(target, self.order, indent + shift);
        let text = if end >= self.file.len() && !self.file.ends_with('\n') { text.trim_end_matches('\n').to_owned() } else { text };
        self.edit(colon, end, text);
    }

    /// The new name of a key, if it was renamed to one of the new keys.
    fn renamed(&self, old: &str, entries: &[Entry<'_>], target: &Map<String, Value>, taken: &[&str]) -> Option<&'p str> {
        let fits = |new: &&str| target.contains_key(*new) && !taken.contains(new) && entries.iter().all(|entry| entry.name() != *new);
        self.renames.iter().filter(|(from, _)| from == old).map(|(_, to)| to.as_str()).find(fits)
    }

    /// Removes an entry with the comments directly above it.
    fn remove(&mut self, entries: &[Entry<'_>], index: usize, indent: usize) {
        let Some(entry) = entries.get(index) else { return };
        let key = entry.key.span().range().start;
        let mut start = self.line_start(key);
        // The first key may follow a dash.
        if self.file.get(start..key).is_none_or(|lead| !lead.chars().all(|c| c == ' ')) {
            self.move_next_key_after_dash(entries, index);
            return;
        }
        loop {
            let above = self.line_start(start.saturating_sub(1));
            let comment = self.file.get(above..start).is_some_and(|line| {
                let lead = line.len() - line.trim_start_matches(' ').len();
                start > 0 && lead == indent && line.trim_start().starts_with('#')
            });
            if !comment || above == start {
                break;
            }
            start = above;
        }
        let end = self.line_end(self.end(entry.value).max(self.end(entry.key)));
        self.edit(start, end, "");
    }

    /// Moves the next key to the place of a removed one that followed a dash.
    fn move_next_key_after_dash(&mut self, entries: &[Entry<'_>], index: usize) {
        match (entries.get(index), entries.get(index + 1)) {
            (Some(entry), Some(next)) => self.edit(entry.key.span().range().start, next.key.span().range().start, ""),
            _ => self.stuck = true,
        }
    }
}
