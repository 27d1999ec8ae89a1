//! Objects: collects the conditions in an [`ObjectPlan`], assigns each requirement to a key, and lets [`super::object_keys`] decide
//! what is sent for each key.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;

use crate::model::schema::is_meta;
use crate::model::schema::shape::{Extra, Shape};
use crate::server::object::EMBEDDED_TYPE_PATTERNS;

use super::branch::{Atom, Branch};
use super::formula::{self, Formula};
use super::object_keys::nulls_count_differently;
use super::object_plan::{ABSENT, ABSENT_OR_NULL, KeyCount, KeyPlan, NON_NULL, ObjectPlan, PRESENT, Requirement};
use super::part::Part;
use super::{Difference, Goal, Preference, Search, SideView, Solver, Term, TermLiteral, UndecidedReason};

/// The only key of an object that wraps a single field.
pub(super) const ALONE: &str = "value";

/// The cost of a key relative to that of a condition.
const KEY_COST: usize = 16;
/// Two conditions that contradict each other.
struct Contradiction;

impl<'s> Solver<'s> {
    pub(super) fn object(&mut self, goal: &Goal<'s>, atoms: &[Atom<'s>]) -> Search<Value> {
        match self.frame(goal, atoms) {
            Ok(mut frame) => {
                let is_map =
                    |view: &SideView<'s>| view.read_by.shape().is_some_and(|shape| matches!(shape.extra, Extra::Values(_) | Extra::Any));
                if self.preference == Preference::Full && goal.views.iter().all(is_map) {
                    // An example of a map has an entry, if allowed.
                    let _ = self.new_key(goal, &mut frame, None);
                }
                self.place(goal, frame)
            }
            Err(Contradiction) => Search::Impossible,
        }
    }

    /// What to send at a field or map entry by itself: a list with the value, or an empty one.
    pub(super) fn alone(&mut self, goal: &Goal<'s>) -> Search<Value> {
        let mut plan = KeyPlan::new(ALONE, goal.views.len());
        plan.literals.clone_from(&goal.literals);
        plan.difference = goal.difference != Difference::None;
        for literal in goal.literals.iter().filter(|literal| !literal.holds) {
            plan.demand(literal.view, PRESENT);
        }
        self.fill(goal, &plan)
    }

    /// Whether the key that an atom names can't satisfy what the branch requires, whatever else is chosen.
    pub(super) fn is_unsatisfiable_key(&mut self, goal: &Goal<'s>, branch: &Branch<'s>, atom: &Atom<'s>) -> bool {
        let Part::Property(name, _) = &atom.part else { return false };
        let about: Vec<Atom<'s>> = branch
            .atoms
            .iter()
            .filter(|known| match &known.part {
                Part::Property(other, _) | Part::Required(other) | Part::Has(other) => other == name,
                _ => false,
            })
            .cloned()
            .collect();
        let Ok(frame) = self.frame(goal, &about) else { return true };
        let Some(plan) = frame.keys.get(&**name) else { return false };
        matches!(self.fill(goal, plan), Search::Impossible)
    }

    fn frame(&mut self, goal: &Goal<'s>, atoms: &[Atom<'s>]) -> Result<ObjectPlan<'s>, Contradiction> {
        let views = goal.views.len();
        let mut frame = ObjectPlan {
            keys: BTreeMap::new(),
            ranges: vec![KeyCount { low: 0, high: u64::MAX }; views],
            requirements: Vec::new(),
            other_keys: Vec::new(),
            closed: vec![false; views],
            key_rules: Vec::new(),
            unlike: Vec::new(),
        };
        for name in goal.views.iter().flat_map(|view| view.read_by.names()) {
            frame.plan(name, views);
        }
        if goal.root {
            for (name, value) in root_keys() {
                frame.plan(name, views).fixed = Some(value);
            }
        }
        for atom in atoms {
            if let Part::Required(name) | Part::Has(name) | Part::Property(name, _) = &atom.part {
                frame.plan(name, views);
            }
        }
        if let Some(pin) = goal.pin {
            frame.pin(pin, views);
        }
        if goal.difference != Difference::None {
            frame.requirements.push(Requirement::Difference);
        }
        // If this uses up the budget, the next step stops.
        self.budget.spend(KEY_COST * frame.keys.len());
        for atom in atoms {
            self.enter(&mut frame, atom, views)?;
        }
        Ok(frame)
    }

    fn enter(&mut self, frame: &mut ObjectPlan<'s>, atom: &Atom<'s>, views: usize) -> Result<(), Contradiction> {
        let Atom { view, holds, part } = atom;
        let (view, holds) = (*view, *holds);
        let literal = |term: &Term<'s>| TermLiteral { view, holds, term: term.clone() };
        let mut fits = true;
        match part {
            Part::Required(name) => fits = frame.plan(name, views).demand(view, if holds { PRESENT } else { ABSENT }),
            Part::Has(name) => fits = frame.plan(name, views).demand(view, if holds { NON_NULL } else { ABSENT_OR_NULL }),
            Part::Property(name, term) => {
                let plan = frame.plan(name, views);
                plan.literals.push(literal(term));
                if !holds {
                    fits = plan.demand(view, if matches!(term, Term::Formula(_)) { NON_NULL } else { PRESENT });
                }
            }
            Part::Closed(owner) if holds => {
                if let Some(closed) = frame.closed.get_mut(view) {
                    *closed = true;
                }
                for plan in frame.keys.values_mut().filter(|plan| !self.declares(owner, &plan.name)) {
                    fits &= plan.demand(view, ABSENT);
                }
            }
            Part::Closed(owner) => frame.requirements.push(Requirement::Undeclared { view, owner }),
            Part::Values(owner, term) if holds => {
                frame.other_keys.push(literal(term));
                for plan in frame.keys.values_mut().filter(|plan| !owner.is_some_and(|owner| self.declares(owner, &plan.name))) {
                    plan.literals.push(literal(term));
                }
            }
            Part::Values(owner, term) => frame.requirements.push(Requirement::Fails { view, owner: *owner, term: term.clone() }),
            Part::Keys(formula) if holds => {
                for plan in frame.keys.values_mut() {
                    if self.evaluator().formula(formula, &Value::from(plan.name.as_str())) == Some(false) {
                        fits &= plan.demand(view, ABSENT);
                    }
                }
                frame.key_rules.push((view, Rc::clone(formula)));
            }
            Part::Keys(formula) => frame.requirements.push(Requirement::Key { view, formula: Rc::clone(formula) }),
            Part::MinSize(n) => frame
                .count(view, |range| if holds { range.low = range.low.max(*n) } else { range.high = range.high.min(n.saturating_sub(1)) }),
            Part::MaxSize(n) => frame
                .count(view, |range| if holds { range.high = range.high.min(*n) } else { range.low = range.low.max(n.saturating_add(1)) }),
            Part::Embedded if holds => {
                for (name, pattern) in EMBEDDED_TYPE_PATTERNS {
                    let plan = frame.plan(name, views);
                    fits &= plan.demand(view, NON_NULL);
                    let term = Term::Formula(Rc::new(Formula::Matches(pattern.into())));
                    plan.literals.push(TermLiteral { view, holds: true, term });
                }
            }
            Part::Embedded => frame.requirements.push(Requirement::Unnamed { view }),
            Part::Is(value) if !holds => frame.unlike.push(value.clone()),
            Part::Enum(values) if !holds => frame.unlike.extend(values.iter().filter(|value| value.is_object()).cloned()),
            _ => {}
        }
        if fits { Ok(()) } else { Err(Contradiction) }
    }

    /// Tries to assign each requirement to some key, one key after another.
    fn place(&mut self, goal: &Goal<'s>, mut frame: ObjectPlan<'s>) -> Search<Value> {
        if !self.step(KEY_COST * frame.keys.len()) {
            return Search::Undecided(UndecidedReason::Budget);
        }
        let Some(requirement) = frame.requirements.pop() else { return self.complete(goal, &frame) };
        let mut open = None;
        for key in self.keys_for(goal, &frame, &requirement) {
            let mut next = frame.clone();
            let entered = self.assign(goal, &mut next, &requirement, key);
            let found = Search::from(entered).and_then(|()| self.place(goal, next));
            match found {
                Search::Found(value) => return Search::Found(value),
                Search::Impossible => {}
                Search::Undecided(reason) => open = open.or(Some(reason)),
            }
        }
        Err(open).into()
    }

    /// The keys that could satisfy a requirement; `None` means a new one.
    fn keys_for(&mut self, goal: &Goal<'s>, frame: &ObjectPlan<'s>, requirement: &Requirement<'s>) -> Vec<Option<String>> {
        let undeclared = |owner: Option<&Shape>| {
            let named = frame.keys.keys().filter(|name| !owner.is_some_and(|owner| self.declares(owner, name)));
            std::iter::once(None).chain(named.cloned().map(Some)).collect::<Vec<_>>()
        };
        match requirement {
            Requirement::Undeclared { owner, .. } => undeclared(Some(owner)),
            Requirement::Fails { owner, .. } => undeclared(*owner),
            // The value of any key that no view declares.
            Requirement::Pin(_) => {
                let declared =
                    |name: &str| goal.views.iter().any(|view| view.read_by.shape().is_some_and(|shape| self.declares(shape, name)));
                let free = |(name, plan): &(&String, &KeyPlan<'s>)| plan.pin.is_none() && plan.fixed.is_none() && !declared(name);
                let named = frame.keys.iter().filter(free).map(|(name, _)| Some(name.clone()));
                std::iter::once(None).chain(named).collect()
            }
            Requirement::Unnamed { .. } => ["kind", "apiVersion"].map(|name| Some(name.to_owned())).into(),
            Requirement::Key { formula, .. } => {
                let failing = |name: &&String| self.evaluator().formula(formula, &Value::from(name.as_str())) == Some(false);
                let named: Vec<_> = frame.keys.keys().filter(failing).cloned().map(Some).collect();
                std::iter::once(None).chain(named).collect()
            }
            Requirement::Difference => {
                let names: Vec<String> = frame.keys.keys().cloned().collect();
                let mut keys: Vec<_> = names.into_iter().filter(|name| self.may_differ(goal, name)).map(Some).collect();
                keys.push(None);
                keys
            }
        }
    }

    fn declares(&self, owner: &Shape, name: &str) -> bool {
        match self.pair.filter(|pair| pair.has(owner)) {
            Some(pair) => pair.child(owner, name).is_some(),
            None => owner.properties.contains_key(name),
        }
    }

    /// Whether the views may read this key differently.
    fn may_differ(&mut self, goal: &Goal<'s>, name: &str) -> bool {
        match goal.views.as_slice() {
            [a, b] => !self.same.fates(a.read_by.key_fate(name), b.read_by.key_fate(name)),
            _ => false,
        }
    }

    /// Makes a key satisfy a requirement.
    fn assign(
        &mut self,
        goal: &Goal<'s>,
        frame: &mut ObjectPlan<'s>,
        requirement: &Requirement<'s>,
        key: Option<String>,
    ) -> Result<(), Option<UndecidedReason>> {
        let views = goal.views.len();
        let key = match key {
            Some(name) => name,
            None => {
                let against = match requirement {
                    Requirement::Key { formula, .. } => Some(formula),
                    _ => None,
                };
                self.new_key(goal, frame, against)?
            }
        };
        let plan = frame.keys.entry(key.clone()).or_insert_with(|| KeyPlan::new(&key, views));
        let fits = match requirement {
            Requirement::Undeclared { view, .. } | Requirement::Key { view, .. } => plan.demand(*view, PRESENT),
            Requirement::Fails { view, term, .. } => {
                plan.literals.push(TermLiteral { view: *view, holds: false, term: term.clone() });
                plan.demand(*view, PRESENT)
            }
            Requirement::Unnamed { view } => plan.demand(*view, ABSENT),
            Requirement::Difference => {
                plan.difference = true;
                true
            }
            Requirement::Pin(pin) => {
                plan.pin = Some(*pin);
                let request = pin.request();
                plan.forced.replace(request).is_none_or(|before| before == request)
            }
        };
        if fits { Ok(()) } else { Err(None) }
    }

    /// A new key that no condition names, and that every faithful view keeps; its name is chosen to fail `against`.
    pub(super) fn new_key(
        &mut self,
        goal: &Goal<'s>,
        frame: &mut ObjectPlan<'s>,
        against: Option<&Rc<Formula>>,
    ) -> Result<String, Option<UndecidedReason>> {
        let spare = "\u{0}";
        if goal.views.iter().any(|view| view.faithful && view.read_by.key_fate(spare).is_pruned()) {
            return Err(None);
        }
        let plain = ["key", "other", "third"].map(str::to_owned).into_iter().chain((4..).map(|n| format!("key{n}")));
        let name = if frame.key_rules.is_empty() && against.is_none() {
            plain.into_iter().find(|name| !frame.keys.contains_key(name)).ok_or(None)?
        } else {
            let taken = frame.keys.keys().map(String::as_str).chain(["apiVersion", "kind", "metadata"]);
            let mut literals: Vec<TermLiteral<'s>> = frame
                .key_rules
                .iter()
                .map(|(_, formula)| TermLiteral { view: 0, holds: true, term: Term::Formula(Rc::clone(formula)) })
                .collect();
            literals.extend(against.map(|formula| TermLiteral { view: 0, holds: false, term: Term::Formula(Rc::clone(formula)) }));
            literals.extend(taken.map(|name| not_equal(0, Value::from(name))));
            // The server accepts an empty key, but another one makes a better example.
            let mut named = literals.clone();
            named.push(not_equal(0, Value::from("")));
            let found = match self.solve_kind(&Goal::scalar(named), super::Kind::String) {
                Search::Impossible => self.solve_kind(&Goal::scalar(literals), super::Kind::String),
                found => found,
            };
            match found.into_result()? {
                Value::String(name) => name,
                _ => return Err(None),
            }
        };
        let mut plan = KeyPlan::new(&name, goal.views.len());
        plan.literals = frame.other_keys.clone();
        for (view, closed) in frame.closed.iter().enumerate() {
            if *closed {
                plan.demand(view, ABSENT);
            }
        }
        frame.keys.insert(name.clone(), plan);
        Ok(name)
    }

    /// Decides what is sent for every key.
    fn complete(&mut self, goal: &Goal<'s>, frame: &ObjectPlan<'s>) -> Search<Value> {
        let counted = frame.ranges.iter().any(|range| range.low > 0 || range.high < u64::MAX);
        // If keys are counted, a key that no condition names may be null, which not every view counts.
        let mut with_new_key = frame.clone();
        let frame = if counted && nulls_count_differently(goal) && self.new_key(goal, &mut with_new_key, None).is_ok() {
            &with_new_key
        } else {
            frame
        };
        let mut order: Vec<&KeyPlan<'s>> = frame.keys.values().collect();
        // Keys that must fail something come first.
        order.sort_by_key(|plan| plan.is_plain());
        let filled = if counted { self.fill_counted(goal, frame, &order) } else { self.fill_each(goal, &order) };
        Search::from(filled).and_then(|mut map| {
            if goal.root {
                map.retain(|key, _| !is_meta(key));
            }
            let value = Value::Object(map);
            if frame.unlike.iter().any(|other| formula::equal(other, &value)) {
                return Search::Undecided(UndecidedReason::Method("an object other than given ones"));
            }
            Search::Found(value)
        })
    }
}

pub(super) fn not_equal<'s>(view: usize, value: Value) -> TermLiteral<'s> {
    TermLiteral { view, holds: false, term: Term::Formula(Rc::new(Formula::Equals(value))) }
}

/// The keys that every resource has. Their values only need the right kind.
pub(crate) fn root_keys() -> [(&'static str, Value); 3] {
    [("apiVersion", "v1".into()), ("kind", "Kind".into()), ("metadata", serde_json::json!({"name": "name"}))]
}
