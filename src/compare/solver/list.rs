//! Lists: the number of items, the conditions on all of them, and the items that some conditions need.

use std::rc::Rc;

use serde_json::Value;

use crate::model::PathStep;
use crate::model::schema::shape::Shape;

use super::branch::Atom;
use super::formula::{self, Formula};
use super::object::not_equal;
use super::object_keys::{child_goal, difference_below};
use super::part::{Part, Unique};
use super::read::{Effect, SentKey};
use super::{Difference, Goal, Pin, Preference, Search, Solver, Term, TermLiteral, UndecidedReason};

/// How many items are generated to reach a count, if they must differ, and if they may be equal.
const MAX_DISTINCT: u64 = 300;
const MAX_ALIKE: u64 = 5_000;
/// How much an item counts towards the limit on large values.
const ITEM_SIZE: usize = 16;

/// The requirements of one item, besides those of all items.
#[derive(Debug, Clone, Default)]
struct Wanted<'s> {
    literals: Vec<TermLiteral<'s>>,
    difference: bool,
    pin: Option<Pin<'s>>,
    /// Must have the same value as this item, as sent.
    copy_of: Option<usize>,
}

struct ListPlan<'s> {
    low: u64,
    high: u64,
    each: Vec<TermLiteral<'s>>,
    wanted: Vec<Wanted<'s>>,
    /// Uniqueness that must hold.
    distinct: Vec<(usize, Unique<'s>)>,
    /// Uniqueness that must fail.
    equal: Vec<(usize, Unique<'s>)>,
    unlike: Vec<Value>,
}

impl<'s> Solver<'s> {
    pub(super) fn list(&mut self, goal: &Goal<'s>, atoms: &[Atom<'s>]) -> Search<Value> {
        let mut frame = enter(atoms);
        if let Some(pin) = goal.pin
            && let Some((PathStep::Items, rest)) = pin.steps.split_first()
        {
            frame.wanted.push(Wanted { pin: Some(Pin { steps: rest, target: pin.target }), ..Wanted::default() });
        }
        if goal.difference != Difference::None {
            frame.wanted.push(Wanted { difference: true, ..Wanted::default() });
        }
        if frame.low > frame.high {
            return Search::Impossible;
        }
        if frame.equal.len() > 1 {
            return Search::Undecided(UndecidedReason::Method("a list that is not unique in two ways"));
        }
        let found = match frame.equal.first().copied() {
            Some((view, unique)) => self.repeated(goal, &frame, view, unique),
            None => self.fitted(goal, &frame),
        };
        match found {
            Search::Found(value) if frame.unlike.iter().any(|other| formula::equal(other, &value)) => {
                Search::Undecided(UndecidedReason::Method("a list other than given ones"))
            }
            found => found,
        }
    }

    /// Solves for an item by itself.
    pub(super) fn alone_item(&mut self, goal: &Goal<'s>) -> Search<Value> {
        let wanted = Wanted { difference: goal.difference != Difference::None, ..Wanted::default() };
        self.item_with(goal, goal.literals.clone(), &wanted)
    }

    /// Tries each required item separately, then all of them in one.
    fn fitted(&mut self, goal: &Goal<'s>, frame: &ListPlan<'s>) -> Search<Value> {
        let count = frame.wanted.len() as u64;
        if count <= frame.high {
            let found = self.build(goal, frame, &frame.wanted);
            if !matches!(found, Search::Impossible) || count < 2 {
                return found;
            }
            // Items that must differ may conflict in one order and not in the other, or one of them may be enough.
            let reversed: Vec<Wanted<'s>> = frame.wanted.iter().rev().cloned().collect();
            return match self.build(goal, frame, &reversed) {
                Search::Impossible if frame.distinct.is_empty() => Search::Impossible,
                Search::Impossible => match self.in_one(goal, frame) {
                    Search::Impossible if count > 2 => Search::Undecided(UndecidedReason::Method("several distinct items")),
                    found => found,
                },
                found => found,
            };
        }
        if frame.high == 0 {
            return Search::Impossible;
        }
        match self.in_one(goal, frame) {
            Search::Impossible if frame.high > 1 => Search::Undecided(UndecidedReason::Method("several items in a short list")),
            found => found,
        }
    }

    /// A list with one item that satisfies all requirements.
    fn in_one(&mut self, goal: &Goal<'s>, frame: &ListPlan<'s>) -> Search<Value> {
        let mut all = Wanted::default();
        for one in &frame.wanted {
            all.literals.extend(one.literals.iter().cloned());
            all.difference |= one.difference;
            if all.pin.is_some() && one.pin.is_some() {
                return Search::Undecided(UndecidedReason::Method("several items in a short list"));
            }
            all.pin = all.pin.or(one.pin);
        }
        self.build(goal, frame, &[all])
    }

    /// Builds the required items, and as many others as the count needs.
    fn build(&mut self, goal: &Goal<'s>, frame: &ListPlan<'s>, wanted: &[Wanted<'s>]) -> Search<Value> {
        let least = if self.preference == Preference::Full { frame.low.max(1).min(frame.high) } else { frame.low };
        let target = least.max(wanted.len() as u64);
        if target > if frame.distinct.is_empty() { MAX_ALIKE } else { MAX_DISTINCT } {
            return Search::Undecided(UndecidedReason::Budget);
        }
        if !self.budget.build(target as usize * ITEM_SIZE) {
            return Search::Undecided(UndecidedReason::Budget);
        }
        let mut items: Vec<Value> = Vec::new();
        let mut filler: Option<Value> = None;
        for index in 0..target {
            let plain = Wanted::default();
            let one = usize::try_from(index).ok().and_then(|index| wanted.get(index));
            if let Some(copied) = one.and_then(|one| one.copy_of).and_then(|index| items.get(index)) {
                items.push(copied.clone());
                continue;
            }
            if one.is_none()
                && frame.distinct.is_empty()
                && let Some(filler) = &filler
            {
                items.push(filler.clone());
                continue;
            }
            match self.item(goal, frame, one.unwrap_or(&plain), &items) {
                Search::Found(value) => {
                    if one.is_none() {
                        filler = Some(value.clone());
                    }
                    items.push(value);
                }
                // All requirements are satisfied: the extra item is only a preference.
                Search::Impossible if one.is_none() && index >= frame.low => break,
                found => return found,
            }
        }
        Search::Found(Value::Array(items))
    }

    /// An item that differs from those before it as far as the list requires.
    fn item(&mut self, goal: &Goal<'s>, frame: &ListPlan<'s>, wanted: &Wanted<'s>, before: &[Value]) -> Search<Value> {
        let mut literals = frame.each.clone();
        literals.extend(wanted.literals.iter().cloned());
        let mut keyed: Option<(usize, &'s Shape)> = None;
        for (view, unique) in &frame.distinct {
            match unique {
                Unique::Items => literals.extend(before.iter().map(|item| not_equal(*view, item.clone()))),
                Unique::Keys(shape) => keyed = keyed.or(Some((*view, shape))),
            }
        }
        let Some((view, shape)) = keyed.filter(|_| !before.is_empty()) else {
            return self.item_with(goal, literals, wanted);
        };
        // For a list item that is an object: one of its keys must have a value that no earlier item has.
        let mut open = None;
        for key in &shape.map_keys {
            let mut literals = literals.clone();
            for item in before {
                // An earlier item may omit the key and get its default.
                let value = item.get(key).cloned().or_else(|| shape.items.as_ref()?.property(key)?.default.clone());
                let name = key.as_str().into();
                let other = match value {
                    Some(value) => Formula::Field(name, Rc::new(Formula::Equals(value)).negated()),
                    None => Formula::Has(name),
                };
                literals.push(TermLiteral { view, holds: true, term: Term::Formula(Rc::new(other)) });
            }
            match self.item_with(goal, literals, wanted) {
                Search::Found(value) => return Search::Found(value),
                Search::Impossible => {}
                Search::Undecided(reason) => open = open.or(Some(reason)),
            }
        }
        if open.is_none() && shape.map_keys.len() > 1 && before.len() > 1 {
            open = Some(UndecidedReason::Method("items with several keys"));
        }
        Err(open).into()
    }

    fn item_with(&mut self, goal: &Goal<'s>, literals: Vec<TermLiteral<'s>>, wanted: &Wanted<'s>) -> Search<Value> {
        let mut open = None;
        let forced = wanted.pin.map(Pin::request);
        for request in [SentKey::Value, SentKey::Null].into_iter().filter(|request| forced.is_none_or(|forced| forced == *request)) {
            let effects: Vec<Effect<'s>> = goal.views.iter().map(|view| view.read_by.item_effect(request)).collect();
            let difference = if wanted.difference { difference_below(goal.difference, &effects, request) } else { Some(Difference::None) };
            let Some(difference) = difference else { continue };
            if request == SentKey::Value {
                match self.solve(&child_goal(goal, &effects, &literals, difference, wanted.pin)) {
                    Search::Found(value) => return Search::Found(value),
                    Search::Impossible => {}
                    Search::Undecided(reason) => open = open.or(Some(reason)),
                }
            } else if self.null_item(&effects, &literals) {
                return Search::Found(Value::Null);
            }
        }
        Err(open).into()
    }

    fn null_item(&self, effects: &[Effect<'s>], literals: &[TermLiteral<'s>]) -> bool {
        literals.iter().all(|literal| {
            let verdict = match effects.get(literal.view) {
                Some(Effect::Default(value)) => self.evaluator().term(&literal.term, value),
                _ => self.evaluator().term(&literal.term, &Value::Null),
            };
            verdict == Some(literal.holds)
        })
    }

    /// A list with two items that are equal in one view.
    fn repeated(&mut self, goal: &Goal<'s>, frame: &ListPlan<'s>, view: usize, unique: Unique<'s>) -> Search<Value> {
        // An item of a map list that isn't an object.
        if let Unique::Keys(_) = unique {
            let keyed = Formula::Is(super::Kinds::of(&[super::Kind::Object, super::Kind::Null]));
            let literal = TermLiteral { view, holds: false, term: Term::Formula(Rc::new(keyed)) };
            let mut wanted = frame.wanted.clone();
            wanted.push(Wanted { literals: vec![literal], ..Wanted::default() });
            if let Search::Found(value) = self.build(goal, frame, &wanted) {
                return Search::Found(value);
            }
        }
        if frame.high < 2 {
            return Search::Impossible;
        }
        if frame.distinct.is_empty() {
            let mut wanted = frame.wanted.clone();
            if wanted.is_empty() {
                wanted.push(Wanted::default());
            }
            wanted.insert(1, Wanted { copy_of: Some(0), ..Wanted::default() });
            return self.build(goal, frame, &wanted);
        }
        let Unique::Keys(shape) = unique else {
            // Items that every side reads the same way are equal for all sides or for none.
            let alike = goal.views.iter().all(|view| self.alike(goal, view.read_by.items()));
            let scalar = frame.each.iter().any(|literal| match literal.term {
                Term::Node(shape) => literal.holds && takes_scalars(shape),
                _ => false,
            });
            return if alike || scalar {
                Search::Impossible
            } else {
                Search::Undecided(UndecidedReason::Method("items that become equal"))
            };
        };
        self.same_keys(goal, frame, view, shape)
    }

    fn alike(&mut self, goal: &Goal<'s>, by: super::ReadBy<'s>) -> bool {
        goal.views.first().is_some_and(|first| self.same.readers(first.read_by.items(), by))
    }

    /// Two items with the same keys in one view, and different ones as the others require.
    fn same_keys(&mut self, goal: &Goal<'s>, frame: &ListPlan<'s>, view: usize, shape: &'s Shape) -> Search<Value> {
        let plain = Wanted::default();
        let wanted = frame.wanted.first().unwrap_or(&plain);
        let first = match self.item(goal, frame, wanted, &[]) {
            Search::Found(value) => value,
            found => return found,
        };
        let mut literals = Vec::new();
        for key in &shape.map_keys {
            let formula = match first.get(key).filter(|value| !value.is_null()) {
                Some(value) => Formula::All(vec![
                    Rc::new(Formula::Has(key.as_str().into())),
                    Rc::new(Formula::Field(key.as_str().into(), Rc::new(Formula::Equals(value.clone())))),
                ]),
                None => match shape.items.as_ref().and_then(|items| items.property(key)?.default.clone()) {
                    Some(default) => Formula::Field(key.as_str().into(), Rc::new(Formula::Equals(default))),
                    None => Formula::Not(Rc::new(Formula::Has(key.as_str().into()))),
                },
            };
            literals.push(TermLiteral { view, holds: true, term: Term::Formula(Rc::new(formula)) });
        }
        let second = Wanted { literals, ..Wanted::default() };
        match self.item(goal, frame, &second, std::slice::from_ref(&first)) {
            Search::Found(value) => {
                let mut items = vec![first, value];
                for one in frame.wanted.iter().skip(1) {
                    match self.item(goal, frame, one, &items) {
                        Search::Found(value) => items.push(value),
                        found => return found,
                    }
                }
                while (items.len() as u64) < frame.low {
                    match self.item(goal, frame, &plain, &items) {
                        Search::Found(value) => items.push(value),
                        found => return found,
                    }
                }
                Search::Found(Value::Array(items))
            }
            found => found,
        }
    }
}

/// Whether only scalars are accepted, and no null.
fn takes_scalars(shape: &Shape) -> bool {
    let kinds = super::Kinds::accepted_by(shape);
    !kinds.has(super::Kind::Object) && !kinds.has(super::Kind::Array) && !kinds.has(super::Kind::Null)
}

fn enter<'s>(atoms: &[Atom<'s>]) -> ListPlan<'s> {
    let mut frame = ListPlan {
        low: 0,
        high: u64::MAX,
        each: Vec::new(),
        wanted: Vec::new(),
        distinct: Vec::new(),
        equal: Vec::new(),
        unlike: Vec::new(),
    };
    for Atom { view, holds, part } in atoms {
        match part {
            Part::MinSize(n) if *holds => frame.low = frame.low.max(*n),
            Part::MinSize(n) => frame.high = frame.high.min(n.saturating_sub(1)),
            Part::MaxSize(n) if *holds => frame.high = frame.high.min(*n),
            Part::MaxSize(n) => frame.low = frame.low.max(n.saturating_add(1)),
            Part::Each(term) => {
                let literal = TermLiteral { view: *view, holds: *holds, term: term.clone() };
                if *holds {
                    frame.each.push(literal);
                } else {
                    frame.wanted.push(Wanted { literals: vec![literal], ..Wanted::default() });
                }
            }
            Part::Unique(unique) if *holds => frame.distinct.push((*view, *unique)),
            Part::Unique(unique) => frame.equal.push((*view, *unique)),
            Part::Is(value) if !*holds => frame.unlike.push(value.clone()),
            Part::Enum(values) if !*holds => frame.unlike.extend(values.iter().filter(|value| value.is_array()).cloned()),
            _ => {}
        }
    }
    frame
}
