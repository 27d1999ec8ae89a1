use serde_json::json;

use super::super::goal_cache::{CacheKey, GoalCache};
use super::super::{Difference, Goal, Preference, Search, Solver, UndecidedReason};
use super::{sat, shape};
use crate::compare::Budget;

#[test]
fn different_goals_have_different_keys() {
    let (a, b) = (shape(&json!({"type": "integer"})), shape(&json!({"type": "integer"})));
    let goal = Goal::of(&a, false);
    let key = |goal: &Goal<'_>| CacheKey::of(goal);
    assert!(key(&goal) == key(&goal.clone()));
    assert!(key(&goal) != key(&Goal::of(&b, false)), "another node");
    assert!(key(&goal) != key(&Goal::of(&a, true)), "the root of a resource");
    assert!(key(&goal) != key(&Goal { difference: Difference::Lost(0), ..goal.clone() }));
    let mut refused = goal.clone();
    refused.literals[0].holds = false;
    assert!(key(&goal) != key(&refused));
}

#[test]
fn an_answer_that_ran_out_of_steps_is_not_cached() {
    let shape = shape(&json!({"type": "integer"}));
    let goal = Goal::of(&shape, false);
    let mut cache = GoalCache::default();
    cache.put(CacheKey::of(&goal), &goal, &Search::Undecided(UndecidedReason::Budget));
    assert!(cache.get(&CacheKey::of(&goal)).is_none());
    cache.put(CacheKey::of(&goal), &goal, &Search::Impossible);
    assert!(matches!(cache.get(&CacheKey::of(&goal)), Some(Search::Impossible)));
}

#[test]
fn the_same_question_gets_the_same_answer() {
    let shape = shape(&json!({"type": "array", "minItems": 3, "items": {"type": "string", "pattern": "^a+$"}}));
    let goal = Goal::of(&shape, false);
    let mut solver = Solver::new(Preference::Small, &Budget::of_each());
    let first = sat(solver.solve(&goal));
    let left = solver.steps;
    assert_eq!(sat(solver.solve(&goal)), first);
    assert_eq!(solver.steps, left - 1, "it was looked up");
}
