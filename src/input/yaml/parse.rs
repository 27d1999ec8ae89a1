//! Finds the documents of a file, and chooses the reader for each.

use super::events::{self, Source};
use super::{Document, Error, ErrorKind, Span, YamlBudget, generated, split_documents};
use crate::input::Text;

/// Reads every document of a file. A broken document is returned as its error and doesn't affect the others.
pub fn parse(text: &Text, budget: &YamlBudget) -> Vec<Document> {
    let json = matches!(text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).as_bytes().first(), Some(b'{'));
    let spans = if json { vec![Span::new(0, text.len())] } else { split_documents::documents(text) };
    if let Some(over) = spans.get(budget.documents) {
        let error = Error { kind: ErrorKind::Documents(budget.documents), span: *over, related: None };
        return vec![Document { span: *over, tree: Err(error) }];
    }
    use rayon::prelude::*;
    const WORTH_A_THREAD: usize = 64 << 10;
    if text.len() < WORTH_A_THREAD || spans.len() < 2 {
        return spans.into_iter().flat_map(|span| part(text, span, json, budget)).collect();
    }
    spans.into_par_iter().flat_map_iter(|span| part(text, span, json, budget)).collect()
}

/// The documents of one part: one, unless `...` ends it early.
///
/// The output of generators is read in a single pass; everything else, and anything with an error, by the event parser.
fn part(text: &Text, span: Span, json: bool, budget: &YamlBudget) -> Vec<Document> {
    let Some(source) = Source::new(text, span, json) else { return Vec::new() };
    match generated::read(&source, budget) {
        Some(tree) => vec![Document { span, tree: Ok(tree) }],
        None => events::read_either(&source, budget),
    }
}
