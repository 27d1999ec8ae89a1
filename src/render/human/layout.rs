//! Lines for a terminal: colour, and text wrapped under its lead.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::Style;

/// What a colour means; a reader without colour loses nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paint {
    Bad,
    Careful,
    Good,
    /// Where the eye should go: a path.
    Strong,
    /// Who says it: a rule.
    Rule,
    /// What is there to be looked up.
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

    /// Text in which what is between backticks stands out. Each word is painted by itself, so that it may be wrapped.
    pub(super) fn prose(&self, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let mut out = String::new();
        for (index, part) in text.split('`').enumerate() {
            if index > 0 {
                out.push('`');
            }
            match index % 2 {
                0 => out.push_str(part),
                _ => out.push_str(&part.split(' ').map(|word| self.paint(Paint::Strong, word)).collect::<Vec<_>>().join(" ")),
            }
        }
        out
    }
}

/// Text behind a lead, with the lines after the first indented under it. They begin with a bar, because a CI log takes a line that
/// begins with `::` for a command, spaces or not.
pub(super) fn wrapped(out: &mut String, lead: &str, text: &str, width: usize) {
    let indent = format!("  │{}", " ".repeat(textwrap::core::display_width(lead).saturating_sub(3).max(1)));
    // Paths, versions and expressions stay whole.
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

/// Text, and a place that stays in one piece: behind the text if both fit in a line, otherwise in a line of its own.
pub(super) fn with_place(out: &mut String, lead: &str, text: &str, place: &str, width: usize) {
    let length = |text: &str| textwrap::core::display_width(text);
    if length(lead) + length(text) + 1 + length(place) <= width {
        let _ = writeln!(out, "{lead}{}", format!("{text} {place}").trim());
        return;
    }
    wrapped(out, lead, text, width);
    let _ = writeln!(out, "  │{}{place}", " ".repeat(length(lead).saturating_sub(3).max(1)));
}

/// As much of a text as fits in a line behind what is there already.
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
