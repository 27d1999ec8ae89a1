//! The size of a document as the JSON that Go writes, which is what kubectl sends.

use crate::input::yaml::{Data, Node};

/// JSON is never longer than this many times the YAML it came from, apart from aliases.
pub(crate) const MAX_GROWTH: usize = 8;

/// The length of a document as JSON if it is above the limit.
pub(crate) fn bytes_above(node: Node<'_>, limit: usize) -> Option<usize> {
    let may_be = node.source().len() > limit / MAX_GROWTH || node.tree().is_aliased();
    may_be.then(|| json_bytes(node)).filter(|bytes| *bytes > limit)
}

/// The length of a node in the JSON that Go writes. The recursion is limited by the depth of the document.
pub(crate) fn json_bytes(node: Node<'_>) -> usize {
    let (brackets, commas) = (2, node.len().saturating_sub(1));
    match node.data() {
        Data::Str(text) => text_bytes(text),
        Data::Seq => brackets + commas + node.items().map(json_bytes).sum::<usize>(),
        Data::Map => brackets + commas + node.entries().map(|entry| text_bytes(entry.name()) + 1 + json_bytes(entry.value)).sum::<usize>(),
        _ => node.to_json().to_string().len(),
    }
}

/// The length of a quoted string, escaped like Go does, including characters special in HTML. Descriptions are most of a CRD, so
/// bytes are counted without branches.
pub(crate) fn text_bytes(text: &str) -> usize {
    const QUOTES: usize = 2;
    // Small enough that the counts fit into a byte.
    const CHUNK: usize = 128;
    let (mut length, mut is_separated) = (QUOTES + text.len(), false);
    for chunk in text.as_bytes().chunks(CHUNK) {
        let (mut short, mut long, mut lead) = (0_u8, 0_u8, 0_u8);
        for &byte in chunk {
            let with_backslash = matches!(byte, b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C);
            let with_number = (byte < 0x20) & !with_backslash | matches!(byte, b'<' | b'>' | b'&');
            short += u8::from(with_backslash);
            long += u8::from(with_number);
            lead |= u8::from(byte == 0xE2);
        }
        length += usize::from(short) + usize::from(long) * 5;
        is_separated |= lead != 0;
    }
    if is_separated {
        length += text.matches(['\u{2028}', '\u{2029}']).count() * 3;
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_have_the_length_that_go_writes() {
        assert_eq!(text_bytes("a<b>&\n\"\u{1}é"), r#""a\u003cb\u003e\u0026\n\"\u0001é""#.len());
        assert_eq!(text_bytes("\u{2028}–\u{2029}\u{8}"), r#""\u2028–\u2029\b""#.len());
        assert_eq!(text_bytes(&"\n".repeat(1000)), 2002);
    }
}
