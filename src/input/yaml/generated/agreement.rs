//! Compares the reader for generated YAML with the event parser: it must build an equal tree, or none.

use super::super::events::{Source, read_either};
use super::super::{Document, Node, Span, Tree, YamlBudget, split_documents};
use super::read;
use crate::input::Text;

/// How many bytes were read, and how many of them without the event parser.
#[derive(Default, Debug)]
pub(crate) struct Share {
    pub documents: usize,
    pub fast_documents: usize,
    pub bytes: usize,
    pub fast: usize,
}

/// Reads every document with both readers, and fails if they differ.
pub(crate) fn compare(text: &str, budget: &YamlBudget) -> Share {
    let text = Text::from(text);
    let mut share = Share::default();
    for span in split_documents::documents(&text) {
        share.documents += 1;
        share.bytes += span.range().len();
        if agree(&text, span, budget) {
            share.fast_documents += 1;
            share.fast += span.range().len();
        }
    }
    share
}

/// Whether the fast reader returned a tree, which must equal the parser's.
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

/// The first observable difference between two trees.
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
