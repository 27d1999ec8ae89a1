//! Converts text from files to HTML. This is the only place that makes markup from untrusted text.

use std::fmt::Write as _;

use super::super::escape::push_markup;

/// Writes the five characters special in HTML as entities.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push_markup(&mut out, text);
    out
}

/// Writes a message with text between backticks as code, all of it escaped.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('`') {
        let Some((inside, after)) = tail.split_once('`').filter(|(inside, _)| !inside.is_empty()) else { break };
        push_markup(&mut out, before);
        out.push_str("<code>");
        push_markup(&mut out, inside);
        out.push_str("</code>");
        rest = after;
    }
    push_markup(&mut out, rest);
    out
}

/// Writes a field path that may be wrapped before a dot.
pub(super) fn path(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (index, step) in text.split('.').enumerate() {
        if index > 0 {
            out.push_str("<wbr>.");
        }
        push_markup(&mut out, step);
    }
    out
}

/// Joins words as "a, b and c".
pub(super) fn list<T: std::fmt::Display>(words: &[T]) -> String {
    let mut out = String::new();
    for (index, word) in words.iter().enumerate() {
        let join = match index {
            0 => "",
            last if last + 1 == words.len() => " and ",
            _ => ", ",
        };
        let _ = write!(out, "{join}{word}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_and_breaks_are_markup() {
        assert_eq!(prose("`a<b` is \"x\" & `y"), "<code>a&lt;b</code> is &quot;x&quot; &amp; `y");
        assert_eq!(prose("`` x"), "`` x");
        assert_eq!(path("spec.a[\"<x>\"]"), "spec<wbr>.a[&quot;&lt;x&gt;&quot;]");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
    }
}
