//! Puts the entries of two mappings, or the names of two lists, side by side.

use std::collections::{BTreeMap, BTreeSet};

use crate::input::yaml::{Entry, Node};
use crate::model::StringNode;

/// Entries that differ between two mappings, by name; null counts as absent.
pub(super) fn entries<'t>(old: Option<Node<'t>>, new: Option<Node<'t>>, known: &[&str]) -> impl Iterator<Item = EntryPair<'t>> {
    let list = |map: Option<Node<'t>>| {
        map.into_iter().flat_map(Node::entries).filter(|entry| !entry.value.is_null() && !known.contains(&entry.name()))
    };
    differing(list(old), list(new))
}

/// The entries with one name on both sides.
pub(super) type EntryPair<'t> = (Option<Entry<'t>>, Option<Entry<'t>>);

/// Entries whose values differ, sorted by name.
pub(super) fn differing<'t>(
    old: impl Iterator<Item = Entry<'t>>,
    new: impl Iterator<Item = Entry<'t>>,
) -> impl Iterator<Item = EntryPair<'t>> {
    let same = |pair: &EntryPair<'t>| matches!(pair, (Some(old), Some(new)) if old.value.same(new.value));
    side_by_side(old, new).into_values().filter(move |pair| !same(pair))
}

/// The entries of two mappings by name.
pub(super) fn side_by_side<'t>(
    old: impl Iterator<Item = Entry<'t>>,
    new: impl Iterator<Item = Entry<'t>>,
) -> BTreeMap<&'t str, EntryPair<'t>> {
    let mut both: BTreeMap<&str, EntryPair<'t>> = BTreeMap::new();
    old.for_each(|entry| both.entry(entry.name()).or_default().0 = Some(entry));
    new.for_each(|entry| both.entry(entry.name()).or_default().1 = Some(entry));
    both
}

/// Names that only one of two lists has: those of the first, then those of the second.
pub(super) fn only_on_one_side<'t>(old: &[StringNode<'t>], new: &[StringNode<'t>]) -> (Vec<StringNode<'t>>, Vec<StringNode<'t>>) {
    let names = |list: &[StringNode<'t>]| list.iter().map(|text| text.value).collect::<BTreeSet<_>>();
    let (before, after) = (names(old), names(new));
    let only = |list: &[StringNode<'t>], other: &BTreeSet<&str>| list.iter().filter(|text| !other.contains(text.value)).copied().collect();
    (only(old, &after), only(new, &before))
}
