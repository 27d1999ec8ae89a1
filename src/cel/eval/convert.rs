//! Conversions between types: `int(x)`, `string(x)`, `timestamp(x)`, ….

use super::EvalError;
use super::value::Val;
use crate::go::duration::Duration;
use crate::go::fmt;
use crate::go::time::Timestamp;

type Evaluated<'a> = Result<Val<'a>, EvalError>;

/// The error for a text that can't be converted.
fn bad<'a>(to: &str) -> Evaluated<'a> {
    let to = match to {
        "duration" => "google.protobuf.Duration",
        "timestamp" => "google.protobuf.Timestamp",
        to => to,
    };
    Err(EvalError::failed(format!("type conversion error from 'string' to '{to}'")))
}

fn overflow<'a>(words: &str) -> Evaluated<'a> {
    Err(EvalError::failed(format!("{words} overflow")))
}

/// `to(val)`.
pub fn convert<'a>(to: &str, val: Val<'a>) -> Evaluated<'a> {
    match to {
        "dyn" => Ok(val),
        "type" => Ok(Val::Type(val.type_name())),
        "int" => int(val),
        "uint" => uint(val),
        "double" => double(val),
        "string" => string(val),
        "bool" => match &val {
            Val::Bool(_) => Ok(val),
            Val::Text(text) => match &**text {
                "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Val::Bool(true)),
                "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Val::Bool(false)),
                _ => bad(to),
            },
            _ => Err(EvalError::no_such_overload()),
        },
        "bytes" => match &val {
            Val::Bytes(_) => Ok(val),
            Val::Text(text) => Ok(Val::Bytes(text.as_bytes().into())),
            _ => Err(EvalError::no_such_overload()),
        },
        "duration" => match val {
            Val::Duration(_) => Ok(val),
            Val::Int(nanos) => Ok(Val::Duration(Duration::from_nanos(nanos))),
            Val::Text(text) => Duration::parse(&text).map_or_else(|| bad(to), |d| Ok(Val::Duration(d))),
            _ => Err(EvalError::no_such_overload()),
        },
        "timestamp" => match val {
            Val::Timestamp(_) => Ok(val),
            Val::Int(seconds) => Timestamp::from_seconds(seconds).map_or_else(|| bad(to), |t| Ok(Val::Timestamp(t))),
            Val::Text(text) => Timestamp::parse(&text).map_or_else(|| bad(to), |t| Ok(Val::Timestamp(t))),
            _ => Err(EvalError::no_such_overload()),
        },
        _ => Err(EvalError::no_such_overload()),
    }
}

fn int<'a>(val: Val<'a>) -> Evaluated<'a> {
    match val {
        Val::Int(_) => Ok(val),
        Val::Uint(u) => i64::try_from(u).map_or_else(|_| overflow("integer"), |i| Ok(Val::Int(i))),
        // The bounds themselves can't be represented as doubles, so they are excluded, like in cel-go.
        Val::Double(d) if d > i64::MIN as f64 && d < i64::MAX as f64 => Ok(Val::Int(d as i64)),
        Val::Double(_) => overflow("integer"),
        Val::Text(text) => go_int(&text).map_or_else(|| bad("int"), |i| Ok(Val::Int(i))),
        Val::Timestamp(t) => Ok(Val::Int(t.seconds())),
        Val::Duration(d) => Ok(Val::Int(d.nanos())),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Like Go's `ParseInt(s, 10, 64)`, which only accepts a sign and digits.
fn go_int(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn uint<'a>(val: Val<'a>) -> Evaluated<'a> {
    match val {
        Val::Uint(_) => Ok(val),
        Val::Int(i) => u64::try_from(i).map_or_else(|_| overflow("unsigned integer"), |u| Ok(Val::Uint(u))),
        Val::Double(d) if (0.0..u64::MAX as f64).contains(&d) => Ok(Val::Uint(d as u64)),
        Val::Double(_) => overflow("unsigned integer"),
        Val::Text(text) if !text.starts_with('+') => text.parse().map_or_else(|_| bad("uint"), |u| Ok(Val::Uint(u))),
        Val::Text(_) => bad("uint"),
        _ => Err(EvalError::no_such_overload()),
    }
}

fn double<'a>(val: Val<'a>) -> Evaluated<'a> {
    match val {
        Val::Double(_) => Ok(val),
        Val::Int(i) => Ok(Val::Double(i as f64)),
        Val::Uint(u) => Ok(Val::Double(u as f64)),
        Val::Text(text) => go_float(&text).map_or_else(|| bad("double"), |d| Ok(Val::Double(d))),
        _ => Err(EvalError::no_such_overload()),
    }
}

/// Like Go's `ParseFloat`: out of range is an error; `inf`, `nan`, `0x1p4` and `1_000` are numbers.
fn go_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hex = unsigned.get(..2).is_some_and(|prefix| prefix.eq_ignore_ascii_case("0x"));
    let plain = text.contains('_').then(|| underscores_fit(unsigned, hex).then(|| text.replace('_', "")));
    let text = match &plain {
        Some(plain) => plain.as_deref()?,
        None => text,
    };
    if hex {
        return hex_float(text).filter(|number| number.is_finite());
    }
    // Only infinity may have a sign.
    if text.len() == 4 && text.get(1..).is_some_and(|name| name.eq_ignore_ascii_case("nan")) {
        return None;
    }
    let number: f64 = text.parse().ok()?;
    let named = text.bytes().any(|b| b.is_ascii_alphabetic() && !matches!(b, b'e' | b'E'));
    (named || number.is_finite()).then_some(number)
}

/// Whether underscores are only between digits, or after the prefix.
fn underscores_fit(unsigned: &str, hex: bool) -> bool {
    let digits = if hex { unsigned.get(2..).unwrap_or_default() } else { unsigned };
    let is_digit = |c: Option<char>| c.is_some_and(|c| if hex { c.is_ascii_hexdigit() } else { c.is_ascii_digit() });
    let mut before = hex.then_some('0');
    let mut rest = digits.chars();
    while let Some(c) = rest.next() {
        if c == '_' && !(is_digit(before) && is_digit(rest.clone().next())) {
            return false;
        }
        before = Some(c);
    }
    true
}

/// Parses `-0x1.8p-3`: hexadecimal digits, and a required power of two.
fn hex_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.get(2..)?.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power: i32 = exponent.parse::<i64>().ok()?.clamp(-1 << 20, 1 << 20) as i32;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut bits, mut shift, mut lost) = (0_u64, 0_i32, false);
    for (behind, digit) in whole.chars().map(|c| (false, c)).chain(fraction.chars().map(|c| (true, c))) {
        let digit = digit.to_digit(16)?;
        if bits >> 59 == 0 {
            bits = bits << 4 | u64::from(digit);
            shift -= if behind { 4 } else { 0 };
        } else {
            lost |= digit != 0;
            shift = shift.saturating_add(if behind { 0 } else { 4 });
        }
    }
    // The bits that were cut off decide how a tie is rounded.
    let number = (bits | u64::from(lost)) as f64;
    let power = power.saturating_add(shift);
    // In two steps, so that neither power overflows if the product doesn't.
    let number = number * 2_f64.powi(power / 2) * 2_f64.powi(power - power / 2);
    Some(if text.starts_with('-') { -number } else { number })
}

pub fn string<'a>(val: Val<'a>) -> Evaluated<'a> {
    Ok(match val {
        Val::Text(_) => val,
        Val::Bool(b) => Val::made(if b { "true" } else { "false" }),
        Val::Int(i) => Val::made(&i.to_string()),
        Val::Uint(u) => Val::made(&u.to_string()),
        Val::Double(d) => Val::made(&fmt::float(d)),
        Val::Bytes(bytes) => match std::str::from_utf8(&bytes) {
            Ok(text) => Val::made(text),
            Err(_) => return Err(EvalError::failed("invalid UTF-8 in bytes, cannot convert to string")),
        },
        Val::Duration(d) => Val::made(&d.to_text()),
        Val::Timestamp(t) => Val::made(&t.to_text()),
        Val::Ip(ip) => Val::made(&ip.to_string()),
        Val::Cidr(ip, bits) => Val::made(&format!("{ip}/{bits}")),
        Val::Type(name) => Val::made(name),
        _ => return Err(EvalError::no_such_overload()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(to: &str, val: Val<'static>) -> Option<String> {
        convert(to, val).ok().and_then(|v| string(v).ok()).map(|v| match v {
            Val::Text(text) => text.to_string(),
            _ => String::new(),
        })
    }

    #[test]
    fn doubles_are_read_as_go_does() {
        for (text, number) in [("0x1p4", 16.0), ("-0X1.8p-1", -0.75), ("0x_1F.8p0", 31.5), ("1_000.5", 1000.5), ("1e1_0", 1e10)] {
            assert_eq!(go_float(text), Some(number), "{text}");
        }
        assert_eq!(go_float("0x10000000000000000000p-76"), Some(1.0));
        for text in ["0x1", "0x", "0xp1", "0x1p", "_1", "1__0", "1_", "1_.5", "1e_1", "-nan", "0x1p2000", "1e400", "", "."] {
            assert_eq!(go_float(text), None, "{text}");
        }
        assert_eq!(go_float("-Inf"), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn conversions() {
        assert_eq!(shown("int", Val::text("-12")).as_deref(), Some("-12"));
        assert_eq!(shown("int", Val::Double(1.9)).as_deref(), Some("1"));
        assert_eq!(shown("double", Val::text("1e400")), None);
        assert_eq!(shown("uint", Val::Int(-1)), None);
        assert_eq!(shown("bool", Val::text("t")).as_deref(), Some("true"));
        assert_eq!(shown("bool", Val::text("yes")), None);
        assert_eq!(shown("duration", Val::text("1h")).as_deref(), Some("3600s"));
    }
}
