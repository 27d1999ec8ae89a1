//! Compares two texts line by line.

use similar::{DiffableStr, TextDiff};

/// The lines that differ. `TextDiff::from_lines` does the same, but can also ignore white space, for which all algorithms are compiled
/// again.
pub(crate) fn line_diff<'old, 'new>(old: &'old str, new: &'new str) -> TextDiff<'old, 'new, str> {
    TextDiff::configure().newline_terminated(true).diff_slices(&old.tokenize_lines(), &new.tokenize_lines())
}

/// The difference between two texts of a file, as `diff -u` writes it.
pub(crate) fn unified_diff(old: &str, new: &str, file: &str) -> String {
    line_diff(old, new).unified_diff().context_radius(3).header(&format!("a/{file}"), &format!("b/{file}")).to_string()
}
