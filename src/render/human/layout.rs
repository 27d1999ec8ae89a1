//! Terminal output: colours, and text wrapped and indented after a prefix.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::super::escape::code_parts;
use super::Style;

/// The meaning of a colour; no information depends on colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Bad,
    Careful,
    Good,
    /// Draws attention: a path.
    Strong,
    /// The source of a finding: a rule.
    Rule,
    /// Details that are only looked up.
    Faint,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Paint::Bad => "1;31",
            Paint::Careful => "1;33",
            Paint::Good => "32",
            Paint::Strong => "1",
            Paint::Rule => "36",
            Paint::Faint => "2",
        }
    }
}

impl Style {
    pub(super) fn paint<'t>(&self, paint: Paint, text: &'t str) -> Cow<'t, str> {
        if self.color && !text.is_empty() { format!("\u{1b}[{}m{text}\u{1b}[0m", paint.code()).into() } else { text.into() }
    }

    /// Highlights text between backticks. Each word is painted separately, so that the text can be wrapped.
    pub(super) fn prose(&self, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let mut out = String::new();
        for (part, is_code) in code_parts(text) {
            match is_code {
                true => out
                    .push_str(&format!("`{}`", part.split(' ').map(|word| self.paint(Paint::Strong, word)).collect::<Vec<_>>().join(" "))),
                false => out.push_str(part),
            }
        }
        out
    }
}

/// Writes text after a lead, with further lines indented under it. They start with a bar, because CI logs take a line that starts
/// with `::` for a command, even after spaces.
pub(super) fn wrapped(out: &mut String, lead: &str, text: &str, width: usize) {
    let indent = format!("  │{}", " ".repeat(textwrap::core::display_width(lead).saturating_sub(3).max(1)));
    // Don't break paths, versions and expressions.
    let options = textwrap::Options::new(width)
        .initial_indent(lead)
        .subsequent_indent(&indent)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(text, options) {
        let _ = writeln!(out, "{line}");
    }
}

/// Writes text and a place that isn't wrapped: on the same line if both fit, otherwise on the next line.
pub(super) fn with_place(out: &mut String, lead: &str, text: &str, place: &str, width: usize) {
    let length = |text: &str| textwrap::core::display_width(text);
    if length(lead) + length(text) + 1 + length(place) <= width {
        let _ = writeln!(out, "{lead}{}", format!("{text} {place}").trim());
        return;
    }
    wrapped(out, lead, text, width);
    let _ = writeln!(out, "  │{}{place}", " ".repeat(length(lead).saturating_sub(3).max(1)));
}

/// Shortens a text to the room left on a line.
pub(super) fn fitted(text: &str, room: usize) -> Cow<'_, str> {
    if textwrap::core::display_width(text) <= room {
        return text.into();
    }
    let mut out = String::new();
    let mut width = 1;
    for c in text.chars() {
        width += textwrap::core::display_width(c.encode_utf8(&mut [0; 4]));
        if width > room {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out.into()
}
