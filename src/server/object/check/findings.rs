//! Collects what a run of the validator finds.

use crate::server::object::error::{FieldError, FieldErrorKind};
use crate::server::object::path::{ObjectPath, Trail};
use crate::server::object::ratchet::Tolerated;
use crate::server::object::trace::{Check, Seen};

/// How many values of one object are checked against nodes, those of clauses included. The server takes requests of three megabytes.
pub(super) const MAX_WORK: usize = 8_000_000;
/// How many errors of one object are listed.
const MAX_ERRORS: usize = 10_000;

/// The results of one run.
#[derive(Debug, Default)]
pub(in super::super) struct Findings {
    /// Whether errors are only counted.
    pub(super) quiet: bool,
    pub failures: usize,
    pub errors: Vec<FieldError>,
    /// Errors that ratcheting tolerates, because the update didn't change the invalid value.
    pub warnings: Vec<Tolerated>,
    /// Checks of the server that can't be made here.
    pub undecided: Vec<(ObjectPath, String)>,
    /// The checks made at declared nodes, if requested.
    pub seen: Option<Vec<Seen>>,
    /// The number of checks that passed: the server reports the clause that passed the most.
    pub(super) passed: u32,
    /// How many values were checked against a node.
    pub(super) work: usize,
}

impl Findings {
    pub(in super::super) fn quiet() -> Self {
        Findings { quiet: true, ..Findings::default() }
    }

    /// Whether everything passed; `None` if a check can't be made here.
    pub(in super::super) fn verdict(&self) -> Option<bool> {
        match (self.failures, self.undecided.is_empty() && self.work <= MAX_WORK) {
            (0, true) => Some(true),
            (0, false) => None,
            _ => Some(false),
        }
    }

    /// Whether further checks can't change the verdict, and their errors aren't needed.
    pub(super) fn is_settled(&self) -> bool {
        self.quiet && self.failures > 0 || self.work > MAX_WORK || self.errors.len() >= MAX_ERRORS
    }

    pub(super) fn like(&self) -> Self {
        Findings { quiet: self.quiet, work: self.work, ..Findings::default() }
    }

    /// The work in CEL steps: a check takes about as long as a few of them.
    pub(in super::super) fn steps(&self) -> usize {
        const STEPS: usize = 4;
        self.work * STEPS
    }

    /// Reports what was left out because of a limit.
    pub(super) fn complete(mut self) -> Self {
        let cut = match () {
            () if self.work > MAX_WORK => format!("checking this object takes more than {MAX_WORK} steps"),
            () if self.errors.len() >= MAX_ERRORS => format!("more than {MAX_ERRORS} errors; the others aren't listed"),
            () => return self,
        };
        self.undecided.push((ObjectPath::root(), cut));
        self
    }

    pub(super) fn merge(&mut self, other: Findings) {
        self.failures += other.failures;
        self.work = self.work.max(other.work);
        self.passed += other.passed;
        self.errors.extend(other.errors);
        self.warnings.extend(other.warnings);
        self.undecided.extend(other.undecided);
        if let Some(seen) = &mut self.seen {
            seen.extend(other.seen.into_iter().flatten());
        }
    }

    /// Records the result of a check.
    pub(super) fn saw(&mut self, trail: &Trail<'_>, kind: FieldErrorKind, holds: bool) {
        if let Some(seen) = &mut self.seen {
            seen.push(Seen { path: trail.path().general(), check: Check::Keyword(kind), holds, update: false });
        }
    }

    /// Whether a clause is closer to passing than another one, by the server's measure.
    pub(super) fn is_closer(&self, other: &Findings) -> bool {
        other.failures > 0 && (self.failures == 0 || self.passed > other.passed)
    }

    pub(super) fn fail(&mut self, error: impl FnOnce() -> FieldError) {
        self.failures += 1;
        if !self.quiet {
            self.errors.push(error());
        }
    }
}
