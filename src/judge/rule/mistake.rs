//! A mistake in a text of a rule file, and the bytes of the file that it is about.

use std::ops::Range;

use crate::input::json_schema_check::Fault;
use crate::input::yaml::{Node, Span};

/// What is wrong with a text, said behind the name of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    pub message: String,
    /// The part of the text that is meant, where it isn't all of it.
    pub at: Option<Range<usize>>,
}

impl Mistake {
    /// The same in the file, where the text is the value of a key.
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
        // Escapes and line breaks change no name: the one that comes as often before is the same.
        None => {
            let name = text.get(at.clone())?;
            let earlier = occurrences(text.get(..at.end)?, name).count().checked_sub(1)?;
            occurrences(source, name).nth(earlier)?
        }
    };
    let start = node.span().range().start + start;
    Some(Span::new(start, start + at.len()))
}

/// Where a name stands by itself.
fn occurrences<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = usize> + 't {
    let joins = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(name).map(|(at, _)| at).filter(move |&at| {
        let (before, after) = (text.get(..at), text.get(at + name.len()..));
        !joins(before.and_then(|text| text.chars().next_back())) && !joins(after.and_then(|text| text.chars().next()))
    })
}
