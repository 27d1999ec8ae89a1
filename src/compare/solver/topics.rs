//! What conditions are about. Only conditions about the same key, or of the same sort, can contradict each other.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::part::Part;

/// From how many atoms on they are indexed by their topics.
const MANY: usize = 32;

/// The topic of conditions on all declared keys.
pub(super) const PROPERTIES: u64 = 0;

/// A number for what a condition is about: its key, or else its sort.
pub(super) fn topic(part: &Part<'_>) -> u64 {
    let hasher = foldhash::fast::FixedState::default();
    match part {
        Part::Required(key) | Part::Has(key) | Part::Property(key, _) => hasher.hash_one(&**key),
        Part::Properties(_) => PROPERTIES,
        part => hasher.hash_one(std::mem::discriminant(part)),
    }
}

/// The topics of a list of atoms.
#[derive(Debug, Clone, Default)]
pub(super) struct Topics {
    all: Vec<u64>,
    /// With many atoms, the last one about each topic.
    last: HashMap<u64, usize, foldhash::fast::FixedState>,
    /// With many atoms, the one before each that is about the same.
    before: Vec<Option<usize>>,
}

impl Topics {
    pub(super) fn push(&mut self, topic: u64) {
        self.all.push(topic);
        if self.all.len() < MANY {
            return;
        }
        for (at, topic) in self.all.iter().enumerate().skip(self.before.len()) {
            self.before.push(self.last.insert(*topic, at));
        }
    }

    /// The positions of the atoms about a topic.
    pub(super) fn about(&self, topic: u64) -> impl Iterator<Item = usize> + '_ {
        // Few atoms have no index.
        let few = if self.before.is_empty() { self.all.as_slice() } else { &[] };
        let few = few.iter().enumerate().filter(move |(_, about)| **about == topic).map(|(at, _)| at);
        few.chain(std::iter::successors(self.last.get(&topic).copied(), |at| self.before.get(*at).copied().flatten()))
    }
}
