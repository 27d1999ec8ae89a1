//! Objects: each key that somebody speaks of is a cell with its own conditions; a cell is left out, sent as null or sent with a
//! value, and each side makes its own of it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::model::Step;
use crate::model::schema::is_meta;
use crate::model::schema::shape::{Extra, Shape};

use super::branch::{Atom, Branch};
use super::formula::{self, Formula};
use super::part::Part;
use crate::server::key_fate::{KeyFate, Pruning};

use super::read::{Effect, ReadBy, Request};
use super::{Goal, Literal, Pin, Quest, Reason, Search, Solver, Target, Taste, Term, View};

/// The only key of an object that holds a field on its own.
pub(super) const ALONE: &str = "value";

/// Keys that are made up to reach a count: what needs more is left open.
const MAX_FILL: u64 = 512;
/// The same where each key is looked for, because not every name will do.
const MAX_SOUGHT: u64 = 64;
/// Ways to count keys that were given up: enough for objects of some hundred keys.
const MAX_DEAD: usize = 50_000;
/// What a cell costs beside a condition that is looked at.
const CELL: usize = 16;
/// What an embedded resource must be called: a group with its version, and what is a label in lower case.
const EMBEDDED: [(&str, &str); 2] = [("apiVersion", "^([^/]+/?[^/]*|/[^/]*)$"), ("kind", "^[A-Za-z]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$")];

/// What one view asks of a key besides its literals.
#[derive(Debug, Clone, Copy, Default)]
struct Demand {
    /// There, null or not.
    present: Option<bool>,
    /// There and not null.
    solid: Option<bool>,
}

#[derive(Debug, Clone)]
struct Cell<'s> {
    name: String,
    demands: Vec<Demand>,
    literals: Vec<Literal<'s>>,
    /// Carries the goal's quest.
    quest: bool,
    pin: Option<Pin<'s>>,
    /// What the client has to do with the key.
    forced: Option<Request>,
    /// A value that is simply there.
    fixed: Option<Value>,
}

/// How many keys each view may see.
#[derive(Debug, Clone, Copy)]
struct Range {
    low: u64,
    high: u64,
}

/// A condition that some key outside the declared ones has to carry.
#[derive(Debug, Clone)]
enum Duty<'s> {
    /// A key that `owner` doesn't declare is there.
    Stranger {
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
    Quest,
    Pin(Pin<'s>),
    /// The embedded resource lacks its apiVersion or kind.
    Unnamed {
        view: usize,
    },
}

/// All that an object has to be.
#[derive(Debug, Clone)]
struct Frame<'s> {
    cells: BTreeMap<String, Cell<'s>>,
    ranges: Vec<Range>,
    duties: Vec<Duty<'s>>,
    /// For keys that nobody has named.
    strangers: Vec<Literal<'s>>,
    /// Views in which no stranger may be seen.
    closed: Vec<bool>,
    key_rules: Vec<(usize, Rc<Formula>)>,
    /// Objects that it must not be.
    unlike: Vec<Value>,
}

enum Weighed<'s> {
    Impossible,
    Undecided(Reason),
    Ready { seen: Vec<bool> },
    Child { seen: Vec<bool>, goal: Goal<'s> },
}

/// A cell decided: what is sent, and which views see the key.
#[derive(Debug, Clone)]
struct Filled {
    value: Option<Value>,
    seen: Vec<bool>,
}

impl<'s> Cell<'s> {
    fn new(name: &str, views: usize) -> Self {
        Cell {
            name: name.to_owned(),
            demands: vec![Demand::default(); views],
            literals: Vec::new(),
            quest: false,
            pin: None,
            forced: None,
            fixed: None,
        }
    }

    /// Notes a demand; `false` if it contradicts an earlier one.
    fn demand(&mut self, view: usize, wanted: Demand) -> bool {
        let Some(demand) = self.demands.get_mut(view) else { return true };
        let join = |old: &mut Option<bool>, new: Option<bool>| match (*old, new) {
            (Some(old), Some(new)) => old == new,
            (None, new) => {
                *old = new;
                true
            }
            (Some(_), None) => true,
        };
        join(&mut demand.present, wanted.present) && join(&mut demand.solid, wanted.solid)
    }

    fn is_plain(&self) -> bool {
        self.literals.iter().all(|literal| literal.holds) && !self.quest && self.pin.is_none() && self.forced.is_none()
    }
}

const PRESENT: Demand = Demand { present: Some(true), solid: None };
const ABSENT: Demand = Demand { present: Some(false), solid: None };
const SOLID: Demand = Demand { present: Some(true), solid: Some(true) };
const NOT_SOLID: Demand = Demand { present: None, solid: Some(false) };

/// Two conditions that can't hold together.
struct Contradiction;

impl<'s> Solver<'s> {
    pub(super) fn object(&mut self, goal: &Goal<'s>, atoms: &[Atom<'s>]) -> Search<Value> {
        match self.frame(goal, atoms) {
            Ok(mut frame) => {
                let is_map =
                    |view: &View<'s>| view.read_by.shape().is_some_and(|shape| matches!(shape.extra, Extra::Values(_) | Extra::Any));
                if self.taste == Taste::Full && goal.views.iter().all(is_map) {
                    // A map is shown with an entry, if it may have one.
                    let _ = self.stranger(goal, &mut frame, None);
                }
                self.place(goal, frame)
            }
            Err(Contradiction) => Search::Impossible,
        }
    }

    /// What to send at a field or map entry that is looked at on its own: a list with the value, or an empty one.
    pub(super) fn alone(&mut self, goal: &Goal<'s>) -> Search<Value> {
        let mut cell = Cell::new(ALONE, goal.views.len());
        cell.literals.clone_from(&goal.literals);
        cell.quest = goal.quest != Quest::Nothing;
        for literal in goal.literals.iter().filter(|literal| !literal.holds) {
            cell.demand(literal.view, PRESENT);
        }
        self.fill(goal, &cell)
    }

    /// Whether the key that an atom speaks of can't be as the branch wants it, whatever else is chosen.
    pub(super) fn is_vain(&mut self, goal: &Goal<'s>, branch: &Branch<'s>, atom: &Atom<'s>) -> bool {
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
        let Some(cell) = frame.cells.get(&**name) else { return false };
        matches!(self.fill(goal, cell), Search::Impossible)
    }

    fn frame(&mut self, goal: &Goal<'s>, atoms: &[Atom<'s>]) -> Result<Frame<'s>, Contradiction> {
        let views = goal.views.len();
        let mut frame = Frame {
            cells: BTreeMap::new(),
            ranges: vec![Range { low: 0, high: u64::MAX }; views],
            duties: Vec::new(),
            strangers: Vec::new(),
            closed: vec![false; views],
            key_rules: Vec::new(),
            unlike: Vec::new(),
        };
        for name in goal.views.iter().flat_map(|view| view.read_by.names()) {
            frame.cell(name, views);
        }
        if goal.root {
            for (name, value) in root_keys() {
                frame.cell(name, views).fixed = Some(value);
            }
        }
        for atom in atoms {
            if let Part::Required(name) | Part::Has(name) | Part::Property(name, _) = &atom.part {
                frame.cell(name, views);
            }
        }
        if let Some(pin) = goal.pin {
            frame.pin(pin, views);
        }
        if goal.quest != Quest::Nothing {
            frame.duties.push(Duty::Quest);
        }
        // The next step stops where nothing is left.
        self.budget.spend(CELL * frame.cells.len());
        for atom in atoms {
            self.enter(&mut frame, atom, views)?;
        }
        Ok(frame)
    }

    fn enter(&mut self, frame: &mut Frame<'s>, atom: &Atom<'s>, views: usize) -> Result<(), Contradiction> {
        let Atom { view, holds, part } = atom;
        let (view, holds) = (*view, *holds);
        let literal = |term: &Term<'s>| Literal { view, holds, term: term.clone() };
        let mut fits = true;
        match part {
            Part::Required(name) => fits = frame.cell(name, views).demand(view, if holds { PRESENT } else { ABSENT }),
            Part::Has(name) => fits = frame.cell(name, views).demand(view, if holds { SOLID } else { NOT_SOLID }),
            Part::Property(name, term) => {
                let cell = frame.cell(name, views);
                cell.literals.push(literal(term));
                if !holds {
                    fits = cell.demand(view, if matches!(term, Term::Formula(_)) { SOLID } else { PRESENT });
                }
            }
            Part::Closed(owner) if holds => {
                if let Some(closed) = frame.closed.get_mut(view) {
                    *closed = true;
                }
                for cell in frame.cells.values_mut().filter(|cell| !self.declares(owner, &cell.name)) {
                    fits &= cell.demand(view, ABSENT);
                }
            }
            Part::Closed(owner) => frame.duties.push(Duty::Stranger { view, owner }),
            Part::Values(owner, term) if holds => {
                frame.strangers.push(literal(term));
                for cell in frame.cells.values_mut().filter(|cell| !owner.is_some_and(|owner| self.declares(owner, &cell.name))) {
                    cell.literals.push(literal(term));
                }
            }
            Part::Values(owner, term) => frame.duties.push(Duty::Fails { view, owner: *owner, term: term.clone() }),
            Part::Keys(formula) if holds => {
                for cell in frame.cells.values_mut() {
                    if self.judge().formula(formula, &Value::from(cell.name.as_str())) == Some(false) {
                        fits &= cell.demand(view, ABSENT);
                    }
                }
                frame.key_rules.push((view, Rc::clone(formula)));
            }
            Part::Keys(formula) => frame.duties.push(Duty::Key { view, formula: Rc::clone(formula) }),
            Part::MinSize(n) => frame
                .count(view, |range| if holds { range.low = range.low.max(*n) } else { range.high = range.high.min(n.saturating_sub(1)) }),
            Part::MaxSize(n) => frame
                .count(view, |range| if holds { range.high = range.high.min(*n) } else { range.low = range.low.max(n.saturating_add(1)) }),
            Part::Embedded if holds => {
                for (name, pattern) in EMBEDDED {
                    let cell = frame.cell(name, views);
                    fits &= cell.demand(view, SOLID);
                    let term = Term::Formula(Rc::new(Formula::Matches(pattern.into())));
                    cell.literals.push(Literal { view, holds: true, term });
                }
            }
            Part::Embedded => frame.duties.push(Duty::Unnamed { view }),
            Part::Is(value) if !holds => frame.unlike.push(value.clone()),
            Part::Enum(values) if !holds => frame.unlike.extend(values.iter().filter(|value| value.is_object()).cloned()),
            _ => {}
        }
        if fits { Ok(()) } else { Err(Contradiction) }
    }

    /// Gives each duty to some key, one way after the other.
    fn place(&mut self, goal: &Goal<'s>, mut frame: Frame<'s>) -> Search<Value> {
        if !self.step(CELL * frame.cells.len()) {
            return Search::Undecided(Reason::Budget);
        }
        let Some(duty) = frame.duties.pop() else { return self.complete(goal, &frame) };
        let mut open = None;
        for carrier in self.carriers(goal, &frame, &duty) {
            let mut next = frame.clone();
            let entered = self.charge(goal, &mut next, &duty, carrier);
            let found = Search::from(entered).and_then(|()| self.place(goal, next));
            match found {
                Search::Found(value) => return Search::Found(value),
                Search::Impossible => {}
                Search::Undecided(reason) => open = open.or(Some(reason)),
            }
        }
        Err(open).into()
    }

    /// The keys that could do a duty; `None` stands for a new one.
    fn carriers(&mut self, goal: &Goal<'s>, frame: &Frame<'s>, duty: &Duty<'s>) -> Vec<Option<String>> {
        let strangers = |owner: Option<&Shape>| {
            let named = frame.cells.keys().filter(|name| !owner.is_some_and(|owner| self.declares(owner, name)));
            std::iter::once(None).chain(named.cloned().map(Some)).collect::<Vec<_>>()
        };
        match duty {
            Duty::Stranger { owner, .. } => strangers(Some(owner)),
            Duty::Fails { owner, .. } => strangers(*owner),
            // The value of any key, unless a view has a schema of its own for it.
            Duty::Pin(_) => {
                let declared =
                    |name: &str| goal.views.iter().any(|view| view.read_by.shape().is_some_and(|shape| self.declares(shape, name)));
                let free = |(name, cell): &(&String, &Cell<'s>)| cell.pin.is_none() && cell.fixed.is_none() && !declared(name);
                let named = frame.cells.iter().filter(free).map(|(name, _)| Some(name.clone()));
                std::iter::once(None).chain(named).collect()
            }
            Duty::Unnamed { .. } => ["kind", "apiVersion"].map(|name| Some(name.to_owned())).into(),
            Duty::Key { formula, .. } => {
                let failing = |name: &&String| self.judge().formula(formula, &Value::from(name.as_str())) == Some(false);
                let named: Vec<_> = frame.cells.keys().filter(failing).cloned().map(Some).collect();
                std::iter::once(None).chain(named).collect()
            }
            Duty::Quest => {
                let names: Vec<String> = frame.cells.keys().cloned().collect();
                let mut carriers: Vec<_> = names.into_iter().filter(|name| self.may_carry(goal, name)).map(Some).collect();
                carriers.push(None);
                carriers
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
    fn may_carry(&mut self, goal: &Goal<'s>, name: &str) -> bool {
        match goal.views.as_slice() {
            [a, b] => !self.same.fates(a.read_by.key_fate(name), b.read_by.key_fate(name)),
            _ => false,
        }
    }

    /// Makes a key carry a duty.
    fn charge(&mut self, goal: &Goal<'s>, frame: &mut Frame<'s>, duty: &Duty<'s>, carrier: Option<String>) -> Result<(), Option<Reason>> {
        let views = goal.views.len();
        let key = match carrier {
            Some(name) => name,
            None => {
                let against = match duty {
                    Duty::Key { formula, .. } => Some(formula),
                    _ => None,
                };
                self.stranger(goal, frame, against)?
            }
        };
        let cell = frame.cells.entry(key.clone()).or_insert_with(|| Cell::new(&key, views));
        let fits = match duty {
            Duty::Stranger { view, .. } | Duty::Key { view, .. } => cell.demand(*view, PRESENT),
            Duty::Fails { view, term, .. } => {
                cell.literals.push(Literal { view: *view, holds: false, term: term.clone() });
                cell.demand(*view, PRESENT)
            }
            Duty::Unnamed { view } => cell.demand(*view, ABSENT),
            Duty::Quest => {
                cell.quest = true;
                true
            }
            Duty::Pin(pin) => {
                cell.pin = Some(*pin);
                let request = pin.request();
                cell.forced.replace(request).is_none_or(|before| before == request)
            }
        };
        if fits { Ok(()) } else { Err(None) }
    }

    /// A key that nobody has named, which every faithful view keeps; its name is made to fail `against`.
    fn stranger(&mut self, goal: &Goal<'s>, frame: &mut Frame<'s>, against: Option<&Rc<Formula>>) -> Result<String, Option<Reason>> {
        let spare = "\u{0}";
        if goal.views.iter().any(|view| view.faithful && view.read_by.key_fate(spare).is_pruned()) {
            return Err(None);
        }
        let plain = ["key", "other", "third"].map(str::to_owned).into_iter().chain((4..).map(|n| format!("key{n}")));
        let name = if frame.key_rules.is_empty() && against.is_none() {
            plain.into_iter().find(|name| !frame.cells.contains_key(name)).ok_or(None)?
        } else {
            let taken = frame.cells.keys().map(String::as_str).chain(["apiVersion", "kind", "metadata"]);
            let mut literals: Vec<Literal<'s>> = frame
                .key_rules
                .iter()
                .map(|(_, formula)| Literal { view: 0, holds: true, term: Term::Formula(Rc::clone(formula)) })
                .collect();
            literals.extend(against.map(|formula| Literal { view: 0, holds: false, term: Term::Formula(Rc::clone(formula)) }));
            literals.extend(taken.map(|name| not_equal(0, Value::from(name))));
            literals.push(not_equal(0, Value::from("")));
            match self.solve_kind(&Goal::scalar(literals), super::Kind::String).into_result()? {
                Value::String(name) => name,
                _ => return Err(None),
            }
        };
        let mut cell = Cell::new(&name, goal.views.len());
        cell.literals = frame.strangers.clone();
        for (view, closed) in frame.closed.iter().enumerate() {
            if *closed {
                cell.demand(view, ABSENT);
            }
        }
        frame.cells.insert(name.clone(), cell);
        Ok(name)
    }

    /// Decides every cell.
    fn complete(&mut self, goal: &Goal<'s>, frame: &Frame<'s>) -> Search<Value> {
        let counted = frame.ranges.iter().any(|range| range.low > 0 || range.high < u64::MAX);
        // Where keys are counted, one that nobody has named may be null, which not every view counts.
        let mut with_stranger = frame.clone();
        let frame =
            if counted && unlike_nulls(goal) && self.stranger(goal, &mut with_stranger, None).is_ok() { &with_stranger } else { frame };
        let mut order: Vec<&Cell<'s>> = frame.cells.values().collect();
        // Those with something to fail at come first.
        order.sort_by_key(|cell| cell.is_plain());
        let filled = if counted { self.fill_counted(goal, frame, &order) } else { self.fill_each(goal, &order) };
        Search::from(filled).and_then(|mut map| {
            if goal.root {
                map.retain(|key, _| !is_meta(key));
            }
            let value = Value::Object(map);
            if frame.unlike.iter().any(|other| formula::equal(other, &value)) {
                return Search::Undecided(Reason::Method("an object other than given ones"));
            }
            Search::Found(value)
        })
    }

    fn fill_each(&mut self, goal: &Goal<'s>, order: &[&Cell<'s>]) -> Result<Map<String, Value>, Option<Reason>> {
        let mut map = Map::new();
        for cell in order {
            // A cell that is left out is answered by null, which is never sent unless it is needed.
            if let Value::Array(sent) = self.fill(goal, cell).into_result()? {
                map.extend(sent.into_iter().next().map(|value| (cell.name.clone(), value)));
            }
        }
        Ok(map)
    }

    /// What to send for a key: a list with the value, or an empty one to leave it out.
    fn fill(&mut self, goal: &Goal<'s>, cell: &Cell<'s>) -> Search<Value> {
        let mut open = None;
        for request in self.requests(cell) {
            match self.option(goal, cell, *request) {
                Ok(filled) => return Search::Found(Value::Array(filled.value.into_iter().collect())),
                Err(None) => {}
                Err(Some(reason)) => open = open.or(Some(reason)),
            }
        }
        Err(open).into()
    }

    fn requests(&self, cell: &Cell<'s>) -> &'static [Request] {
        match (self.taste, cell.forced) {
            (_, Some(Request::Value)) => &[Request::Value],
            (_, Some(Request::Null)) => &[Request::Null],
            (_, Some(Request::Absent)) => &[Request::Absent],
            (Taste::Small, None) => &[Request::Absent, Request::Value, Request::Null],
            (Taste::Full, None) => &[Request::Value, Request::Absent, Request::Null],
        }
    }

    fn option(&mut self, goal: &Goal<'s>, cell: &Cell<'s>, request: Request) -> Result<Filled, Option<Reason>> {
        match self.weigh(goal, cell, request) {
            Weighed::Impossible => Err(None),
            Weighed::Undecided(reason) => Err(Some(reason)),
            Weighed::Ready { seen } => Ok(Filled { value: (request == Request::Null).then_some(Value::Null), seen }),
            Weighed::Child { seen, goal } => match &cell.fixed {
                Some(value) => match self.meets(&goal, value) {
                    Some(false) => Err(None),
                    _ => Ok(Filled { value: Some(value.clone()), seen }),
                },
                None => Ok(Filled { value: Some(self.solve(&goal).into_result()?), seen }),
            },
        }
    }

    /// What the views make of a key that is left out, null or sent.
    fn weigh(&mut self, goal: &Goal<'s>, cell: &Cell<'s>, request: Request) -> Weighed<'s> {
        if cell.fixed.is_some() && request != Request::Value {
            return Weighed::Impossible;
        }
        let mut effects = Vec::with_capacity(goal.views.len());
        for (view, demand) in goal.views.iter().zip(&cell.demands) {
            let fate = view.read_by.key_fate(&cell.name);
            // The resource's own keys are nobody's to prune.
            let fate = if cell.fixed.is_some() { KeyFate::Kept } else { fate };
            if view.faithful && request != Request::Absent && fate.is_pruned() {
                return Weighed::Impossible;
            }
            let effect = fate.effect(request);
            let present = !matches!(effect, Effect::Absent);
            let solid = present && !matches!(effect, Effect::Null);
            if demand.present.is_some_and(|wanted| wanted != present) || demand.solid.is_some_and(|wanted| wanted != solid) {
                return Weighed::Impossible;
            }
            effects.push(effect);
        }
        let mut open = None;
        for literal in &cell.literals {
            let verdict = match effects.get(literal.view) {
                Some(Effect::Absent) => Some(literal.holds),
                Some(Effect::Null) => match &literal.term {
                    Term::Formula(_) => Some(literal.holds),
                    term => self.judge().term(term, &Value::Null).map(|holds| holds == literal.holds),
                },
                Some(Effect::Default(value)) => self.judge().term(&literal.term, value).map(|holds| holds == literal.holds),
                Some(Effect::Sent(_)) | None => Some(true),
            };
            match verdict {
                Some(true) => {}
                Some(false) => return Weighed::Impossible,
                // A rule that is not understood is taken to hold; the confirmation will tell.
                None if literal.holds => {}
                None => open = Some(Reason::Method("a default under a rule that is not understood")),
            }
        }
        let mut quest = Quest::Nothing;
        if cell.quest {
            match quest_at(goal.quest, &effects, request) {
                Some(below) => quest = below,
                None => return Weighed::Impossible,
            }
        }
        if let Some(reason) = open {
            return Weighed::Undecided(reason);
        }
        let seen = effects.iter().map(|effect| !matches!(effect, Effect::Absent)).collect();
        if request != Request::Value {
            return Weighed::Ready { seen };
        }
        Weighed::Child { seen, goal: child_goal(goal, &effects, &cell.literals, quest, cell.pin) }
    }

    /// Decides cells so that each view counts as many keys as it must.
    fn fill_counted(&mut self, goal: &Goal<'s>, frame: &Frame<'s>, order: &[&Cell<'s>]) -> Result<Map<String, Value>, Option<Reason>> {
        let mut open = None;
        let mut options: Vec<Vec<Filled>> = Vec::new();
        for cell in order {
            let mut of_cell = Vec::new();
            for request in self.requests(cell) {
                match self.option(goal, cell, *request) {
                    Ok(filled) => of_cell.push(filled),
                    Err(None) => {}
                    Err(Some(reason)) => open = open.or(Some(reason)),
                }
            }
            options.push(of_cell);
        }
        let start = vec![0; goal.views.len()];
        let filler = self.filler(goal, frame);
        let filler = match filler {
            Ok(filler) => Some(filler),
            Err(None) => None,
            Err(Some(reason)) => {
                open = open.or(Some(reason));
                None
            }
        };
        let mut dead = BTreeSet::new();
        let mut chosen = Vec::new();
        let seen = filler.as_ref().map(|(_, filled)| filled.seen.as_slice());
        let Some(extra) = pick(&options, &frame.ranges, seen, &start, &mut chosen, &mut dead) else {
            return Err(if dead.len() >= MAX_DEAD { Some(Reason::Budget) } else { open });
        };
        if extra > if frame.key_rules.is_empty() { MAX_FILL } else { MAX_SOUGHT } {
            return Err(Some(Reason::Method("an object with very many keys")));
        }
        let mut map = Map::new();
        for ((cell, options), index) in order.iter().zip(&options).zip(chosen) {
            let value = options.get(index).and_then(|filled| filled.value.clone());
            map.extend(value.map(|value| (cell.name.clone(), value)));
        }
        if let Some((mut frame, filled)) = filler {
            for _ in 0..extra {
                let name = self.stranger(goal, &mut frame, None)?;
                map.extend(filled.value.clone().map(|value| (name, value)));
            }
        }
        Ok(map)
    }

    /// A made-up key that can be added again and again.
    fn filler(&mut self, goal: &Goal<'s>, frame: &Frame<'s>) -> Result<(Frame<'s>, Filled), Option<Reason>> {
        let mut scratch = frame.clone();
        let name = self.stranger(goal, &mut scratch, None)?;
        let cell = scratch.cells.get(&name).cloned().ok_or(None)?;
        let filled = match self.option(goal, &cell, Request::Value) {
            Err(None) => self.option(goal, &cell, Request::Null)?,
            filled => filled?,
        };
        Ok((frame.clone(), filled))
    }
}

/// Whether some views count a null under a key that nobody names, and others don't.
fn unlike_nulls(goal: &Goal<'_>) -> bool {
    let counts = |view: &View<'_>| matches!(view.read_by.key_fate("\u{0}").effect(Request::Null), Effect::Absent);
    let mut views = goal.views.iter().map(counts);
    views.next().is_some_and(|first| views.any(|other| other != first))
}

/// Picks one option for each cell, and a number of fillers, so that all counts are in range.
fn pick(
    options: &[Vec<Filled>],
    ranges: &[Range],
    filler: Option<&[bool]>,
    counts: &[u64],
    chosen: &mut Vec<usize>,
    dead: &mut BTreeSet<(usize, Vec<u64>)>,
) -> Option<u64> {
    if counts.iter().zip(ranges).any(|(count, range)| *count > range.high) {
        return None;
    }
    let Some(cell) = options.get(chosen.len()) else {
        // As few as satisfy the view that asks for most; views that don't see them have what they have.
        let mut extra = (0, u64::MAX);
        for (view, (count, range)) in counts.iter().zip(ranges).enumerate() {
            if filler.and_then(|seen| seen.get(view)) == Some(&true) {
                extra = (extra.0.max(range.low.saturating_sub(*count)), extra.1.min(range.high - count));
            } else if *count < range.low {
                return None;
            }
        }
        return (extra.0 <= extra.1).then_some(extra.0);
    };
    if dead.len() >= MAX_DEAD || dead.contains(&(chosen.len(), counts.to_vec())) {
        return None;
    }
    for (index, option) in cell.iter().enumerate() {
        let next: Vec<u64> = counts.iter().zip(&option.seen).map(|(count, seen)| count + u64::from(*seen)).collect();
        chosen.push(index);
        if let Some(extra) = pick(options, ranges, filler, &next, chosen, dead) {
            return Some(extra);
        }
        chosen.pop();
    }
    dead.insert((chosen.len(), counts.to_vec()));
    None
}

impl<'s> Frame<'s> {
    fn cell(&mut self, name: &str, views: usize) -> &mut Cell<'s> {
        if !self.cells.contains_key(name) {
            self.cells.insert(name.to_owned(), Cell::new(name, views));
        }
        self.cells.entry(name.to_owned()).or_insert_with(|| Cell::new(name, views))
    }

    fn count(&mut self, view: usize, change: impl FnOnce(&mut Range)) {
        if let Some(range) = self.ranges.get_mut(view) {
            change(range);
        }
    }

    fn pin(&mut self, pin: Pin<'s>, views: usize) {
        match pin.steps.split_first() {
            Some((Step::Key(key), rest)) => {
                let cell = self.cell(key, views);
                let below = Pin { steps: rest, target: pin.target };
                cell.forced = Some(below.request());
                cell.pin = Some(below);
            }
            Some((Step::Values, rest)) => self.duties.push(Duty::Pin(Pin { steps: rest, target: pin.target })),
            Some((Step::Items, _)) | None => {}
        }
    }
}

impl Pin<'_> {
    /// What the pin makes of the key that it has come to.
    pub(super) fn request(self) -> Request {
        match (self.steps, self.target) {
            ([], Target::Missing) => Request::Absent,
            ([], Target::Null) => Request::Null,
            _ => Request::Value,
        }
    }
}

/// What is left of the quest at a key with these effects: nothing more to look for, something below, or it fails here.
pub(super) fn quest_at(quest: Quest, effects: &[Effect<'_>], request: Request) -> Option<Quest> {
    match quest {
        Quest::Nothing => Some(Quest::Nothing),
        Quest::Loses(view) => match effects.get(view)? {
            Effect::Absent if request == Request::Value => Some(Quest::Nothing),
            Effect::Sent(_) => Some(quest),
            _ => None,
        },
        Quest::Differs => match effects {
            [Effect::Sent(_), Effect::Sent(_)] => Some(quest),
            [a, b] => {
                let differ = match (a, b) {
                    (Effect::Absent, Effect::Absent) | (Effect::Null, Effect::Null) => false,
                    (Effect::Default(a), Effect::Default(b)) => a != b,
                    _ => true,
                };
                differ.then_some(Quest::Nothing)
            }
            _ => None,
        },
    }
}

/// The goal for a value that is sent: only the views that see it have a say.
pub(super) fn child_goal<'s>(
    goal: &Goal<'s>,
    effects: &[Effect<'s>],
    literals: &[Literal<'s>],
    quest: Quest,
    pin: Option<Pin<'s>>,
) -> Goal<'s> {
    let mut views = Vec::new();
    let mut index = Vec::new();
    for (view, effect) in goal.views.iter().zip(effects) {
        match effect {
            Effect::Sent(by) => {
                index.push(Some(views.len()));
                views.push(View { read_by: *by, faithful: view.faithful });
            }
            _ => index.push(None),
        }
    }
    let moved = |view: usize| index.get(view).copied().flatten();
    let literals = literals
        .iter()
        .filter_map(|literal| Some(Literal { view: moved(literal.view)?, holds: literal.holds, term: literal.term.clone() }))
        .collect();
    let quest = match quest {
        Quest::Loses(view) => moved(view).map_or(Quest::Nothing, Quest::Loses),
        other => other,
    };
    Goal { views, literals, quest, pin, root: false }
}

pub(super) fn not_equal<'s>(view: usize, value: Value) -> Literal<'s> {
    Literal { view, holds: false, term: Term::Formula(Rc::new(Formula::Equals(value))) }
}

/// What every resource has. The values only need to be of the right kind.
pub(crate) fn root_keys() -> [(&'static str, Value); 3] {
    [("apiVersion", "v1".into()), ("kind", "Kind".into()), ("metadata", serde_json::json!({"name": "name"}))]
}

impl<'s> Goal<'s> {
    /// A value that the shape accepts and keeps; `root` if it is a whole resource.
    pub(crate) fn of(shape: &'s Shape, root: bool) -> Self {
        let views = vec![View { read_by: ReadBy::shape_of(shape), faithful: true }];
        let literals = vec![Literal { view: 0, holds: true, term: Term::Node(shape) }];
        Goal { views, literals, quest: Quest::Nothing, pin: None, root }
    }

    /// A goal about a value that nobody prunes.
    pub(super) fn scalar(literals: Vec<Literal<'s>>) -> Self {
        let views = vec![View { read_by: Pruning::Nothing, faithful: false }];
        Goal { views, literals, quest: Quest::Nothing, pin: None, root: false }
    }
}
