//! Shortens long values for messages.

use std::borrow::Cow;

/// Shortens a text to `limit` characters, followed by an ellipsis if there are more.
pub fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// Shortens a text to `limit` characters on one line: line breaks and runs of spaces become one space.
pub fn shorten_line(text: &str, limit: usize) -> String {
    let text = shorten(text.trim(), limit);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shortened_between_characters() {
        assert_eq!(shorten("abc", 3), "abc");
        assert_eq!(shorten("äöüß", 3), "äöü…");
        assert_eq!(shorten("", 0), "");
        assert_eq!(shorten("a", 0), "…");
        assert_eq!(shorten_line(" a\n  b ", 10), "a b");
        assert_eq!(shorten_line("abcdef", 3), "abc…");
    }
}
