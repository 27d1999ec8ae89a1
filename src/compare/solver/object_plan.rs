//! The requirements of an object to search for: a plan for each key that a condition names, and requirements that any key may
//! satisfy.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value;

use crate::model::schema::shape::Shape;

use super::branch::Atom;
use super::formula::Formula;
use super::part::{Name, Part};
use super::read::SentKey;
use super::{Pin, Term, TermLiteral};

/// A key that may satisfy a requirement.
#[derive(Debug, Clone)]
pub(super) enum Candidate<'s> {
    Named(Name<'s>),
    /// A new one, which these views needn't see.
    New {
        unseen: Vec<usize>,
    },
}

/// Whether one view must see a key, besides its literals.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Demand {
    /// Exists, null or not.
    pub(super) present: Option<bool>,
    /// Exists and isn't null.
    pub(super) non_null: Option<bool>,
}

/// All requirements of one key.
#[derive(Debug, Clone)]
pub(super) struct KeyPlan<'s> {
    pub(super) name: Name<'s>,
    pub(super) demands: Vec<Demand>,
    pub(super) literals: Vec<TermLiteral<'s>>,
    /// Whether the goal's difference must show at this key.
    pub(super) difference: bool,
    pub(super) pin: Option<Pin<'s>>,
    /// What the client must send.
    pub(super) forced: Option<SentKey>,
    /// A value that always exists, as in the root of a resource.
    pub(super) fixed: Option<Value>,
}

/// How many keys each view may see.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyCount {
    pub(super) low: u64,
    pub(super) high: u64,
}

/// A condition that at least one key must satisfy.
#[derive(Debug, Clone)]
pub(super) enum Requirement<'s> {
    /// A key exists that `owner` doesn't declare.
    Undeclared {
        view: usize,
        owner: &'s Shape,
    },
    /// The value of a key that `owner` doesn't declare fails the term.
    Fails {
        view: usize,
        owner: Option<&'s Shape>,
        term: Term<'s>,
    },
    /// A key fails the formula.
    Key {
        view: usize,
        formula: Rc<Formula>,
    },
    Difference,
    Pin(Pin<'s>),
    /// The embedded resource lacks its apiVersion or kind.
    Unnamed {
        view: usize,
    },
}

/// All requirements of an object.
#[derive(Debug, Clone)]
pub(super) struct ObjectPlan<'a, 's> {
    /// The keys that matter. All others are omitted.
    pub(super) keys: BTreeMap<Name<'s>, KeyPlan<'s>>,
    /// Conditions on all keys, or on all that a node declares. A key gets them when it is planned.
    pub(super) general: Vec<&'a Atom<'s>>,
    pub(super) ranges: Vec<KeyCount>,
    pub(super) requirements: Vec<Requirement<'s>>,
    /// Objects that it must differ from.
    pub(super) unlike: Vec<Value>,
}

impl<'s> KeyPlan<'s> {
    pub(super) fn new(name: Name<'s>, views: usize) -> Self {
        KeyPlan {
            name,
            demands: vec![Demand::default(); views],
            literals: Vec::new(),
            difference: false,
            pin: None,
            forced: None,
            fixed: None,
        }
    }

    /// Adds a demand; `false` if it contradicts an earlier one.
    pub(super) fn demand(&mut self, view: usize, wanted: Demand) -> bool {
        let Some(demand) = self.demands.get_mut(view) else { return true };
        let join = |old: &mut Option<bool>, new: Option<bool>| match (*old, new) {
            (Some(old), Some(new)) => old == new,
            (None, new) => {
                *old = new;
                true
            }
            (Some(_), None) => true,
        };
        join(&mut demand.present, wanted.present) && join(&mut demand.non_null, wanted.non_null)
    }

    pub(super) fn is_plain(&self) -> bool {
        self.literals.iter().all(|literal| literal.holds) && !self.difference && self.pin.is_none() && self.forced.is_none()
    }
}

pub(super) const PRESENT: Demand = Demand { present: Some(true), non_null: None };
pub(super) const ABSENT: Demand = Demand { present: Some(false), non_null: None };
pub(super) const NON_NULL: Demand = Demand { present: Some(true), non_null: Some(true) };
pub(super) const ABSENT_OR_NULL: Demand = Demand { present: None, non_null: Some(false) };

impl<'s> ObjectPlan<'_, 's> {
    pub(super) fn new(views: usize) -> Self {
        ObjectPlan {
            keys: BTreeMap::new(),
            general: Vec::new(),
            ranges: vec![KeyCount { low: 0, high: u64::MAX }; views],
            requirements: Vec::new(),
            unlike: Vec::new(),
        }
    }

    pub(super) fn count(&mut self, view: usize, change: impl FnOnce(&mut KeyCount)) {
        if let Some(range) = self.ranges.get_mut(view) {
            change(range);
        }
    }

    pub(super) fn counts_keys(&self) -> bool {
        self.ranges.iter().any(|range| range.low > 0 || range.high < u64::MAX)
    }

    /// The conditions on names, with the views that have them.
    pub(super) fn key_rules(&self) -> impl Iterator<Item = (usize, &Rc<Formula>)> {
        self.general.iter().filter_map(|atom| match &atom.part {
            Part::Keys(formula) => Some((atom.view, formula)),
            _ => None,
        })
    }

    /// All sets of views that may not see a new key: what a view drops needn't follow its conditions on names.
    pub(super) fn unseen(&self) -> Vec<Vec<usize>> {
        let with_rules: BTreeSet<usize> = self.key_rules().map(|(view, _)| view).collect();
        let mut sets = vec![Vec::new()];
        for view in with_rules {
            let more: Vec<Vec<usize>> = sets.iter().map(|set| set.iter().copied().chain([view]).collect()).collect();
            sets.extend(more);
        }
        sets
    }
}
