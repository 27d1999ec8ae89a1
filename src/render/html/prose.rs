//! Converts text from files to HTML. This is the only place that makes markup from untrusted text.

use super::super::escape::{code_parts, push_markup};

/// Writes the five characters special in HTML as entities.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    push_markup(&mut out, text);
    out
}

/// Writes a message with text between backticks as code, all of it escaped.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    for (part, is_code) in code_parts(text) {
        out.push_str(if is_code { "<code>" } else { "" });
        push_markup(&mut out, part);
        out.push_str(if is_code { "</code>" } else { "" });
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_and_breaks_are_markup() {
        assert_eq!(prose("`a<b` is \"x\" & `y"), "<code>a&lt;b</code> is &quot;x&quot; &amp; `y");
        assert_eq!(prose("`` x"), "`` x");
        assert_eq!(path("spec.a[\"<x>\"]"), "spec<wbr>.a[&quot;&lt;x&gt;&quot;]");
    }
}
