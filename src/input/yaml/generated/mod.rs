//! Reads the YAML that CRD generators write, in a single pass.
//!
//! The subset is block mappings and sequences, plain, quoted and block scalars, `{}`, `[a, "b"]` and comments. Anything else, and
//! anything this reader isn't certain about, is left to the event parser: the result is a tree equal to the parser's, or `None`.

#[cfg(any(test, fuzzing))]
pub(super) mod agreement;
mod scalars;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::arena::Raw;
use super::builder::Builder;
use super::events::Source;
use super::node::{Span, Tree};
use super::{Error, YamlBudget};

pub(super) fn read(source: &Source<'_>, budget: &YamlBudget) -> Option<Arc<Tree>> {
    let bytes = source.slice.as_bytes();
    let tabs = if source.json { None } else { has_tabs(bytes) }?;
    let builder = Builder::new(source, budget);
    let mut reader = Reader { bytes, at: 0, tabs, deepest: budget.depth / 2, blocks: Vec::with_capacity(64), pending: None, builder };
    if reader.document().is_none() {
        reader.builder.abandon();
        return None;
    }
    reader.builder.finish().map(Arc::new)
}

/// Whether a text has tabs; `None` if it has characters that this reader doesn't handle.
fn has_tabs(bytes: &[u8]) -> Option<bool> {
    let (mut odd, mut tabs) = (false, false);
    for chunk in bytes.chunks(4096) {
        let (mut control, mut tab, mut lead) = (0_u8, 0_u8, 0_u8);
        for &byte in chunk {
            control |= u8::from((byte < 0x20) & (byte != b'\n') & (byte != b'\t')) | u8::from(byte == 0x7F);
            tab |= u8::from(byte == b'\t');
            // The first bytes of the C1 set, and of the byte-order mark, U+FFFE and U+FFFF.
            lead |= u8::from(byte == 0xC2) | u8::from(byte == 0xEF);
        }
        if control != 0 {
            return None;
        }
        tabs |= tab != 0;
        odd |= lead != 0;
    }
    let refused = |bytes: &[u8]| matches!(bytes, [0xC2, 0x80..=0x9F] | [0xEF, 0xBB, 0xBF] | [0xEF, 0xBF, 0xBE | 0xBF]);
    if odd && (bytes.windows(2).any(refused) || bytes.windows(3).any(refused)) {
        return None;
    }
    Some(tabs)
}

/// A mapping or sequence that hasn't ended yet.
#[derive(Clone, Copy)]
struct Block {
    column: usize,
    map: bool,
}

/// A key, or an item between brackets.
struct Word {
    start: usize,
    end: usize,
    quoted: bool,
}

/// Reads one document. Every method returns `None` if the document is outside the subset.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    tabs: bool,
    deepest: usize,
    blocks: Vec<Block>,
    /// The colon of the last key, while it has no value.
    pending: Option<usize>,
    builder: Builder<'a>,
}

impl Reader<'_> {
    fn document(&mut self) -> Option<()> {
        if self.bytes.starts_with(b"---") {
            self.at = 3;
            self.rest_of_line()?;
        }
        let mut started = false;
        loop {
            let column = self.skip_spaces();
            match self.peek() {
                None => break,
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.skip_line(),
                Some(_) => {
                    let dash = self.is_at_dash();
                    self.close(column, dash)?;
                    if started && self.blocks.is_empty() {
                        return None;
                    }
                    started = true;
                    self.line(column, dash)?;
                }
            }
        }
        self.close_all()?;
        started.then_some(())
    }

    /// Reads a line with content: any number of `- `, then a key, or the scalar of an item or of the key above.
    fn line(&mut self, mut column: usize, mut dash: bool) -> Option<()> {
        let mut is_value = false;
        let mut inside = match self.blocks.last() {
            None => false,
            Some(block) if block.column == column && block.map != dash => true,
            // Deeper, or a sequence in the column of its key: this must be the value of the last key.
            Some(_) => {
                self.pending.take()?;
                is_value = true;
                false
            }
        };
        while dash {
            let (start, sequence) = (self.at, column);
            self.at += 1;
            column += 1 + self.skip_spaces();
            if matches!(self.peek(), None | Some(b'\n' | b'#')) {
                return None;
            }
            if !inside {
                // To the parser, a sequence in the column of its key starts at its first item, not at the dash.
                let indented = self.blocks.last().is_none_or(|block| block.column < sequence);
                self.open(sequence, false, if indented { start } else { self.at })?;
            }
            (dash, inside, is_value) = (self.is_at_dash(), false, true);
        }
        match self.key() {
            Some(key) => {
                if !inside {
                    self.open(column, true, self.at)?;
                } else if let Some(colon) = self.pending.take() {
                    self.null(colon)?;
                }
                self.put_word(&key)?;
                self.value(key.end)
            }
            None if is_value => self.scalar(),
            None => None,
        }
    }

    fn value(&mut self, colon: usize) -> Option<()> {
        self.at = colon + 1;
        self.skip_spaces();
        match self.peek() {
            None | Some(b'\n') => self.pending = Some(colon),
            Some(b'#') => {
                self.pending = Some(colon);
                self.skip_line();
            }
            Some(_) => self.scalar()?,
        }
        Some(())
    }

    /// Closes the collections that a line in this column ends.
    fn close(&mut self, column: usize, dash: bool) -> Option<()> {
        while let Some(block) = self.blocks.last() {
            let goes_on = block.column < column || (block.column == column && (block.map || dash));
            if goes_on {
                return Some(());
            }
            self.close_last()?;
        }
        Some(())
    }

    fn close_all(&mut self) -> Option<()> {
        while !self.blocks.is_empty() {
            self.close_last()?;
        }
        Some(())
    }

    fn close_last(&mut self) -> Option<()> {
        if let Some(colon) = self.pending.take() {
            self.null(colon)?;
        }
        self.blocks.pop();
        self.builder.end(Span::default()).ok()
    }

    fn open(&mut self, column: usize, map: bool, start: usize) -> Option<()> {
        if self.blocks.len() >= self.deepest {
            return None;
        }
        self.blocks.push(Block { column, map });
        let span = self.span(start, start);
        self.builder.open(span, false, 0, map).ok()
    }

    /// Reads the key at this position, if a colon follows.
    fn key(&self) -> Option<Word> {
        let word = self.word()?;
        let colon = self.bytes.get(word.end) == Some(&b':') && matches!(self.bytes.get(word.end + 1), None | Some(b' ' | b'\n'));
        colon.then_some(word)
    }

    /// Reads the quoted text or word at this position. Unless a colon or comma follows, the word may be the start of a longer text.
    fn word(&self) -> Option<Word> {
        const LONGEST: usize = 512;
        let start = self.at;
        let rest = self.bytes.get(start..self.bytes.len().min(start + LONGEST))?;
        let (quoted, length) = match rest.first()? {
            quote @ (b'"' | b'\'') => {
                let length = rest.get(1..)?.iter().position(|byte| byte == quote || matches!(byte, b'\\' | b'\n' | b'\t'))?;
                (rest.get(length + 1) == Some(quote)).then_some((true, length + 2))?
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'$' => (false, rest.iter().position(|byte| !is_word_byte(*byte))?),
            _ => return None,
        };
        Some(Word { start, end: start + length, quoted })
    }

    fn put_word(&mut self, word: &Word) -> Option<()> {
        let span = self.span(word.start, word.end);
        if word.quoted { self.put_source(word.start + 1, word.end - 1, span) } else { self.put_plain(word.start, word.end) }
    }

    /// Adds null as the value of a key with nothing after it.
    fn null(&mut self, colon: usize) -> Option<()> {
        let span = self.span(colon, colon);
        let node = self.builder.push(span, Raw::Null).ok()?;
        self.builder.place(node, 1);
        Some(())
    }

    /// Reads a scalar, or an empty collection on one line.
    fn scalar(&mut self) -> Option<()> {
        let next = self.bytes.get(self.at + 1);
        match self.peek()? {
            b'\'' => self.single_quoted(),
            b'"' => self.double_quoted(),
            b'|' => self.block_scalar(false),
            b'>' => self.block_scalar(true),
            b'{' if next == Some(&b'}') => self.empty_mapping(),
            b'[' => self.flow_sequence(),
            b'-' if !matches!(next, None | Some(b' ' | b'\t' | b'\n')) => self.plain(),
            b'-' | b'?' | b':' | b',' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'\t' => None,
            _ => self.plain(),
        }
    }

    fn empty_mapping(&mut self) -> Option<()> {
        let (start, end) = (self.span(self.at, self.at + 1), self.span(self.at + 1, self.at + 2));
        self.builder.open(start, true, 0, true).ok()?;
        self.builder.end(end).ok()?;
        self.at += 2;
        self.rest_of_line()
    }

    /// Reads quoted texts and single words between brackets, on one line.
    fn flow_sequence(&mut self) -> Option<()> {
        let start = self.span(self.at, self.at + 1);
        self.builder.open(start, true, 0, false).ok()?;
        self.at += 1;
        self.skip_spaces();
        let mut next = self.peek()?;
        while next != b']' {
            let item = self.word()?;
            self.put_word(&item)?;
            self.at = item.end;
            self.skip_spaces();
            next = self.peek()?;
            if next == b',' {
                self.at += 1;
                self.skip_spaces();
            } else if next != b']' {
                return None;
            }
        }
        let end = self.span(self.at, self.at + 1);
        self.builder.end(end).ok()?;
        self.at += 1;
        self.rest_of_line()
    }

    /// Checks that only spaces and a comment are left on this line.
    fn rest_of_line(&mut self) -> Option<()> {
        let spaces = self.skip_spaces();
        match self.peek() {
            None => Some(()),
            Some(b'\n') => {
                self.at += 1;
                Some(())
            }
            Some(b'#') if spaces > 0 => {
                self.skip_line();
                Some(())
            }
            Some(_) => None,
        }
    }

    fn skip_spaces(&mut self) -> usize {
        let count = self.spaces_at(self.at);
        self.at += count;
        count
    }

    #[inline]
    fn spaces_at(&self, at: usize) -> usize {
        self.bytes.get(at..).unwrap_or_default().iter().take_while(|byte| **byte == b' ').count()
    }

    fn skip_line(&mut self) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at = memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |length| self.at + length + 1);
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn is_at_dash(&self) -> bool {
        matches!(self.bytes.get(self.at..), Some([b'-'] | [b'-', b' ' | b'\n', ..]))
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.builder.base + start, self.builder.base + end)
    }

    /// Continuation lines must be indented further than this column.
    fn parent_column(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.column)
    }

    /// Adds a string that appears verbatim in the text.
    fn put_source(&mut self, start: usize, end: usize, span: Span) -> Option<()> {
        self.builder.check_length(end - start, span).ok()?;
        let node = self.builder.source_text(start, end, span);
        self.put(node)
    }

    /// Adds an unquoted scalar on one line.
    fn put_plain(&mut self, start: usize, end: usize) -> Option<()> {
        let text = self.builder.slice.get(start..end)?;
        let span = self.span(start, end);
        self.builder.check_length(text.len(), span).ok()?;
        let node = self.builder.plain(text.into(), span);
        self.put(node)
    }

    fn put(&mut self, node: Result<super::NodeId, Error>) -> Option<()> {
        self.builder.place(node.ok()?, 1);
        Some(())
    }
}

fn is_word_byte(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/' | b'$')
}
