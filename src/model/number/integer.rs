//! Finds numbers written as integers that satisfy a goal.

use super::goal::NumberGoal;
use super::{NumberDomain, NumberFormat, NumberKind, Value, go_int64};
use crate::model::relation::{Search, UndecidedReason};

/// How many multiples are tried in one interval before the search gives up.
const MAX_TRIES: i128 = 20_000;

/// A domain restricted to integers: an interval and a divisor, or nothing.
struct Rule {
    low: i128,
    high: i128,
    factor: i128,
}

fn rule(domain: &NumberDomain) -> Option<Rule> {
    if domain.format == Some(NumberFormat::Text) {
        return None;
    }
    let (mut low, mut high) = (i128::from(i64::MIN), i128::from(i64::MAX));
    if (domain.kind, domain.format) == (NumberKind::Integer, Some(NumberFormat::Int32)) {
        (low, high) = (i32::MIN.into(), i32::MAX.into());
    }
    let said = |bound: Option<f64>| match bound {
        Some(bound) if !domain.represents(bound) => None,
        bound => Some(bound.map(|bound| i128::from(go_int64(bound)))),
    };
    if let Some(min) = said(domain.minimum)? {
        low = low.max(min + i128::from(domain.exclusive_minimum));
    }
    if let Some(max) = said(domain.maximum)? {
        high = high.min(max - i128::from(domain.exclusive_maximum));
    }
    let factor = said(domain.multiple_of)?.unwrap_or(1);
    (factor > 0 && low <= high).then_some(Rule { low, high, factor })
}

pub(super) fn find(goal: &NumberGoal) -> Search<i64> {
    let within: Option<Vec<Rule>> = goal.within.iter().map(|domain| rule(domain)).collect();
    let Some(within) = within else {
        return Search::Impossible;
    };
    // A domain that accepts no integer at all excludes none.
    let outside: Vec<Rule> = goal.outside.iter().filter_map(|domain| rule(domain)).collect();
    let divisor = within.iter().fold(1, |sum, rule| lcm(sum, rule.factor));

    let mut best: Option<i64> = None;
    let mut open = false;
    let mut edges = vec![i128::from(i64::MIN), i128::from(i64::MAX) + 1, 0];
    for rule in within.iter().chain(&outside) {
        edges.extend([rule.low, rule.high + 1]);
    }
    for member in goal.members() {
        let at = match member {
            Value::Int(int) => i128::from(int),
            Value::Float(float) => i128::from(go_int64(float)),
        };
        edges.extend([at, at + 1]);
    }
    edges.sort_unstable();
    edges.dedup();
    for stretch in edges.windows(2) {
        let &[low, end] = stretch else { continue };
        let Ok(sample) = i64::try_from(low) else {
            continue;
        };
        let holds = |rule: &Rule| rule.low <= low && low <= rule.high;
        if !within.iter().all(holds) || !goal.admits(Value::Int(sample)) {
            continue;
        }
        // Within this interval, the value must not be a multiple of the factors of these rules.
        let not_by: Vec<i128> = outside.iter().filter(|rule| holds(rule)).map(|rule| rule.factor).collect();
        match in_stretch(low, end - 1, divisor, &not_by) {
            Search::Found(int) => {
                let simple = |int: i64| (int.unsigned_abs(), int < 0);
                if best.is_none_or(|best| simple(int) < simple(best)) {
                    best = Some(int);
                }
            }
            Search::Impossible => {}
            Search::Undecided(_) => open = true,
        }
    }
    match best {
        Some(int) => Search::Found(int),
        None if open => Search::Undecided("too many multiples to try".into()),
        None => Search::Impossible,
    }
}

/// The multiple of `by` in the interval that is nearest to zero and not a multiple of any of `not_by`.
fn in_stretch(low: i128, high: i128, by: i128, not_by: &[i128]) -> Search<i64> {
    if not_by.iter().any(|not_by| by % not_by == 0) {
        return Search::Impossible;
    }
    // The interval doesn't cross zero, because zero is an edge.
    let (first, step) = if low >= 0 {
        (low.div_euclid(by) * by + if low.rem_euclid(by) == 0 { 0 } else { by }, by)
    } else {
        (high.div_euclid(by) * by, -by)
    };
    let mut at = first;
    for _ in 0..MAX_TRIES {
        if at < low || at > high {
            return Search::Impossible;
        }
        if not_by.iter().all(|not_by| at % not_by != 0) {
            return i64::try_from(at).map_or(Search::Impossible, Search::Found);
        }
        at += step;
    }
    Search::Undecided(UndecidedReason::Budget)
}

/// The least common multiple. Beyond 64 bits any larger number will do, because then only zero is a multiple.
pub(super) fn lcm(a: i128, b: i128) -> i128 {
    const PAST: i128 = 1 << 100;
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b).map_or(PAST, |lcm| lcm.min(PAST))
}
