//! A cache of solved goals, because many branches of a search need the same part of a value.

use std::rc::Rc;

use foldhash::HashMap;
use serde_json::Value;

use super::formula::Formula;
use super::read::Reader;
use super::{Difference, Goal, PinTarget, Search, Term, UndecidedReason};
use crate::server::key_fate::Pruning;

/// The parts of a goal by address: shapes live as long as the solver, formulas as long as their answer.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct CacheKey(Vec<usize>);

#[derive(Default)]
pub(super) struct GoalCache {
    answers: HashMap<CacheKey, Answer>,
}

struct Answer {
    found: Search<Value>,
    /// Kept so that no other formula gets the same address.
    _formulas: Vec<Rc<Formula>>,
}

impl CacheKey {
    pub(super) fn of(goal: &Goal<'_>) -> CacheKey {
        let mut key = Vec::with_capacity(8 + 3 * goal.views.len() + 2 * goal.literals.len());
        for view in &goal.views {
            let (tag, at) = match view.read_by {
                Pruning::Nothing => (0, 0),
                Pruning::EveryKey => (1, 0),
                Pruning::Schema { node, keeps } => {
                    let tag = match node {
                        Reader::Node { pair, .. } => 8 + usize::from(keeps) + 2 * usize::from(pair.is_some()),
                        Reader::Field(_) => 2,
                        Reader::Entry(_) => 3,
                        Reader::Item(_) => 4,
                    };
                    (tag, std::ptr::from_ref(node.own()).addr())
                }
            };
            key.extend([tag * 2 + usize::from(view.faithful), at]);
        }
        key.push(match goal.difference {
            Difference::None => 0,
            Difference::Stored => 1,
            Difference::Lost(view) => 2 + view,
        });
        match goal.pin {
            None => key.push(usize::from(goal.root)),
            Some(pin) => {
                let (tag, at) = match pin.target {
                    PinTarget::Value(value) => (0, std::ptr::from_ref(value).addr()),
                    PinTarget::Sent => (1, 0),
                    PinTarget::Null => (2, 0),
                    PinTarget::Missing => (3, 0),
                    PinTarget::Meets(formula) => (4, Rc::as_ptr(formula).addr()),
                };
                key.extend([2 + usize::from(goal.root), pin.steps.as_ptr().addr(), pin.steps.len(), tag, at]);
            }
        }
        for literal in &goal.literals {
            let (tag, at) = match &literal.term {
                Term::Node(shape) => (0, std::ptr::from_ref(*shape).addr()),
                Term::Clause(shape) => (1, std::ptr::from_ref(*shape).addr()),
                Term::Formula(formula) => (2, Rc::as_ptr(formula).addr()),
            };
            key.extend([tag * 16 + literal.view * 2 + usize::from(literal.holds), at]);
        }
        CacheKey(key)
    }
}

impl GoalCache {
    pub(super) fn get(&self, key: &CacheKey) -> Option<Search<Value>> {
        self.answers.get(key).map(|answer| answer.found.clone())
    }

    pub(super) fn put(&mut self, key: CacheKey, goal: &Goal<'_>, found: &Search<Value>) {
        if matches!(found, Search::Undecided(UndecidedReason::Budget)) {
            return;
        }
        let formulas = goal.literals.iter().filter_map(|literal| match &literal.term {
            Term::Formula(formula) => Some(Rc::clone(formula)),
            _ => None,
        });
        let formulas = formulas.collect();
        self.answers.insert(key, Answer { found: found.clone(), _formulas: formulas });
    }
}
