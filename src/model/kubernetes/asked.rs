//! Which features an answer depended on: minors that agree on them get the same answer, and are judged once.
//!
//! Most CRDs touch nothing that differs between minors. So one of them is asked, every question that the model of the server asks
//! about its version is noted, and only minors that would have answered one of these questions differently are asked again.

use std::cell::Cell;

use super::features::{Feature, TABLE};
use super::{Minor, Minors};

/// The features that were asked for, one bit for each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    server: u64,
    /// In the environment of new expressions.
    new: u64,
}

impl Asked {
    pub const NOTHING: Asked = Asked { server: 0, new: 0 };

    pub fn and(self, other: Asked) -> Asked {
        Asked { server: self.server | other.server, new: self.new | other.new }
    }

    /// Whether two minors agree on all of it.
    fn agrees(self, a: Minor, b: Minor) -> bool {
        let same = |bits: u64, new: bool| {
            let asked = TABLE.iter().enumerate().filter(|(number, _)| bits & 1 << number != 0);
            asked.map(|(_, row)| row.feature).all(|feature| a.knows(feature, new) == b.knows(feature, new))
        };
        a == b || same(self.server, false) && same(self.new, true)
    }

    /// Of the minors that may get the answer that is worked on, one for each way to answer these questions differently.
    pub fn other_answers(self, minor: Minor) -> Vec<Minor> {
        let mut seen = vec![minor];
        for other in CANDIDATES.get().iter() {
            if self != Asked::NOTHING && !seen.iter().any(|known| self.agrees(*known, other)) {
                seen.push(other);
            }
        }
        seen.split_off(1)
    }

    /// Notes again what was asked for an answer that is remembered.
    pub fn note(self) {
        ASKED.with(|asked| asked.set(asked.get().and(self)));
    }
}

thread_local! {
    static ASKED: Cell<Asked> = const { Cell::new(Asked::NOTHING) };
    /// The minors that may get the answer that this thread works on.
    static CANDIDATES: Cell<Minors> = const { Cell::new(Minors::NONE) };
}

pub(super) fn record(feature: Feature, new: bool) {
    let bit = 1 << feature as u64;
    Asked { server: if new { 0 } else { bit }, new: if new { bit } else { 0 } }.note();
}

/// Runs something on this thread, and says what it asked for.
pub fn observe<T>(work: impl FnOnce() -> T) -> (T, Asked) {
    let (result, asked) = observe_apart(work);
    asked.note();
    (result, asked)
}

/// The same for an answer that may not matter: what it asked for isn't noted.
pub fn observe_apart<T>(work: impl FnOnce() -> T) -> (T, Asked) {
    let before = ASKED.replace(Asked::NOTHING);
    let result = work();
    (result, ASKED.replace(before))
}

impl Minors {
    /// What `work` gives for each of these minors, newest first; those that certainly get the same share one answer.
    pub fn each<T>(self, mut work: impl FnMut(Minor) -> T) -> Vec<(Minors, T)> {
        self.each_observed(|minor| observe(|| work(minor)))
    }

    /// The same for work that observes itself.
    pub fn each_observed<T>(self, mut work: impl FnMut(Minor) -> (T, Asked)) -> Vec<(Minors, T)> {
        let mut left = self;
        let mut answers = Vec::new();
        while let Some(minor) = left.last() {
            let before = CANDIDATES.replace(left);
            let (answer, asked) = work(minor);
            CANDIDATES.set(before);
            let alike: Minors = left.iter().filter(|other| asked.agrees(minor, *other)).collect();
            left = left.without(alike);
            answers.push((alike, answer));
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minors_that_agree_are_asked_once() {
        let runs = |work: fn(Minor) -> bool| {
            Minors::ALL.each(work).into_iter().map(|(minors, answer)| (minors.to_string(), answer)).collect::<Vec<_>>()
        };
        assert_eq!(runs(|_| true), [("1.28–1.37".to_owned(), true)]);
        assert_eq!(runs(|minor| minor.has(Feature::Ratcheting)), [("1.30–1.37".to_owned(), true), ("1.28–1.29".to_owned(), false)]);
        assert_eq!(runs(|minor| minor.new_expressions().has(Feature::Sets)).len(), 2);
    }

    #[test]
    fn what_was_asked_inside_counts_outside() {
        let ((_, inner), outer) = observe(|| observe(|| Minor::DEFAULT.has(Feature::Sets)));
        assert_eq!(inner, outer);
        assert_ne!(inner, Asked::NOTHING);
        assert_eq!(observe(|| inner.note()).1, inner);
    }
}
