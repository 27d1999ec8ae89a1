//! Limits the work of all searches of one comparison: a file full of complex patterns must not take hours.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

/// How many automaton states one search for a string may visit.
pub const MAX_WORK: usize = 1_000_000;
/// The same for all searches of one comparison together.
pub const MAX_TOGETHER: usize = 5_000_000;
/// How many pairs of conditions all searches of one comparison may check. Comparisons of real schemas need tens of thousands, and a
/// hundred of these take about as long as one automaton state.
const MAX_CONDITIONS: usize = 80_000_000;
/// How many characters, items and keys all searches of one comparison may build into large values, and what counts as large.
const MAX_BUILT: usize = 32_000_000;
const LARGE: usize = 256;
/// What a search may still do when that is used up, and when twice as much is used up.
const LITTLE: usize = 20_000;
const LEAST: usize = 500;

/// The budget of one comparison, shared by all its searches. Clones share the remaining budget.
#[derive(Clone)]
pub struct Budget(Option<Rc<RefCell<Left>>>);

struct Left {
    /// The remaining automaton states.
    work: usize,
    /// The automaton states visited beyond the limit.
    over: usize,
    /// How many pairs of conditions searches for whole values may still check.
    conditions: usize,
    /// How much may still be built into large values.
    built: usize,
    /// Fingerprints of searches that were given up, because trying again would end the same way.
    given_up: HashSet<u64>,
}

impl Budget {
    /// A budget for all searches of one comparison.
    pub fn shared() -> Self {
        let left = Left { work: MAX_TOGETHER, over: 0, conditions: MAX_CONDITIONS, built: MAX_BUILT, given_up: HashSet::new() };
        Budget(Some(Rc::new(RefCell::new(left))))
    }

    /// Limits each search separately, for callers that make only a few.
    pub fn of_each() -> Self {
        Budget(None)
    }

    /// Takes conditions off the budget; returns whether any are left.
    pub(super) fn spend(&self, conditions: usize) -> bool {
        let Some(left) = &self.0 else { return true };
        let mut left = left.borrow_mut();
        left.conditions = left.conditions.saturating_sub(conditions);
        left.conditions > 0
    }

    /// Reserves room for a value of this size; returns whether there was enough.
    pub(super) fn build(&self, size: usize) -> bool {
        let Some(left) = self.0.as_ref().filter(|_| size > LARGE) else { return true };
        let mut left = left.borrow_mut();
        left.built = left.built.saturating_sub(size);
        left.built > 0
    }

    /// How many conditions were compared.
    #[cfg(test)]
    pub(crate) fn spent(&self) -> usize {
        self.0.as_ref().map_or(0, |left| MAX_CONDITIONS - left.borrow().conditions)
    }

    /// How many automaton states a search with this fingerprint may visit; `None` if it was given up before.
    pub(super) fn work(&self, fingerprint: impl FnOnce() -> u64) -> Option<usize> {
        let Some(left) = &self.0 else { return Some(MAX_WORK) };
        let left = left.borrow();
        if !left.given_up.is_empty() && left.given_up.contains(&fingerprint()) {
            return None;
        }
        Some(if left.over < MAX_TOGETHER { left.work.clamp(LITTLE, MAX_WORK) } else { LEAST })
    }

    /// Records the work of a search, and its fingerprint if it was given up.
    pub(super) fn worked(&self, work: usize, given_up: Option<u64>) {
        let Some(left) = &self.0 else { return };
        let mut left = left.borrow_mut();
        left.over += work.saturating_sub(left.work);
        left.work = left.work.saturating_sub(work);
        left.given_up.extend(given_up);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_remaining_budget() {
        let budget = Budget::shared();
        assert!(budget.clone().spend(MAX_CONDITIONS - 1));
        assert!(!budget.spend(1));
        assert!(Budget::shared().spend(1), "another comparison has its own");
        assert!(Budget::of_each().spend(usize::MAX));
    }

    #[test]
    fn large_values_are_built_as_long_as_there_is_room() {
        let budget = Budget::shared();
        assert!(budget.build(MAX_BUILT - 1));
        assert!(!budget.build(LARGE + 1));
        assert!(budget.build(LARGE), "small ones don't count");
    }

    #[test]
    fn a_little_work_is_allowed_when_the_budget_is_used_up() {
        let budget = Budget::shared();
        assert_eq!(budget.work(|| 1), Some(MAX_WORK));
        budget.worked(MAX_TOGETHER, None);
        assert_eq!(budget.work(|| 1), Some(LITTLE));
        budget.worked(MAX_TOGETHER, Some(1));
        assert_eq!((budget.work(|| 1), budget.work(|| 2)), (None, Some(LEAST)));
        let each = Budget::of_each();
        each.worked(usize::MAX, Some(1));
        assert_eq!(each.work(|| 1), Some(MAX_WORK));
    }
}
