//! `'%s and %d'.format([a, b])`.

use super::convert::string;
use super::value::{Key, ListValue, Map, Val};
use super::{EvalError, Fuel};
use crate::go::fmt;

/// One clause of a format string.
pub enum Clause {
    Text(String),
    /// The letter after `%`, and the precision before it.
    Verb(char, Option<usize>),
}

/// Parses a format string, or returns what is wrong with it.
pub fn clauses(format: &str) -> Result<Vec<Clause>, String> {
    let mut out = vec![];
    let mut text = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let Some(mut verb) = chars.next() else { return Err("unexpected end of string".into()) };
        if verb == '%' {
            text.push('%');
            continue;
        }
        let mut precision = None;
        if verb == '.' {
            let mut digits = String::new();
            while let Some(d) = chars.next_if(char::is_ascii_digit) {
                digits.push(d);
            }
            precision = Some(digits.parse().map_err(|_| "error while parsing precision".to_string())?);
            verb = chars.next().ok_or("could not find end of precision specifier")?;
        }
        if !"sdfebxXo".contains(verb) {
            return Err(format!("unrecognized formatting clause \"{verb}\""));
        }
        out.push(Clause::Text(std::mem::take(&mut text)));
        out.push(Clause::Verb(verb, precision));
    }
    out.push(Clause::Text(text));
    Ok(out)
}

/// The formatted text.
pub fn format(format: &str, args: &ListValue<'_>, fuel: &mut Fuel) -> Result<String, EvalError> {
    let mut out = String::new();
    let mut next = 0;
    for clause in clauses(format).map_err(EvalError::failed)? {
        match clause {
            Clause::Text(text) => out.push_str(&text),
            Clause::Verb(verb, precision) => {
                let Some(arg) = args.get(next) else { return Err(EvalError::failed(format!("index {next} out of range"))) };
                out.push_str(&verb_text(verb, precision, &arg?, fuel)?);
                next += 1;
            }
        }
    }
    Ok(out)
}

fn verb_text(verb: char, precision: Option<usize>, arg: &Val<'_>, fuel: &mut Fuel) -> Result<String, EvalError> {
    let places = precision.unwrap_or(6).min(400);
    Ok(match (verb, arg) {
        ('s', _) => plain(arg, fuel)?,
        ('d', Val::Int(i)) => i.to_string(),
        ('d', Val::Uint(u)) => u.to_string(),
        ('f' | 'e', Val::Double(d)) if !d.is_finite() => endless(*d).to_string(),
        ('f', Val::Double(d)) => grouped(&format!("{d:.places$}")),
        ('e', Val::Double(d)) => scientific(*d, places),
        ('f' | 'e', Val::Text(text)) => match &**text {
            "NaN" => "NaN".into(),
            "Infinity" => endless(f64::INFINITY).into(),
            "-Infinity" => endless(f64::NEG_INFINITY).into(),
            _ => return Err(wrong(verb, arg)),
        },
        ('b', Val::Int(i)) => format!("{}{:b}", if *i < 0 { "-" } else { "" }, i.unsigned_abs()),
        ('b', Val::Uint(u)) => format!("{u:b}"),
        ('b', Val::Bool(b)) => if *b { "1" } else { "0" }.to_string(),
        ('x' | 'X', _) => {
            let text = match arg {
                Val::Int(i) => format!("{}{:x}", if *i < 0 { "-" } else { "" }, i.unsigned_abs()),
                Val::Uint(u) => format!("{u:x}"),
                Val::Text(text) => text.bytes().map(|b| format!("{b:02x}")).collect(),
                Val::Bytes(bytes) => bytes.iter().map(|b| format!("{b:02x}")).collect(),
                _ => return Err(wrong(verb, arg)),
            };
            if verb == 'X' { text.to_uppercase() } else { text }
        }
        ('o', Val::Int(i)) => format!("{}{:o}", if *i < 0 { "-" } else { "" }, i.unsigned_abs()),
        ('o', Val::Uint(u)) => format!("{u:o}"),
        _ => return Err(wrong(verb, arg)),
    })
}

fn endless(d: f64) -> &'static str {
    match (d.is_nan(), d > 0.0) {
        (true, _) => "NaN",
        (false, true) => "∞",
        (false, false) => "-∞",
    }
}

/// Formats a number with commas between groups of three digits before the point.
fn grouped(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut out = sign.to_string();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + fraction
}

/// `3.140000 × 10⁰⁰` with narrow spaces: always six decimals, because the precision is used as the width.
fn scientific(d: f64, width: usize) -> String {
    let text = format!("{d:.6e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => c.to_digit(10).and_then(|n| char::from_u32(0x2070 + n)).unwrap_or(c),
    };
    let power: String = format!("{}{:02}", if power < 0 { "-" } else { "" }, power.abs()).chars().map(raised).collect();
    format!("{:>width$}", format!("{mantissa}\u{202f}×\u{202f}10{power}"))
}

fn wrong(verb: char, arg: &Val<'_>) -> EvalError {
    EvalError::failed(format!("%{verb} can't be used on {}", arg.type_name()))
}

/// Formats a value for `%s`.
fn plain(arg: &Val<'_>, fuel: &mut Fuel) -> Result<String, EvalError> {
    fuel.burn(0)?;
    match arg {
        Val::Null => Ok("null".into()),
        Val::List(list) => {
            let items: Result<Vec<String>, EvalError> = list.items().map(|item| quoted(&item?, fuel)).collect();
            Ok(format!("[{}]", items?.join(", ")))
        }
        Val::Map(map) => map_text(map, fuel),
        other => match string(other.clone()) {
            Ok(Val::Text(text)) => Ok(text.to_string()),
            _ => Err(wrong('s', arg)),
        },
    }
}

fn map_text(map: &Map<'_>, fuel: &mut Fuel) -> Result<String, EvalError> {
    let mut pairs = vec![];
    for key in map.keys() {
        if Key::of(&key).is_none() {
            return Err(wrong('s', &key));
        }
        let value = map.find(&key)?.unwrap_or(Val::Null);
        pairs.push(format!("{}:{}", quoted(&key, fuel)?, quoted(&value, fuel)?));
    }
    pairs.sort();
    Ok(format!("{{{}}}", pairs.join(", ")))
}

/// Formats a value inside a list or map, in CEL's notation.
fn quoted(val: &Val<'_>, fuel: &mut Fuel) -> Result<String, EvalError> {
    Ok(match val {
        Val::Text(text) => fmt::quote(text),
        Val::Bytes(_) => format!("b{}", fmt::quote(&plain(val, fuel)?)),
        Val::Double(d) if d.is_finite() => format!("{d:.6}"),
        Val::Double(d) => fmt::quote(&fmt::float(*d)),
        Val::Timestamp(_) => format!("timestamp({:?})", plain(val, fuel)?),
        Val::Duration(_) => format!("duration({:?})", plain(val, fuel)?),
        other => plain(other, fuel)?,
    })
}
