//! Writes JSON, such as the report, indented and with a trailing newline.

use std::fmt::Write as _;

use serde::Serialize;

use crate::judge::report::Report;

use super::escape::{RUNNER_COMMAND, is_active};

pub fn render(report: &Report) -> String {
    indented(report)
}

/// Writes a value so that its texts can't act on a terminal or a log: JSON itself escapes only the oldest control characters.
pub(crate) fn indented(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    inert(text)
}

/// Escapes characters that are allowed in a JSON string, but move the cursor, reorder text or start a command. The value stays the
/// same.
pub(super) fn inert(text: String) -> String {
    let is_harmless = |c: char| c == '\n' || !is_active(c);
    if text.chars().all(is_harmless) && !text.contains(RUNNER_COMMAND) {
        return text;
    }
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

    #[test]
    fn active_characters_are_escaped_and_keep_their_value() {
        let hostile = "\u{7f} \u{9b}31m \u{202e} \u{e0041} ##[group] é \u{1f980}";
        let text = indented(&serde_json::json!({ "a": hostile }));
        assert!(!text.chars().any(|c| c != '\n' && is_active(c)) && !text.contains(RUNNER_COMMAND), "{text:?}");
        assert!(text.contains('é') && text.contains('\u{1f980}'), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["a"], hostile);
    }
}
