//! Converts between property names and CEL identifiers.
//!
//! A property name in a schema and a field name in an expression differ by escaping.

/// Words that CEL reserves; a property with such a name is written `__name__`.
const RESERVED: [&str; 21] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "false",
    "for",
    "function",
    "if",
    "import",
    "in",
    "let",
    "loop",
    "namespace",
    "null",
    "package",
    "return",
    "true",
    "var",
    "void",
    "while",
];

const LONGEST: usize = "namespace".len();

/// Whether CEL reserves this word.
pub fn reserved(word: &str) -> bool {
    // A quick test that rules out most names.
    word.len() <= LONGEST && word.bytes().all(|byte| byte.is_ascii_lowercase()) && RESERVED.binary_search(&word).is_ok()
}

/// Whether a name is an identifier that needs no escaping.
pub fn is_plain(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.iter().all(u8::is_ascii_alphanumeric) && !reserved(name)
}

/// The identifier for a property, or `None` if CEL can't name it.
pub fn escape(name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if reserved(name) {
        return Some(format!("__{name}__"));
    }
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("__") {
            out.push_str("__underscores__");
            rest = after;
            continue;
        }
        match c {
            '-' => out.push_str("__dash__"),
            '.' => out.push_str("__dot__"),
            '/' => out.push_str("__slash__"),
            c if c.is_ascii_alphanumeric() || c == '_' => out.push(c),
            _ => return None,
        }
        rest = &rest[c.len_utf8()..];
    }
    Some(out)
}

/// The property name for an identifier; `None` if it contains an unknown escape.
pub fn unescape(ident: &str) -> Option<String> {
    let mut out = String::with_capacity(ident.len());
    let mut rest = ident;
    while !rest.is_empty() {
        let Some((sequence, contents)) = escape_sequence(rest) else {
            let c = rest.chars().next()?;
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        match contents {
            "underscores" => out.push_str("__"),
            "dash" => out.push('-'),
            "dot" => out.push('.'),
            "slash" => out.push('/'),
            word if reserved(word) && sequence.len() == ident.len() => out.push_str(word),
            _ => return None,
        }
        rest = &rest[sequence.len()..];
    }
    Some(out)
}

/// Parses `__x__` at the start of `text`, where x has no underscore; returns the whole sequence and x.
fn escape_sequence(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("__")?;
    let end = inner.find('_')?;
    if end == 0 || !inner[end..].starts_with("__") {
        return None;
    }
    Some((&text[..end + 4], &inner[..end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_round_trip() {
        for (raw, escaped) in [
            ("a", "a"),
            ("a-b", "a__dash__b"),
            ("a.b/c", "a__dot__b__slash__c"),
            ("namespace", "__namespace__"),
            ("x__y", "x__underscores__y"),
            ("_x", "_x"),
        ] {
            assert_eq!(escape(raw).as_deref(), Some(escaped));
            assert_eq!(unescape(escaped).as_deref(), Some(raw));
        }
    }

    #[test]
    fn some_names_have_no_identifier() {
        assert_eq!(escape("1a"), None);
        assert_eq!(escape("a b"), None);
        assert_eq!(escape("$ref"), None);
        assert_eq!(escape(""), None);
        assert_eq!(unescape("a__nope__b"), None);
    }

    #[test]
    fn reserved_words_are_sorted() {
        assert!(RESERVED.is_sorted());
        assert!(RESERVED.iter().all(|word| reserved(word)));
    }
}
