//! The keywords of one node that differ between the two sides, each reported once.

use crate::input::yaml::{Entry, Node};
use crate::model::schema::{Keyword, Schema};

use super::value_text::{NodeKind, ordered};

#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'t> {
    pub word: Keyword,
    pub old: Option<Entry<'t>>,
    pub new: Option<Entry<'t>>,
    reported: bool,
}

#[derive(Debug)]
pub(super) struct Changes<'t> {
    list: Vec<Change<'t>>,
}

/// Keywords that contain schemas of children, which are compared separately.
const CHILDREN: &[Keyword] = &[Keyword::Properties, Keyword::Items, Keyword::AdditionalProperties];

/// Lists whose order doesn't matter.
const SETS: &[Keyword] = &[Keyword::Enum, Keyword::Required, Keyword::ListMapKeys, Keyword::Validations];

fn same(word: Keyword, old: Node<'_>, new: Node<'_>) -> bool {
    if old.same(new) {
        return true;
    }
    if super::accepted_values::COMPOSITIONS.contains(&word) {
        return ordered(old, NodeKind::Schema) == ordered(new, NodeKind::Schema);
    }
    if !SETS.contains(&word) || old.len() != new.len() {
        return false;
    }
    let sorted = |node: Node<'_>| {
        let mut list: Vec<String> = node.items().map(|item| ordered(item, NodeKind::Data)).collect();
        list.sort();
        list
    };
    sorted(old) == sorted(new)
}

impl<'t> Changes<'t> {
    pub(super) fn between(old: &Schema<'t>, new: &Schema<'t>) -> Self {
        let mut list = Vec::new();
        for &word in Keyword::ALL {
            let (before, after) = (old.entry(word), new.entry(word));
            let differs = match (before, after) {
                (None, None) => false,
                (Some(before), Some(after)) => !CHILDREN.contains(&word) && !same(word, before.value, after.value),
                _ => true,
            };
            if differs {
                list.push(Change { word, old: before, new: after, reported: false });
            }
        }
        Changes { list }
    }

    pub(super) fn get(&self, word: Keyword) -> Option<Change<'t>> {
        self.list.iter().find(|change| change.word == word).copied()
    }

    pub(super) fn has(&self, word: Keyword) -> bool {
        self.get(word).is_some()
    }

    pub(super) fn has_any(&self, words: &[Keyword]) -> bool {
        self.list.iter().any(|change| words.contains(&change.word))
    }

    /// The first of these that changed.
    pub(super) fn first(&self, words: &[Keyword]) -> Option<Change<'t>> {
        words.iter().find_map(|&word| self.get(word))
    }

    /// Marks a change as reported by some fact.
    pub(super) fn report(&mut self, word: Keyword) {
        if let Some(change) = self.list.iter_mut().find(|change| change.word == word) {
            change.reported = true;
        }
    }

    pub(super) fn report_all(&mut self, words: &[Keyword]) {
        words.iter().for_each(|&word| self.report(word));
    }

    /// Takes the change of this keyword, if no fact has reported it yet; it counts as reported from then on.
    pub(super) fn take(&mut self, word: Keyword) -> Option<Change<'t>> {
        let change = self.list.iter_mut().find(|change| change.word == word && !change.reported)?;
        change.reported = true;
        Some(*change)
    }

    /// The changes that no fact has reported.
    pub(super) fn unreported(&self) -> impl Iterator<Item = Change<'t>> + '_ {
        self.list.iter().copied().filter(|change| !change.reported)
    }
}
