//! Recognises statements in descriptions that tools rely on.

/// Whether a description says that its field is deprecated, in one of the ways authors write it.
pub(crate) fn is_deprecated(description: &str) -> bool {
    // Most descriptions don't contain the word, and lower-casing each of them would be expensive.
    if !description.contains("eprecated") && !description.contains("EPRECATED") {
        return false;
    }
    let lower = description.to_ascii_lowercase();
    if lower.starts_with("deprecated") {
        return true;
    }
    if description.contains("DEPRECATED") || description.contains("Deprecated:") || description.contains("Deprecated.") {
        return true;
    }
    // "this field is deprecated", but not "… is deprecated" about something else in the middle of a clause.
    [
        "this field is deprecated",
        "is deprecated.",
        "is deprecated,",
        "is deprecated and",
        "is deprecated in favor",
        "has been deprecated",
        "is deprecated;",
        "is deprecated:",
    ]
    .iter()
    .any(|marker| lower.contains(marker))
        || lower.trim_end().ends_with("is deprecated")
}

/// The part of a description that starts with the sentence or line that announces the deprecation.
pub(crate) fn deprecation_notice(description: &str) -> &str {
    let at = description.to_ascii_lowercase().find("deprecated").unwrap_or(0);
    let start = description.get(..at).and_then(|before| before.rfind(['.', '\n'])).map_or(0, |dot| dot + 1);
    description.get(start..).unwrap_or(description)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_deprecation_notices_are_recognised() {
        for text in
            ["Deprecated: use b", "Old. Deprecated: use b.", "DEPRECATED. Use b.", "This field is deprecated, use b", "a is deprecated."]
        {
            assert!(is_deprecated(text), "{text}");
        }
        assert!(!is_deprecated("Whether deprecated APIs are shown"));
        assert!(!is_deprecated("A name"));
    }
}
