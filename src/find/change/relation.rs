//! How one set stands to another that takes its place.

use crate::model::fact::Effect;

/// What became of a set of values. `Undecided` is never better than `Changed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    Narrowed,
    Widened,
    Changed,
    Undecided,
}

impl Relation {
    pub(super) fn of(narrowed: bool, widened: bool) -> Self {
        match (narrowed, widened) {
            (false, false) => Relation::Equal,
            (true, false) => Relation::Narrowed,
            (false, true) => Relation::Widened,
            (true, true) => Relation::Changed,
        }
    }

    /// Two conditions that hold together.
    pub(super) fn and(self, other: Relation) -> Self {
        use Relation::{Changed, Equal, Undecided};
        match (self, other) {
            (Equal, one) | (one, Equal) => one,
            (Undecided, _) | (_, Undecided) => Undecided,
            (a, b) if a == b => a,
            _ => Changed,
        }
    }

    pub(super) fn narrows(self) -> bool {
        matches!(self, Relation::Narrowed | Relation::Changed | Relation::Undecided)
    }

    pub(super) fn effect(self) -> Effect {
        match self {
            Relation::Equal => Effect::Rewritten,
            Relation::Narrowed => Effect::Narrowed,
            Relation::Widened => Effect::Widened,
            Relation::Changed => Effect::Changed,
            Relation::Undecided => Effect::Undecided,
        }
    }
}
