//! Recognises markers in descriptions that state the maturity of a field.

use crate::model::Maturity;

/// Whether a text may contain a marker: a fast test on its bytes.
pub(super) fn has_marker(text: &str) -> bool {
    ["eta", "lpha", "xperimental", "LPHA", "ETA", "XPERIMENTAL"]
        .iter()
        .any(|part| memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some())
}

/// The maturity that a description states for its field: "Alpha: …", "(beta)", "+experimental", "This field is alpha".
pub fn marker(description: &str) -> Option<Maturity> {
    // Most descriptions contain none of the words, and lower-casing each of them would be expensive.
    if !has_marker(description) {
        return None;
    }
    let lower = description.to_ascii_lowercase();
    let words = [("alpha", Maturity::Alpha), ("experimental", Maturity::Alpha), ("beta", Maturity::Beta)];
    let mut found = words.iter().filter_map(|&(word, maturity)| Some((stated(&lower, word)?, maturity)));
    let first = found.next()?;
    Some(found.fold(first, |first, next| if next.0 < first.0 { next } else { first }).1)
}

/// Where a description applies the word to its field, rather than just containing it.
fn stated(lower: &str, word: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = lower.get(from..)?.find(word).map(|at| from + at) {
        let end = at + word.len();
        from = end;
        let before = lower.get(..at)?;
        let after = lower.get(end..)?;
        if before.ends_with(|c: char| c.is_alphanumeric() || c == '-') || after.starts_with(|c: char| c.is_alphanumeric()) {
            continue;
        }
        let line_start = before.trim_end_matches(['+', '[', '(', '<', '*', '_', '`']).trim_end_matches([' ', '\t']);
        let opens = line_start.is_empty() || line_start.ends_with(['\n', '.', ':']);
        let closes = after.starts_with([':', ')', ']', '>', '.', '\n', ',']) || after.trim().is_empty();
        let bracketed = before.ends_with(['(', '[', '+', '<', ':']) && closes;
        let level = ["-level", " level", " feature", " field", " stage", " quality"].iter().any(|noun| after.starts_with(noun));
        let sentence =
            ["this is an ", "this is a ", "this field is ", "this feature is ", "field is currently ", "is in ", "this field is in "]
                .iter()
                .any(|lead| before.ends_with(lead));
        if bracketed || (opens && (closes || level)) || (sentence && (closes || level || after.starts_with(" and"))) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_as_authors_write_them() {
        for text in [
            "Alpha: how often to try again.",
            "Retry defines it. (alpha)",
            "How often.\n+experimental",
            "Experimental: may go away.",
            "How often.\n\nThis field is alpha and needs a feature gate.",
            "This is an alpha field and requires enabling the Foo feature gate.",
            "[Alpha] How often.",
            "<gateway:experimental>\nHow often.",
            "How often. Experimental.",
        ] {
            assert_eq!(marker(text), Some(Maturity::Alpha), "{text}");
        }
        for text in ["Beta: how often.", "How often (beta).", "This is a beta field and requires a gate."] {
            assert_eq!(marker(text), Some(Maturity::Beta), "{text}");
        }
    }

    #[test]
    fn words_that_are_not_about_the_field() {
        for text in [
            "Names the alpha channel of a colour.",
            "Replaces v1alpha1.",
            "The alphabet.",
            "Which channel to use: standard or experimental releases.",
            "Supports alpha blending.",
        ] {
            assert_eq!(marker(text), None, "{text}");
        }
    }
}
