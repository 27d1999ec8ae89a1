//! Holds the reader for generated YAML against the event parser: equal trees, or it has none.

use super::super::events::{Source, read_either};
use super::super::{Document, Node, Span, Tree, YamlBudget, split};
use super::read;
use crate::input::Text;

/// Bytes that were read, and those of them that the event parser wasn't needed for.
#[derive(Default, Debug)]
pub(crate) struct Share {
    pub documents: usize,
    pub fast_documents: usize,
    pub bytes: usize,
    pub fast: usize,
}

/// Reads every document with both readers, and fails where they differ.
pub(crate) fn compare(text: &str, budget: &YamlBudget) -> Share {
    let text = Text::from(text);
    let mut share = Share::default();
    for span in split::documents(&text) {
        share.documents += 1;
        share.bytes += span.range().len();
        if agree(&text, span, budget) {
            share.fast_documents += 1;
            share.fast += span.range().len();
        }
    }
    share
}

/// Whether the fast reader had an answer; it must be the parser's.
fn agree(text: &Text, span: Span, budget: &YamlBudget) -> bool {
    let source = Source::new(text, span, false).unwrap();
    let Some(fast) = read(&source, budget) else { return false };
    let slow = read_either(&source, budget);
    let [Document { tree: Ok(slow), .. }] = &slow[..] else { panic!("the parser says {slow:?}\nof {:?}", source.slice) };
    if let Some(difference) = difference(&fast, slow) {
        panic!("{difference}\nin {:?}", source.slice.get(..4000).unwrap_or(source.slice));
    }
    true
}

/// The first difference of two trees in anything that can be seen of them.
fn difference(fast: &Tree, slow: &Tree) -> Option<String> {
    let ambiguous = |tree: &Tree| format!("{:?}", tree.ambiguous().collect::<Vec<_>>());
    let (one, two) = (ambiguous(fast), ambiguous(slow));
    if one != two {
        return Some(format!("ambiguous: {one} and {two}"));
    }
    let mut left = vec![(fast.root(), slow.root())];
    while let Some((a, b)) = left.pop() {
        let seen = |node: Node<'_>| (node.id(), node.span(), node.len());
        if seen(a) != seen(b) || a.data() != b.data() {
            return Some(format!("{:?} {a:?} and {:?} {b:?}", seen(a), seen(b)));
        }
        left.extend(a.entries().zip(b.entries()).flat_map(|(a, b)| [(a.key, b.key), (a.value, b.value)]));
        left.extend(a.items().zip(b.items()));
    }
    None
}
