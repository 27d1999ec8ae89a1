//! Decides what to send for each key of an object: nothing, null or a value, so that every side sees what its conditions require.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::server::key_fate::KeyFate;
use crate::server::object::value_count;

use super::object_plan::{KeyCount, KeyPlan, ObjectPlan};
use super::read::{Effect, SentKey};
use super::{Difference, Goal, Pin, Preference, Search, SideView, Solver, Term, TermLiteral, UndecidedReason};

/// How many keys are generated to reach a count; a search that needs more is undecided.
const MAX_FILL: u64 = 512;
/// The same if each name must be searched for, because of conditions on names.
const MAX_SOUGHT: u64 = 64;
/// The cost of a value in a default relative to that of a condition: it is filled in, and checked.
const DEFAULTED: usize = 64;
/// How many failed partial choices are remembered: enough for objects with a few hundred keys.
const MAX_DEAD: usize = 50_000;

enum Assessed<'s> {
    Impossible,
    Undecided(UndecidedReason),
    Ready { seen: Vec<bool> },
    Child { seen: Vec<bool>, goal: Goal<'s> },
}

/// What is sent for a key, and which views see the key.
#[derive(Debug, Clone)]
struct Filled {
    value: Option<Value>,
    seen: Vec<bool>,
}

impl<'s> Solver<'s> {
    pub(super) fn fill_each(&mut self, goal: &Goal<'s>, order: &[&KeyPlan<'s>]) -> Result<Map<String, Value>, Option<UndecidedReason>> {
        let mut map = Map::new();
        for plan in order {
            map.extend(self.fill(goal, plan).into_result()?.map(|value| (plan.name.to_string(), value)));
        }
        Ok(map)
    }

    /// What to send for a key; `None` to omit it.
    pub(super) fn fill(&mut self, goal: &Goal<'s>, plan: &KeyPlan<'s>) -> Search<Option<Value>> {
        let mut open = None;
        for request in self.requests(plan) {
            match self.option(goal, plan, *request) {
                Ok(filled) => return Search::Found(filled.value),
                Err(None) => {}
                Err(Some(reason)) => open = open.or(Some(reason)),
            }
        }
        Err(open).into()
    }

    fn requests(&self, plan: &KeyPlan<'s>) -> &'static [SentKey] {
        match (self.preference, plan.forced) {
            (_, Some(SentKey::Value)) => &[SentKey::Value],
            (_, Some(SentKey::Null)) => &[SentKey::Null],
            (_, Some(SentKey::Absent)) => &[SentKey::Absent],
            (Preference::Small, None) => &[SentKey::Absent, SentKey::Value, SentKey::Null],
            (Preference::Full, None) => &[SentKey::Value, SentKey::Absent, SentKey::Null],
        }
    }

    fn option(&mut self, goal: &Goal<'s>, plan: &KeyPlan<'s>, request: SentKey) -> Result<Filled, Option<UndecidedReason>> {
        match self.assess(goal, plan, request) {
            Assessed::Impossible => Err(None),
            Assessed::Undecided(reason) => Err(Some(reason)),
            Assessed::Ready { seen } => Ok(Filled { value: (request == SentKey::Null).then_some(Value::Null), seen }),
            Assessed::Child { seen, goal } => match &plan.fixed {
                Some(value) => match self.meets(&goal, value) {
                    Some(false) => Err(None),
                    _ => Ok(Filled { value: Some(value.clone()), seen }),
                },
                None => Ok(Filled { value: Some(self.solve(&goal).into_result()?), seen }),
            },
        }
    }

    /// What the views make of a key that is omitted, null or sent.
    fn assess(&mut self, goal: &Goal<'s>, plan: &KeyPlan<'s>, request: SentKey) -> Assessed<'s> {
        if plan.fixed.is_some() && request != SentKey::Value {
            return Assessed::Impossible;
        }
        let mut effects = Vec::with_capacity(goal.views.len());
        for (view, demand) in goal.views.iter().zip(&plan.demands) {
            let fate = view.read_by.key_fate(&plan.name);
            // No schema prunes the keys that every resource has.
            let fate = if plan.fixed.is_some() { KeyFate::Kept } else { fate };
            if view.faithful && request != SentKey::Absent && fate.is_pruned() {
                return Assessed::Impossible;
            }
            let effect = fate.effect(request);
            let present = !matches!(effect, Effect::Absent);
            let non_null = present && !matches!(effect, Effect::Null);
            if demand.present.is_some_and(|wanted| wanted != present) || demand.non_null.is_some_and(|wanted| wanted != non_null) {
                return Assessed::Impossible;
            }
            effects.push(effect);
        }
        let defaulted = effects.iter().map(|effect| if let Effect::Default(value) = effect { value_count(value) } else { 0 });
        self.charge(DEFAULTED * defaulted.sum::<usize>());
        let mut open = None;
        for literal in &plan.literals {
            let verdict = match effects.get(literal.view) {
                Some(Effect::Absent) => Some(literal.holds),
                Some(Effect::Null) => match &literal.term {
                    Term::Formula(_) => Some(literal.holds),
                    term => self.evaluator().term(term, &Value::Null).map(|holds| holds == literal.holds),
                },
                Some(Effect::Default(value)) => self.evaluator().term(&literal.term, value).map(|holds| holds == literal.holds),
                Some(Effect::Sent(_)) | None => Some(true),
            };
            match verdict {
                Some(true) => {}
                Some(false) => return Assessed::Impossible,
                // A rule that can't be translated is assumed to hold; the result is checked later.
                None if literal.holds => {}
                None => open = Some(UndecidedReason::Method("a default under a rule that is not understood")),
            }
        }
        let mut difference = Difference::None;
        if plan.difference {
            match difference_below(goal.difference, &effects, request) {
                Some(below) => difference = below,
                None => return Assessed::Impossible,
            }
        }
        if let Some(reason) = open {
            return Assessed::Undecided(reason);
        }
        let seen = effects.iter().map(|effect| !matches!(effect, Effect::Absent)).collect();
        if request != SentKey::Value {
            return Assessed::Ready { seen };
        }
        Assessed::Child { seen, goal: child_goal(goal, &effects, &plan.literals, difference, plan.pin) }
    }

    /// Decides keys so that each view counts as many keys as required.
    pub(super) fn fill_counted(
        &mut self,
        goal: &Goal<'s>,
        frame: &ObjectPlan<'_, 's>,
        order: &[&KeyPlan<'s>],
    ) -> Result<Map<String, Value>, Option<UndecidedReason>> {
        let mut open = None;
        let mut options: Vec<Vec<Filled>> = Vec::new();
        for plan in order {
            let mut of_cell = Vec::new();
            for request in self.requests(plan) {
                match self.option(goal, plan, *request) {
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
            return Err(if dead.len() >= MAX_DEAD { Some(UndecidedReason::Budget) } else { open });
        };
        if extra > if frame.key_rules().next().is_none() { MAX_FILL } else { MAX_SOUGHT } {
            return Err(Some(UndecidedReason::Method("an object with very many keys")));
        }
        // Each name is compared with those before it.
        if !self.budget.build(extra.saturating_mul(extra) as usize) {
            return Err(Some(UndecidedReason::Budget));
        }
        let mut map = Map::new();
        for ((plan, options), index) in order.iter().zip(&options).zip(chosen) {
            let value = options.get(index).and_then(|filled| filled.value.clone());
            map.extend(value.map(|value| (plan.name.to_string(), value)));
        }
        if let Some((mut frame, filled)) = filler {
            for _ in 0..extra {
                let name = self.new_key(goal, &mut frame, None, &[])?;
                map.extend(filled.value.clone().map(|value| (name.into_owned(), value)));
            }
        }
        Ok(map)
    }

    /// A generated key that can be added repeatedly.
    fn filler<'a>(&mut self, goal: &Goal<'s>, frame: &ObjectPlan<'a, 's>) -> Result<(ObjectPlan<'a, 's>, Filled), Option<UndecidedReason>> {
        let mut scratch = frame.clone();
        let name = self.new_key(goal, &mut scratch, None, &[])?;
        let plan = scratch.keys.get(&name).cloned().ok_or(None)?;
        let filled = match self.option(goal, &plan, SentKey::Value) {
            Err(None) => self.option(goal, &plan, SentKey::Null)?,
            filled => filled?,
        };
        Ok((frame.clone(), filled))
    }
}

/// Picks one option for each key, and a number of fillers, so that all counts are in range.
fn pick(
    options: &[Vec<Filled>],
    ranges: &[KeyCount],
    filler: Option<&[bool]>,
    counts: &[u64],
    chosen: &mut Vec<usize>,
    dead: &mut BTreeSet<(usize, Vec<u64>)>,
) -> Option<u64> {
    if counts.iter().zip(ranges).any(|(count, range)| *count > range.high) {
        return None;
    }
    let Some(plan) = options.get(chosen.len()) else {
        // As few as satisfy the view that needs the most; views that don't see fillers count none of them.
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
    for (index, option) in plan.iter().enumerate() {
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

/// Whether some views count a null under a key that no condition names, and others don't.
pub(super) fn nulls_count_differently(goal: &Goal<'_>) -> bool {
    let counts = |view: &SideView<'_>| matches!(view.read_by.key_fate("\u{0}").effect(SentKey::Null), Effect::Absent);
    let mut views = goal.views.iter().map(counts);
    views.next().is_some_and(|first| views.any(|other| other != first))
}

/// The difference still to be found below a key with these effects; `None` if the key can't show it.
pub(super) fn difference_below(difference: Difference, effects: &[Effect<'_>], request: SentKey) -> Option<Difference> {
    match difference {
        Difference::None => Some(Difference::None),
        Difference::Lost(view) => match effects.get(view)? {
            Effect::Absent if request == SentKey::Value => Some(Difference::None),
            Effect::Sent(_) => Some(difference),
            _ => None,
        },
        Difference::Stored => match effects {
            [Effect::Sent(_), Effect::Sent(_)] => Some(difference),
            [a, b] => {
                let differ = match (a, b) {
                    (Effect::Absent, Effect::Absent) | (Effect::Null, Effect::Null) => false,
                    (Effect::Default(a), Effect::Default(b)) => a != b,
                    _ => true,
                };
                differ.then_some(Difference::None)
            }
            _ => None,
        },
    }
}

/// The goal for a value that is sent: only the views that see it count.
pub(super) fn child_goal<'s>(
    goal: &Goal<'s>,
    effects: &[Effect<'s>],
    literals: &[TermLiteral<'s>],
    difference: Difference,
    pin: Option<Pin<'s>>,
) -> Goal<'s> {
    let mut views = Vec::new();
    let mut index = Vec::new();
    for (view, effect) in goal.views.iter().zip(effects) {
        match effect {
            Effect::Sent(by) => {
                index.push(Some(views.len()));
                views.push(SideView { read_by: *by, faithful: view.faithful });
            }
            _ => index.push(None),
        }
    }
    let moved = |view: usize| index.get(view).copied().flatten();
    let literals = literals
        .iter()
        .filter_map(|literal| Some(TermLiteral { view: moved(literal.view)?, holds: literal.holds, term: literal.term.clone() }))
        .collect();
    let difference = match difference {
        Difference::Lost(view) => moved(view).map_or(Difference::None, Difference::Lost),
        other => other,
    };
    Goal { views, literals, difference, pin, root: false }
}
