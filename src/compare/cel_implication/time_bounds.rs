//! Comparisons of timestamps and durations with constants, as bounds in nanoseconds.

use std::collections::BTreeSet;

use crate::cel::ast::{Expr, ExprKind, Literal};
use crate::cel::comparison::Operator;
use crate::cel::normalise::NormalWriter;
use crate::go::duration::Duration;
use crate::go::time::Timestamp;

use super::rule_form::{Bits, RuleForm};

const SECOND: i128 = 1_000_000_000;
/// `getHours()` and the like are computed with floats, which are exact up to this many hours.
const MAX_COUNT: i64 = 1_000;

/// `timestamp('…')` or `duration('…')` in nanoseconds.
fn constant(expr: &Expr) -> Option<i128> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    let (None, [argument]) = (call.target.as_deref(), call.args.as_slice()) else { return None };
    let Some(Literal::String(text)) = argument.literal() else { return None };
    match &*call.function {
        "timestamp" => Timestamp::parse(text).map(|time| i128::from(time.seconds()) * SECOND + i128::from(time.subsecond_nanos())),
        "duration" => Duration::parse(text).map(|duration| i128::from(duration.nanos())),
        _ => None,
    }
}

/// A number of nanoseconds that a float can represent without loss.
fn exact(nanos: i128) -> Option<Bits> {
    let float = nanos as f64;
    (float as i128 == nanos).then_some(Bits(float))
}

/// `self.time < timestamp('…')` and `self.duration.getMinutes() >= 2`, with the constant on either side.
pub(super) fn bound(operator: Operator, a: &Expr, b: &Expr, writer: &mut NormalWriter<'_>) -> Option<RuleForm> {
    sided(operator, a, b, writer).or_else(|| sided(operator.swapped(), b, a, writer))
}

fn sided(operator: Operator, left: &Expr, right: &Expr, writer: &mut NormalWriter<'_>) -> Option<RuleForm> {
    let (left, operator, than) = match constant(right) {
        Some(_) if constant(left).is_some() => return None,
        Some(than) => (left, operator, than),
        None => counted(operator, left, right, writer)?,
    };
    Some(RuleForm::Bound { left: writer.write(left, false), operator, than: exact(than)?, ordered: true })
}

/// The bound of a duration whose whole hours, minutes or seconds are compared with a number.
fn counted<'e>(operator: Operator, left: &'e Expr, right: &Expr, writer: &NormalWriter<'_>) -> Option<(&'e Expr, Operator, i128)> {
    let (ExprKind::Call(call), Some(Literal::Int(count))) = (&left.kind, right.literal()) else { return None };
    let (Some(duration), []) = (call.target.as_deref(), call.args.as_slice()) else { return None };
    let unit = match &*call.function {
        "getHours" => 3_600 * SECOND,
        "getMinutes" => 60 * SECOND,
        "getSeconds" => SECOND,
        _ => return None,
    };
    // Of a timestamp, they return a part of the time of day.
    if !writer.types.is_duration(duration) || count.abs() > MAX_COUNT {
        return None;
    }
    // `> n` is the same as `>= n + 1`, and `<= n` is the opposite of `> n`.
    let least = match operator {
        Operator::AtLeast | Operator::Less => *count,
        Operator::More | Operator::AtMost => count + 1,
        Operator::Equal => return None,
    };
    // Counts are cut off towards zero: from 1 on, the unit must be complete, below that any part of it counts.
    let (reached, nanos) = match least {
        1.. => (Operator::AtLeast, i128::from(least) * unit),
        _ => (Operator::More, i128::from(least - 1) * unit),
    };
    let operator = if matches!(operator, Operator::AtLeast | Operator::More) { reached } else { reached.negated() };
    Some((duration, operator, nanos))
}

/// `self.time == timestamp('…')`, whatever the time zone of the constant.
pub(super) fn equality(a: &Expr, b: &Expr, writer: &mut NormalWriter<'_>) -> Option<RuleForm> {
    let (left, nanos) = match (constant(a), constant(b)) {
        (None, Some(nanos)) => (a, nanos),
        (Some(nanos), None) => (b, nanos),
        _ => return None,
    };
    Some(RuleForm::In { left: writer.write(left, false), values: BTreeSet::from([format!("{nanos} ns")]) })
}
