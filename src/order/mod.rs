//! Two shapes come in; how the sets of objects that they accept and keep compare, and an object for each difference, go out.
//!
//! Everything rests on one search ([`solve`]): the old side accepts and keeps a value, the new side refuses it or prunes a
//! part of it. If there is none, nothing is lost, and that is a proof.

pub(crate) mod solve;

use serde_json::Value;

use crate::schema::Shape;

use solve::{Find, Goal, Literal, Quest, Solver, Spine, Taste, Term, View};
pub use solve::{MAX_STEPS, Reason};

/// How what one shape accepts and keeps compares with what another does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The same requests are accepted, and the same is stored.
    Equal,
    /// The second accepts or keeps less.
    Narrower,
    /// The second accepts or keeps more.
    Wider,
    /// Less here and more there, or something else is stored.
    Incomparable,
    Undecided,
}

/// How the relation is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    Proved,
    /// Searched with objects, not exhaustively.
    Tested,
    Undecided,
}

/// The comparison of two shapes, `a` before and `b` after.
#[derive(Debug, Clone)]
pub struct Order {
    pub relation: Relation,
    /// `a` accepts and keeps it; `b` refuses it or prunes a part.
    pub lost: Option<Value>,
    /// `b` accepts and keeps it; `a` refuses it or prunes a part.
    pub gained: Option<Value>,
    /// Both accept and keep it, and store something different: another default, or a null that only one of them keeps.
    pub changed: Option<Value>,
    pub certainty: Certainty,
    /// Why something is left undecided.
    pub reason: Option<String>,
}

impl Order {
    pub fn equal() -> Order {
        Order { relation: Relation::Equal, lost: None, gained: None, changed: None, certainty: Certainty::Proved, reason: None }
    }

    fn of(lost: Answer, gained: Answer, changed: Answer) -> Order {
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
        Order { relation, lost: lost.value(), gained: gained.value(), changed: changed.value(), certainty, reason }
    }
}

/// Whether there is such an object.
#[derive(Debug, Clone)]
enum Answer {
    Yes(Value),
    No,
    Open(Reason),
}

impl Answer {
    fn value(self) -> Option<Value> {
        match self {
            Answer::Yes(value) => Some(value),
            _ => None,
        }
    }
}

/// Compares the schemas of two versions of a resource, from their roots.
pub fn order_roots(a: &Shape, b: &Shape) -> Order {
    let mut search = Comparison { solver: Solver::new(Taste::Small).with_roots(&[a, b]), root: true };
    if search.solver.same_spines(Spine::of(a), Spine::of(b)) {
        return Order::equal();
    }
    let lost = search.lost(a, b);
    let gained = search.lost(b, a);
    let changed = search.changed(a, b);
    Order::of(lost, gained, changed)
}

struct Comparison<'s> {
    solver: Solver<'s>,
    root: bool,
}

impl<'s> Comparison<'s> {
    fn goal(&self, a: &'s Shape, b: &'s Shape, b_holds: bool, quest: Quest, both: bool) -> Goal<'s> {
        Goal {
            views: vec![View { spine: Spine::of(a), faithful: true }, View { spine: Spine::of(b), faithful: both }],
            literals: vec![
                Literal { view: 0, holds: true, term: Term::Spine(a) },
                Literal { view: 1, holds: b_holds, term: Term::Spine(b) },
            ],
            quest,
            pin: None,
            root: self.root,
        }
    }

    /// An object that `a` accepts and keeps and `b` doesn't.
    fn lost(&mut self, a: &'s Shape, b: &'s Shape) -> Answer {
        let refused = self.goal(a, b, false, Quest::Nothing, false);
        let pruned = self.goal(a, b, true, Quest::Loses(1), false);
        self.first(&[refused, pruned])
    }

    fn changed(&mut self, a: &'s Shape, b: &'s Shape) -> Answer {
        let goal = self.goal(a, b, true, Quest::Differs, true);
        self.first(&[goal])
    }

    fn first(&mut self, goals: &[Goal<'s>]) -> Answer {
        let mut open = None;
        for goal in goals {
            self.solver.refill();
            match self.solver.solve(goal) {
                Find::Sat(value) => match self.solver.meets(goal, &value) {
                    Some(true) => return Answer::Yes(value),
                    Some(false) => open = open.or(Some(Reason::Method("a candidate that does not stand"))),
                    None => open = open.or(Some(Reason::Method("a rule that can't be run"))),
                },
                Find::Unsat => {}
                Find::Open(reason) => open = open.or(Some(reason)),
            }
        }
        open.map_or(Answer::No, Answer::Open)
    }
}
