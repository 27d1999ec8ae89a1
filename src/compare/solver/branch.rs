//! The tableau: conditions are expanded until only atoms are left, with one branch for each alternative.

use std::rc::Rc;

use serde_json::Value;

use crate::model::PathStep;

use super::formula::Formula;
use super::part::{Part, Parts, Unsatisfiable, reads, same_part, same_term};
use super::read::SentKey;
use super::topics::{PROPERTIES, Topics, topic};
use super::{Goal, Kind, Pin, Search, Solver, Term, UndecidedReason};

/// A condition on one view that must hold, or must fail.
#[derive(Debug, Clone)]
pub(crate) struct Atom<'s> {
    pub(crate) view: usize,
    pub(crate) holds: bool,
    pub(crate) part: Part<'s>,
}

/// The ways to satisfy a disjunction; each is a set of atoms.
#[derive(Debug, Clone)]
struct Choice<'s> {
    options: Vec<Vec<Atom<'s>>>,
    /// How many of the branch's atoms were already checked against the options; assumptions are never withdrawn.
    seen: usize,
}

impl<'s> Choice<'s> {
    fn conditions(&self) -> usize {
        self.options.iter().map(Vec::len).sum()
    }

    /// The atoms assumed since the options were last checked.
    fn unseen<'a>(&self, atoms: &'a [Atom<'s>]) -> &'a [Atom<'s>] {
        atoms.get(self.seen..).unwrap_or_default()
    }
}

/// One branch of the search: what is assumed so far, and what is still to be chosen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Branch<'s> {
    pub(crate) atoms: Vec<Atom<'s>>,
    /// What each atom is about. Only conditions about the same can contradict each other.
    topics: Topics,
    choices: Vec<Choice<'s>>,
    /// How many choices were made.
    made: usize,
    dead: bool,
}

/// How many choices may depend on each other: each is a few frames on the stack.
const MAX_CHOICES: usize = 400;
/// How many atoms are copied for the price of one condition.
const COPIED: usize = 64;

/// The cost of a condition that is only expanded to be chosen or not.
const EXPANDED: usize = 16;

/// Whether two atoms require different values of the same key.
fn differ(a: &Atom<'_>, b: &Atom<'_>) -> bool {
    match (&a.part, &b.part) {
        (Part::Property(x, Term::Formula(f)), Part::Property(y, Term::Formula(g))) if a.holds && b.holds && x == y => {
            matches!((&**f, &**g), (Formula::Equals(f), Formula::Equals(g)) if !super::formula::equal(f, g))
        }
        _ => false,
    }
}

impl<'s> Solver<'s> {
    pub(super) fn solve_kind(&mut self, goal: &Goal<'s>, kind: Kind) -> Search<Value> {
        if matches!(kind, Kind::Bool) {
            return self.first_of(goal, vec![false.into(), true.into()]);
        }
        let mut branch = Branch::default();
        for literal in &goal.literals {
            let part = Part::Term(literal.term.clone());
            self.assume(&mut branch, kind, Atom { view: literal.view, holds: literal.holds, part });
        }
        // A key that must be sent exists for every side that keeps it.
        if let Some(pin) = goal.pin
            && let Some((PathStep::Key(key), rest)) = pin.steps.split_first()
            && (Pin { steps: rest, target: pin.target }).request() == SentKey::Value
        {
            for (view, side) in goal.views.iter().enumerate() {
                if !side.read_by.key_fate(key).is_pruned() {
                    let part = Part::Has(key.to_string().into());
                    self.assume(&mut branch, kind, Atom { view, holds: true, part });
                }
            }
        }
        self.search(goal, kind, branch)
    }

    fn search(&mut self, goal: &Goal<'s>, kind: Kind, mut branch: Branch<'s>) -> Search<Value> {
        loop {
            if branch.dead {
                return Search::Impossible;
            }
            // An option of `oneOf` has as many conditions as there are clauses. Each is copied with the branch.
            let compared = |choice: &Choice<'s>| choice.conditions() * (1 + choice.unseen(&branch.atoms).len());
            let compared: usize = branch.choices.iter().map(compared).sum();
            if !self.step(branch.atoms.len() + compared) {
                return Search::Undecided(UndecidedReason::Budget);
            }
            self.simplify_choices(&mut branch, goal, kind);
            let narrowest = branch.choices.iter().enumerate().min_by_key(|(_, choice)| choice.options.len());
            let Some((index, choice)) = narrowest else { break };
            match choice.options.len() {
                0 => return Search::Impossible,
                1 => {
                    let Choice { mut options, .. } = branch.choices.swap_remove(index);
                    for atom in options.pop().unwrap_or_default() {
                        self.assume(&mut branch, kind, atom);
                    }
                }
                _ => {
                    let choice = branch.choices.swap_remove(index);
                    return self.choose(goal, kind, &branch, choice);
                }
            }
        }
        if branch.dead { Search::Impossible } else { self.leaf(goal, kind, &branch.atoms) }
    }

    fn choose(&mut self, goal: &Goal<'s>, kind: Kind, branch: &Branch<'s>, choice: Choice<'s>) -> Search<Value> {
        if branch.made >= MAX_CHOICES {
            return Search::Undecided(UndecidedReason::Budget);
        }
        let mut open = None;
        for option in choice.options {
            let mut next = Branch { made: branch.made + 1, ..branch.clone() };
            let keys_for: Vec<Atom<'s>> = option.iter().filter(|atom| !atom.holds).cloned().collect();
            for atom in option {
                self.assume(&mut next, kind, atom);
            }
            if next.dead {
                continue;
            }
            // If a key can't fail as required, no further choice helps.
            if !next.choices.is_empty() && kind == Kind::Object && keys_for.iter().any(|atom| self.is_unsatisfiable_key(goal, &next, atom))
            {
                continue;
            }
            match self.search(goal, kind, next) {
                Search::Found(value) => return Search::Found(value),
                Search::Impossible => {}
                Search::Undecided(reason) => open = open.or(Some(reason)),
            }
            if self.steps == 0 {
                return Search::Undecided(UndecidedReason::Budget);
            }
        }
        Err(open).into()
    }

    /// Drops choices that are already satisfied, and options that are no longer possible.
    fn simplify_choices(&mut self, branch: &mut Branch<'s>, goal: &Goal<'s>, kind: Kind) {
        let mut choices = std::mem::take(&mut branch.choices);
        let atoms = &*branch.atoms;
        choices.retain_mut(|choice| {
            let unseen = choice.unseen(atoms);
            choice.seen = atoms.len();
            if unseen.is_empty() {
                return true;
            }
            if choice.options.iter().any(|option| self.is_met(option, atoms, unseen)) {
                return false;
            }
            choice.options.retain(|option| !option.iter().any(|atom| self.is_excluded(goal, unseen, atom, kind)));
            true
        });
        branch.choices = choices;
    }

    /// Whether the most recently assumed atoms complete an option.
    fn is_met(&mut self, option: &[Atom<'s>], atoms: &[Atom<'s>], unseen: &[Atom<'s>]) -> bool {
        option.iter().any(|atom| self.is_assumed(unseen, atom)) && option.iter().all(|atom| self.is_assumed(atoms, atom))
    }

    fn is_assumed(&mut self, atoms: &[Atom<'s>], atom: &Atom<'s>) -> bool {
        atoms.iter().any(|known| known.view == atom.view && known.holds == atom.holds && same_part(&mut self.same, &known.part, &atom.part))
    }

    /// Whether two conditions on one view contradict each other.
    fn conflict(&mut self, known: &Atom<'s>, atom: &Atom<'s>, kind: Kind) -> bool {
        if known.view != atom.view && !kind.is_scalar() {
            return false;
        }
        if known.holds == atom.holds {
            return differ(known, atom);
        }
        let (yes, no) = if known.holds { (known, atom) } else { (atom, known) };
        match (&yes.part, &no.part) {
            // A key that exists and isn't null exists.
            (Part::Has(x), Part::Required(y)) => x == y,
            (Part::Properties(owner), Part::Property(key, term)) => {
                self.child(owner, key).is_some_and(|child| same_term(&mut self.same, &Term::Node(child), term))
            }
            _ => same_part(&mut self.same, &known.part, &atom.part),
        }
    }

    /// Whether a condition contradicts one that is already assumed.
    fn contradicts(&mut self, branch: &Branch<'s>, topic: u64, atom: &Atom<'s>, kind: Kind) -> bool {
        // Each is copied and planned later.
        let mut work = branch.atoms.len().div_ceil(COPIED);
        let other = match (&atom.part, atom.holds) {
            (Part::Property(..), false) => Some(PROPERTIES),
            _ => None,
        };
        let about = std::iter::once(topic).chain(other).flat_map(|topic| branch.topics.about(topic));
        let mut found = about.filter_map(|at| branch.atoms.get(at)).any(|known| {
            work += 1;
            self.conflict(known, atom, kind)
        });
        if matches!(atom.part, Part::Properties(_)) {
            work += branch.atoms.len();
            found |= branch.atoms.iter().any(|known| self.conflict(known, atom, kind));
        }
        self.charge(work);
        found
    }

    fn is_excluded(&mut self, goal: &Goal<'s>, atoms: &[Atom<'s>], atom: &Atom<'s>, kind: Kind) -> bool {
        atoms.iter().any(|known| {
            if self.conflict(known, atom, kind) {
                return true;
            }
            if known.view == atom.view || kind.is_scalar() {
                return false;
            }
            if known.holds == atom.holds {
                return match (goal.views.get(known.view), goal.views.get(atom.view), &known.part) {
                    (Some(one), Some(two), Part::Property(key, _)) => {
                        differ(known, atom) && self.same.fates(one.read_by.key_fate(key), two.read_by.key_fate(key))
                    }
                    _ => false,
                };
            }
            // The same condition on a part that both sides read the same way.
            let (Some(one), Some(two)) = (goal.views.get(known.view), goal.views.get(atom.view)) else { return false };
            match (&known.part, &atom.part) {
                (Part::Property(x, a), Part::Property(y, b)) => {
                    x == y && same_term(&mut self.same, a, b) && self.same.fates(one.read_by.key_fate(x), two.read_by.key_fate(x))
                }
                (Part::Properties(owner), Part::Property(key, term)) => {
                    self.child(owner, key).is_some_and(|child| same_term(&mut self.same, &Term::Node(child), term))
                        && self.same.fates(one.read_by.key_fate(key), two.read_by.key_fate(key))
                }
                (Part::Required(x), Part::Required(y)) | (Part::Has(x), Part::Has(y)) => {
                    x == y && self.same.fates(one.read_by.key_fate(x), two.read_by.key_fate(x))
                }
                (Part::Opaque(a), Part::Opaque(b)) => {
                    let keys = self.rules.keys(a.rule, a.shape);
                    a.says(b) && self.same.visible(keys.as_deref(), one.read_by, two.read_by)
                }
                (Part::Term(_) | Part::AnyOf(_) | Part::OneOf(_), _) => {
                    same_part(&mut self.same, &known.part, &atom.part)
                        && reads(&known.part).is_some_and(|keys| self.same.keys(keys.iter().map(|key| &**key), one.read_by, two.read_by))
                }
                (Part::Each(a), Part::Each(b)) => {
                    same_term(&mut self.same, a, b) && self.same.readers(one.read_by.items(), two.read_by.items())
                }
                (Part::MinSize(a), Part::MinSize(b)) | (Part::MaxSize(a), Part::MaxSize(b)) => kind == Kind::Array && a == b,
                _ => false,
            }
        })
    }

    fn parts(&self) -> Parts<'_, 's> {
        Parts { pair: self.pair, rules: &self.rules }
    }

    /// Adds a condition to a branch, splitting it as far as no choice is needed.
    fn assume(&mut self, branch: &mut Branch<'s>, kind: Kind, atom: Atom<'s>) {
        // Without steps, the search of this branch ends as undecided, whatever else is assumed.
        if branch.dead || self.steps == 0 {
            return;
        }
        let Atom { view, holds, part } = atom;
        // The expanded condition is kept too, because its opposite may be added later.
        let atom = match part {
            Part::Not(term) => Atom { view, holds: !holds, part: Part::Term(term) },
            part => Atom { view, holds, part },
        };
        let topic = topic(&atom.part);
        if self.contradicts(branch, topic, &atom, kind) {
            branch.dead = true;
            return;
        }
        branch.topics.push(topic);
        branch.atoms.push(atom.clone());
        let Atom { view, holds, part } = atom;
        let one = |holds: bool, part: Part<'s>| Atom { view, holds, part };
        match part {
            Part::Term(term) => self.assume_term(branch, kind, view, holds, &term),
            // Where a rule fails, no condition holds that would make it true.
            Part::Opaque(opaque) if !holds => {
                if let Some(formula) = self.rules.sufficient(opaque.rule, opaque.shape) {
                    self.assume(branch, kind, one(false, Part::Term(Term::Formula(formula))));
                }
            }
            Part::Property(name, Term::Formula(formula)) if holds => {
                if let Formula::All(parts) = &*formula {
                    for part in parts {
                        self.assume(branch, kind, one(true, Part::Property(name.clone(), Term::Formula(Rc::clone(part)))));
                    }
                }
            }
            Part::AllFormulas(formula) | Part::AnyFormula(formula) => {
                let (parts, all) = match &*formula {
                    Formula::All(parts) => (parts, true),
                    Formula::Any(parts) => (parts, false),
                    _ => return,
                };
                let atoms: Vec<_> = parts.iter().map(|part| one(holds, Part::Term(Term::Formula(Rc::clone(part))))).collect();
                if all == holds {
                    for atom in atoms {
                        self.assume(branch, kind, atom);
                    }
                } else {
                    self.add_choice(branch, kind, atoms.into_iter().map(|atom| vec![atom]));
                }
            }
            Part::AnyOf(clauses) => {
                let atoms = clauses.iter().map(|clause| one(holds, Part::Term(Term::Clause(clause))));
                if holds {
                    self.add_choice(branch, kind, atoms.map(|atom| vec![atom]));
                } else {
                    for atom in atoms {
                        self.assume(branch, kind, atom);
                    }
                }
            }
            Part::OneOf(clauses) => {
                let clause = |holds: bool, index: usize| clauses.get(index).map(|clause| one(holds, Part::Term(Term::Clause(clause))));
                let count = clauses.len();
                let only = |chosen: usize| (0..count).filter_map(|index| clause(index == chosen, index)).collect::<Vec<_>>();
                if holds {
                    self.add_choice(branch, kind, (0..count).map(only));
                } else {
                    let pairs = (0..count).flat_map(|i| (i + 1..count).map(move |j| [i, j]));
                    let both = pairs.map(|pair| pair.into_iter().filter_map(|index| clause(true, index)).collect::<Vec<_>>());
                    self.add_choice(branch, kind, std::iter::once(only(count)).chain(both));
                }
            }
            _ => {}
        }
    }

    /// Adds a choice. What an option requires without a further choice is expanded, so that contradictions show early.
    fn add_choice(&mut self, branch: &mut Branch<'s>, kind: Kind, options: impl Iterator<Item = Vec<Atom<'s>>>) {
        let mut expanded = Vec::new();
        for option in options {
            if self.steps == 0 {
                return;
            }
            let mut atoms = Vec::new();
            let length = option.len();
            let is_possible = option.into_iter().all(|atom| self.expand(kind, atom, &mut atoms).is_ok());
            self.charge(EXPANDED * (length + atoms.len()));
            if is_possible {
                if atoms.is_empty() {
                    return;
                }
                expanded.push(atoms);
            }
        }
        // That a rule fails is only assumed here, so other options are tried first.
        expanded.sort_by_key(|option| option.iter().any(|atom| matches!(atom.part, Part::Opaque(_)) && !atom.holds));
        branch.choices.push(Choice { options: expanded, seen: 0 });
    }

    /// Expands a condition into the atoms that must all hold.
    fn expand(&mut self, kind: Kind, atom: Atom<'s>, atoms: &mut Vec<Atom<'s>>) -> Result<(), Unsatisfiable> {
        let Atom { view, holds, part } = atom;
        let term = match part {
            Part::Term(term) => term,
            Part::Not(term) => return self.expand(kind, Atom { view, holds: !holds, part: Part::Term(term) }, atoms),
            Part::AllFormulas(formula) | Part::AnyFormula(formula) => Term::Formula(formula),
            Part::Property(name, Term::Formula(formula)) if holds => {
                // A key that satisfies several conditions satisfies each of them.
                match &*formula {
                    Formula::All(parts) => {
                        for part in parts {
                            let part = Part::Property(name.clone(), Term::Formula(Rc::clone(part)));
                            self.expand(kind, Atom { view, holds, part }, atoms)?;
                        }
                    }
                    _ => atoms.push(Atom { view, holds, part: Part::Property(name, Term::Formula(formula)) }),
                }
                return Ok(());
            }
            part => {
                atoms.push(Atom { view, holds, part });
                return Ok(());
            }
        };
        if let Term::Formula(formula) = &term {
            match (&**formula, holds) {
                (Formula::Const(value), _) => return if *value == holds { Ok(()) } else { Err(Unsatisfiable) },
                (Formula::All(parts), true) | (Formula::Any(parts), false) => {
                    for part in parts {
                        self.expand(kind, Atom { view, holds, part: Part::Term(Term::Formula(Rc::clone(part))) }, atoms)?;
                    }
                    return Ok(());
                }
                (Formula::All(_) | Formula::Any(_), _) => {
                    atoms.push(Atom { view, holds, part: Part::Term(term) });
                    return Ok(());
                }
                _ => {}
            }
        }
        match (self.parts_of(&term, kind, holds), holds) {
            (Err(Unsatisfiable), true) => Err(Unsatisfiable),
            (Err(Unsatisfiable), false) => Ok(()),
            (Ok(parts), true) => parts.into_iter().try_for_each(|part| self.expand(kind, Atom { view, holds, part }, atoms)),
            (Ok(mut parts), false) => match (parts.pop(), parts.is_empty()) {
                (None, _) => Err(Unsatisfiable),
                (Some(part), true) => self.expand(kind, Atom { view, holds, part }, atoms),
                (Some(_), false) => {
                    atoms.push(Atom { view, holds, part: Part::Term(term) });
                    Ok(())
                }
            },
        }
    }

    /// The conditions of a term on this kind of value. If it must fail, any of them may.
    fn parts_of(&self, term: &Term<'s>, kind: Kind, holds: bool) -> Result<Vec<Part<'s>>, Unsatisfiable> {
        match term {
            Term::Node(shape) => self.parts().of_shape(shape, kind, true, holds),
            Term::Clause(shape) => self.parts().of_shape(shape, kind, false, holds),
            Term::Formula(formula) => match &**formula {
                Formula::Const(false) => Err(Unsatisfiable),
                _ => self.parts().of_formula(formula, kind).map(|part| part.into_iter().collect()),
            },
        }
    }

    fn assume_term(&mut self, branch: &mut Branch<'s>, kind: Kind, view: usize, holds: bool, term: &Term<'s>) {
        match (self.parts_of(term, kind, holds), holds) {
            (Err(Unsatisfiable), true) => branch.dead = true,
            (Err(Unsatisfiable), false) => {}
            (Ok(parts), true) => {
                for part in parts {
                    self.assume(branch, kind, Atom { view, holds, part });
                }
            }
            (Ok(mut parts), false) if parts.len() == 1 => {
                for part in parts.drain(..) {
                    self.assume(branch, kind, Atom { view, holds, part });
                }
            }
            (Ok(parts), false) => self.add_choice(branch, kind, parts.into_iter().map(|part| vec![Atom { view, holds, part }])),
        }
    }

    fn leaf(&mut self, goal: &Goal<'s>, kind: Kind, atoms: &[Atom<'s>]) -> Search<Value> {
        if !kind.is_scalar()
            && let Some(values) = atoms.iter().find_map(|atom| match &atom.part {
                Part::Enum(values) if atom.holds => Some(*values),
                Part::Is(value) if atom.holds => Some(std::slice::from_ref(value)),
                _ => None,
            })
        {
            return self.first_of(goal, values.iter().filter(|value| Kind::of(value) == kind).cloned().collect());
        }
        match kind {
            Kind::Object => self.object(goal, atoms),
            Kind::Array => self.list(goal, atoms),
            Kind::String => self.string(atoms),
            Kind::Int | Kind::Float => self.number(kind, atoms),
            Kind::Bool | Kind::Null => Search::Impossible,
        }
    }
}
