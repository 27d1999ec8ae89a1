//! Sums and products of an integer and constants, compared with a constant. In CEL, overflow is an error.

use std::rc::Rc;

use crate::cel::comparison::Operator;

use super::formula::Formula;
use super::translate::Ty;
use super::truth::{Truth, at};

/// The largest constant in sums and products that is supported.
pub(super) const MAX_CONSTANT: u64 = 1 << 31;
/// Integers up to this one are exact as floats.
const EXACT: u64 = 1 << 53;

/// `path * factor + sum` compared with a constant. It has no value if it overflows.
pub(super) fn linear(path: &[Rc<str>], (factor, sum): (i64, i64), operator: Operator, literal: i64) -> Option<Truth> {
    if factor == 0 || literal.unsigned_abs() >= MAX_CONSTANT {
        return None;
    }
    let value = |n: i64| i128::from(n) * i128::from(factor) + i128::from(sum);
    let fits = |n: i64| i64::try_from(value(n)).is_ok();
    // The integers that don't overflow are an interval around zero; its ends are only used if they are exact as floats.
    let (low, high) = (last(false, &fits), last(true, &fits));
    let range = [Rc::new(at_least(low)?), Rc::new(at_most(high)?)];
    let (mut factor, mut target, mut operator) = (i128::from(factor), i128::from(literal) - i128::from(sum), operator);
    if factor < 0 {
        (factor, target, operator) = (-factor, -target, operator.swapped());
    }
    // x * factor ⋈ target, with a positive factor.
    let floor = i64::try_from(target.div_euclid(factor)).ok()?;
    let exact = target.rem_euclid(factor) == 0;
    let atom = match operator {
        Operator::Equal if !exact => Formula::Const(false),
        Operator::Equal => Formula::Equals(floor.into()),
        Operator::More => at_least(floor.checked_add(1)?)?,
        Operator::AtLeast => at_least(if exact { floor } else { floor.checked_add(1)? })?,
        Operator::Less => at_most(if exact { floor.checked_sub(1)? } else { floor })?,
        Operator::AtMost => at_most(floor)?,
    };
    let truth = Truth::at(path, Ty::Int.kinds(), atom);
    let within = at(path, Formula::all(range));
    Some(Truth { holds: Formula::all([Rc::clone(&within), truth.holds]), fails: Formula::all([within, truth.fails]) })
}

/// The largest or smallest integer for which a condition holds that holds for zero and is monotonic in each direction.
fn last(up: bool, fits: &dyn Fn(i64) -> bool) -> i64 {
    let end = if up { i64::MAX } else { i64::MIN };
    if fits(end) {
        return end;
    }
    let (mut good, mut bad) = (0_i128, i128::from(end));
    while (bad - good).abs() > 1 {
        let middle = good + (bad - good) / 2;
        match i64::try_from(middle).is_ok_and(fits) {
            true => good = middle,
            false => bad = middle,
        }
    }
    i64::try_from(good).unwrap_or(0)
}

/// At least this integer, if a float can represent it.
fn at_least(n: i64) -> Option<Formula> {
    match n {
        i64::MIN => Some(Formula::Const(true)),
        n if n.unsigned_abs() <= EXACT => Some(Formula::AtLeast { bound: n as f64, strict: false }),
        // Greater than its predecessor, if that one is exact.
        n if (n - 1) as f64 as i128 == i128::from(n - 1) => Some(Formula::AtLeast { bound: (n - 1) as f64, strict: true }),
        n if n as f64 as i128 == i128::from(n) => Some(Formula::AtLeast { bound: n as f64, strict: false }),
        _ => None,
    }
}

fn at_most(n: i64) -> Option<Formula> {
    match n {
        i64::MAX => Some(Formula::Const(true)),
        n if n.unsigned_abs() <= EXACT => Some(Formula::AtMost { bound: n as f64, strict: false }),
        n if (n + 1) as f64 as i128 == i128::from(n + 1) => Some(Formula::AtMost { bound: (n + 1) as f64, strict: true }),
        n if n as f64 as i128 == i128::from(n) => Some(Formula::AtMost { bound: n as f64, strict: false }),
        _ => None,
    }
}
