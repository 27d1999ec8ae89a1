//! Splits source text into tokens, by CEL's lexical grammar.
//!
//! Tokens have byte offsets; the error is the position of something that isn't a token.

use super::parse::SyntaxError;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// An operator or bracket, or one of the words `in`, `true`, `false`, `null`.
    Sign(&'static str),
    Ident(String),
    Int(String),
    Uint(String),
    Float(String),
    String(String),
    Bytes(Vec<u8>),
    End,
}

/// Longer operators first, so that `<=` isn't read as `<`.
const SIGNS: [&str; 24] =
    ["==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%"];
const WORDS: [&str; 4] = ["in", "true", "false", "null"];

/// All tokens of `source`, followed by [`Token::End`].
pub fn tokens(source: &str) -> Result<Vec<(Token, usize)>, SyntaxError> {
    // Most tokens take three characters or more, including the space around them.
    let mut out = Vec::with_capacity(source.len() / 3 + 1);
    let mut at = 0;
    loop {
        at = skip_blank(source, at);
        let rest = &source[at..];
        if rest.is_empty() {
            out.push((Token::End, at));
            return Ok(out);
        }
        let (token, length) = token(rest, at)?;
        out.push((token, at));
        at += length;
    }
}

fn skip_blank(source: &str, mut at: usize) -> usize {
    loop {
        let rest = &source[at..];
        let trimmed = rest.trim_start_matches(['\t', ' ', '\r', '\n', '\u{c}']);
        at += rest.len() - trimmed.len();
        if !trimmed.starts_with("//") {
            return at;
        }
        at += trimmed.find('\n').unwrap_or(trimmed.len());
    }
}

fn token(rest: &str, at: usize) -> Result<(Token, usize), SyntaxError> {
    let bytes = rest.as_bytes();
    let word = bytes.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(bytes.len());
    // A quote is the first character, or follows `b`, `r` or both.
    if word <= 2
        && matches!(bytes.get(word), Some(b'"' | b'\''))
        && let Some(found) = quoted(rest, at)?
    {
        return Ok(found);
    }
    if let Some(b'0'..=b'9' | b'.') = bytes.first()
        && let Some(found) = number(rest)
    {
        return Ok(found);
    }
    if word > 0 {
        let text = &rest[..word];
        let sign = WORDS.iter().find(|w| **w == text);
        return Ok((sign.map_or_else(|| Token::Ident(text.to_string()), |w| Token::Sign(w)), word));
    }
    if let Some(sign) = SIGNS.iter().find(|sign| sign.as_bytes().first() == bytes.first() && rest.starts_with(**sign)) {
        return Ok((Token::Sign(sign), sign.len()));
    }
    Err(SyntaxError::new(at, format!("token recognition error at: '{}'", rest.chars().next().unwrap_or(' '))))
}

/// The number of digits at the start of `text`.
fn digits(text: &str, radix: u32) -> usize {
    text.find(|c: char| !c.is_digit(radix)).unwrap_or(text.len())
}

fn exponent(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return 0 };
    let sign = usize::from(rest.starts_with(['+', '-']));
    match digits(&rest[sign..], 10) {
        0 => 0,
        n => 1 + sign + n,
    }
}

fn number(rest: &str) -> Option<(Token, usize)> {
    if let Some(hex) = rest.strip_prefix("0x") {
        let n = digits(hex, 16);
        if n > 0 {
            return Some(integer(rest, 2 + n));
        }
    }
    let whole = digits(rest, 10);
    let fraction = match rest[whole..].strip_prefix('.') {
        Some(after) if digits(after, 10) > 0 => 1 + digits(after, 10),
        _ => 0,
    };
    if whole == 0 && fraction == 0 {
        return None;
    }
    let length = whole + fraction + exponent(&rest[whole + fraction..]);
    if length > whole {
        return Some((Token::Float(rest[..length].to_string()), length));
    }
    Some(integer(rest, whole))
}

fn integer(rest: &str, length: usize) -> (Token, usize) {
    let text = rest[..length].to_string();
    if rest[length..].starts_with(['u', 'U']) { (Token::Uint(text), length + 1) } else { (Token::Int(text), length) }
}

/// Reads a string or bytes literal at the start of `rest`.
fn quoted(rest: &str, at: usize) -> Result<Option<(Token, usize)>, SyntaxError> {
    let bytes = rest.starts_with(['b', 'B']);
    let after_b = &rest[usize::from(bytes)..];
    let raw = after_b.starts_with(['r', 'R']);
    let open = &after_b[usize::from(raw)..];
    let Some(quote) = open.chars().next().filter(|c| *c == '"' || *c == '\'') else { return Ok(None) };
    let prefix = usize::from(bytes) + usize::from(raw);
    let triple: String = std::iter::repeat_n(quote, 3).collect();
    let closed = if open.starts_with(&triple) { close(open, &triple, raw) } else { None };
    let Some((body, length)) = closed.or_else(|| close(open, &quote.to_string(), raw)) else {
        return Err(SyntaxError::new(at, format!("token recognition error at: '{quote}'")));
    };
    let value = unescape(body, raw, bytes).ok_or_else(|| SyntaxError::new(at, "unable to unescape string".into()))?;
    let token = if bytes {
        Token::Bytes(value)
    } else {
        Token::String(String::from_utf8(value).map_err(|_| SyntaxError::new(at, "invalid string".into()))?)
    };
    Ok(Some((token, prefix + length)))
}

/// The text between the quotes, and the length of the literal including them.
fn close<'a>(open: &'a str, quote: &str, raw: bool) -> Option<(&'a str, usize)> {
    let body = open.strip_prefix(quote)?;
    let mut chars = body.char_indices();
    while let Some((i, c)) = chars.next() {
        if body[i..].starts_with(quote) {
            return Some((&body[..i], quote.len() + i + quote.len()));
        }
        if quote.len() == 1 && (c == '\n' || c == '\r') {
            return None;
        }
        if c == '\\' && !raw {
            chars.next()?;
        }
    }
    None
}

fn unescape(body: &str, raw: bool, bytes: bool) -> Option<Vec<u8>> {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    if raw {
        return Some(body.into_bytes());
    }
    let mut out = vec![];
    let mut rest = body.as_str();
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let e = rest.chars().next()?;
        rest = &rest[e.len_utf8()..];
        let (digits, radix) = match e {
            'x' | 'X' => (2, 16),
            'u' if !bytes => (4, 16),
            'U' if !bytes => (8, 16),
            '0'..='3' => (2, 8),
            _ => {
                out.push(simple_escape(e)?);
                continue;
            }
        };
        let text = rest.get(..digits).filter(|t| t.chars().all(|c| c.is_digit(radix)))?;
        let mut code = u32::from_str_radix(text, radix).ok()?;
        if radix == 8 {
            code += e.to_digit(8)? * 64;
        }
        rest = &rest[digits..];
        if bytes {
            out.push(u8::try_from(code).ok()?);
        } else {
            // A lone surrogate becomes U+FFFD, like in Go's encoder.
            let c = if code > 0x10_FFFF { return None } else { char::from_u32(code).unwrap_or('\u{fffd}') };
            out.extend(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Some(out)
}

fn simple_escape(c: char) -> Option<u8> {
    Some(match c {
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 11,
        '\\' | '\'' | '"' | '`' | '?' => c as u8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(source: &str) -> Option<Token> {
        let all = tokens(source).ok()?;
        (all.len() == 2).then(|| all[0].0.clone())
    }

    #[test]
    fn strings_in_all_quotes() {
        for source in [r"'ab'", r#""ab""#, "'''ab'''", "\"\"\"ab\"\"\"", "r'ab'", r"'\x61b'", r"'\141b'", r"'\u0061b'"] {
            assert_eq!(one(source), Some(Token::String("ab".into())), "{source}");
        }
        assert_eq!(one("'''a'b'''"), Some(Token::String("a'b".into())));
        assert_eq!(one(r"r'\d'"), Some(Token::String(r"\d".into())));
        assert_eq!(one(r"b'\xff'"), Some(Token::Bytes(vec![255])));
        assert_eq!(one("'a\nb'"), None);
        assert_eq!(one(r"'\q'"), None);
    }

    #[test]
    fn numbers() {
        assert_eq!(one("1.5e3"), Some(Token::Float("1.5e3".into())));
        assert_eq!(one(".5"), Some(Token::Float(".5".into())));
        assert_eq!(one("1e3"), Some(Token::Float("1e3".into())));
        assert_eq!(one("0x1F"), Some(Token::Int("0x1F".into())));
        assert_eq!(one("7u"), Some(Token::Uint("7".into())));
        assert_eq!(tokens("1.size()").map(|t| t.len()).ok(), Some(6));
    }

    #[test]
    fn comments_and_blanks() {
        assert_eq!(one("// why\n x // end"), Some(Token::Ident("x".into())));
    }
}
