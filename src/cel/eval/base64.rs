//! Base64 as rules read `format: byte`: the alphabet of URLs, padded, line breaks ignored. Validation asks for the other
//! alphabet, so a value with a sign of either can't be read in rules.

/// The bytes behind the text, if it is base64.
pub fn decode(text: &str) -> Option<Vec<u8>> {
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
            bits = bits << 6 | value(*digit)?;
        }
        bits <<= 6 * padding;
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn decodes() {
        for (text, bytes) in [("", ""), ("aGVsbG8=", "hello"), ("aGVsbA==", "hell"), ("aGVs\nbG8h", "hello!"), ("Pz8_Pj4-", "???>>>")] {
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()), "{text}");
        }
        for text in ["aGVsbG8", "a===", "aG=sbG8=", "aGV*bG8=", "Pz8/", "Pj4+"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
