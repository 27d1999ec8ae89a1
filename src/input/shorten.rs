//! Shortens long values and lists for messages.

use std::borrow::Cow;
use std::fmt::Display;

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

/// Lists all names: `a`, `a and b`, `a, b and c`.
pub fn list_all<T: Display>(names: impl IntoIterator<Item = T>) -> String {
    let mut names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// Lists the first names, and counts the others: `a, b and 3 more`.
pub fn list_some<T: Display>(names: impl IntoIterator<Item = T>, most: usize) -> String {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(most).map(|name| name.to_string()).collect();
    match names.count() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
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

    #[test]
    fn names_are_listed_in_words() {
        let names = ["a", "b", "c"];
        assert_eq!([0, 1, 2, 3].map(|count| list_all(&names[..count])), ["", "a", "a and b", "a, b and c"]);
        assert_eq!([1, 2, 3].map(|most| list_some(names, most)), ["a and 2 more", "a, b and 1 more", "a, b, c"]);
    }
}
