//! Compares two nodes with three searches: for what is lost, what is gained, and what is stored differently.

use std::sync::Arc;

use serde_json::Value;

use crate::model::relation::{Comparison, Relation, Search};
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

use super::solver::{Difference, Goal, Pair, Preference, ReadBy, Reader, SideView, Solver, Term, TermLiteral, unconfirmed};
use super::{Budget, Role, Sample};

/// Compares the schemas of two versions of a resource, from their roots. Samples are bodies: objects without apiVersion, kind and
/// metadata.
pub fn order_roots(a: &Shape, b: &Shape, budget: &Budget) -> Comparison<Sample> {
    let mut solver = Solver::new(Preference::Small, budget).with_roots(&[a, b]);
    if solver.same_readers(ReadBy::shape_of(a), ReadBy::shape_of(b)) {
        return Comparison::equal();
    }
    let sides = Sides { read_by: [ReadBy::shape_of(a), ReadBy::shape_of(b)], shapes: [a, b], root: true };
    Searches { solver, sides, local: false }.order()
}

/// Whether two shapes are equivalent.
pub(crate) fn is_same(a: &Shape, b: &Shape, budget: &Budget) -> bool {
    Solver::new(Preference::Small, budget).same_readers(ReadBy::shape_of(a), ReadBy::shape_of(b))
}

/// Compares two nodes at the same place, with everything below them.
pub fn order(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Comparison<Sample> {
    compare(a, b, role, false, budget)
}

/// Compares two nodes at the same place without their children: a child on both sides counts as the same, and a child on only one
/// side is neither a loss nor a gain of the node itself. If properties become a map or a list, [`order`] is more precise.
pub fn order_local(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Comparison<Sample> {
    compare(a, b, role, true, budget)
}

/// Like [`order_local`], for nodes that aren't meant to be lists. With a string format, servers accept lists whatever the type is.
/// A list that is refused now is a loss like any other, but only if nothing else is lost; a list that is accepted now doesn't
/// count.
pub fn order_with_lost_lists(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Comparison<Sample> {
    let order = order_local(a, b, role, budget);
    if !is_list(&order.lost) && !is_list(&order.gained) {
        return order;
    }
    let others = order_of_others(a, b, role, budget);
    if !is_list(&order.lost) || others.lost.is_some() {
        return others;
    }
    let relation = if others.gains == Some(false) { Relation::Narrower } else { Relation::Incomparable };
    Comparison { relation, lost: order.lost, loses: Some(true), ..others }
}

/// Like [`order_local`], for nodes that aren't meant to be lists, if it doesn't matter that servers accept some.
pub fn order_without_lists(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Comparison<Sample> {
    let order = order_local(a, b, role, budget);
    if is_list(&order.lost) || is_list(&order.gained) { order_of_others(a, b, role, budget) } else { order }
}

fn is_list(sample: &Option<Sample>) -> bool {
    matches!(sample, Some(Sample::Sent(Value::Array(_))))
}

/// Like [`order_local`], ignoring lists.
fn order_of_others(a: &Shape, b: &Shape, role: Role, budget: &Budget) -> Comparison<Sample> {
    let without = |shape: &Shape| {
        let list = Shape { ty: Some(Type::Array), ..Shape::default() };
        let mut shape = shape.clone();
        shape.all_of.push(Shape { not: Some(Arc::new(list)), ..Shape::default() });
        shape
    };
    order_local(&without(a), &without(b), role, budget)
}

fn compare<'s>(a: &'s Shape, b: &'s Shape, role: Role, local: bool, budget: &Budget) -> Comparison<Sample> {
    let mut solver = Solver::new(Preference::Small, budget);
    if solver.same_readers(ReadBy::shape_of(a), ReadBy::shape_of(b)) {
        return Comparison::equal();
    }
    if local && solver.same_locally(a, b) {
        return Comparison::equal();
    }
    let alone = |shape| {
        ReadBy::of(match role {
            Role::Field => Reader::Field(shape),
            Role::Entry => Reader::Entry(shape),
            Role::Item => Reader::Item(shape),
        })
    };
    let sides = Sides { read_by: [alone(a), alone(b)], shapes: [a, b], root: false };
    Searches { solver, sides, local }.order()
}

/// The old and the new side.
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

    /// A goal: the first side accepts and keeps the value; `accepted` says whether the second accepts it.
    fn goal(self, accepted: bool, difference: Difference, both_keep: bool) -> Goal<'s> {
        let [a, b] = self.read_by;
        let [x, y] = self.shapes;
        Goal {
            views: vec![SideView { read_by: a, faithful: true }, SideView { read_by: b, faithful: both_keep }],
            literals: vec![
                TermLiteral { view: 0, holds: true, term: Term::Node(x) },
                TermLiteral { view: 1, holds: accepted, term: Term::Node(y) },
            ],
            difference,
            pin: None,
            root: self.root,
        }
    }
}

struct Searches<'s> {
    solver: Solver<'s>,
    sides: Sides<'s>,
    local: bool,
}

impl Searches<'_> {
    fn order(mut self) -> Comparison<Sample> {
        let lost = self.lost(false);
        let gained = self.lost(true);
        let differs = self.sides.goal(true, Difference::Stored, true);
        self.pair(self.sides, true);
        let changed = self.first([differs]);
        Comparison::of(lost, gained, changed)
    }

    /// Searches for a value that the first side accepts and keeps and the second doesn't; or vice versa.
    fn lost(&mut self, swapped: bool) -> Search<Sample> {
        let sides = if swapped { self.sides.swapped() } else { self.sides };
        self.pair(sides, false);
        let refused = sides.goal(false, Difference::None, false);
        let pruned = sides.goal(true, Difference::Lost(1), false);
        self.first([refused, pruned])
    }
}

impl<'s> Searches<'s> {
    fn pair(&mut self, sides: Sides<'s>, joined: bool) {
        if self.local {
            let [first, second] = sides.shapes;
            self.solver.pair(Pair { first, second, joined });
        }
    }

    fn first<const N: usize>(&mut self, goals: [Goal<'s>; N]) -> Search<Sample> {
        Search::any(goals.into_iter().map(|goal| {
            self.solver.refill();
            self.sample(&goal)
        }))
    }

    fn sample(&mut self, goal: &Goal<'s>) -> Search<Sample> {
        if !goal.root {
            return self.solver.solve_alone(goal).map(|sent| sent.map_or(Sample::Absent, Sample::Sent));
        }
        self.solver.solve(goal).and_then(|value| match self.solver.meets(goal, &value) {
            Some(true) => Search::Found(Sample::Sent(value)),
            verdict => Search::Undecided(unconfirmed(verdict)),
        })
    }
}
