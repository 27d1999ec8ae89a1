//! Records which features a result depended on, so that minor versions that agree on them are judged once.
//!
//! Most CRDs use nothing that differs between minor versions. So one version is evaluated, every feature that the server model
//! queries is recorded, and only versions that differ in one of these features are evaluated again. The recording belongs to the
//! [`Server`] that is queried, on whatever thread that happens.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::features::{Feature, TABLE};
use super::{Environment, Minor, Minors};

/// The features that were queried, one bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueriedFeatures {
    server: u64,
    /// Queried in the environment for new expressions.
    new: u64,
}

impl QueriedFeatures {
    pub const NOTHING: QueriedFeatures = QueriedFeatures { server: 0, new: 0 };

    pub fn and(self, other: QueriedFeatures) -> QueriedFeatures {
        QueriedFeatures { server: self.server | other.server, new: self.new | other.new }
    }

    /// Whether two minor versions agree on all of them.
    fn agrees(self, a: Minor, b: Minor) -> bool {
        let same = |bits: u64, new: bool| {
            let asked = TABLE.iter().enumerate().filter(|(number, _)| bits & 1 << number != 0);
            asked.map(|(_, row)| row.feature).all(|feature| a.knows(feature, new) == b.knows(feature, new))
        };
        a == b || same(self.server, false) && same(self.new, true)
    }
}

/// A server that reads CRDs and objects. Everything that depends on its version queries it.
#[derive(Clone, Copy)]
pub struct Server {
    minor: Minor,
    /// Where queries are recorded, while several minor versions are judged together.
    notes: Option<&'static Notes>,
}

/// The features queried so far, and the minor versions that may share the current result.
struct Notes {
    server: AtomicU64,
    new: AtomicU64,
    candidates: AtomicU16,
}

/// Records that are not in use. There are as many as were ever in use at the same time.
static FREE: Mutex<Vec<&'static Notes>> = Mutex::new(Vec::new());

/// A record while it is in use. A copy of a server that outlives it writes to a record of others, which then share fewer results.
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

    fn asked(&self) -> QueriedFeatures {
        QueriedFeatures { server: self.0.server.load(Ordering::Relaxed), new: self.0.new.load(Ordering::Relaxed) }
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

    /// Whether it has a feature; a CEL feature, in expressions of its stored CRD.
    pub fn has(self, feature: Feature) -> bool {
        self.answers(feature, false)
    }

    /// Whether it has a feature of wording. This isn't recorded: verdicts don't depend on it, and messages are compared for each
    /// version separately.
    pub fn words(self, feature: Feature) -> bool {
        self.minor.knows(feature, false)
    }

    /// The environment for expressions of the stored CRD.
    pub fn stored_expressions(self) -> Environment {
        Environment { server: self, new: false }
    }

    /// The environment for new expressions.
    pub fn new_expressions(self) -> Environment {
        Environment { server: self, new: true }
    }

    /// Whether both are the same server and record queries in the same place.
    pub fn is(self, other: Server) -> bool {
        let place = |server: Server| server.notes.map(std::ptr::from_ref);
        self == other && place(self) == place(other)
    }

    pub(super) fn answers(self, feature: Feature, new: bool) -> bool {
        let bit = 1 << feature as u64;
        self.note(QueriedFeatures { server: if new { 0 } else { bit }, new: if new { bit } else { 0 } });
        self.minor.knows(feature, new)
    }

    /// Records the features that a result used here depended on elsewhere.
    pub fn note(self, asked: QueriedFeatures) {
        let Some(notes) = self.notes else { return };
        for (noted, more) in [(&notes.server, asked.server), (&notes.new, asked.new)] {
            if more & !noted.load(Ordering::Relaxed) != 0 {
                noted.fetch_or(more, Ordering::Relaxed);
            }
        }
    }

    /// Runs something for this server and returns the features it queried. They aren't recorded, because the result may not be
    /// used.
    pub fn observe<T>(self, work: impl FnOnce(Server) -> T) -> (T, QueriedFeatures) {
        let recording = Recording::start(Minors::NONE);
        let result = work(Server { notes: Some(recording.0), ..self });
        (result, recording.asked())
    }

    /// Of the versions that may share the current result, one for each different answer to these queries.
    pub fn other_answers(self, asked: QueriedFeatures) -> Vec<Minor> {
        let candidates = self.notes.map_or(Minors::NONE, |notes| Minors::of_bits(notes.candidates.load(Ordering::Relaxed)));
        let mut seen = vec![self.minor];
        for other in candidates.iter().filter(|_| asked != QueriedFeatures::NOTHING) {
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

/// A server of the newest release.
impl Default for Server {
    fn default() -> Self {
        Minor::DEFAULT.into()
    }
}

/// Servers of one minor version are equal, whether or not their queries are recorded.
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
    /// The result of `work` for each of these versions, newest first; versions that certainly have the same result share it.
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
    fn versions_that_agree_are_evaluated_once() {
        let runs = |work: fn(Server) -> bool| {
            Minors::ALL.each(work).into_iter().map(|(minors, answer)| (minors.to_string(), answer)).collect::<Vec<_>>()
        };
        let newest = Minor::NEWEST;
        assert_eq!(runs(|_| true), [(format!("1.28–{newest}"), true)]);
        assert_eq!(runs(|server| server.has(Feature::Ratcheting)), [(format!("1.30–{newest}"), true), ("1.28–1.29".to_owned(), false)]);
        assert_eq!(runs(|server| server.new_expressions().has(Feature::Sets)).len(), 2);
    }

    #[test]
    fn queries_of_other_threads_are_recorded() {
        let work = |server: Server| (0..1_000).into_par_iter().filter(|n| n % 500 == 3 && server.has(Feature::Ratcheting)).count();
        let answers = Minors::ALL.each(work);
        assert_eq!(answers.iter().map(|(_, answer)| *answer).collect::<Vec<_>>(), [2, 0]);
    }

    #[test]
    fn observed_queries_count_once_they_are_noted() {
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
