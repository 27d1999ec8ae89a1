//! Searches for a value that satisfies conditions on how one or two sides read it. The result is a value, a proof that there is
//! none, or the reason why neither was found.
//!
//! The search goes kind by kind. Conditions are expanded into a conjunction of [`part::Part`]s, with a branch for each way to
//! satisfy a disjunction; a fully expanded branch is solved exactly: scalars by their domains, lists and objects by solving the
//! items and keys that have conditions. Each side sees the value through its own schema: keys may be pruned, nulls dropped and
//! defaults applied before its conditions are checked (see [`read`]).

mod branch;
mod evaluate;
mod formula;
mod goal;
mod goal_cache;
mod linear;
mod list;
mod necessary;
mod numbers;
mod object;
mod object_keys;
mod object_plan;
mod part;
mod probe;
mod read;
mod rule_cache;
mod same;
mod scalar;
mod topics;
mod translate;
mod truth;

use std::rc::Rc;

use serde_json::Value;

use crate::compare::budget::Budget;
use crate::model::PathStep;
use crate::model::relation::{Search, UndecidedReason};
use crate::model::schema::shape::{CelRule, Shape};
use crate::server::key_fate::Pruning;
pub(crate) use crate::server::object::{JsonKind as Kind, JsonKinds as Kinds};

pub(crate) use evaluate::Evaluator;
pub(crate) use formula::Formula;
use read::{Effect, SentKey};
pub(crate) use read::{Pair, ReadBy, Reader, completed, stored};
pub(crate) use rule_cache::{RuleCache, SharedRules};

pub(crate) use goal::{Difference, Goal, Pin, PinTarget, Preference, SideView, Term, TermLiteral};
use goal::{candidates, has_pin, is_impossible};
use goal_cache::{CacheKey, GoalCache};
use same::Same;

/// How many steps one search may take. Comparisons of real schemas need a few hundred.
const MAX_STEPS: u32 = 60_000;
/// The cost of comparing two nodes relative to that of a condition.
const COMPARED: usize = 16;
/// The maximum nesting of generated values.
const MAX_DEPTH: u32 = 64;

pub(crate) struct Solver<'s> {
    pub(crate) rules: RuleCache<'s>,
    same: Same,
    cache: GoalCache,
    /// The budget of the comparison that this search belongs to.
    budget: Budget,
    /// The remaining steps of this search.
    steps: u32,
    depth: u32,
    preference: Preference,
    /// Nodes that are compared without their children.
    pair: Option<Pair<'s>>,
}

impl<'s> Solver<'s> {
    pub(crate) fn new(preference: Preference, budget: &Budget) -> Self {
        Solver {
            rules: RuleCache::within(budget),
            same: Same::default(),
            cache: GoalCache::default(),
            budget: budget.clone(),
            steps: MAX_STEPS,
            depth: 0,
            preference,
            pair: None,
        }
    }

    /// Compares two nodes without their children.
    pub(crate) fn pair(&mut self, pair: Pair<'s>) {
        self.pair = Some(pair);
        self.same = Same::default();
        self.same.pair = Some((std::ptr::from_ref(pair.first).addr(), std::ptr::from_ref(pair.second).addr()));
        self.same.same_children = pair.has_same_children();
        self.cache = GoalCache::default();
    }

    /// Marks shapes as roots of resources.
    pub(crate) fn with_roots(mut self, roots: &[&Shape]) -> Self {
        self.rules.roots.extend(roots.iter().map(|shape| std::ptr::from_ref(*shape).addr()));
        self
    }

    /// Uses, and adds to, what other searches know about the rules of the same schemas.
    pub(crate) fn sharing(mut self, rules: &Rc<SharedRules<'s>>) -> Self {
        self.rules.share(rules);
        self.same.share(&rules.pairs);
        self
    }

    pub(crate) fn evaluator(&self) -> Evaluator<'_, 's> {
        Evaluator { pair: self.pair, rules: &self.rules }
    }

    /// Resets the number of steps.
    pub(crate) fn refill(&mut self) {
        self.steps = MAX_STEPS;
    }

    /// Whether two nodes are equivalent apart from their children.
    pub(crate) fn same_locally(&mut self, a: &Shape, b: &Shape) -> bool {
        self.same.local(a, b)
    }

    pub(crate) fn same_readers(&mut self, a: ReadBy<'_>, b: ReadBy<'_>) -> bool {
        self.same.read_by(a, b)
    }

    /// Counts a step that compares this many conditions; returns whether another step is allowed.
    fn step(&mut self, conditions: usize) -> bool {
        let compared = COMPARED * self.same.uncharged();
        self.steps = if self.budget.spend(conditions + compared) { self.steps.saturating_sub(1) } else { 0 };
        self.steps > 0
    }

    /// Takes work off the budget; if nothing is left, this was the last step.
    fn charge(&mut self, conditions: usize) {
        if !self.budget.spend(conditions) {
            self.steps = 0;
        }
    }

    /// Finds a value other than null that satisfies the goal.
    pub(crate) fn solve(&mut self, goal: &Goal<'s>) -> Search<Value> {
        if !self.step(goal.literals.len()) || self.depth >= MAX_DEPTH {
            return Search::Undecided(UndecidedReason::Budget);
        }
        let key = CacheKey::of(goal);
        if let Some(known) = self.cache.get(&key) {
            return known;
        }
        self.depth += 1;
        let found = match self.solve_kinds(goal) {
            Search::Impossible => Search::Impossible,
            found => self.confirm(goal, found),
        };
        self.depth -= 1;
        self.cache.put(key, goal, &found);
        found
    }

    /// What to send at a node by itself, with views of a [`Reader::Field`], [`Reader::Entry`] or [`Reader::Item`]; `None` means
    /// that nothing is sent.
    pub(crate) fn solve_alone(&mut self, goal: &Goal<'s>) -> Search<Option<Value>> {
        let found = if goal.views.iter().any(|view| matches!(view.read_by.reader(), Some(Reader::Item(_)))) {
            self.alone_item(goal).map(Some)
        } else {
            self.alone(goal)
        };
        found.and_then(|sample| match self.meets_alone(goal, sample.as_ref()) {
            Some(true) => Search::Found(sample),
            verdict => Search::Undecided(unconfirmed(verdict)),
        })
    }

    fn meets_alone(&self, goal: &Goal<'s>, sample: Option<&Value>) -> Option<bool> {
        let request = match sample {
            None => SentKey::Absent,
            Some(Value::Null) => SentKey::Null,
            Some(_) => SentKey::Value,
        };
        let mut read: Vec<Option<Value>> = Vec::new();
        let mut lossy = Vec::new();
        for view in &goal.views {
            let mut lost = false;
            let effect = match view.read_by.reader() {
                Some(Reader::Item(_)) => view.read_by.item_effect(request),
                _ => view.read_by.key_fate(object::ALONE).effect(request),
            };
            let value = match effect {
                Effect::Absent => {
                    lost = request == SentKey::Value;
                    None
                }
                Effect::Null => Some(Value::Null),
                Effect::Default(value) => Some(value),
                Effect::Sent(by) => sample.map(|value| stored(value, self.localised(by), &mut lost)),
            };
            read.push(value);
            lossy.push(lost);
        }
        if goal.views.iter().zip(&lossy).any(|(view, lost)| view.faithful && *lost) {
            return Some(false);
        }
        let kept = match goal.difference {
            Difference::None => true,
            Difference::Lost(view) => lossy.get(view) == Some(&true),
            Difference::Stored => read.first() != read.last(),
        };
        if !kept {
            return Some(false);
        }
        let mut known = true;
        for literal in &goal.literals {
            let verdict = match read.get(literal.view)? {
                Some(value) => self.evaluator().term(&literal.term, value),
                None => Some(true),
            };
            match verdict {
                Some(holds) if holds != literal.holds => return Some(false),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(true)
    }

    /// A reader that is one of the compared pair knows the other one.
    fn localised(&self, by: ReadBy<'s>) -> ReadBy<'s> {
        match (by, self.pair) {
            (Pruning::Schema { node: Reader::Node { shape, .. }, keeps }, Some(pair)) if pair.has(shape) => {
                Pruning::Schema { node: Reader::Node { shape, pair: Some(pair) }, keeps }
            }
            _ => by,
        }
    }

    /// Rules that can't be translated were assumed to hold so far: runs them on the value, and tries other values if they fail.
    fn confirm(&mut self, goal: &Goal<'s>, found: Search<Value>) -> Search<Value> {
        let rules: Vec<(usize, &'s CelRule, &'s Shape)> = goal
            .literals
            .iter()
            .filter_map(|literal| match literal.term {
                Term::Node(shape) => Some((literal.view, shape)),
                _ => None,
            })
            .flat_map(|(view, shape)| shape.rules.iter().map(move |rule| (view, rule, shape)))
            .filter(|(_, rule, shape)| self.rules.formula(rule, shape).is_none())
            .collect();
        let Some((_, first, _)) = rules.first() else { return found };
        if let Search::Found(value) = &found
            && self.meets(goal, value) == Some(true)
        {
            return found;
        }
        let reason = UndecidedReason::Rule(first.rule.clone());
        for (view, rule, shape) in rules {
            for probe in probe::probes(rule, shape) {
                let mut narrowed = goal.clone();
                narrowed.literals.push(TermLiteral { view, holds: true, term: Term::Formula(probe) });
                if let Search::Found(value) = self.solve_kinds(&narrowed)
                    && self.meets(goal, &value) == Some(true)
                {
                    return Search::Found(value);
                }
                if self.steps == 0 {
                    return Search::Undecided(UndecidedReason::Budget);
                }
            }
        }
        Search::Undecided(reason)
    }

    fn solve_kinds(&mut self, goal: &Goal<'s>) -> Search<Value> {
        let met;
        let goal = match goal.pin {
            Some(Pin { steps: [], target: PinTarget::Meets(formula) }) => {
                let mut narrowed = Goal { pin: None, ..goal.clone() };
                narrowed.literals.push(TermLiteral { view: 0, holds: true, term: Term::Formula(Rc::clone(formula)) });
                met = narrowed;
                &met
            }
            _ => goal,
        };
        let local;
        let goal = match self.pair {
            Some(_) => {
                let views = goal.views.iter().map(|view| SideView { read_by: self.localised(view.read_by), ..*view }).collect();
                local = Goal { views, ..goal.clone() };
                &local
            }
            None => goal,
        };
        let merged;
        let goal = match self.merge(goal) {
            Some(one) => {
                if goal.difference != Difference::None {
                    return Search::Impossible;
                }
                merged = one;
                &merged
            }
            None => goal,
        };
        if is_impossible(goal) || self.contradicts_itself(&goal.literals) {
            return Search::Impossible;
        }
        if let Some(candidates) = candidates(goal) {
            return self.first_of(goal, candidates);
        }
        let mut open = None;
        for kind in Kind::ALL {
            let possible = kind != Kind::Null
                && self.allows(goal, kind)
                && (goal.difference == Difference::None || !kind.is_scalar())
                && match goal.pin.and_then(|pin| pin.steps.first()) {
                    None => true,
                    Some(PathStep::Items) => kind == Kind::Array,
                    Some(_) => kind == Kind::Object,
                };
            if !possible {
                continue;
            }
            match self.solve_kind(goal, kind) {
                Search::Found(value) => return Search::Found(value),
                Search::Impossible => {}
                Search::Undecided(reason) => open = open.or(Some(reason)),
            }
        }
        Err(open).into()
    }

    /// Merges two views that read values the same way.
    fn merge(&mut self, goal: &Goal<'s>) -> Option<Goal<'s>> {
        let [a, b] = goal.views.as_slice() else { return None };
        if !self.same.readers(a.read_by, b.read_by) {
            return None;
        }
        let view = SideView { read_by: a.read_by, faithful: a.faithful || b.faithful };
        let literals = goal.literals.iter().map(|literal| TermLiteral { view: 0, ..literal.clone() }).collect();
        Some(Goal { views: vec![view], literals, ..goal.clone() })
    }

    fn contradicts_itself(&mut self, literals: &[TermLiteral<'s>]) -> bool {
        for (index, a) in literals.iter().enumerate() {
            for b in literals.iter().skip(index + 1) {
                if a.view == b.view && a.holds != b.holds && part::same_term(&mut self.same, &a.term, &b.term) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether the types of the positive conditions allow this kind.
    fn allows(&self, goal: &Goal<'s>, kind: Kind) -> bool {
        goal.literals.iter().filter(|literal| literal.holds).all(|literal| match &literal.term {
            Term::Node(shape) | Term::Clause(shape) => Kinds::accepted_by(shape).has(kind),
            Term::Formula(formula) => match &**formula {
                Formula::Is(kinds) => kinds.has(kind),
                _ => true,
            },
        })
    }

    /// The first of finitely many values that satisfies the goal.
    fn first_of(&mut self, goal: &Goal<'s>, candidates: Vec<Value>) -> Search<Value> {
        let mut open = None;
        for value in candidates {
            match self.meets(goal, &value) {
                Some(true) => return Search::Found(value),
                Some(false) => {}
                None => {
                    // A rule that can't be translated is left to the confirmation.
                    open = open.or(Some(value));
                }
            }
        }
        open.map_or(Search::Impossible, Search::Found)
    }

    /// Whether a given value meets a goal.
    pub(crate) fn meets(&self, goal: &Goal<'s>, value: &Value) -> Option<bool> {
        let mut read = Vec::with_capacity(goal.views.len());
        for (index, view) in goal.views.iter().enumerate() {
            let mut lost = false;
            let mut value = stored(value, view.read_by, &mut lost);
            if goal.root
                && let Value::Object(map) = &mut value
            {
                map.extend(object::root_keys().map(|(key, value)| (key.to_owned(), value)));
            }
            if (view.faithful && lost) || (goal.difference == Difference::Lost(index) && !lost) {
                return Some(false);
            }
            read.push(value);
        }
        if goal.difference == Difference::Stored
            && let [a, b] = read.as_slice()
            && a == b
        {
            return Some(false);
        }
        if goal.pin.is_some_and(|pin| !has_pin(value, pin)) {
            return Some(false);
        }
        let evaluator = self.evaluator();
        let mut known = true;
        for literal in &goal.literals {
            let value = read.get(literal.view)?;
            match evaluator.term(&literal.term, value) {
                Some(holds) if holds != literal.holds => return Some(false),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(true)
    }
}

/// Why a candidate doesn't count as found, from the result of its check.
pub(crate) fn unconfirmed(met: Option<bool>) -> UndecidedReason {
    UndecidedReason::Method(if met.is_some() { "a candidate that was not confirmed" } else { "a rule that can't be run" })
}

#[cfg(test)]
mod tests;
