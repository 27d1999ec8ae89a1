//! Three searches for each comparison: what is lost, what is gained, what is stored differently.

use std::sync::Arc;

use serde_json::Value;

use crate::model::fact::Certainty;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

use super::solver::{Find, Found, Goal, Literal, Pair, Quest, ReadBy, Reader, Reason, Solver, Taste, Term, View};
use super::{Budget, Order, Relation, Role, Sample};

/// Compares the schemas of two versions of a resource, from their roots. Samples are bodies: objects without apiVersion,
/// kind and metadata.
pub fn order_roots(a: &Shape, b: &Shape, budget: &Budget) -> Order {
    let mut solver = Solver::new(Taste::Small, budget).with_roots(&[a, b]);
    if solver.same_readers(ReadBy::shape_of(a), ReadBy::shape_of(b)) {
        return Order::equal();
    }
    let sides = Sides { read_by: [ReadBy::shape_of(a), ReadBy::shape_of(b)], shapes: [a, b], root: true };
    Comparison { solver, sides, local: false }.order()
}

/// Whether two shapes are written alike, wherever they stand.
pub(crate) fn is_same(a: &Shape, b: &Shape, budget: &Budget) -> bool {
    Solver::new(Taste::Small, budget).same_readers(ReadBy::shape_of(a), ReadBy::shape_of(b))
}

/// Compares two nodes that stand at the same place, with everything below them.
pub fn order(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Order {
    compare(a, b, role, false, budget)
}

/// Compares two nodes that stand at the same place without their children: a child that both have counts as the same, and
/// that a child is there on one side only is neither a loss nor a gain of the node itself. Where properties turn into a
/// map or a list, [`order`] says more.
pub fn order_local(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Order {
    compare(a, b, role, true, budget)
}

/// As [`order_local`], of nodes that mean no list. Beside a format of strings servers let lists pass, whatever the type is: nobody
/// relies on that.
pub fn order_without_lists(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Order {
    let order = order_local(a, b, role, budget);
    let is_list = |sample: &Option<Sample>| matches!(sample, Some(Sample::Sent(Value::Array(_))));
    if !is_list(&order.lost) && !is_list(&order.gained) {
        return order;
    }
    let without = |shape: &Shape| {
        let list = Shape { ty: Some(Type::Array), ..Shape::any(shape.at) };
        let mut shape = shape.clone();
        shape.all_of.push(Shape { not: Some(Arc::new(list)), ..Shape::any(shape.at) });
        shape
    };
    order_local(&without(a), &without(b), role, budget)
}

fn compare<'s>(a: &'s Shape, b: &'s Shape, role: Role, local: bool, budget: &Budget) -> Order {
    let mut solver = Solver::new(Taste::Small, budget);
    if solver.same_readers(ReadBy::shape_of(a), ReadBy::shape_of(b)) {
        return Order::equal();
    }
    if local && solver.same_locally(a, b) {
        return Order::equal();
    }
    let alone = |shape| {
        ReadBy::of(match role {
            Role::Field => Reader::Field(shape),
            Role::Entry => Reader::Entry(shape),
            Role::Item => Reader::Item(shape),
        })
    };
    let sides = Sides { read_by: [alone(a), alone(b)], shapes: [a, b], root: false };
    Comparison { solver, sides, local }.order()
}

/// Before and after.
#[derive(Clone, Copy)]
struct Sides<'s> {
    read_by: [ReadBy<'s>; 2],
    shapes: [&'s Shape; 2],
    root: bool,
}

impl<'s> Sides<'s> {
    fn swapped(self) -> Self {
        let ([a, b], [x, y]) = (self.read_by, self.shapes);
        Sides { read_by: [b, a], shapes: [y, x], root: self.root }
    }

    /// The first side accepts and keeps the value; the second accepts it or not.
    fn goal(self, accepted: bool, quest: Quest, both_keep: bool) -> Goal<'s> {
        let [a, b] = self.read_by;
        let [x, y] = self.shapes;
        Goal {
            views: vec![View { read_by: a, faithful: true }, View { read_by: b, faithful: both_keep }],
            literals: vec![
                Literal { view: 0, holds: true, term: Term::Node(x) },
                Literal { view: 1, holds: accepted, term: Term::Node(y) },
            ],
            quest,
            pin: None,
            root: self.root,
        }
    }
}

/// Whether there is such an object.
#[derive(Debug, Clone)]
enum Answer {
    Yes(Sample),
    No,
    Open(Reason),
}

impl Answer {
    fn is_yes(&self) -> Option<bool> {
        match self {
            Answer::Yes(_) => Some(true),
            Answer::No => Some(false),
            Answer::Open(_) => None,
        }
    }

    fn sample(self) -> Option<Sample> {
        match self {
            Answer::Yes(sample) => Some(sample),
            _ => None,
        }
    }
}

struct Comparison<'s> {
    solver: Solver<'s>,
    sides: Sides<'s>,
    local: bool,
}

impl Comparison<'_> {
    fn order(mut self) -> Order {
        let lost = self.lost(false);
        let gained = self.lost(true);
        let differs = self.sides.goal(true, Quest::Differs, true);
        self.pair(self.sides, true);
        let changed = self.first([differs]);
        joined(lost, gained, changed)
    }

    /// What the first side accepts and keeps and the second doesn't; or the other way round.
    fn lost(&mut self, swapped: bool) -> Answer {
        let sides = if swapped { self.sides.swapped() } else { self.sides };
        self.pair(sides, false);
        let refused = sides.goal(false, Quest::Nothing, false);
        let pruned = sides.goal(true, Quest::Loses(1), false);
        self.first([refused, pruned])
    }
}

impl<'s> Comparison<'s> {
    fn pair(&mut self, sides: Sides<'s>, joined: bool) {
        if self.local {
            let [first, second] = sides.shapes;
            self.solver.pair(Pair { first, second, joined });
        }
    }

    fn first<const N: usize>(&mut self, goals: [Goal<'s>; N]) -> Answer {
        let mut open = None;
        for goal in goals {
            self.solver.refill();
            match self.sample(&goal) {
                Found::Sat(sample) => return Answer::Yes(sample),
                Found::Unsat => {}
                Found::Open(reason) => open = open.or(Some(reason)),
            }
        }
        open.map_or(Answer::No, Answer::Open)
    }

    fn sample(&mut self, goal: &Goal<'s>) -> Found<Sample> {
        if !goal.root {
            return match self.solver.solve_alone(goal) {
                Found::Sat(None) => Found::Sat(Sample::Absent),
                Found::Sat(Some(value)) => Found::Sat(Sample::Sent(value)),
                Found::Unsat => Found::Unsat,
                Found::Open(reason) => Found::Open(reason),
            };
        }
        match self.solver.solve(goal) {
            Find::Sat(value) => self.confirmed(goal, value),
            Find::Unsat => Found::Unsat,
            Find::Open(reason) => Found::Open(reason),
        }
    }

    fn confirmed(&self, goal: &Goal<'s>, value: Value) -> Found<Sample> {
        match self.solver.meets(goal, &value) {
            Some(true) => Found::Sat(Sample::Sent(value)),
            Some(false) => Found::Open(Reason::Method("a candidate that does not stand")),
            None => Found::Open(Reason::Method("a rule that can't be run")),
        }
    }
}

fn joined(lost: Answer, gained: Answer, changed: Answer) -> Order {
    let relation = match (&lost, &gained, &changed) {
        (Answer::Open(_), _, _) | (Answer::No, Answer::Open(_), _) | (Answer::No, Answer::No, Answer::Open(_)) => Relation::Undecided,
        (Answer::Yes(_), Answer::No, _) => Relation::Narrower,
        (Answer::Yes(_), _, _) => Relation::Incomparable,
        (Answer::No, Answer::Yes(_), _) => Relation::Wider,
        (Answer::No, Answer::No, Answer::Yes(_)) => Relation::Incomparable,
        (Answer::No, Answer::No, Answer::No) => Relation::Equal,
    };
    let reason = [&lost, &gained, &changed].into_iter().find_map(|answer| match answer {
        Answer::Open(reason) => Some(reason.to_string()),
        _ => None,
    });
    let certainty = if relation == Relation::Undecided { Certainty::Undecided } else { Certainty::Proved };
    let (loses, gains) = (lost.is_yes(), gained.is_yes());
    Order { relation, lost: lost.sample(), gained: gained.sample(), changed: changed.sample(), loses, gains, certainty, reason }
}
