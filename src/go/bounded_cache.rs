//! A cache for results that are needed repeatedly: versions of a CRD repeat each other, and so do the two sides of a review.
//!
//! A cache belongs to one thread (`thread_local!`), so that no thread waits for another. It is emptied when it gets too large, so
//! that untrusted files can't decide how much memory is used.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::Hash;

use foldhash::{HashMap, HashMapExt};

/// Cached answers by question.
pub struct BoundedCache<Q, A> {
    known: RefCell<CacheEntries<Q, A>>,
    most: usize,
}

struct CacheEntries<Q, A> {
    answers: HashMap<Q, A>,
    weight: usize,
}

impl<Q: Hash + Eq, A: Clone> BoundedCache<Q, A> {
    /// Holds answers up to a total weight of `most`.
    pub fn new(most: usize) -> Self {
        BoundedCache { known: RefCell::new(CacheEntries { answers: HashMap::new(), weight: 0 }), most }
    }

    /// Returns the cached answer, or computes it. `weigh` returns how much of the cache's capacity the answer takes.
    pub fn get<K>(&self, question: &K, weigh: impl FnOnce(&A) -> usize, answer: impl FnOnce() -> A) -> A
    where
        Q: Borrow<K>,
        K: Hash + Eq + ToOwned<Owned = Q> + ?Sized,
    {
        if let Some(known) = self.known.borrow().answers.get(question) {
            return known.clone();
        }
        let answer = answer();
        let weight = weigh(&answer);
        let mut known = self.known.borrow_mut();
        if known.weight.saturating_add(weight) > self.most {
            *known = CacheEntries { answers: HashMap::new(), weight: 0 };
        }
        if weight <= self.most {
            known.weight += weight;
            known.answers.insert(question.to_owned(), answer.clone());
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_cached_until_there_is_no_room() {
        let cache: BoundedCache<String, usize> = BoundedCache::new(10);
        let asked = std::cell::Cell::new(0);
        let ask = |word: &str| {
            cache.get(
                word,
                |&length| length,
                || {
                    asked.set(asked.get() + 1);
                    word.len()
                },
            )
        };
        assert_eq!((ask("four"), ask("four"), asked.get()), (4, 4, 1));
        assert_eq!((ask("fives"), asked.get()), (5, 2));
        // There is no room for a third one, so the cache is emptied.
        assert_eq!((ask("six"), ask("four"), asked.get()), (3, 4, 4));
        // An answer larger than the cache is never kept.
        assert_eq!((ask("eleven words"), ask("eleven words"), asked.get()), (12, 12, 6));
    }
}
