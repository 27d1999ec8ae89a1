//! Goals that were solved before: the same part of a value is asked for again in many branches.

use std::rc::Rc;

use foldhash::HashMap;

use super::formula::Formula;
use super::read::Spine;
use super::{Find, Goal, Quest, Reason, Target, Term};

/// What a goal is made of, by address: shapes live as long as the solver, formulas as long as their answer.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key(Vec<usize>);

#[derive(Default)]
pub(super) struct Memo {
    answers: HashMap<Key, Answer>,
}

struct Answer {
    found: Find,
    /// Kept so that no other formula gets the address.
    _formulas: Vec<Rc<Formula>>,
}

impl Key {
    pub(super) fn of(goal: &Goal<'_>) -> Key {
        let mut key = Vec::with_capacity(8 + 3 * goal.views.len() + 2 * goal.literals.len());
        for view in &goal.views {
            let (tag, at) = match view.spine {
                Spine::Node { shape, keep, pair } => {
                    (8 + usize::from(keep) + 2 * usize::from(pair.is_some()), std::ptr::from_ref(shape).addr())
                }
                Spine::Free => (0, 0),
                Spine::Emptied => (1, 0),
                Spine::Field(shape) => (2, std::ptr::from_ref(shape).addr()),
                Spine::Entry(shape) => (3, std::ptr::from_ref(shape).addr()),
                Spine::Item(shape) => (4, std::ptr::from_ref(shape).addr()),
            };
            key.extend([tag * 2 + usize::from(view.faithful), at]);
        }
        key.push(match goal.quest {
            Quest::Nothing => 0,
            Quest::Differs => 1,
            Quest::Loses(view) => 2 + view,
        });
        match goal.pin {
            None => key.push(usize::from(goal.root)),
            Some(pin) => {
                let (tag, at) = match pin.target {
                    Target::Value(value) => (0, std::ptr::from_ref(value).addr()),
                    Target::Sent => (1, 0),
                    Target::Null => (2, 0),
                    Target::Missing => (3, 0),
                    Target::Meets(formula) => (4, Rc::as_ptr(formula).addr()),
                };
                key.extend([2 + usize::from(goal.root), pin.steps.as_ptr().addr(), pin.steps.len(), tag, at]);
            }
        }
        for literal in &goal.literals {
            let (tag, at) = match &literal.term {
                Term::Spine(shape) => (0, std::ptr::from_ref(*shape).addr()),
                Term::Clause(shape) => (1, std::ptr::from_ref(*shape).addr()),
                Term::Formula(formula) => (2, Rc::as_ptr(formula).addr()),
            };
            key.extend([tag * 16 + literal.view * 2 + usize::from(literal.holds), at]);
        }
        Key(key)
    }
}

impl Memo {
    pub(super) fn get(&self, key: &Key) -> Option<Find> {
        self.answers.get(key).map(|answer| answer.found.clone())
    }

    pub(super) fn put(&mut self, key: Key, goal: &Goal<'_>, found: &Find) {
        if matches!(found, Find::Open(Reason::Budget)) {
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
