//! Is there a value such that …? Conditions on how one or two sides read a value come in; a value that meets them, the proof
//! that there is none, or the reason why neither was found goes out.
//!
//! A value is looked for kind by kind. Its conditions are taken apart into a conjunction of [`part::Part`]s, with a branch for
//! each way to satisfy a disjunction; a branch that is fully expanded is solved exactly: scalars by their own domains, lists
//! and objects by solving the items and keys that have conditions. Each side sees the value through its own schema: keys
//! may be pruned, nulls dropped and defaults set before its conditions are looked at (see [`read`]).

mod branch;
mod formula;
mod judge;
mod list;
mod memo;
mod numbers;
mod object;
mod part;
mod probe;
mod read;
mod rules;
mod same;
mod scalar;
mod translate;

use std::rc::Rc;

use serde_json::Value;

use crate::compare::budget::Budget;
use crate::model::Step;
use crate::model::relation::{Reason, Search};
use crate::model::schema::shape::{CelRule, Shape};
use crate::server::key_fate::Pruning;
pub(crate) use crate::server::object::{JsonKind as Kind, JsonKinds as Kinds};

pub(crate) use formula::Formula;
pub(crate) use judge::Judge;
use read::{Effect, Request};
pub(crate) use read::{Pair, ReadBy, Reader, completed, stored};
pub(crate) use rules::Rules;

use same::Same;

/// Steps that one search may take. The comparisons of real schemas need some hundreds.
pub const MAX_STEPS: u32 = 60_000;
/// Nesting of values that are built.
const MAX_DEPTH: u32 = 64;

/// A condition on a value.
#[derive(Debug, Clone)]
pub(crate) enum Term<'s> {
    /// Valid at a declared node.
    Node(&'s Shape),
    /// Valid under a clause of a junctor.
    Clause(&'s Shape),
    Formula(Rc<Formula>),
}

/// How one side sees the value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'s> {
    pub(crate) read_by: ReadBy<'s>,
    /// Nothing that the client gives may be pruned on this side.
    pub(crate) faithful: bool,
}

/// That a side finds a condition met, or not met.
#[derive(Debug, Clone)]
pub(crate) struct Literal<'s> {
    pub(crate) view: usize,
    pub(crate) holds: bool,
    pub(crate) term: Term<'s>,
}

/// What the two sides must make of the value, besides their conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quest {
    Nothing,
    /// This view prunes something other than a null.
    Loses(usize),
    /// The views store something different.
    Differs,
}

/// A place in the value that has to be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pin<'s> {
    pub(crate) steps: &'s [Step],
    pub(crate) target: Target<'s>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Target<'s> {
    /// Exactly this value.
    Value(&'s Value),
    /// Some value other than null.
    Sent,
    Null,
    /// No such key.
    Missing,
    /// A value that meets this condition, as the first view sees it.
    Meets(&'s Rc<Formula>),
}

/// A value to look for.
#[derive(Debug, Clone)]
pub(crate) struct Goal<'s> {
    pub(crate) views: Vec<View<'s>>,
    pub(crate) literals: Vec<Literal<'s>>,
    pub(crate) quest: Quest,
    pub(crate) pin: Option<Pin<'s>>,
    /// The whole resource: apiVersion, kind and metadata are there though not shown.
    pub(crate) root: bool,
}

/// Which of many solutions is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Taste {
    /// As little as possible.
    #[default]
    Small,
    /// Every field that can be there.
    Full,
}

pub(crate) struct Solver<'s> {
    pub(crate) rules: Rules,
    same: Same,
    memo: memo::Memo,
    /// Of the comparison that this search belongs to.
    budget: Budget,
    /// What is left of this search.
    steps: u32,
    depth: u32,
    taste: Taste,
    /// Nodes that are compared without their children.
    pair: Option<Pair<'s>>,
}

impl<'s> Solver<'s> {
    pub(crate) fn new(taste: Taste, budget: &Budget) -> Self {
        Solver {
            rules: Rules::default(),
            same: Same::default(),
            memo: memo::Memo::default(),
            budget: budget.clone(),
            steps: MAX_STEPS,
            depth: 0,
            taste,
            pair: None,
        }
    }

    /// Compares two nodes without their children.
    pub(crate) fn pair(&mut self, pair: Pair<'s>) {
        self.pair = Some(pair);
        self.same = Same::default();
        self.same.pair = Some((std::ptr::from_ref(pair.first).addr(), std::ptr::from_ref(pair.second).addr()));
        self.same.even = pair.is_even();
        self.memo = memo::Memo::default();
    }

    /// Shapes that are roots of resources.
    pub(crate) fn with_roots(mut self, roots: &[&Shape]) -> Self {
        self.rules.roots.extend(roots.iter().map(|shape| std::ptr::from_ref(*shape).addr()));
        self
    }

    pub(crate) fn judge(&self) -> Judge<'_, 's> {
        Judge { pair: self.pair, rules: &self.rules }
    }

    /// Starts a new count of steps.
    pub(crate) fn refill(&mut self) {
        self.steps = MAX_STEPS;
    }

    /// Whether two nodes say the same apart from their children.
    pub(crate) fn same_locally(&mut self, a: &Shape, b: &Shape) -> bool {
        self.same.local(a, b)
    }

    pub(crate) fn same_readers(&mut self, a: ReadBy<'_>, b: ReadBy<'_>) -> bool {
        self.same.read_by(a, b)
    }

    /// Counts a step that holds so many conditions against each other; whether there may be another.
    fn step(&mut self, conditions: usize) -> bool {
        self.steps = if self.budget.spend(conditions) { self.steps.saturating_sub(1) } else { 0 };
        self.steps > 0
    }

    /// A value other than null that meets the goal.
    pub(crate) fn solve(&mut self, goal: &Goal<'s>) -> Search<Value> {
        if !self.step(goal.literals.len()) || self.depth >= MAX_DEPTH {
            return Search::Undecided(Reason::Budget);
        }
        let key = memo::Key::of(goal);
        if let Some(known) = self.memo.get(&key) {
            return known;
        }
        self.depth += 1;
        let found = match self.solve_kinds(goal) {
            Search::Impossible => Search::Impossible,
            found => self.confirm(goal, found),
        };
        self.depth -= 1;
        self.memo.put(key, goal, &found);
        found
    }

    /// What to send at a node that is looked at on its own, by views of a [`Reader::Field`], [`Reader::Entry`] or
    /// [`Reader::Item`]: `None` stands for nothing at all.
    pub(crate) fn solve_alone(&mut self, goal: &Goal<'s>) -> Search<Option<Value>> {
        let found = if goal.views.iter().any(|view| matches!(view.read_by.reader(), Some(Reader::Item(_)))) {
            self.alone_item(goal).map(Some)
        } else {
            self.alone(goal).and_then(|found| match found {
                Value::Array(sent) => Search::Found(sent.into_iter().next()),
                _ => Search::Impossible,
            })
        };
        found.and_then(|sample| match self.meets_alone(goal, sample.as_ref()) {
            Some(true) => Search::Found(sample),
            verdict => Search::Undecided(unconfirmed(verdict)),
        })
    }

    fn meets_alone(&self, goal: &Goal<'s>, sample: Option<&Value>) -> Option<bool> {
        let request = match sample {
            None => Request::Absent,
            Some(Value::Null) => Request::Null,
            Some(_) => Request::Value,
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
                    lost = request == Request::Value;
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
        let kept = match goal.quest {
            Quest::Nothing => true,
            Quest::Loses(view) => lossy.get(view) == Some(&true),
            Quest::Differs => read.first() != read.last(),
        };
        if !kept {
            return Some(false);
        }
        let mut known = true;
        for literal in &goal.literals {
            let verdict = match read.get(literal.view)? {
                Some(value) => self.judge().term(&literal.term, value),
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

    /// A rule that is no formula was taken for granted so far: the value is shown to it, and others like it are tried.
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
        let reason = Reason::Rule(first.rule.clone());
        for (view, rule, shape) in rules {
            for probe in probe::probes(rule, shape) {
                let mut narrowed = goal.clone();
                narrowed.literals.push(Literal { view, holds: true, term: Term::Formula(probe) });
                if let Search::Found(value) = self.solve_kinds(&narrowed)
                    && self.meets(goal, &value) == Some(true)
                {
                    return Search::Found(value);
                }
                if self.steps == 0 {
                    return Search::Undecided(Reason::Budget);
                }
            }
        }
        Search::Undecided(reason)
    }

    fn solve_kinds(&mut self, goal: &Goal<'s>) -> Search<Value> {
        let met;
        let goal = match goal.pin {
            Some(Pin { steps: [], target: Target::Meets(formula) }) => {
                let mut narrowed = Goal { pin: None, ..goal.clone() };
                narrowed.literals.push(Literal { view: 0, holds: true, term: Term::Formula(Rc::clone(formula)) });
                met = narrowed;
                &met
            }
            _ => goal,
        };
        let local;
        let goal = match self.pair {
            Some(_) => {
                let views = goal.views.iter().map(|view| View { read_by: self.localised(view.read_by), ..*view }).collect();
                local = Goal { views, ..goal.clone() };
                &local
            }
            None => goal,
        };
        let merged;
        let goal = match self.merge(goal) {
            Some(one) => {
                if goal.quest != Quest::Nothing {
                    return Search::Impossible;
                }
                merged = one;
                &merged
            }
            None => goal,
        };
        if is_hopeless(goal) || self.contradicts_itself(&goal.literals) {
            return Search::Impossible;
        }
        if let Some(candidates) = candidates(goal) {
            return self.first_of(goal, candidates);
        }
        let mut open = None;
        for kind in Kind::ALL {
            let possible = kind != Kind::Null
                && self.allows(goal, kind)
                && (goal.quest == Quest::Nothing || !kind.is_scalar())
                && match goal.pin.and_then(|pin| pin.steps.first()) {
                    None => true,
                    Some(Step::Items) => kind == Kind::Array,
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

    /// Two views that read alike are one.
    fn merge(&mut self, goal: &Goal<'s>) -> Option<Goal<'s>> {
        let [a, b] = goal.views.as_slice() else { return None };
        if !self.same.readers(a.read_by, b.read_by) {
            return None;
        }
        let view = View { read_by: a.read_by, faithful: a.faithful || b.faithful };
        let literals = goal.literals.iter().map(|literal| Literal { view: 0, ..literal.clone() }).collect();
        Some(Goal { views: vec![view], literals, ..goal.clone() })
    }

    fn contradicts_itself(&mut self, literals: &[Literal<'s>]) -> bool {
        for (index, a) in literals.iter().enumerate() {
            for b in literals.iter().skip(index + 1) {
                if a.view == b.view && a.holds != b.holds && part::same_term(&mut self.same, &a.term, &b.term) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether the types of the positive conditions let this kind in.
    fn allows(&self, goal: &Goal<'s>, kind: Kind) -> bool {
        goal.literals.iter().filter(|literal| literal.holds).all(|literal| match &literal.term {
            Term::Node(shape) | Term::Clause(shape) => Kinds::accepted_by(shape).has(kind),
            Term::Formula(formula) => match &**formula {
                Formula::Is(kinds) => kinds.has(kind),
                _ => true,
            },
        })
    }

    /// The first of finitely many values that meets the goal.
    fn first_of(&mut self, goal: &Goal<'s>, candidates: Vec<Value>) -> Search<Value> {
        let mut open = None;
        for value in candidates {
            match self.meets(goal, &value) {
                Some(true) => return Search::Found(value),
                Some(false) => {}
                None => {
                    // A rule that is not understood is left to the confirmation.
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
            if (view.faithful && lost) || (goal.quest == Quest::Loses(index) && !lost) {
                return Some(false);
            }
            read.push(value);
        }
        if goal.quest == Quest::Differs
            && let [a, b] = read.as_slice()
            && a == b
        {
            return Some(false);
        }
        if goal.pin.is_some_and(|pin| !has_pin(value, pin)) {
            return Some(false);
        }
        let judge = self.judge();
        let mut known = true;
        for literal in &goal.literals {
            let value = read.get(literal.view)?;
            match judge.term(&literal.term, value) {
                Some(holds) if holds != literal.holds => return Some(false),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(true)
    }
}

/// Why a candidate doesn't count as found, by what was made of it.
pub(crate) fn unconfirmed(met: Option<bool>) -> Reason {
    Reason::Method(if met.is_some() { "a candidate that does not stand" } else { "a rule that can't be run" })
}

/// A quest that no value can fulfil: without a schema nothing is defaulted, and what is kept is kept.
fn is_hopeless(goal: &Goal<'_>) -> bool {
    match goal.quest {
        Quest::Nothing => false,
        Quest::Loses(view) => goal.views.get(view).is_none_or(|view| matches!(view.read_by, Pruning::Nothing)),
        Quest::Differs => goal.views.iter().all(|view| view.faithful && view.read_by.shape().is_none()),
    }
}

/// The values to try where a condition leaves only finitely many.
fn candidates(goal: &Goal<'_>) -> Option<Vec<Value>> {
    if let Some(Pin { steps: [], target: Target::Value(value) }) = goal.pin {
        return Some(vec![value.clone()]);
    }
    goal.literals.iter().filter(|literal| literal.holds).find_map(|literal| match &literal.term {
        Term::Formula(formula) => match &**formula {
            Formula::Equals(value) => Some(spellings(value)),
            _ => None,
        },
        Term::Node(shape) | Term::Clause(shape) => {
            let values = shape.enum_values.as_ref()?;
            // Fractions are compared with an enum after rounding, so that its values are not all there is.
            let fractions = values.iter().any(Value::is_number) && !matches!(shape.ty, Some(crate::model::schema::shape::Type::Integer));
            (!fractions).then(|| values.iter().filter(|value| !value.is_null()).flat_map(spellings).collect())
        }
    })
}

/// A number in both spellings, a string with the integer that Go converts to it, anything else as it is.
fn spellings(value: &Value) -> Vec<Value> {
    let mut all = vec![value.clone()];
    match value {
        Value::Number(n) => {
            if let Some(n) = n.as_i64() {
                all.extend(serde_json::Number::from_f64(n as f64).map(Value::Number));
            } else if let Some(x) = n.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 9e15) {
                all.push(Value::from(x as i64));
            }
        }
        Value::String(text) => {
            let mut chars = text.chars();
            if let (Some(c), None) = (chars.next(), chars.next()) {
                all.push(Value::from(u32::from(c)));
            }
        }
        _ => {}
    }
    all
}

fn has_pin(value: &Value, pin: Pin<'_>) -> bool {
    let Some((step, rest)) = pin.steps.split_first() else {
        return match pin.target {
            Target::Value(wanted) => value == wanted,
            Target::Sent | Target::Meets(_) => !value.is_null(),
            Target::Null => value.is_null(),
            Target::Missing => false,
        };
    };
    let below = Pin { steps: rest, target: pin.target };
    match step {
        Step::Key(key) => match value.get(&**key) {
            Some(value) => has_pin(value, below),
            None => rest.is_empty() && matches!(pin.target, Target::Missing) && value.is_object(),
        },
        Step::Items => value.as_array().is_some_and(|items| items.iter().any(|item| has_pin(item, below))),
        Step::Values => value.as_object().is_some_and(|map| map.values().any(|item| has_pin(item, below))),
    }
}

#[cfg(test)]
mod tests;
