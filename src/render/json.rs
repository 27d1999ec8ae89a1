//! Writes JSON, such as the report, indented and with a trailing newline.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use crate::judge::report::Report;

use super::escape::{is_active, is_inert};

pub fn render(report: &Report) -> String {
    indented(report)
}

/// Writes a report to a stream, without its whole text in memory.
pub(crate) fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    write_indented(report, out)
}

/// Writes a value so that its texts can't act on a terminal or a log: JSON itself escapes only the oldest control characters.
pub(crate) fn indented(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let written = write_indented(value, &mut text);
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8(text).unwrap_or_default()
}

fn write_indented(value: &impl Serialize, out: &mut dyn io::Write) -> io::Result<()> {
    let mut pieces = InertPieces { out, piece: Vec::with_capacity(PIECE + PIECE / 8) };
    serde_json::to_writer_pretty(&mut pieces, value)?;
    pieces.piece.push(b'\n');
    pieces.flush()
}

/// How much text is escaped and written at once.
const PIECE: usize = 64 << 10;

/// Escapes JSON on its way to a stream. The writer of JSON ends its own pieces between characters, and only at quotes, escapes and
/// punctuation, so no command is cut in two.
struct InertPieces<'w> {
    out: &'w mut dyn io::Write,
    piece: Vec<u8>,
}

impl io::Write for InertPieces<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if self.piece.len() + text.len() > PIECE {
            self.flush()?;
        }
        self.piece.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = String::from_utf8(std::mem::take(&mut self.piece)).map_err(io::Error::other)?;
        let piece = inert(piece);
        self.out.write_all(piece.as_bytes())?;
        self.piece = piece.into_bytes();
        self.piece.clear();
        Ok(())
    }
}

/// Escapes characters that are allowed in a JSON string, but move the cursor, reorder text or start a command. The value stays the
/// same.
pub(super) fn inert(text: String) -> String {
    if is_inert(&text) {
        return text;
    }
    let is_harmless = |c: char| c == '\n' || !is_active(c);
    let mut out = String::with_capacity(text.len() + 64);
    for c in text.chars() {
        if is_harmless(c) && !(c == '[' && out.ends_with("##")) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::escape::RUNNER_COMMAND;

    #[test]
    fn active_characters_are_escaped_and_keep_their_value() {
        let hostile = "\u{7f} \u{9b}31m \u{202e} \u{e0041} ##[group] é \u{1f980}";
        let text = indented(&serde_json::json!({ "a": hostile }));
        assert!(!text.chars().any(|c| c != '\n' && is_active(c)) && !text.contains(RUNNER_COMMAND), "{text:?}");
        assert!(text.contains('é') && text.contains('\u{1f980}'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["a"], hostile);
    }

    #[test]
    fn long_texts_are_escaped_like_short_ones() {
        let hostile = "\u{7f} \u{202e} ##[group] é\n";
        for before in (PIECE - 200..PIECE + 200).step_by(7) {
            let value = serde_json::json!({ "a": "x".repeat(before), "b": [hostile, hostile.repeat(PIECE / 10)] });
            let text = indented(&value);
            assert!(is_inert(&text));
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }

    #[test]
    fn active_characters_are_found_anywhere_in_a_long_text() {
        for at in 0..600 {
            let text = |c: &str| format!("{}é{c}{}", "a\n".repeat(at / 2) + &"b".repeat(at % 2), "c".repeat(600 - at));
            assert_eq!(inert(text("d")), text("d"));
            assert_eq!(inert(text("\u{202e}")), text("\\u202e"), "{at}");
            assert_eq!(inert(text("##[")), text("##\\u005b"), "{at}");
        }
    }
}
