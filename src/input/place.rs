//! Converts byte offsets to lines and columns, as an editor counts them.
//!
//! Line breaks are those of YAML 1.2: LF, CRLF and a lone CR. U+0085, U+2028 and U+2029 are ordinary characters. Columns count code
//! points. Both start at 1.

use std::ops::Range;

/// A position in a file, as editors show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct LineColumn {
    pub line: usize,
    pub column: usize,
}

impl std::fmt::Display for LineColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Breaks and code points are counted up to every block of this many bytes, so that looking up a place reads only one block,
/// however long its line is.
const BLOCK: usize = 1024;

/// The line index of a text. It doesn't hold the text, so pass the same text to its methods.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// The number of breaks before each block, followed by the total.
    breaks: Vec<usize>,
    /// The number of code points before each block; empty for ASCII, where bytes are columns.
    points: Vec<usize>,
}

impl Lines {
    pub fn new(text: &str) -> Lines {
        let bytes = text.as_bytes();
        // Few texts contain a CR, and LFs alone can be counted many at a time.
        let returns = memchr::memchr(b'\r', bytes).is_some();
        let count = |block: Range<usize>| match returns {
            true => breaks(bytes, block).count(),
            false => memchr::memchr_iter(b'\n', &bytes[block]).count(),
        };
        let mut lines = Lines { breaks: sums(bytes.len(), count), points: Vec::new() };
        if !text.is_ascii() {
            lines.points = sums(bytes.len(), |block| code_points(&bytes[block]));
        }
        lines
    }

    /// The number of lines; a text that ends with a break has an empty last line.
    pub fn count(&self) -> usize {
        self.breaks.last().copied().unwrap_or(0) + 1
    }

    /// The place of the character at `offset`. An offset inside a character means that character; one past the end means the end.
    pub fn place(&self, text: &str, offset: usize) -> LineColumn {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let block = offset / BLOCK;
        let here = breaks(text.as_bytes(), block * BLOCK..offset).count();
        let line = self.breaks.get(block).copied().unwrap_or(0) + here + 1;
        let start = self.start(text, line).unwrap_or(0);
        let column = self.points_before(text, offset) - self.points_before(text, start) + 1;
        LineColumn { line, column }
    }

    /// The byte range of a line, counted from 1, without its break.
    pub fn range(&self, text: &str, line: usize) -> Option<Range<usize>> {
        let start = self.start(text, line)?;
        let next = self.start(text, line + 1).unwrap_or(text.len());
        let body = text.get(start..next)?;
        Some(start..start + body.trim_end_matches(['\r', '\n']).len())
    }

    /// The offset where a line starts, after the break of the line before.
    fn start(&self, text: &str, line: usize) -> Option<usize> {
        let wanted = line.checked_sub(1)?;
        if wanted == 0 {
            return Some(0);
        }
        let block = self.breaks.partition_point(|before| *before < wanted).checked_sub(1)?;
        let before = *self.breaks.get(block)?;
        let end = text.len().min((block + 1) * BLOCK);
        breaks(text.as_bytes(), block * BLOCK..end).nth(wanted - before - 1).map(|at| at + 1)
    }

    fn points_before(&self, text: &str, offset: usize) -> usize {
        let block = offset / BLOCK;
        match self.points.get(block) {
            None => offset,
            Some(sum) => {
                let bytes = text.as_bytes().get(block * BLOCK..offset);
                sum + bytes.map_or(0, code_points)
            }
        }
    }
}

/// Cumulative counts before each block, followed by the total.
fn sums(length: usize, count: impl Fn(Range<usize>) -> usize) -> Vec<usize> {
    let mut sums = vec![0];
    let mut sum = 0;
    for start in (0..length).step_by(BLOCK) {
        sum += count(start..length.min(start + BLOCK));
        sums.push(sum);
    }
    sums
}

/// The positions of the breaks in a part of a text (the last byte of each). CRLF is one break.
fn breaks(bytes: &[u8], part: Range<usize>) -> impl Iterator<Item = usize> {
    let start = part.start;
    let found = memchr::memchr2_iter(b'\n', b'\r', bytes.get(part).unwrap_or_default()).map(move |at| start + at);
    found.filter(|at| !bytes.get(*at..).is_some_and(|rest| rest.starts_with(b"\r\n")))
}

fn code_points(bytes: &[u8]) -> usize {
    let is_start = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    bytes.iter().filter(is_start).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn place(text: &str, offset: usize) -> (usize, usize) {
        let place = Lines::new(text).place(text, offset);
        (place.line, place.column)
    }

    #[test]
    fn every_break_of_yaml_counts_once() {
        let text = "a\nb\r\nc\rd\u{2028}e\u{85}f";
        assert_eq!(place(text, text.find('a').unwrap()), (1, 1));
        assert_eq!(place(text, text.find('b').unwrap()), (2, 1));
        assert_eq!(place(text, text.find('c').unwrap()), (3, 1));
        assert_eq!(place(text, text.find('d').unwrap()), (4, 1));
        assert_eq!(place(text, text.find('e').unwrap()), (4, 3));
        assert_eq!(place(text, text.find('f').unwrap()), (4, 5));
    }

    #[test]
    fn columns_are_code_points() {
        let text = "x: ä€😀 y";
        assert_eq!(place(text, text.find('y').unwrap()), (1, 8));
        let inside_the_emoji = text.find('😀').unwrap() + 2;
        assert_eq!(place(text, inside_the_emoji), (1, 6));
    }

    #[test]
    fn ends_are_safe() {
        assert_eq!(place("", 0), (1, 1));
        assert_eq!(place("", 99), (1, 1));
        assert_eq!(place("a\n", 2), (2, 1));
        assert_eq!(place("a\r", 2), (2, 1));
        assert_eq!(place("a\r\n", 9), (2, 1));
    }

    #[test]
    fn a_line_has_a_range_without_its_break() {
        let text = "one\r\ntwo\rthree\n";
        let lines = Lines::new(text);
        let of = |line| lines.range(text, line).map(|range| &text[range]);
        assert_eq!(of(0), None);
        assert_eq!(of(1), Some("one"));
        assert_eq!(of(2), Some("two"));
        assert_eq!(of(3), Some("three"));
        assert_eq!(of(4), Some(""));
        assert_eq!(of(5), None);
        assert_eq!(lines.count(), 4);
    }

    /// A slow and simple reference implementation.
    fn counted(text: &str, offset: usize) -> (usize, usize) {
        let (mut line, mut column) = (1, 1);
        let mut chars = text.char_indices().peekable();
        while let Some((at, char)) = chars.next() {
            if at >= offset || at + char.len_utf8() > offset {
                break;
            }
            let breaks = char == '\n' || (char == '\r' && chars.peek().is_none_or(|(_, next)| *next != '\n'));
            (line, column) = if breaks { (line + 1, 1) } else { (line, column + 1) };
        }
        (line, column)
    }

    proptest! {
        #[test]
        fn the_index_agrees_with_counting(text in "([a-z]{0,40}|[ä€😀\u{2028}]|\r|\n|\r\n){0,200}", at in 0.0..1.0f64) {
            let offset = (text.len() as f64 * at) as usize;
            prop_assert_eq!(place(&text, offset), counted(&text, offset));
        }

        #[test]
        fn long_lines_agree_too(word in "[aä€]{1,9}", times in 100usize..900, at in 0.0..1.0f64) {
            let text = word.repeat(times);
            let offset = (text.len() as f64 * at) as usize;
            prop_assert_eq!(place(&text, offset), counted(&text, offset));
        }
    }
}
