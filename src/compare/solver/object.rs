//! Objects: collects the conditions in an [`ObjectPlan`], assigns each requirement to a key, and lets [`super::object_keys`] decide
//! what is sent for each key.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use crate::model::PathStep;
use crate::model::schema::is_meta;
use crate::model::schema::shape::{Extra, Shape};
use crate::server::object::EMBEDDED_TYPE_PATTERNS;

use super::branch::{Atom, Branch};
use super::formula::{self, Formula};
use super::object_keys::nulls_count_differently;
use super::object_plan::{ABSENT, ABSENT_OR_NULL, Candidate, KeyPlan, NON_NULL, ObjectPlan, PRESENT, Requirement};
use super::part::{Name, Part};
use super::{Difference, Goal, Pin, Preference, Search, SideView, Solver, Term, TermLiteral, UndecidedReason};

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
                    let _ = self.new_key(goal, &mut frame, None, &[]);
                }
                self.place(goal, frame)
            }
            Err(Contradiction) => Search::Impossible,
        }
    }

    /// What to send at a field or map entry by itself; `None` to omit it.
    pub(super) fn alone(&mut self, goal: &Goal<'s>) -> Search<Option<Value>> {
        let mut plan = KeyPlan::new(ALONE.into(), goal.views.len());
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
        let about = branch.atoms.iter().filter(|known| match &known.part {
            Part::Property(other, _) | Part::Required(other) | Part::Has(other) => other == name,
            Part::Properties(_) => true,
            _ => false,
        });
        let mut frame = ObjectPlan::new(goal.views.len());
        for atom in about {
            if self.enter(goal, &mut frame, atom).is_err() {
                return true;
            }
        }
        let Some(plan) = frame.keys.get(name) else { return false };
        matches!(self.fill(goal, plan), Search::Impossible)
    }

    fn frame<'a>(&mut self, goal: &Goal<'s>, atoms: &'a [Atom<'s>]) -> Result<ObjectPlan<'a, 's>, Contradiction> {
        let mut frame = ObjectPlan::new(goal.views.len());
        if goal.root {
            for (name, _) in root_keys() {
                self.plan(goal, &mut frame, name.into());
            }
        }
        match goal.pin.and_then(|pin| Some((pin, pin.steps.split_first()?))) {
            Some((_, (PathStep::Key(key), _))) => drop(self.plan(goal, &mut frame, key.to_string().into())),
            Some((pin, (PathStep::Values, rest))) => frame.requirements.push(Requirement::Pin(Pin { steps: rest, target: pin.target })),
            Some((_, (PathStep::Items, _))) | None => {}
        }
        if goal.difference != Difference::None {
            frame.requirements.push(Requirement::Difference);
        }
        for atom in atoms {
            self.enter(goal, &mut frame, atom)?;
        }
        if frame.counts_keys() {
            for (name, _) in goal.views.iter().flat_map(|view| view.read_by.declared()) {
                self.plan(goal, &mut frame, name.into());
            }
        }
        // If this uses up the budget, the next step stops.
        self.budget.spend(KEY_COST * frame.keys.len());
        Ok(frame)
    }

    /// The plan of a key, with what is required of it so far.
    fn plan<'p>(&self, goal: &Goal<'s>, frame: &'p mut ObjectPlan<'_, 's>, name: Name<'s>) -> &'p mut KeyPlan<'s> {
        let general = &frame.general;
        frame.keys.entry(name).or_insert_with_key(|name| self.first_plan(goal, general, name.clone()))
    }

    /// The plan of a key that no condition names.
    fn first_plan(&self, goal: &Goal<'s>, general: &[&Atom<'s>], name: Name<'s>) -> KeyPlan<'s> {
        let mut plan = KeyPlan::new(name, goal.views.len());
        if goal.root {
            plan.fixed = root_keys().into_iter().find(|(key, _)| plan.name == *key).map(|(_, value)| value);
        }
        if let Some(pin) = goal.pin
            && let Some((PathStep::Key(key), rest)) = pin.steps.split_first()
            && **key == *plan.name
        {
            let below = Pin { steps: rest, target: pin.target };
            plan.forced = Some(below.request());
            plan.pin = Some(below);
        }
        // The first demands of a key can't contradict each other, because none of them wants it.
        for atom in general {
            self.apply(&mut plan, atom);
        }
        plan
    }

    /// Applies a condition on all keys to one; returns whether it may hold.
    fn apply(&self, plan: &mut KeyPlan<'s>, Atom { view, holds, part }: &Atom<'s>) -> bool {
        let literal = |term: Term<'s>| TermLiteral { view: *view, holds: *holds, term };
        match part {
            Part::Properties(owner) => plan.literals.extend(self.child(owner, &plan.name).map(|child| literal(Term::Node(child)))),
            Part::Values(owner, term) if !owner.is_some_and(|owner| self.declares(owner, &plan.name)) => {
                plan.literals.push(literal(term.clone()));
            }
            Part::Closed(owner) if !self.declares(owner, &plan.name) => return plan.demand(*view, ABSENT),
            Part::Keys(formula) if self.evaluator().formula(formula, &Value::from(&*plan.name)) == Some(false) => {
                return plan.demand(*view, ABSENT);
            }
            _ => {}
        }
        true
    }

    fn enter<'a>(&self, goal: &Goal<'s>, frame: &mut ObjectPlan<'a, 's>, atom: &'a Atom<'s>) -> Result<(), Contradiction> {
        let Atom { view, holds, part } = atom;
        let (view, holds) = (*view, *holds);
        let mut fits = true;
        match part {
            Part::Required(name) => fits = self.plan(goal, frame, name.clone()).demand(view, if holds { PRESENT } else { ABSENT }),
            Part::Has(name) => fits = self.plan(goal, frame, name.clone()).demand(view, if holds { NON_NULL } else { ABSENT_OR_NULL }),
            Part::Property(name, term) => {
                let plan = self.plan(goal, frame, name.clone());
                plan.literals.push(TermLiteral { view, holds, term: term.clone() });
                if !holds {
                    fits = plan.demand(view, if matches!(term, Term::Formula(_)) { NON_NULL } else { PRESENT });
                }
            }
            Part::Properties(_) | Part::Closed(_) | Part::Values(..) | Part::Keys(_) if holds => {
                fits = frame.keys.values_mut().all(|plan| self.apply(plan, atom));
                frame.general.push(atom);
            }
            Part::Closed(owner) => frame.requirements.push(Requirement::Undeclared { view, owner }),
            Part::Values(owner, term) => frame.requirements.push(Requirement::Fails { view, owner: *owner, term: term.clone() }),
            Part::Keys(formula) => frame.requirements.push(Requirement::Key { view, formula: Rc::clone(formula) }),
            Part::MinSize(n) => frame
                .count(view, |range| if holds { range.low = range.low.max(*n) } else { range.high = range.high.min(n.saturating_sub(1)) }),
            Part::MaxSize(n) => frame
                .count(view, |range| if holds { range.high = range.high.min(*n) } else { range.low = range.low.max(n.saturating_add(1)) }),
            Part::Embedded if holds => {
                for (name, pattern) in EMBEDDED_TYPE_PATTERNS {
                    let plan = self.plan(goal, frame, name.into());
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
    fn place(&mut self, goal: &Goal<'s>, mut frame: ObjectPlan<'_, 's>) -> Search<Value> {
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

    /// The keys that could satisfy a requirement.
    fn keys_for(&mut self, goal: &Goal<'s>, frame: &ObjectPlan<'_, 's>, requirement: &Requirement<'s>) -> Vec<Candidate<'s>> {
        let mut names = match requirement {
            Requirement::Unnamed { .. } => return ["kind", "apiVersion"].map(|name| Candidate::Named(name.into())).into(),
            // The value of any key that no view declares.
            Requirement::Pin(_) => {
                let free =
                    |(name, plan): &(&Name<'s>, &KeyPlan<'s>)| plan.pin.is_none() && plan.fixed.is_none() && !self.is_declared(goal, name);
                frame.keys.iter().filter(free).map(|(name, _)| name.clone()).collect()
            }
            _ => self.names(goal, frame),
        };
        let mut new_comes_first = true;
        match requirement {
            Requirement::Undeclared { owner, .. } => names.retain(|name| !self.declares(owner, name)),
            Requirement::Fails { owner, .. } => names.retain(|name| !owner.is_some_and(|owner| self.declares(owner, name))),
            Requirement::Key { formula, .. } => {
                names.retain(|name| self.evaluator().formula(formula, &Value::from(&**name)) == Some(false));
            }
            Requirement::Difference => {
                names.retain(|name| self.may_differ(goal, name));
                new_comes_first = false;
            }
            Requirement::Pin(_) | Requirement::Unnamed { .. } => {}
        }
        let named = names.into_iter().map(Candidate::Named);
        let new = frame.unseen().into_iter().map(|unseen| Candidate::New { unseen });
        if new_comes_first { new.chain(named).collect() } else { named.chain(new).collect() }
    }

    /// All keys that a view declares or a condition names, in order.
    fn names(&mut self, goal: &Goal<'s>, frame: &ObjectPlan<'_, 's>) -> BTreeSet<Name<'s>> {
        let declared = goal.views.iter().flat_map(|view| view.read_by.declared()).map(|(name, _)| Name::from(name));
        let names: BTreeSet<Name<'s>> = frame.keys.keys().cloned().chain(declared).collect();
        self.charge(KEY_COST * names.len());
        names
    }

    /// Whether any view declares a key.
    fn is_declared(&self, goal: &Goal<'s>, name: &str) -> bool {
        goal.views.iter().any(|view| view.read_by.shape().is_some_and(|shape| self.declares(shape, name)))
    }

    /// The schema that a node declares for a key.
    pub(super) fn child(&self, owner: &'s Shape, name: &str) -> Option<&'s Shape> {
        match self.pair.filter(|pair| pair.has(owner)) {
            Some(pair) => pair.child(owner, name),
            None => owner.property(name),
        }
    }

    fn declares(&self, owner: &'s Shape, name: &str) -> bool {
        self.child(owner, name).is_some()
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
        frame: &mut ObjectPlan<'_, 's>,
        requirement: &Requirement<'s>,
        key: Candidate<'s>,
    ) -> Result<(), Option<UndecidedReason>> {
        let key = match key {
            Candidate::Named(name) => name,
            Candidate::New { unseen } => {
                let against = match requirement {
                    Requirement::Key { formula, .. } => Some(formula),
                    _ => None,
                };
                self.new_key(goal, frame, against, &unseen)?
            }
        };
        let plan = self.plan(goal, frame, key);
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

    /// A new key that no condition names, and that every faithful view keeps; its name is chosen to fail `against`, and needn't follow
    /// the conditions of `unseen` views.
    pub(super) fn new_key(
        &mut self,
        goal: &Goal<'s>,
        frame: &mut ObjectPlan<'_, 's>,
        against: Option<&Rc<Formula>>,
        unseen: &[usize],
    ) -> Result<Name<'s>, Option<UndecidedReason>> {
        let spare = "\u{0}";
        if goal.views.iter().any(|view| view.faithful && view.read_by.key_fate(spare).is_pruned()) {
            return Err(None);
        }
        let plain = ["key", "other", "third"].map(str::to_owned).into_iter().chain((4..).map(|n| format!("key{n}")));
        let name: Name<'s> = if frame.key_rules().next().is_none() && against.is_none() {
            let is_new = |name: &Name<'s>| !frame.keys.contains_key(name) && !self.is_declared(goal, name);
            plain.map(Name::from).find(is_new).ok_or(None)?
        } else {
            let rules = frame.key_rules().filter(|(view, _)| !unseen.contains(view));
            let mut literals: Vec<TermLiteral<'s>> =
                rules.map(|(_, formula)| TermLiteral { view: 0, holds: true, term: Term::Formula(Rc::clone(formula)) }).collect();
            literals.extend(against.map(|formula| TermLiteral { view: 0, holds: false, term: Term::Formula(Rc::clone(formula)) }));
            let taken = self.names(goal, frame).into_iter().chain(["apiVersion", "kind", "metadata"].map(Name::from));
            literals.extend(taken.map(|name| not_equal(0, Value::from(&*name))));
            // The server accepts an empty key, but another one makes a better example.
            let mut named = literals.clone();
            named.push(not_equal(0, Value::from("")));
            let found = match self.solve_kind(&Goal::scalar(named), super::Kind::String) {
                Search::Impossible => self.solve_kind(&Goal::scalar(literals), super::Kind::String),
                found => found,
            };
            match found.into_result()? {
                Value::String(name) => name.into(),
                _ => return Err(None),
            }
        };
        self.plan(goal, frame, name.clone());
        Ok(name)
    }

    /// The declared keys that no condition names, if omitting them has an effect or is not preferred.
    fn other_keys(&self, goal: &Goal<'s>, frame: &ObjectPlan<'_, 's>) -> Vec<&'s str> {
        let mut names: Vec<&'s str> = match self.preference {
            Preference::Small => goal.views.iter().flat_map(|view| view.read_by.defaulted()).map(|(name, _)| name).collect(),
            Preference::Full => goal.views.iter().flat_map(|view| view.read_by.declared()).map(|(name, _)| name).collect(),
        };
        // One sorted list for each view.
        names.sort();
        names.dedup();
        names.retain(|name| !frame.keys.contains_key(*name));
        names
    }

    /// Decides what is sent for every key.
    fn complete(&mut self, goal: &Goal<'s>, frame: &ObjectPlan<'_, 's>) -> Search<Value> {
        let counted = frame.counts_keys();
        // If keys are counted, a key that no condition names may be null, which not every view counts.
        let with_new_key = (counted && nulls_count_differently(goal)).then(|| {
            let mut frame = frame.clone();
            self.new_key(goal, &mut frame, None, &[]).ok().map(|_| frame)
        });
        let with_new_key = with_new_key.flatten();
        let frame = with_new_key.as_ref().unwrap_or(frame);
        let mut order: Vec<&KeyPlan<'s>> = frame.keys.values().collect();
        // Keys that must fail something come first.
        order.sort_by_key(|plan| plan.is_plain());
        let filled = if counted {
            self.fill_counted(goal, frame, &order).map_err(|open| {
                // Only keys that all views see were tried.
                let is_pruned = |view: &SideView<'s>| view.read_by.undeclared().is_pruned();
                let others = frame.key_rules().next().is_some() && (nulls_count_differently(goal) || goal.views.iter().any(is_pruned));
                open.or(others.then_some(UndecidedReason::Method("keys that not all sides see, under conditions on names")))
            })
        } else {
            self.fill_each(goal, &order).and_then(|mut map| {
                for name in self.other_keys(goal, frame) {
                    let plan = self.first_plan(goal, &frame.general, name.into());
                    self.charge(KEY_COST);
                    map.extend(self.fill(goal, &plan).into_result()?.map(|value| (name.to_owned(), value)));
                }
                Ok(map)
            })
        };
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
