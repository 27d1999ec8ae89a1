//! Limits the work of searches: whatever the input, all searches of one comparison together take about a second.
//!
//! Work is counted in conditions checked. Everything that takes long is expressed in this unit: visited automaton states, steps of
//! CEL rules, objects checked, and large values.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;

use rayon::prelude::*;

/// How much work all searches of one comparison of bundles may do.
const TOGETHER: usize = 250_000_000;
/// With this much left for one CRD, there are few others to search at the same time.
const PLENTY: usize = TOGETHER / 4;
/// How many automaton states one search for a string may visit.
pub const MAX_STATES: usize = 1_000_000;
/// How many it may visit even if nothing is left.
const LEAST: usize = 500;
/// The cost of an automaton state.
const STATE: usize = 100;
/// The cost of a character or item of a large value, and what counts as large.
const BUILT: usize = 2;
const LARGE: usize = 256;

/// The work that some searches may still do. Clones, and the parts of a budget, share what is left.
#[derive(Clone)]
pub struct Budget {
    pool: Rc<Pool>,
    /// What must be left in the pool for others.
    reserved: usize,
    /// Fingerprints of searches that were given up, because trying again would end the same way.
    given_up: Rc<RefCell<HashSet<u64>>>,
}

struct Pool {
    left: Cell<usize>,
    /// Whether a search ended because nothing was left for it.
    ran_out: Cell<bool>,
}

/// What a search did.
struct Spent {
    work: usize,
    ran_out: bool,
}

impl Budget {
    /// A budget for the searches of one comparison.
    pub fn shared() -> Self {
        Budget::of(TOGETHER)
    }

    /// Limits each search separately, for callers that make only a few.
    pub fn of_each() -> Self {
        Budget::of(usize::MAX)
    }

    fn of(work: usize) -> Self {
        let pool = Pool { left: Cell::new(work), ran_out: Cell::new(false) };
        Budget { pool: Rc::new(pool), reserved: 0, given_up: Rc::default() }
    }

    /// One of this many equal parts of what is left. Searches that use it leave the other parts alone.
    pub(crate) fn part(&self, parts: usize) -> Self {
        let reserved = match self.is_unlimited() {
            true => 0,
            false => self.pool.left.get() - self.left().div_ceil(parts.max(1)),
        };
        Budget { pool: Rc::clone(&self.pool), reserved, given_up: Rc::default() }
    }

    /// Runs two searches, the first with half of what is left. If plenty is left, they run at the same time, each with half.
    pub(crate) fn join<A: Send, B: Send>(&self, one: impl FnOnce(&Budget) -> A + Send, other: impl FnOnce(&Budget) -> B + Send) -> (A, B) {
        if !self.is_unlimited() && self.left() < PLENTY {
            return (one(&self.part(2)), other(self));
        }
        let half = if self.is_unlimited() { usize::MAX } else { self.left() / 2 };
        let ((one, first), (other, second)) = rayon::join(|| Self::within(half, one), || Self::within(half, other));
        for Spent { work, ran_out } in [first, second] {
            self.spend(work);
            self.pool.ran_out.set(self.pool.ran_out.get() || ran_out);
        }
        (one, other)
    }

    /// Runs a search with its own budget.
    fn within<R>(work: usize, search: impl FnOnce(&Budget) -> R) -> (R, Spent) {
        let budget = Budget::of(work);
        let found = search(&budget);
        (found, Spent { work: work - budget.pool.left.get(), ran_out: budget.pool.ran_out.get() })
    }

    fn is_unlimited(&self) -> bool {
        self.pool.left.get() == usize::MAX
    }

    fn left(&self) -> usize {
        self.pool.left.get().saturating_sub(self.reserved)
    }

    /// Takes conditions off the budget; returns whether any are left.
    pub(crate) fn spend(&self, conditions: usize) -> bool {
        if self.is_unlimited() {
            return true;
        }
        self.pool.left.set(self.pool.left.get() - conditions.min(self.left()));
        let any = self.left() > 0;
        if !any {
            self.pool.ran_out.set(true);
        }
        any
    }

    /// Reserves room for a value of this size; returns whether there was enough.
    pub(super) fn build(&self, size: usize) -> bool {
        size <= LARGE || self.spend(size.saturating_mul(BUILT))
    }

    /// How many automaton states a search with this fingerprint may visit; `None` if it was given up before.
    pub(super) fn states(&self, fingerprint: impl FnOnce() -> u64) -> Option<usize> {
        let given_up = self.given_up.borrow();
        if !given_up.is_empty() && given_up.contains(&fingerprint()) {
            return None;
        }
        Some((self.left() / STATE).clamp(LEAST, MAX_STATES))
    }

    /// Records the states that a search visited, and its fingerprint if it was given up.
    pub(super) fn visited(&self, states: usize, given_up: Option<u64>) {
        self.spend(states.saturating_mul(STATE));
        self.given_up.borrow_mut().extend(given_up);
    }

    /// How many conditions were compared.
    #[cfg(test)]
    pub(crate) fn spent(&self) -> usize {
        TOGETHER - self.pool.left.get()
    }
}

/// Searches for each of several items within one budget. Each gets an equal part; what is left then goes to those for which it
/// wasn't enough, which start again. The results don't depend on the number of threads.
pub(crate) fn divide<T: Sync, R: Send>(items: &[T], search: impl Fn(&T, &Budget) -> R + Sync) -> Vec<R> {
    let within = |item: &T, work: usize| Budget::within(work, |budget| search(item, budget));
    let mut part = match items.len() {
        0 | 1 => TOGETHER,
        count => TOGETHER / 2 / count,
    };
    let first: Vec<(R, Spent)> = items.par_iter().map(|item| within(item, part)).collect();
    let mut left = TOGETHER.saturating_sub(first.iter().map(|(_, spent)| spent.work).sum());
    let mut short: Vec<usize> = first.iter().enumerate().filter(|(_, (_, spent))| spent.ran_out).map(|(index, _)| index).collect();
    let mut results: Vec<R> = first.into_iter().map(|(found, _)| found).collect();
    while !short.is_empty() && left / short.len() >= 2 * part {
        part = left / short.len();
        let again: Vec<(usize, (R, Spent))> =
            short.par_iter().filter_map(|&index| Some((index, within(items.get(index)?, part)))).collect();
        short.clear();
        for (index, (found, spent)) in again {
            left = left.saturating_sub(spent.work);
            short.extend(spent.ran_out.then_some(index));
            if let Some(result) = results.get_mut(index) {
                *result = found;
            }
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_the_remaining_budget() {
        let budget = Budget::shared();
        assert!(budget.clone().spend(TOGETHER - 1));
        assert!(!budget.spend(1));
        assert!(Budget::shared().spend(1), "another comparison has its own");
        assert!(Budget::of_each().spend(usize::MAX));
    }

    #[test]
    fn large_values_are_built_as_long_as_there_is_room() {
        let budget = Budget::shared();
        assert!(budget.build(TOGETHER / BUILT - 1));
        assert!(!budget.build(LARGE + 1));
        assert!(budget.build(LARGE), "small ones don't count");
    }

    #[test]
    fn a_part_leaves_the_rest_to_others() {
        let budget = Budget::shared();
        let part = budget.part(4);
        assert!(!part.spend(usize::MAX));
        assert_eq!(budget.spent(), TOGETHER / 4);
        assert!(budget.part(1).spend(TOGETHER / 2));
    }

    #[test]
    fn a_little_work_is_allowed_when_the_budget_is_used_up() {
        let budget = Budget::shared();
        assert_eq!(budget.states(|| 1), Some((TOGETHER / STATE).min(MAX_STATES)));
        budget.visited(TOGETHER / STATE - 1, None);
        assert_eq!(budget.states(|| 1), Some(LEAST));
        budget.visited(1, Some(1));
        assert_eq!((budget.states(|| 1), budget.states(|| 2)), (None, Some(LEAST)));
        let each = Budget::of_each();
        each.visited(usize::MAX, None);
        assert_eq!(each.states(|| 1), Some(MAX_STATES));
    }

    #[test]
    fn two_searches_at_the_same_time_get_half_each() {
        let budget = Budget::shared();
        let all = |budget: &Budget| budget.spend(TOGETHER / 2);
        assert_eq!(budget.join(all, |budget| budget.spend(1)), (false, true));
        assert_eq!(budget.spent(), TOGETHER / 2 + 1);
        assert!(budget.pool.ran_out.get(), "one of them wanted more");
    }

    #[test]
    fn with_little_left_the_second_search_gets_what_the_first_leaves() {
        let budget = Budget::of(PLENTY - 1);
        let (first, second) = budget.join(|budget| budget.spend(PLENTY), |budget| budget.spend(PLENTY / 2 - 1));
        assert_eq!((first, second), (false, false), "the first takes half at most");
        let budget = Budget::of(PLENTY - 1);
        assert_eq!(budget.join(|budget| budget.spend(1), |budget| budget.spend(PLENTY - 3)), (true, true));
    }

    #[test]
    fn what_is_left_goes_to_those_that_need_more() {
        let needs = [1_000, TOGETHER / 3, 10, TOGETHER / 4];
        let enough = divide(&needs, |need, budget| budget.spend(*need));
        assert_eq!(enough, [true, true, true, true]);
        let hungry = divide(&[TOGETHER; 100], |need, budget| budget.spend(*need));
        assert_eq!(hungry, [false; 100]);
    }
}
