//! Base64 as Go's `encoding/base64` decodes it: padded, ignoring line breaks.

/// The characters for 62 and 63.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base64Alphabet {
    /// `+` and `/`: `base64.StdEncoding`.
    Standard,
    /// `-` and `_`: `base64.URLEncoding`.
    Url,
}

/// Decodes a text, if it is base64.
pub fn decode(text: &str, alphabet: Base64Alphabet) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'\n' && *b != b'\r').collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(digits.len() / 4 * 3);
    let last = digits.len() / 4;
    for (i, group) in digits.chunks_exact(4).enumerate() {
        let padding = group.iter().rev().take_while(|b| **b == b'=').count();
        if padding > 2 || (padding > 0 && i + 1 != last) {
            return None;
        }
        let mut bits: u32 = 0;
        for digit in group.iter().take(4 - padding) {
            bits = bits << 6 | value(*digit, alphabet)?;
        }
        bits <<= 6 * padding;
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}

fn value(digit: u8, alphabet: Base64Alphabet) -> Option<u32> {
    Some(u32::from(match (digit, alphabet) {
        (b'A'..=b'Z', _) => digit - b'A',
        (b'a'..=b'z', _) => digit - b'a' + 26,
        (b'0'..=b'9', _) => digit - b'0' + 52,
        (b'+', Base64Alphabet::Standard) | (b'-', Base64Alphabet::Url) => 62,
        (b'/', Base64Alphabet::Standard) | (b'_', Base64Alphabet::Url) => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes() {
        for (text, bytes) in [("", ""), ("aGVsbG8=", "hello"), ("aGVsbA==", "hell"), ("aGVs\nbG8h", "hello!"), ("Zm9v", "foo")] {
            for alphabet in [Base64Alphabet::Standard, Base64Alphabet::Url] {
                assert_eq!(decode(text, alphabet).as_deref(), Some(bytes.as_bytes()), "{text}");
            }
        }
        for text in ["aGVsbG8", "a===", "aG=sbG8=", "aGV*bG8=", "Zm9*", "Zm 9v"] {
            for alphabet in [Base64Alphabet::Standard, Base64Alphabet::Url] {
                assert_eq!(decode(text, alphabet), None, "{text}");
            }
        }
        assert_eq!(decode("Pz8_Pj4-", Base64Alphabet::Url).as_deref(), Some(&b"???>>>"[..]));
        assert_eq!(decode("Pz8/Pj4+", Base64Alphabet::Standard).as_deref(), Some(&b"???>>>"[..]));
        assert_eq!((decode("Pz8/", Base64Alphabet::Url), decode("Pj4-", Base64Alphabet::Standard)), (None, None));
    }
}
