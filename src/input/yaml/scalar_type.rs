//! Types plain scalars as the API server does: YAML 1.1 booleans, octal and underscored integers, floats.

use super::arena::Raw;

/// The type of a plain scalar, and whether a YAML 1.2 reader would see something else.
pub(super) enum Typed {
    Text,
    Value { raw: Raw, ambiguous: bool },
    OutOfRange,
}

const fn plain(raw: Raw) -> Typed {
    Typed::Value { raw, ambiguous: false }
}

const fn surprising(raw: Raw) -> Typed {
    Typed::Value { raw, ambiguous: true }
}

pub(super) fn resolve(text: &str, json: bool) -> Typed {
    let Some(first) = text.bytes().next() else {
        return plain(Raw::Null);
    };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text, json),
        _ => Typed::Text,
    }
}

fn word(text: &str) -> Typed {
    match text {
        "~" | "null" | "Null" | "NULL" => plain(Raw::Null),
        "true" | "True" | "TRUE" => plain(Raw::Bool(true)),
        "false" | "False" | "FALSE" => plain(Raw::Bool(false)),
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => surprising(Raw::Bool(true)),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => surprising(Raw::Bool(false)),
        _ => Typed::Text,
    }
}

fn number(text: &str, json: bool) -> Typed {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf" | "-.Inf" | "-.INF" | ".nan" | ".NaN" | ".NAN" => {
            return Typed::OutOfRange;
        }
        _ => {}
    }
    let underscored = text.contains('_');
    let digits: std::borrow::Cow<'_, str> = if underscored { text.replace('_', "").into() } else { text.into() };
    if let Some(raw) = integer(&digits) {
        let body = digits.trim_start_matches(['+', '-']);
        let octal = body.len() > 1 && body.starts_with('0');
        return Typed::Value { raw, ambiguous: underscored || octal };
    }
    if !is_float(&digits) {
        return Typed::Text;
    }
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => {
            // On the way to the server, YAML becomes JSON, where `1.0` and `1e3` are written `1` and `1000`.
            let whole = !json && value.fract() == 0.0 && value.abs() < 9.0e15;
            let raw = if whole { Raw::Int(value as i64) } else { Raw::Float(value) };
            Typed::Value { raw, ambiguous: underscored }
        }
        Ok(_) if json => Typed::OutOfRange,
        // Go's parser fails on a number that is too large, which makes it a string: `00005e005301`.
        Ok(_) | Err(_) => Typed::Text,
    }
}

/// Parses like Go's `ParseInt(s, 0, 64)`: `0x`, `0o`, `0b` and a leading `0` choose the base.
fn integer(text: &str) -> Option<Raw> {
    let (negative, body) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match body.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &body[2..]),
        [b'0', b'o' | b'O', ..] => (8, &body[2..]),
        [b'0', b'b' | b'B', ..] => (2, &body[2..]),
        [b'0', _, ..] => (8, &body[1..]),
        _ => (10, body),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    match i128::from_str_radix(digits, radix) {
        Ok(magnitude) => {
            let value = if negative { -magnitude } else { magnitude };
            // Beyond int64, the server's JSON reader falls back to a float.
            Some(i64::try_from(value).map_or(Raw::Float(value as f64), Raw::Int))
        }
        Err(_) => None,
    }
}

/// Matches `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_float(text: &str) -> bool {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let mantissa_ok = match mantissa.split_once('.') {
        Some((whole, part)) => all_digits(whole) && all_digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !mantissa.is_empty() && all_digits(mantissa),
    };
    let exponent_ok = exponent.is_none_or(|e| {
        let digits = e.strip_prefix(['-', '+']).unwrap_or(e);
        !digits.is_empty() && all_digits(digits)
    });
    mantissa_ok && exponent_ok
}
