//! Arithmetic and comparison of values.

use std::cmp::Ordering;
use std::rc::Rc;

use super::value::Val;
use super::{EvalError, Fuel};

type Evaluated<'a> = Result<Val<'a>, EvalError>;

/// Compares two numbers of any kinds: `None` if one isn't a number, `Some(None)` if one is NaN.
pub fn compare_numbers(a: &Val<'_>, b: &Val<'_>) -> Option<Option<Ordering>> {
    let whole = |v: &Val<'_>| match v {
        Val::Int(i) => Some(i128::from(*i)),
        Val::Uint(u) => Some(i128::from(*u)),
        _ => None,
    };
    Some(match (a, b) {
        (Val::Double(x), Val::Double(y)) => x.partial_cmp(y),
        (Val::Double(x), y) => whole_to_double(whole(y)?, *x).map(Ordering::reverse),
        (x, Val::Double(y)) => whole_to_double(whole(x)?, *y),
        (x, y) => Some(whole(x)?.cmp(&whole(y)?)),
    })
}

/// Compares an integer with a double, without rounding the integer.
fn whole_to_double(whole: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    if double >= 1e30 {
        return Some(Ordering::Less);
    }
    if double <= -1e30 {
        return Some(Ordering::Greater);
    }
    let floor = double.floor();
    Some(whole.cmp(&(floor as i128)).then(if double > floor { Ordering::Less } else { Ordering::Equal }))
}

/// Compares two values of one type, or two numbers.
pub fn compare(a: &Val<'_>, b: &Val<'_>) -> Result<Option<Ordering>, EvalError> {
    if let Some(order) = compare_numbers(a, b) {
        return Ok(order);
    }
    Ok(Some(match (a, b) {
        (Val::Bool(x), Val::Bool(y)) => x.cmp(y),
        (Val::Text(x), Val::Text(y)) => (**x).cmp(&**y),
        (Val::Bytes(x), Val::Bytes(y)) => x.cmp(y),
        (Val::Duration(x), Val::Duration(y)) => x.cmp(y),
        (Val::Timestamp(x), Val::Timestamp(y)) => x.cmp(y),
        _ => return Err(EvalError::no_such_overload()),
    }))
}

/// Evaluates `<`, `<=`, `>` or `>=`. NaN is an error.
pub fn relate<'a>(operator: &str, a: &Val<'a>, b: &Val<'a>) -> Evaluated<'a> {
    let Some(order) = compare(a, b)? else { return Err(EvalError::failed("NaN values cannot be ordered")) };
    Ok(Val::Bool(match operator {
        "_<_" => order.is_lt(),
        "_<=_" => order.is_le(),
        "_>_" => order.is_gt(),
        _ => order.is_ge(),
    }))
}

pub fn arithmetic<'a>(operator: &str, a: &Val<'a>, b: &Val<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    match (a, b) {
        (Val::Int(x), Val::Int(y)) => i64::try_from(whole(operator, (*x).into(), (*y).into())?).map(Val::Int).map_err(|_| overflow()),
        (Val::Uint(x), Val::Uint(y)) => u64::try_from(whole(operator, (*x).into(), (*y).into())?).map(Val::Uint).map_err(|_| overflow()),
        (Val::Double(x), Val::Double(y)) => match operator {
            "_+_" => Ok(Val::Double(x + y)),
            "_-_" => Ok(Val::Double(x - y)),
            "_*_" => Ok(Val::Double(x * y)),
            "_/_" => Ok(Val::Double(x / y)),
            _ => Err(EvalError::no_such_overload()),
        },
        (Val::Text(x), Val::Text(y)) if operator == "_+_" => Ok(Val::made(&format!("{}{}", &**x, &**y))),
        (Val::Bytes(x), Val::Bytes(y)) if operator == "_+_" => Ok(Val::Bytes(x.iter().chain(y.iter()).copied().collect::<Rc<[u8]>>())),
        (Val::List(x), Val::List(y)) if operator == "_+_" => x.plus(y, fuel),
        _ => time(operator, a, b),
    }
}

fn time<'a>(operator: &str, a: &Val<'a>, b: &Val<'a>) -> Evaluated<'a> {
    let result = match (operator, a, b) {
        ("_+_", Val::Duration(x), Val::Duration(y)) => x.checked_add(*y).map(Val::Duration),
        ("_-_", Val::Duration(x), Val::Duration(y)) => x.checked_sub(*y).map(Val::Duration),
        ("_+_", Val::Timestamp(t), Val::Duration(d)) | ("_+_", Val::Duration(d), Val::Timestamp(t)) => {
            t.checked_add(*d).map(Val::Timestamp)
        }
        ("_-_", Val::Timestamp(t), Val::Duration(d)) => t.checked_sub(*d).map(Val::Timestamp),
        ("_-_", Val::Timestamp(x), Val::Timestamp(y)) => x.since(*y).map(Val::Duration),
        _ => return Err(EvalError::no_such_overload()),
    };
    result.ok_or_else(overflow)
}

fn overflow() -> EvalError {
    EvalError::failed("integer overflow")
}

/// The result before it is fitted into 64 bits. Products of two unsigned numbers may not even fit here.
fn whole(operator: &str, x: i128, y: i128) -> Result<i128, EvalError> {
    match operator {
        "_+_" => Ok(x + y),
        "_-_" => Ok(x - y),
        "_*_" => x.checked_mul(y).ok_or_else(overflow),
        _ if y == 0 => Err(EvalError::failed("division by zero")),
        "_/_" => Ok(x / y),
        // The smallest integer has no remainder by -1, because their quotient overflows.
        _ if y == -1 && x == i64::MIN.into() => Err(overflow()),
        _ => Ok(x % y),
    }
}

pub fn negate<'a>(a: &Val<'a>) -> Evaluated<'a> {
    match a {
        Val::Int(i) => i.checked_neg().map(Val::Int).ok_or_else(overflow),
        Val::Double(d) => Ok(Val::Double(-d)),
        _ => Err(EvalError::no_such_overload()),
    }
}
