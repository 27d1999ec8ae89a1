//! A mistake in a text of a rule file, with its bytes in the file.

use std::ops::Range;

use crate::input::json_schema_check::Fault;
use crate::input::yaml::{Node, Span};

/// What is wrong with a text; messages put the name of its key before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    pub message: String,
    /// The relevant part of the text, if it isn't all of it.
    pub at: Option<Range<usize>>,
}

impl Mistake {
    /// Converts to an error in the file, if the text is the value of a key.
    pub(super) fn fault(self, key: &str, node: Node<'_>) -> Fault {
        let span = self.at.and_then(|at| place(node, at)).unwrap_or_else(|| node.span());
        Fault::new(format!("`{key}` {}", self.message), span)
    }
}

/// The bytes of a name in a scalar, which may be written with escapes or folded.
fn place(node: Node<'_>, at: Range<usize>) -> Option<Span> {
    let (source, text) = (node.source(), node.as_str()?);
    let start = match source.find(text) {
        Some(start) => start + at.start,
        // Escapes and line breaks don't change names, so count how often the name occurs before and take the same occurrence.
        None => {
            let name = text.get(at.clone())?;
            let earlier = occurrences(text.get(..at.end)?, name).count().checked_sub(1)?;
            occurrences(source, name).nth(earlier)?
        }
    };
    let start = node.span().range().start + start;
    Some(Span::new(start, start + at.len()))
}

/// The positions where a name occurs as a whole word.
fn occurrences<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let (before, after) = (text.get(..at), text.get(at + name.len()..));
        !joins(before.and_then(|text| text.chars().next_back())) && !joins(after.and_then(|text| text.chars().next()))
    })
}
