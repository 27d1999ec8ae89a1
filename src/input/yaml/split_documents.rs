//! Splits a file into documents before parsing them.
//!
//! A `---` at the start of a line is always a document marker, so the split is exact. This way a broken document doesn't affect the
//! others, and documents can be parsed in parallel.

use super::Span;

/// The documents of a YAML text; each starts with its marker, if it has one.
pub(super) fn documents(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut start = 0;
    let bytes = text.as_bytes();
    for at in memchr::memmem::find_iter(bytes, "---") {
        let begins = at.checked_sub(1).is_none_or(|before| matches!(bytes[before], b'\n' | b'\r'));
        if at > start && begins && is_marker(&bytes[at..]) {
            push(&mut spans, text, start, at);
            start = at;
        }
    }
    push(&mut spans, text, start, text.len());
    spans
}

fn is_marker(line: &[u8]) -> bool {
    matches!(line, [b'-', b'-', b'-'] | [b'-', b'-', b'-', b' ' | b'\t' | b'\r' | b'\n', ..])
}

/// Adds a part unless it contains only markers, directives, comments and blank lines.
fn push(spans: &mut Vec<Span>, text: &str, start: usize, end: usize) {
    let part = &text[start..end];
    let blank = part.lines().all(|line| {
        let line = line.strip_prefix("---").unwrap_or(line).trim_matches(['\u{feff}', ' ', '\t', '\r']);
        line.is_empty() || line == "..." || line.starts_with('#') || line.starts_with('%')
    });
    if !blank {
        spans.push(Span::new(start, end));
    }
}
