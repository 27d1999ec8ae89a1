//! Searches for an object that one schema accepts and another refuses, or that both accept, or proves that there is none.

use serde_json::Value;

use crate::compare::Budget;
use crate::compare::solver::{Difference, Formula, Goal, Pin, PinTarget, Preference, ReadBy, SideView, Solver, Term, TermLiteral};
use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;

/// The value to search for at a path.
#[derive(Debug, Clone)]
pub(crate) enum Wanted {
    Sent,
    Missing,
    Value(Value),
    /// A number other than zero.
    Nonzero,
}

fn sides<'s>(a: &'s Shape, b: &'s Shape, b_accepts: bool, b_keeps: bool) -> Goal<'s> {
    Goal {
        views: vec![
            SideView { read_by: ReadBy::shape_of(a), faithful: true },
            SideView { read_by: ReadBy::shape_of(b), faithful: b_keeps },
        ],
        literals: vec![
            TermLiteral { view: 0, holds: true, term: Term::Node(a) },
            TermLiteral { view: 1, holds: b_accepts, term: Term::Node(b) },
        ],
        difference: Difference::None,
        pin: None,
        root: true,
    }
}

fn solve<'s>(a: &'s Shape, b: &'s Shape, goal: &Goal<'s>, budget: &Budget) -> Search<Value> {
    let mut solver = Solver::new(Preference::Small, budget).with_roots(&[a, b]);
    solver.solve(goal).and_then(|value| match solver.meets(goal, &value) {
        Some(true) => Search::Found(value),
        _ => Search::Undecided("a validation rule can't be evaluated".into()),
    })
}

/// Searches for an object that `a` accepts and keeps, and `b` refuses.
pub(crate) fn refused(a: &Shape, b: &Shape, budget: &Budget) -> Search<Value> {
    solve(a, b, &sides(a, b, false, false), budget)
}

/// Searches for an object that both schemas accept and keep, with this value at a path.
pub(crate) fn shared(a: &Shape, b: &Shape, path: &FieldPath, wanted: &Wanted, budget: &Budget) -> Search<Value> {
    let zero = std::rc::Rc::new(Formula::Equals(0.into())).negated();
    let target = match wanted {
        Wanted::Sent => PinTarget::Sent,
        Wanted::Missing => PinTarget::Missing,
        Wanted::Value(value) => PinTarget::Value(value),
        Wanted::Nonzero => PinTarget::Meets(&zero),
    };
    let mut goal = sides(a, b, true, true);
    goal.pin = Some(Pin { steps: path.steps(), target });
    solve(a, b, &goal, budget)
}
