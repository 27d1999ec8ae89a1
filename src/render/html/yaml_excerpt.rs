//! The YAML of both sides next to each other: the lines of a finding, a little around them, and what differs marked.

use crate::input::shorten;
use std::ops::Range;

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::super::escape::visible;

/// Lines before and after the marked ones.
const CONTEXT: usize = 2;
/// Of a long node so many lines are shown.
const LINES: usize = 14;
/// Longest stretch of a line; descriptions can have thousands of characters.
const COLUMNS: usize = 200;
/// A parent further away than this is not looked for.
const REACH: usize = 400;
/// Words are compared in texts up to this size; longer ones are marked line by line.
const COMPARED: usize = 6_000;

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct YamlExcerpt {
    pub lines: Vec<Line>,
    /// Lines of the node that are left out.
    pub more: usize,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Line {
    pub number: usize,
    /// Whether lines are left out before it.
    pub jump: bool,
    pub marked: bool,
    pub parts: Vec<Part>,
}

#[derive(Debug, Serialize, PartialEq, Eq)]
pub(super) struct Part {
    pub text: String,
    pub changed: bool,
}

/// A finding's lines of one side, before they are compared.
pub(super) struct ExcerptSource<'t> {
    /// With the number of each.
    head: Vec<(usize, &'t str)>,
    body: Vec<(usize, &'t str)>,
    tail: Vec<(usize, &'t str)>,
    more: usize,
}

impl<'t> ExcerptSource<'t> {
    /// `span` is in bytes of `text`, the whole file; `number` is the line it starts on, from 1.
    pub fn new(text: &'t str, span: Range<usize>, number: usize) -> Self {
        let start = floor(text, span.start);
        let begin = text.get(..start).unwrap_or_default().rfind(BREAKS).map_or(0, |at| at + 1);
        let node = text.get(start..floor(text, span.end.max(start))).unwrap_or_default().trim_end();
        let end = start + node.len();
        let mut body = Vec::new();
        let rest = Forward { text, at: Some(begin) };
        let (mut next, mut more, mut offset) = (number, 0, begin);
        for (at, line) in rest {
            if at > begin && at > end {
                offset = at;
                break;
            }
            if body.len() < LINES {
                body.push((next, line))
            } else {
                more += 1
            }
            next += 1;
            offset = text.len();
        }
        let tail = Forward { text, at: (offset < text.len() && more == 0).then_some(offset) };
        let tail = tail.take(CONTEXT).enumerate().map(|(index, (_, line))| (next + index, line));
        let tail = tail.take_while(|(_, line)| !is_document_end(line)).collect();
        ExcerptSource { head: head(text, begin, number), body, tail, more }
    }

    fn text(&self) -> String {
        self.body.iter().map(|(_, line)| shorten(line, COLUMNS)).collect::<Vec<_>>().join("\n")
    }

    /// As lines, the marks being byte ranges of [`ExcerptSource::text`].
    fn lines(&self, text: &str, changed: &[Range<usize>], whole: bool) -> YamlExcerpt {
        let plain = |&(number, line): &(usize, &str)| (number, false, vec![part(&shorten(line, COLUMNS), false)]);
        let mut rows: Vec<(usize, bool, Vec<Part>)> = self.head.iter().map(plain).collect();
        let mut offset = 0;
        for ((number, _), line) in self.body.iter().zip(text.split('\n')) {
            let here = offset..offset + line.len();
            let parts = if whole { vec![part(line, false)] } else { parts(line, &here, changed) };
            rows.push((*number, whole || parts.iter().any(|part| part.changed), parts));
            offset = here.end + 1;
        }
        rows.extend(self.tail.iter().map(plain));
        dedent(&mut rows);
        let mut before = None;
        let lines = rows.into_iter().map(|(number, marked, parts)| {
            let jump = before.is_some_and(|before| before + 1 != number);
            before = Some(number);
            Line { number, jump, marked, parts }
        });
        YamlExcerpt { lines: lines.collect(), more: self.more }
    }
}

/// Both sides, with what differs marked; lines of one side only are marked whole.
pub(super) fn excerpts(old: Option<ExcerptSource<'_>>, new: Option<ExcerptSource<'_>>) -> (Option<YamlExcerpt>, Option<YamlExcerpt>) {
    let (Some(old), Some(new)) = (&old, &new) else {
        let alone = |source: Option<ExcerptSource<'_>>| source.map(|source| source.lines(&source.text(), &[], true));
        return (alone(old), alone(new));
    };
    let (before, after) = (old.text(), new.text());
    if before == after || before.len() + after.len() > COMPARED {
        return (Some(old.lines(&before, &[], true)), Some(new.lines(&after, &[], true)));
    }
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let (mut left, mut right) = (0, 0);
    for change in TextDiff::from_words(&*before, &*after).iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => (left, right) = (left + length, right + length),
            ChangeTag::Delete => {
                gone.push(left..left + length);
                left += length;
            }
            ChangeTag::Insert => {
                come.push(right..right + length);
                right += length;
            }
        }
    }
    (Some(old.lines(&before, &gone, false)), Some(new.lines(&after, &come, false)))
}

/// Schemas are deeply nested: the indentation that all lines share is left out.
fn dedent(rows: &mut [(usize, bool, Vec<Part>)]) {
    let indent = |parts: &[Part]| {
        let mut width = 0;
        for part in parts {
            let spaces = part.text.bytes().take_while(|byte| *byte == b' ').count();
            width += spaces;
            if spaces < part.text.len() {
                return Some(width);
            }
        }
        None
    };
    let Some(mut shared) = rows.iter().filter_map(|(_, _, parts)| indent(parts)).min().filter(|shared| *shared > 0) else { return };
    shared = shared.min(COLUMNS);
    for (_, _, parts) in rows {
        let mut left = shared;
        for part in parts.iter_mut() {
            let spaces = part.text.bytes().take_while(|byte| *byte == b' ').count().min(left);
            part.text.drain(..spaces);
            left -= spaces;
            if left == 0 || !part.text.is_empty() {
                break;
            }
        }
        parts.retain(|part| !part.text.is_empty());
    }
}

/// A line as its changed and unchanged stretches.
fn parts(line: &str, here: &Range<usize>, changed: &[Range<usize>]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut at = 0;
    let first = changed.partition_point(|range| range.end <= here.start);
    for range in changed.iter().skip(first).take_while(|range| range.start < here.end) {
        let (from, to) = (range.start.max(here.start) - here.start, range.end.min(here.end) - here.start);
        let (Some(between), Some(text)) = (line.get(at..from), line.get(from..to)) else { break };
        let blank = text.trim().is_empty();
        match parts.last_mut() {
            // Words that changed next to each other are one stretch, with the space between them.
            Some(last) if last.changed && between.trim().is_empty() => {
                last.text.push_str(&visible(&format!("{between}{text}").replace('\t', " ")));
            }
            _ => {
                if !between.is_empty() {
                    parts.push(part(between, false));
                }
                parts.push(part(text, !blank));
            }
        }
        at = to;
    }
    if let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        parts.push(part(rest, false));
    }
    parts
}

fn part(text: &str, changed: bool) -> Part {
    Part { text: visible(&text.replace('\t', " ")).into_owned(), changed }
}

/// What YAML breaks lines at.
const BREAKS: [char; 2] = ['\n', '\r'];

/// Lines from an offset on, each with its own.
struct Forward<'t> {
    text: &'t str,
    at: Option<usize>,
}

impl<'t> Iterator for Forward<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at?;
        let rest = self.text.get(at..)?;
        if rest.is_empty() {
            return None;
        }
        let length = rest.find(BREAKS).unwrap_or(rest.len());
        let width = if rest.get(length..).is_some_and(|tail| tail.starts_with("\r\n")) { 2 } else { 1 };
        self.at = (length < rest.len()).then_some(at + length + width);
        Some((at, rest.get(..length)?))
    }
}

/// The line of the parent and the lines just before: where one is.
fn head(text: &str, begin: usize, number: usize) -> Vec<(usize, &str)> {
    let indent = |line: &str| line.chars().take_while(|c| *c == ' ').count();
    let own = text.get(begin..).and_then(|rest| rest.split(BREAKS).next()).map_or(0, indent);
    let mut found = Vec::new();
    let mut end = begin;
    for distance in 1..REACH.min(number) {
        // Behind the break that ends the line before.
        let stop = text.get(..end).map_or(0, |head| head.strip_suffix("\r\n").map_or(end.saturating_sub(1), str::len));
        let Some(before) = text.get(..stop).filter(|_| end > 0) else { break };
        let start = before.rfind(BREAKS).map_or(0, |at| at + 1);
        let line = before.get(start..).unwrap_or_default();
        if is_document_end(line) {
            break;
        }
        let is_parent = !line.trim().is_empty() && indent(line) < own;
        if distance <= CONTEXT || is_parent {
            found.push((number - distance, line));
        }
        if is_parent {
            break;
        }
        end = start;
    }
    found.reverse();
    found
}

fn is_document_end(line: &str) -> bool {
    line == "---" || line.starts_with("--- ")
}

fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "a:\n  b: 1\n  c:\n    x: 1\n    d: one two three\n    e: 5\n    f: 6\n    g: 7\n";

    fn source<'t>(text: &'t str, what: &str) -> ExcerptSource<'t> {
        let start = text.find(what).unwrap();
        ExcerptSource::new(text, start..start + what.len(), text[..start].matches('\n').count() + 1)
    }

    fn shown(excerpt: &YamlExcerpt) -> String {
        let mut out = String::new();
        for line in &excerpt.lines {
            let gap = if line.jump { "…" } else { "" };
            let mark = if line.marked { "!" } else { " " };
            let text: String = line.parts.iter().map(|p| if p.changed { format!("[{}]", p.text) } else { p.text.clone() }).collect();
            out.push_str(&format!("{gap}{}{mark}{text}\n", line.number));
        }
        out
    }

    #[test]
    fn changed_words_are_marked_on_both_sides() {
        let new = OLD.replace("one two three", "one 2 3 three");
        let (old, new) = excerpts(Some(source(OLD, "one two three")), Some(source(&new, "one 2 3 three")));
        assert_eq!(shown(&old.unwrap()), "3 c:\n4   x: 1\n5!  d: one [two] three\n6   e: 5\n7   f: 6\n");
        assert_eq!(shown(&new.unwrap()), "3 c:\n4   x: 1\n5!  d: one [2 3] three\n6   e: 5\n7   f: 6\n");
    }

    #[test]
    fn one_side_alone_is_marked_whole_under_its_parent() {
        let (old, new) = excerpts(Some(source(OLD, "g: 7")), None);
        assert_eq!(shown(&old.unwrap()), "3 c:\n…6   e: 5\n7   f: 6\n8!  g: 7\n");
        assert_eq!(new, None);
    }

    #[test]
    fn a_long_node_is_cut_and_counted() {
        let text = format!("a:\n{}b: 1\n", "  x: 1\n".repeat(40));
        let start = text.find("  x").unwrap();
        let (old, _) = excerpts(Some(ExcerptSource::new(&text, start..text.find("b:").unwrap(), 2)), None);
        let old = old.unwrap();
        assert_eq!((old.lines.len(), old.more), (LINES + 1, 40 - LINES));
    }

    #[test]
    fn every_break_and_any_offset_will_do() {
        for text in ["", "a", "\n", "a\r\nb: ü\r\nc", "a\rb\rc\r", "---\na: 1\n---\nb: 2\n"] {
            for start in 0..=text.len() + 1 {
                for end in 0..=text.len() + 1 {
                    excerpts(Some(ExcerptSource::new(text, start..end, 3)), Some(ExcerptSource::new(text, end..start, 1)));
                }
            }
        }
        let (_, new) = excerpts(None, Some(source("---\na: 1\r\nb: 2\r\n---\nc: 3\n", "b: 2")));
        assert_eq!(shown(&new.unwrap()), "2 a: 1\n3!b: 2\n");
    }
}
