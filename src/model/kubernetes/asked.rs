//! Which features an answer depended on: minors that agree on them get the same answer, and are judged once.
//!
//! Most CRDs touch nothing that differs between minors. So one of them is asked, every question that the model of the server asks
//! about its version is noted, and only minors that would have answered one of these questions differently are asked again.
//! The notes go with the [`Server`] that is asked, on whatever thread that happens.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::features::{Feature, TABLE};
use super::{Environment, Minor, Minors};

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
}

/// A server that reads CRDs and objects. Whatever depends on its version asks it.
#[derive(Clone, Copy)]
pub struct Server {
    minor: Minor,
    /// Where the questions are noted, while minors are judged together.
    notes: Option<&'static Notes>,
}

/// What was asked so far, and the minors that may get the answer that is worked on.
struct Notes {
    server: AtomicU64,
    new: AtomicU64,
    candidates: AtomicU16,
}

/// Notes that nobody writes to. There are as many as were ever in use at the same time.
static FREE: Mutex<Vec<&'static Notes>> = Mutex::new(Vec::new());

/// Notes as long as somebody reads them. A copy of a server that lives longer writes to notes of others, which then share less.
struct Recording(&'static Notes);

impl Recording {
    fn start(candidates: Minors) -> Self {
        let empty = || -> &'static Notes {
            Box::leak(Box::new(Notes { server: AtomicU64::new(0), new: AtomicU64::new(0), candidates: AtomicU16::new(0) }))
        };
        let notes = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(empty);
        notes.server.store(0, Ordering::Relaxed);
        notes.new.store(0, Ordering::Relaxed);
        notes.candidates.store(candidates.bits(), Ordering::Relaxed);
        Recording(notes)
    }

    fn asked(&self) -> Asked {
        Asked { server: self.0.server.load(Ordering::Relaxed), new: self.0.new.load(Ordering::Relaxed) }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

impl Server {
    pub fn minor(self) -> Minor {
        self.minor
    }

    /// Whether it has a feature; of CEL, in expressions that its stored CRD has.
    pub fn has(self, feature: Feature) -> bool {
        self.answers(feature, false)
    }

    /// Whether it has a feature of wording. That isn't noted: verdicts don't depend on it, and whoever compares messages asks each minor.
    pub fn words(self, feature: Feature) -> bool {
        self.minor.knows(feature, false)
    }

    /// The environment for expressions that the stored CRD has.
    pub fn stored_expressions(self) -> Environment {
        Environment { server: self, new: false }
    }

    /// The environment for new expressions.
    pub fn new_expressions(self) -> Environment {
        Environment { server: self, new: true }
    }

    /// Whether both are the same server and note their questions in the same place.
    pub fn is(self, other: Server) -> bool {
        let place = |server: Server| server.notes.map(std::ptr::from_ref);
        self == other && place(self) == place(other)
    }

    pub(super) fn answers(self, feature: Feature, new: bool) -> bool {
        let bit = 1 << feature as u64;
        self.note(Asked { server: if new { 0 } else { bit }, new: if new { bit } else { 0 } });
        self.minor.knows(feature, new)
    }

    /// Notes what was asked elsewhere for an answer that is used here.
    pub fn note(self, asked: Asked) {
        let Some(notes) = self.notes else { return };
        for (noted, more) in [(&notes.server, asked.server), (&notes.new, asked.new)] {
            if more & !noted.load(Ordering::Relaxed) != 0 {
                noted.fetch_or(more, Ordering::Relaxed);
            }
        }
    }

    /// Runs something for this server, and says what it asked for. Here that isn't noted: the answer may not matter.
    pub fn observe<T>(self, work: impl FnOnce(Server) -> T) -> (T, Asked) {
        let recording = Recording::start(Minors::NONE);
        let result = work(Server { notes: Some(recording.0), ..self });
        (result, recording.asked())
    }

    /// Of the minors that may get the answer that is worked on, one for each way to answer these questions differently.
    pub fn other_answers(self, asked: Asked) -> Vec<Minor> {
        let candidates = self.notes.map_or(Minors::NONE, |notes| Minors::of_bits(notes.candidates.load(Ordering::Relaxed)));
        let mut seen = vec![self.minor];
        for other in candidates.iter().filter(|_| asked != Asked::NOTHING) {
            if !seen.iter().any(|known| asked.agrees(*known, other)) {
                seen.push(other);
            }
        }
        seen.split_off(1)
    }
}

impl From<Minor> for Server {
    fn from(minor: Minor) -> Self {
        Server { minor, notes: None }
    }
}

/// That of the newest release.
impl Default for Server {
    fn default() -> Self {
        Minor::DEFAULT.into()
    }
}

/// Servers of one minor are equal, whether their questions are noted or not.
impl PartialEq for Server {
    fn eq(&self, other: &Self) -> bool {
        self.minor == other.minor
    }
}

impl Eq for Server {}

impl Hash for Server {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.minor.hash(state);
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.minor.fmt(f)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.minor.fmt(f)
    }
}

impl Minors {
    /// What `work` gives for each of these minors, newest first; those that certainly get the same share one answer.
    pub fn each<T>(self, mut work: impl FnMut(Server) -> T) -> Vec<(Minors, T)> {
        let mut left = self;
        let mut answers = Vec::new();
        while let Some(minor) = left.last() {
            let recording = Recording::start(left);
            let answer = work(Server { minor, notes: Some(recording.0) });
            let asked = recording.asked();
            let alike: Minors = left.iter().filter(|other| asked.agrees(minor, *other)).collect();
            left = left.without(alike);
            answers.push((alike, answer));
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn minors_that_agree_are_asked_once() {
        let runs = |work: fn(Server) -> bool| {
            Minors::ALL.each(work).into_iter().map(|(minors, answer)| (minors.to_string(), answer)).collect::<Vec<_>>()
        };
        let newest = Minor::NEWEST;
        assert_eq!(runs(|_| true), [(format!("1.28–{newest}"), true)]);
        assert_eq!(runs(|server| server.has(Feature::Ratcheting)), [(format!("1.30–{newest}"), true), ("1.28–1.29".to_owned(), false)]);
        assert_eq!(runs(|server| server.new_expressions().has(Feature::Sets)).len(), 2);
    }

    #[test]
    fn questions_of_other_threads_count() {
        let work = |server: Server| (0..1_000).into_par_iter().filter(|n| n % 500 == 3 && server.has(Feature::Ratcheting)).count();
        let answers = Minors::ALL.each(work);
        assert_eq!(answers.iter().map(|(_, answer)| *answer).collect::<Vec<_>>(), [2, 0]);
    }

    #[test]
    fn what_is_observed_apart_counts_once_it_is_noted() {
        let observed = |noted: bool| {
            let work = |server: Server| {
                let (answer, asked) = server.observe(|server| server.has(Feature::Sets));
                if noted {
                    server.note(asked);
                }
                answer
            };
            Minors::ALL.each(work).len()
        };
        assert_eq!((observed(false), observed(true)), (1, 2));
    }
}
