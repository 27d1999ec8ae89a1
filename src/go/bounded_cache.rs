//! Answers that are asked for again and again: versions of a CRD repeat each other, and so do the two sides of a review.
//!
//! A memo belongs to one thread and to `thread_local!`, so that nobody waits. It forgets everything when it has grown too large:
//! what comes from files never decides how much memory is held.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::hash::Hash;

use foldhash::{HashMap, HashMapExt};

/// Answers by their question.
pub struct Memo<Q, A> {
    known: RefCell<Known<Q, A>>,
    most: usize,
}

struct Known<Q, A> {
    answers: HashMap<Q, A>,
    weight: usize,
}

impl<Q: Hash + Eq, A: Clone> Memo<Q, A> {
    /// Holds answers up to a total weight of `most`.
    pub fn new(most: usize) -> Self {
        Memo { known: RefCell::new(Known { answers: HashMap::new(), weight: 0 }), most }
    }

    /// The known answer, or a new one. `weigh` says how much of the memo's room the answer takes.
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
            *known = Known { answers: HashMap::new(), weight: 0 };
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
    fn an_answer_is_given_once_and_forgotten_when_there_is_no_room() {
        let memo: Memo<String, usize> = Memo::new(10);
        let asked = std::cell::Cell::new(0);
        let ask = |word: &str| {
            memo.get(
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
        // No room for a third one: the others are asked for again.
        assert_eq!((ask("six"), ask("four"), asked.get()), (3, 4, 4));
        // What is larger than the memo is never kept.
        assert_eq!((ask("eleven words"), ask("eleven words"), asked.get()), (12, 12, 6));
    }
}
