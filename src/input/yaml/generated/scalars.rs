//! Scalars of the subset: quoted texts, plain texts folded over lines, and blocks under `|` and `>`.

use super::Reader;

/// The position where a text continues after the end of a line.
struct Continued {
    /// The first byte that isn't a space.
    at: usize,
    column: usize,
    breaks: usize,
}

/// How the final line breaks of a block scalar are handled.
#[derive(Clone, Copy, PartialEq)]
enum Chomping {
    Clip,
    Strip,
    Keep,
}

impl Reader<'_> {
    /// Finds the next line with content, after the line break at `at`.
    fn continued(&self, mut at: usize) -> Option<Continued> {
        let mut breaks = 0;
        while self.bytes.get(at) == Some(&b'\n') {
            breaks += 1;
            let column = self.spaces_at(at + 1);
            at += 1 + column;
            match self.bytes.get(at) {
                Some(b'\n') => {}
                Some(_) => return Some(Continued { at, column, breaks }),
                None => return None,
            }
        }
        None
    }

    /// The same for a text that can't end here.
    fn must_continue(&self, at: usize) -> Option<Continued> {
        self.continued(at).filter(|next| next.column > self.parent_column())
    }

    fn copy(&mut self, start: usize, end: usize) -> Option<()> {
        self.builder.tree.arena.decoded.push_str(self.builder.slice.get(start..end)?);
        Some(())
    }

    fn decoded(&mut self) -> &mut String {
        &mut self.builder.tree.arena.decoded
    }

    fn push_breaks(&mut self, count: usize) {
        self.decoded().extend(std::iter::repeat_n('\n', count));
    }

    /// Folds line breaks: one becomes a space, more are kept.
    fn fold(&mut self, breaks: usize) {
        if breaks == 1 {
            self.decoded().push(' ');
        } else {
            self.push_breaks(breaks - 1);
        }
    }

    fn trimmed(&self, start: usize, end: usize) -> usize {
        let line = self.bytes.get(start..end).unwrap_or_default();
        end - line.iter().rev().take_while(|byte| **byte == b' ').count()
    }

    fn has_tab(&self, start: usize, end: usize) -> bool {
        self.tabs && memchr::memchr(b'\t', self.bytes.get(start..end).unwrap_or_default()).is_some()
    }

    pub(super) fn plain(&mut self) -> Option<()> {
        let start = self.at;
        let (mut end, mut commented) = self.plain_line()?;
        let mut several = None;
        while let Some(next) = self.continued(self.at) {
            if commented || next.column <= self.parent_column() || self.bytes.get(next.at) == Some(&b'#') {
                break;
            }
            if several.is_none() {
                several = Some(self.decoded().len());
                self.copy(start, end)?;
            }
            self.fold(next.breaks);
            self.at = next.at;
            (end, commented) = self.plain_line()?;
            self.copy(next.at, end)?;
        }
        match several {
            None => self.put_plain(start, end),
            // A text that contains a space is never a number or another special word.
            Some(from) => self.put_decoded(from, start, end),
        }
    }

    /// Reads to the end of a line of a plain scalar; returns where its text ends, and whether a comment follows.
    fn plain_line(&mut self) -> Option<(usize, bool)> {
        let start = self.at;
        let mut from = start;
        let (end, commented) = loop {
            let rest = self.bytes.get(from..).unwrap_or_default();
            let Some(at) = memchr::memchr3(b'\n', b':', b'#', rest).map(|length| from + length) else { break (self.bytes.len(), false) };
            let (before, after) = (at.checked_sub(1).and_then(|at| self.bytes.get(at)), self.bytes.get(at + 1));
            match self.bytes.get(at) {
                Some(b'\n') => break (at, false),
                Some(b':') if matches!(after, None | Some(b' ' | b'\t' | b'\n')) => return None,
                Some(b'#') if matches!(before, Some(b' ' | b'\t')) => break (at, true),
                _ => from = at + 1,
            }
        };
        if self.has_tab(start, end) {
            return None;
        }
        self.at = end;
        if commented {
            self.at += memchr::memchr(b'\n', self.bytes.get(end..)?).unwrap_or(self.bytes.len() - end);
        }
        Some((self.trimmed(start, end), commented))
    }

    fn put_decoded(&mut self, from: usize, start: usize, end: usize) -> Option<()> {
        let span = self.span(start, end);
        let node = self.builder.decoded_text(from, span);
        self.put(node)
    }

    pub(super) fn single_quoted(&mut self) -> Option<()> {
        let start = self.at;
        let mut run = start + 1;
        let mut from = run;
        let mut decoded = None;
        let end = loop {
            let at = from + memchr::memchr2(b'\'', b'\n', self.bytes.get(from..)?)?;
            if self.bytes.get(at) == Some(&b'\'') && self.bytes.get(at + 1) != Some(&b'\'') {
                break at;
            }
            decoded = decoded.or(Some(self.decoded().len()));
            if self.bytes.get(at) == Some(&b'\'') {
                self.copy(run, at + 1)?;
                (run, from) = (at + 2, at + 2);
            } else {
                self.copy(run, self.trimmed(run, at))?;
                let next = self.must_continue(at)?;
                self.fold(next.breaks);
                (run, from) = (next.at, next.at);
            }
        };
        self.close_quote(start, run, end, decoded)
    }

    pub(super) fn double_quoted(&mut self) -> Option<()> {
        let start = self.at;
        let mut run = start + 1;
        let mut decoded = None;
        let end = loop {
            let at = run + memchr::memchr3(b'"', b'\\', b'\n', self.bytes.get(run..)?)?;
            let byte = self.bytes.get(at).copied()?;
            if byte == b'"' {
                break at;
            }
            decoded = decoded.or(Some(self.decoded().len()));
            run = match (byte, self.bytes.get(at + 1)) {
                (b'\n', _) => {
                    self.copy(run, self.trimmed(run, at))?;
                    let next = self.must_continue(at)?;
                    self.fold(next.breaks);
                    next.at
                }
                (_, Some(b'\n')) => {
                    self.copy(run, at)?;
                    let next = self.must_continue(at + 1)?;
                    self.push_breaks(next.breaks - 1);
                    next.at
                }
                _ => {
                    self.copy(run, at)?;
                    self.escape(at + 1)?
                }
            };
        };
        self.close_quote(start, run, end, decoded)
    }

    /// Appends an escaped character, and returns where the text continues.
    fn escape(&mut self, at: usize) -> Option<usize> {
        let (digits, character) = match self.bytes.get(at)? {
            b'n' => (0, '\n'),
            b't' => (0, '\t'),
            b'r' => (0, '\r'),
            b'"' => (0, '"'),
            b'\\' => (0, '\\'),
            b'/' => (0, '/'),
            b' ' => (0, ' '),
            b'x' => (2, ' '),
            b'u' => (4, ' '),
            b'U' => (8, ' '),
            _ => return None,
        };
        let end = at + 1 + digits;
        let character = match digits {
            0 => character,
            _ => {
                let text = self.builder.slice.get(at + 1..end)?;
                let hexadecimal = text.bytes().all(|byte| byte.is_ascii_hexdigit());
                hexadecimal.then(|| u32::from_str_radix(text, 16).ok()).flatten().and_then(char::from_u32)?
            }
        };
        self.decoded().push(character);
        Some(end)
    }

    /// Ends a quoted text at its closing quote. `run` starts the part that wasn't copied yet.
    fn close_quote(&mut self, start: usize, run: usize, end: usize, decoded: Option<usize>) -> Option<()> {
        if self.has_tab(start, end) {
            return None;
        }
        match decoded {
            None => {
                let span = self.span(start, end + 1);
                self.put_source(start + 1, end, span)?;
            }
            Some(from) => {
                self.copy(run, end)?;
                self.put_decoded(from, start, end + 1)?;
            }
        }
        self.at = end + 1;
        self.rest_of_line()
    }

    pub(super) fn block_scalar(&mut self, folded: bool) -> Option<()> {
        self.at += 1;
        let (chomping, digit) = self.block_header();
        self.rest_of_line()?;
        if self.bytes.get(self.at.wrapping_sub(1)) != Some(&b'\n') {
            return None;
        }
        // Blank lines before the first text.
        let (mut breaks, mut longest) = (0, 0);
        let column = loop {
            let spaces = self.spaces_at(self.at);
            match self.bytes.get(self.at + spaces)? {
                b'\n' => {
                    longest = longest.max(spaces);
                    breaks += 1;
                    self.at += spaces + 1;
                }
                b'\t' => return None,
                _ => break spaces,
            }
        };
        let indent = match digit {
            Some(digit) => self.parent_column() + digit,
            None => column,
        };
        // Without text, or with blank lines longer than the indentation, the meaning isn't certain.
        if column <= self.parent_column() || column < indent || longest > indent {
            return None;
        }
        self.block_lines(folded, chomping, indent, breaks)
    }

    fn block_header(&mut self) -> (Chomping, Option<usize>) {
        let (mut chomping, mut digit) = (Chomping::Clip, None);
        for _ in 0..2 {
            match self.peek() {
                Some(b'-') if chomping == Chomping::Clip => chomping = Chomping::Strip,
                Some(b'+') if chomping == Chomping::Clip => chomping = Chomping::Keep,
                Some(byte @ b'1'..=b'9') if digit.is_none() => digit = Some(usize::from(byte - b'0')),
                _ => break,
            }
            self.at += 1;
        }
        (chomping, digit)
    }

    /// Reads the lines of a block scalar; the first one starts here.
    fn block_lines(&mut self, folded: bool, chomping: Chomping, indent: usize, mut blank: usize) -> Option<()> {
        let from = self.decoded().len();
        let start = self.at + indent;
        // Whether a line ended, and whether it began with a blank, because such lines aren't folded.
        let (mut ended, mut began_blank) = (false, false);
        let stop = loop {
            let spaces = self.spaces_at(self.at).min(indent);
            let text = self.at + spaces;
            match self.bytes.get(text) {
                Some(b'\n') => {
                    blank += 1;
                    self.at = text + 1;
                    continue;
                }
                Some(_) if spaces == indent => {}
                // The line isn't part of the scalar, but its indentation still belongs to it.
                _ => break text,
            }
            let begins_blank = matches!(self.bytes.get(text), Some(b' ' | b'\t'));
            if folded && ended && !began_blank && !begins_blank {
                self.fold(blank + 1);
            } else {
                self.push_breaks(blank + usize::from(ended));
            }
            (blank, began_blank) = (0, begins_blank);
            let rest = self.bytes.get(text..).unwrap_or_default();
            let length = memchr::memchr(b'\n', rest);
            let end = text + length.unwrap_or(rest.len());
            self.copy(text, end)?;
            ended = length.is_some();
            self.at = end + usize::from(ended);
            if !ended {
                break end;
            }
        };
        match chomping {
            Chomping::Strip => {}
            Chomping::Clip => self.push_breaks(1),
            Chomping::Keep => self.push_breaks(1 + blank),
        }
        self.put_decoded(from, start, stop)
    }
}
