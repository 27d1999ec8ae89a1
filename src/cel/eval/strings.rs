//! Functions on strings and regular expressions.

use super::value::{ListValue, TextVal, Val};
use super::{EvalError, Machine};
use crate::go::regexp::Pattern;

type Evaluated<'a> = Result<Val<'a>, EvalError>;

fn out_of_range(i: i64) -> EvalError {
    EvalError::failed(format!("index out of range: {i}"))
}

/// The function `name` on `text`.
pub fn call<'a>(machine: &mut Machine<'a>, name: &str, text: &TextVal<'a>, args: &[Val<'a>]) -> Evaluated<'a> {
    machine.charge(text.len())?;
    match (name, args) {
        ("contains", [Val::Text(part)]) => Ok(Val::Bool(text.contains(&**part))),
        ("startsWith", [Val::Text(part)]) => Ok(Val::Bool(text.starts_with(&**part))),
        ("endsWith", [Val::Text(part)]) => Ok(Val::Bool(text.ends_with(&**part))),
        ("matches", [Val::Text(pattern)]) => Ok(Val::Bool(machine.pattern(pattern)?.is_match(text))),
        ("find", [Val::Text(pattern)]) => {
            let found = found(&machine.pattern(pattern)?, text)?;
            Ok(Val::made(found.first().copied().unwrap_or_default()))
        }
        ("findAll", [Val::Text(pattern)]) => find_all(machine, text, pattern, -1),
        ("findAll", [Val::Text(pattern), Val::Int(n)]) => find_all(machine, text, pattern, *n),
        ("size", []) => Ok(Val::Int(text.chars().count() as i64)),
        ("lowerAscii", []) => Ok(Val::made(&text.to_ascii_lowercase())),
        ("upperAscii", []) => Ok(Val::made(&text.to_ascii_uppercase())),
        ("trim", []) => Ok(Val::made(text.trim_matches(|c: char| c.is_whitespace()))),
        ("charAt", [Val::Int(i)]) => char_at(text, *i),
        ("substring", [Val::Int(start)]) => substring(text, *start, text.chars().count() as i64),
        ("substring", [Val::Int(start), Val::Int(end)]) if start > end => {
            Err(EvalError::failed(format!("invalid substring range. start: {start}, end: {end}")))
        }
        ("substring", [Val::Int(start), Val::Int(end)]) => substring(text, *start, *end),
        ("indexOf", [Val::Text(part)]) => index_of(text, part, 0),
        ("indexOf", [Val::Text(part), Val::Int(from)]) => index_of(text, part, *from),
        ("lastIndexOf", [Val::Text(part)]) => last_index_of(text, part, None),
        ("lastIndexOf", [Val::Text(part), Val::Int(from)]) => last_index_of(text, part, Some(*from)),
        ("replace", [Val::Text(old), Val::Text(new)]) => replace(machine, text, old, new, -1),
        ("replace", [Val::Text(old), Val::Text(new), Val::Int(n)]) => replace(machine, text, old, new, *n),
        ("split", [Val::Text(separator)]) => Ok(split(text, separator, -1)),
        ("split", [Val::Text(separator), Val::Int(n)]) => Ok(split(text, separator, *n)),
        ("format", [Val::List(args)]) => Ok(Val::made(&super::format::format(text, args, &mut machine.fuel)?)),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// The matches of a pattern. Go prefers short matches if the pattern is lazy, which isn't modelled.
fn found<'t>(pattern: &Pattern, text: &'t str) -> Result<Vec<&'t str>, EvalError> {
    let source = pattern.text();
    let lazy = ["*?", "+?", "??", "}?"].iter().any(|sign| source.contains(sign)) || (source.contains("(?") && source.contains('U'));
    let ranges = if lazy { None } else { pattern.find_all(text) };
    let ranges = ranges.ok_or_else(|| EvalError::unsupported("what this pattern finds"))?;
    Ok(ranges.into_iter().filter_map(|range| text.get(range)).collect())
}

fn find_all<'a>(machine: &mut Machine<'a>, text: &str, pattern: &str, n: i64) -> Evaluated<'a> {
    let limit = usize::try_from(n).unwrap_or(usize::MAX);
    let found = found(&machine.pattern(pattern)?, text)?;
    Ok(Val::list(found.into_iter().take(limit).map(Val::made).collect()))
}

fn char_at<'a>(text: &str, i: i64) -> Evaluated<'a> {
    let at = usize::try_from(i).map_err(|_| out_of_range(i))?;
    match text.chars().nth(at) {
        Some(c) => Ok(Val::made(&c.to_string())),
        None if at == text.chars().count() => Ok(Val::made("")),
        None => Err(out_of_range(i)),
    }
}

fn substring<'a>(text: &str, start: i64, end: i64) -> Evaluated<'a> {
    let length = text.chars().count() as i64;
    for i in [start, end] {
        if i < 0 || i > length {
            return Err(out_of_range(i));
        }
    }
    Ok(Val::made(&text.chars().skip(start as usize).take((end - start).max(0) as usize).collect::<String>()))
}

fn index_of<'a>(text: &str, part: &str, from: i64) -> Evaluated<'a> {
    if part.is_empty() {
        return Ok(Val::Int(from));
    }
    let at = usize::try_from(from).ok().and_then(|from| text.char_indices().nth(from));
    let Some((start, _)) = at else {
        // Beyond the end, nothing is found.
        return if from >= 0 { Ok(Val::Int(-1)) } else { Err(out_of_range(from)) };
    };
    let found = text[start..].find(part);
    Ok(Val::Int(found.map_or(-1, |i| text[..start + i].chars().count() as i64)))
}

fn last_index_of<'a>(text: &str, part: &str, from: Option<i64>) -> Evaluated<'a> {
    let length = text.chars().count() as i64;
    if part.is_empty() {
        return Ok(Val::Int(from.unwrap_or(length)));
    }
    let from = match from {
        None if text.is_empty() => return Ok(Val::Int(-1)),
        None => length - 1,
        Some(from) if from < 0 => return Err(out_of_range(from)),
        Some(from) if from >= length => return Ok(Val::Int(-1)),
        Some(from) => from,
    };
    let latest = from.min(length - part.chars().count() as i64);
    let mut starts: Vec<usize> = text.char_indices().map(|(i, _)| i).collect();
    starts.truncate(usize::try_from(latest + 1).unwrap_or(0));
    let found = starts.iter().rposition(|start| text[*start..].starts_with(part));
    Ok(Val::Int(found.map_or(-1, |i| i as i64)))
}

fn replace<'a>(machine: &mut Machine<'a>, text: &str, old: &str, new: &str, n: i64) -> Evaluated<'a> {
    machine.charge(text.len().saturating_mul(1 + new.len() / old.len().max(1)))?;
    let replaced = match usize::try_from(n) {
        Ok(n) => text.replacen(old, new, n),
        Err(_) => text.replace(old, new),
    };
    Ok(Val::made(&replaced))
}

/// Like Go's `SplitN`: 0 returns nothing, a negative limit everything; an empty separator splits characters.
fn split<'a>(text: &str, separator: &str, n: i64) -> Val<'a> {
    let limit = match usize::try_from(n) {
        Ok(0) => return Val::list(vec![]),
        Ok(n) => n,
        Err(_) => usize::MAX,
    };
    if !separator.is_empty() {
        return Val::list(text.splitn(limit, separator).map(Val::made).collect());
    }
    let mut parts: Vec<Val<'a>> = vec![];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if parts.len() + 1 == limit {
            parts.push(Val::made(rest));
            break;
        }
        let (first, after) = rest.split_at(c.len_utf8());
        parts.push(Val::made(first));
        rest = after;
    }
    Val::list(parts)
}

/// `list.join(separator)`.
pub fn join<'a>(machine: &mut Machine<'a>, list: &ListValue<'a>, separator: &str) -> Evaluated<'a> {
    let mut out = String::new();
    for (i, item) in list.items().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        match item? {
            Val::Text(text) => {
                machine.charge(text.len() + separator.len())?;
                out.push_str(&text);
            }
            _ => return Err(EvalError::failed("join: invalid input")),
        }
    }
    Ok(Val::made(&out))
}

/// `strings.quote(text)`.
pub fn quote<'a>(text: &str) -> Val<'a> {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
    Val::made(&out)
}
