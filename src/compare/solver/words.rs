//! What a schema says about strings, by name: its formats and patterns.

use crate::go::regexp::Pattern;
use crate::go::strfmt::Format;

/// Whether a pattern matches; `None`: it is not analysed.
pub(crate) fn matches(pattern: &str, text: &str) -> Option<bool> {
    Pattern::new(pattern).ok().map(|pattern| pattern.is_match(text))
}

/// The format of strings that a schema names, if the server knows it.
pub(crate) fn format(name: Option<&str>) -> Option<Format> {
    name.and_then(Format::of)
}
