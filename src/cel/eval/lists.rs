//! Functions on lists and sets.

use std::cmp::Ordering;

use super::operators::{arithmetic, compare};
use super::value::{ListValue, Val};
use super::{EvalError, Fuel, Machine, strings};
use crate::go::duration::Duration;

type Evaluated<'a> = Result<Val<'a>, EvalError>;
type Items<'a> = Result<Vec<Val<'a>>, EvalError>;

fn items<'a>(list: &ListValue<'a>) -> Items<'a> {
    list.items().collect()
}

/// Calls the function `name` on a list. `overloads` decide the sum of an empty list.
pub fn call<'a>(
    machine: &mut Machine<'a>,
    name: &str,
    list: &ListValue<'a>,
    args: &[Val<'a>],
    overloads: &[&'static str],
) -> Evaluated<'a> {
    machine.charge(list.len().saturating_mul(16))?;
    match (name, args) {
        ("size", []) => Ok(Val::Int(list.len() as i64)),
        ("join", []) => strings::join(machine, list, ""),
        ("join", [Val::Text(separator)]) => strings::join(machine, list, separator),
        ("isSorted", []) => is_sorted(list),
        ("sum", []) => sum(machine, list, overloads),
        ("min", []) => extreme(list, Ordering::Greater),
        ("max", []) => extreme(list, Ordering::Less),
        ("indexOf", [item]) => index_of(machine, list, item, false),
        ("lastIndexOf", [item]) => index_of(machine, list, item, true),
        ("first", []) => list.get(0).transpose().map(|v| v.map_or(Val::Optional(None), Val::some)),
        ("last", []) => {
            let last = list.len().checked_sub(1).and_then(|i| list.get(i));
            last.transpose().map(|v| v.map_or(Val::Optional(None), Val::some))
        }
        ("slice", [Val::Int(start), Val::Int(end)]) => slice(list, *start, *end),
        ("flatten", []) => Ok(Val::list(flatten(list, 1, &mut machine.fuel)?)),
        ("flatten", [Val::Int(depth)]) if *depth >= 0 => Ok(Val::list(flatten(list, *depth, &mut machine.fuel)?)),
        ("flatten", [Val::Int(_)]) => Err(EvalError::failed("level must be non-negative")),
        ("reverse", []) => {
            let mut items = items(list)?;
            items.reverse();
            Ok(Val::list(items))
        }
        ("distinct", []) => distinct(machine, list),
        ("sort", []) => sort_by(list, list),
        ("@sortByAssociatedKeys", [Val::List(keys)]) => sort_by(list, keys),
        ("unwrapOpt", []) => unwrap_all(list),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn is_sorted<'a>(list: &ListValue<'a>) -> Evaluated<'a> {
    let mut before: Option<Val<'a>> = None;
    for item in list.items() {
        let item = item?;
        if let Some(before) = &before
            && compare(before, &item)? == Some(Ordering::Greater)
        {
            // Items that can't be read don't matter after this.
            return Ok(Val::Bool(false));
        }
        before = Some(item);
    }
    Ok(Val::Bool(true))
}

fn sum<'a>(machine: &mut Machine<'a>, list: &ListValue<'a>, overloads: &[&'static str]) -> Evaluated<'a> {
    let mut total = None;
    for item in list.items() {
        let item = item?;
        total = Some(match total {
            None => item,
            Some(total) => arithmetic("_+_", &total, &item, &mut machine.fuel)?,
        });
    }
    Ok(total.unwrap_or(match overloads.first() {
        Some(&"list_double_sum_double") => Val::Double(0.0),
        Some(&"list_uint_sum_uint") => Val::Uint(0),
        Some(&"list_duration_sum_duration") => Val::Duration(Duration::from_nanos(0)),
        _ => Val::Int(0),
    }))
}

/// The minimum or maximum; `worse` is the ordering of an item that loses.
fn extreme<'a>(list: &ListValue<'a>, worse: Ordering) -> Evaluated<'a> {
    let mut best: Option<Val<'a>> = None;
    for item in list.items() {
        let item = item?;
        best = Some(match best {
            Some(best) if compare(&best, &item)? != Some(worse) => best,
            _ => item,
        });
    }
    best.ok_or_else(|| EvalError::failed("min or max called on empty list"))
}

/// Whether two values are equal; an error counts as no.
fn equal_without_error<'a>(a: &Val<'a>, b: &Val<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
    match a.equals(b, fuel) {
        Err(EvalError::Failed(_)) => Ok(false),
        other => other,
    }
}

fn index_of<'a>(machine: &mut Machine<'a>, list: &ListValue<'a>, item: &Val<'a>, last: bool) -> Evaluated<'a> {
    let mut found = -1;
    for (at, have) in (0..).zip(list.items()) {
        let have = match have {
            Err(EvalError::Failed(_)) => continue,
            have => have?,
        };
        if equal_without_error(&have, item, &mut machine.fuel)? {
            found = at;
            if !last {
                break;
            }
        }
    }
    Ok(Val::Int(found))
}

fn slice<'a>(list: &ListValue<'a>, start: i64, end: i64) -> Evaluated<'a> {
    if start < 0 || start > end || end > list.len() as i64 {
        return Err(EvalError::failed(format!("cannot slice({start}, {end}), list is length {}", list.len())));
    }
    let items = list.items().skip(start as usize).take((end - start) as usize);
    Ok(Val::list(items.collect::<Result<_, _>>()?))
}

fn flatten<'a>(list: &ListValue<'a>, depth: i64, fuel: &mut Fuel) -> Items<'a> {
    let mut out = vec![];
    for item in list.items() {
        fuel.burn(0)?;
        match item? {
            Val::List(inner) if depth > 0 => out.extend(flatten(&inner, depth - 1, fuel)?),
            item => out.push(item),
        }
    }
    Ok(out)
}

fn distinct<'a>(machine: &mut Machine<'a>, list: &ListValue<'a>) -> Evaluated<'a> {
    let mut out: Vec<Val<'a>> = vec![];
    for item in list.items() {
        let item = item?;
        let mut seen = false;
        for have in &out {
            seen = seen || equal_without_error(&item, have, &mut machine.fuel)?;
        }
        if !seen {
            out.push(item);
        }
    }
    Ok(Val::list(out))
}

fn sort_by<'a>(list: &ListValue<'a>, keys: &ListValue<'a>) -> Evaluated<'a> {
    let (items, keys) = (items(list)?, items(keys)?);
    if items.len() != keys.len() {
        return Err(EvalError::failed("sort: as many keys as items are needed"));
    }
    if let Some((first, rest)) = keys.split_first() {
        if compare(first, first).is_err() {
            return Err(EvalError::failed("list elements must be comparable"));
        }
        if rest.iter().any(|k| k.type_name() != first.type_name()) {
            return Err(EvalError::failed("list elements must have the same type"));
        }
    }
    let mut pairs: Vec<_> = keys.into_iter().zip(items).collect();
    pairs.sort_by(|(a, _), (b, _)| compare(a, b).ok().flatten().unwrap_or(Ordering::Equal));
    Ok(Val::list(pairs.into_iter().map(|(_, item)| item).collect()))
}

/// The values of all optionals that have one.
pub fn unwrap_all<'a>(list: &ListValue<'a>) -> Evaluated<'a> {
    let mut out = vec![];
    for item in list.items() {
        match item? {
            Val::Optional(Some(val)) => out.push((*val).clone()),
            Val::Optional(None) => {}
            _ => return Err(EvalError::failed("value is not optional")),
        }
    }
    Ok(Val::list(out))
}

/// `item in list`.
pub fn contains<'a>(list: &ListValue<'a>, item: &Val<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
    let mut failure = None;
    for have in list.items() {
        match have.and_then(|have| have.equals(item, fuel)) {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            Err(EvalError::Limit) => return Err(EvalError::Limit),
            Err(e) => failure = Some(e),
        }
    }
    failure.map_or(Ok(false), Err)
}

/// `sets.contains`, `sets.equivalent`, `sets.intersects`.
pub fn sets<'a>(machine: &mut Machine<'a>, name: &str, a: &ListValue<'a>, b: &ListValue<'a>) -> Evaluated<'a> {
    let fuel = &mut machine.fuel;
    Ok(Val::Bool(match name {
        "sets.contains" => within(a, b, fuel)?,
        "sets.equivalent" => within(a, b, fuel)? && within(b, a, fuel)?,
        _ => {
            let mut any = false;
            for item in a.items() {
                any = any
                    || match contains(b, &item?, fuel) {
                        Err(EvalError::Failed(_)) => false,
                        other => other?,
                    };
            }
            any
        }
    }))
}

/// Whether every item of `inner` is in `outer`.
fn within<'a>(outer: &ListValue<'a>, inner: &ListValue<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
    for item in inner.items() {
        if !contains(outer, &item?, fuel)? {
            return Ok(false);
        }
    }
    Ok(true)
}
