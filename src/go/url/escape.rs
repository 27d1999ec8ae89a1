//! Percent escapes, which each part of a URL uses for other characters.

use super::UrlError;

/// The part of a URL that is escaped or unescaped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Host,
    Zone,
    UserPassword,
    Query,
    Fragment,
}

/// Whether a byte must be written as an escape in a part.
fn should_escape(byte: u8, part: Part) -> bool {
    let plain: &[u8] = match part {
        Part::Path => b"-_.~$&+,/:;=@",
        Part::Host | Part::Zone => b"-_.~!$&'()*+,;=:[]<>\"",
        Part::UserPassword => b"-_.~$&+,;=",
        Part::Query => b"-_.~",
        Part::Fragment => b"-_.~$&+,/:;=?@!()*",
    };
    !byte.is_ascii_alphanumeric() && !plain.contains(&byte)
}

/// Whether a path or fragment is a valid result of escaping.
pub(super) fn is_valid_encoding(text: &str, part: Part) -> bool {
    text.bytes().all(|byte| b"!$&'()*+,;=:@[]%".contains(&byte) || !should_escape(byte, part))
}

pub(super) fn escape(bytes: &[u8], part: Part) -> String {
    let mut out = String::with_capacity(bytes.len());
    for byte in bytes {
        if should_escape(*byte, part) {
            out.push_str(&format!("%{byte:02X}"));
        } else {
            out.push(char::from(*byte));
        }
    }
    out
}

pub(super) fn unescape(text: &str, part: Part) -> Result<Vec<u8>, UrlError> {
    let in_host = matches!(part, Part::Host | Part::Zone);
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'%' => {
                let value = after.get(..2).and_then(|digits| Some(hex(*digits.first()?)? << 4 | hex(*digits.last()?)?));
                let allowed = |value: u8| match part {
                    // In a host, only non-ASCII characters and the percent sign may be escaped.
                    Part::Host => value >= 0x80 || value == b'%',
                    Part::Zone => value == b'%' || value == b' ' || !should_escape(value, Part::Host),
                    _ => true,
                };
                let Some(value) = value.filter(|value| allowed(*value)) else {
                    let shown = after.get(..2).unwrap_or(after);
                    return Err(UrlError::Escape(format!("%{}", String::from_utf8_lossy(shown))));
                };
                out.push(value);
                rest = after.get(2..).unwrap_or_default();
            }
            b'+' if part == Part::Query => out.push(b' '),
            byte if in_host && byte.is_ascii() && should_escape(*byte, part) => {
                return Err(UrlError::HostCharacter(char::from(*byte).to_string()));
            }
            byte => out.push(*byte),
        }
    }
    Ok(out)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
