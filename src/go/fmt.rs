//! How Go's `fmt` prints texts and floats, and how its JSON encoder prints values.

use serde_json::Value;

/// A text like `%q` prints it.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            c if is_printable(c) => out.push(c),
            c => match u32::from(c) {
                code @ ..0x80 => out.push_str(&format!("\\x{code:02x}")),
                code @ ..0x1_0000 => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
        }
    }
    out.push('"');
    out
}

/// Whether Go prints a character as it is. Rust escapes the same characters, except that it also escapes a combining one at the start
/// of a text.
fn is_printable(c: char) -> bool {
    c.is_ascii_graphic() || c == ' ' || !c.is_ascii() && ['x', c].into_iter().collect::<String>().escape_debug().count() == 2
}

/// A float like `%v` prints it.
pub fn float(d: f64) -> String {
    if d.is_nan() {
        return "NaN".into();
    }
    if d.is_infinite() {
        return if d > 0.0 { "+Inf" } else { "-Inf" }.into();
    }
    let scientific = format!("{d:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if d == 0.0 || (-4..6).contains(&power) {
        return format!("{d}");
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", power.abs())
}

/// A value as an error of the server shows it: a text quoted, a float printed, and anything else as JSON.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(|| number.to_string(), float),
        scalar if !scalar.is_array() && !scalar.is_object() => scalar.to_string(),
        structure => escape_html(&structure.to_string()),
    }
}

/// JSON with the characters escaped that Go's encoder keeps out of HTML. They only occur in strings.
fn escape_html(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quote("a \"b\" \\ é \u{301}x"), "\"a \\\"b\\\" \\\\ é \u{301}x\"");
        assert_eq!(quote("\u{7}\u{8}\u{c}\n\r\t\u{b}\u{0}\u{7f}"), r#""\a\b\f\n\r\t\v\x00\x7f""#);
        assert_eq!(quote("\u{301}\u{85}\u{a0}\u{feff}\u{e0001}"), "\"\u{301}\\u0085\\u00a0\\ufeff\\U000e0001\"");
    }

    #[test]
    fn floats_are_printed() {
        let printed = [1e5, 1e6, 123_456.5, 1_234_567.0, 1e21, 0.0001, 0.00001].map(float);
        assert_eq!(printed, ["100000", "1e+06", "123456.5", "1.234567e+06", "1e+21", "0.0001", "1e-05"]);
    }

    #[test]
    fn values_are_shown() {
        assert_eq!(value(&json!({"a": "<b> & \u{7f}"})), "{\"a\":\"\\u003cb\\u003e \\u0026 \u{7f}\"}");
        assert_eq!(value(&json!(1.5)), "1.5");
    }
}
