//! The size of a document as the JSON that Go writes, which is what kubectl sends.

use crate::input::yaml::{Data, Node};

/// The length of a document as JSON if it is above the limit.
pub(crate) fn bytes_above(node: Node<'_>, limit: usize) -> Option<usize> {
    (!is_surely_within(node, limit)).then(|| json_bytes(node)).filter(|bytes| *bytes > limit)
}

/// Whether the JSON of a node can't be longer than this, as far as its text and the number of nodes show.
pub(crate) fn is_surely_within(node: Node<'_>, limit: usize) -> bool {
    /// What JSON adds to a node: quotes and a separator, or the digits of `1e15`.
    const NODE: usize = 20;
    /// By how much more than a backslash and a character an escape can grow: `\0` becomes `\u0000`.
    const ESCAPE: usize = 3;
    /// No byte becomes more than this many.
    const BYTE: usize = 6;
    let (source, nodes) = (node.source(), node.tree().node_count() * NODE);
    let counted = || text_bytes(source) + memchr::memchr_iter(b'\\', source.as_bytes()).count() * ESCAPE;
    !node.tree().is_aliased() && (source.len() * BYTE + nodes <= limit || counted() + nodes <= limit)
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

/// By how much a byte grows in a string: a backslash before it, or `\u00` and two digits instead of it.
const GROWTH: [u8; 256] = {
    let mut growth = [0; 256];
    let mut byte = 0;
    while byte < growth.len() {
        growth[byte] = match byte as u8 {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 1,
            0..0x20 | b'<' | b'>' | b'&' => 5,
            _ => 0,
        };
        byte += 1;
    }
    growth
};

/// The length of a quoted string, escaped like Go does, including characters special in HTML. Descriptions are most of a CRD, so
/// blocks of bytes are counted without branches.
pub(crate) fn text_bytes(text: &str) -> usize {
    const QUOTES: usize = 2;
    // Small enough that the counts fit into a byte.
    const BLOCK: usize = 128;
    /// The first byte of the line and paragraph separators.
    const LEAD: u8 = 0xE2;
    let (mut length, mut is_separated) = (QUOTES + text.len(), false);
    let (blocks, rest) = text.as_bytes().as_chunks::<BLOCK>();
    for block in blocks {
        let (mut short, mut long, mut strange) = (0_u8, 0_u8, 0_u8);
        for &byte in block {
            short += u8::from(matches!(byte, b'"' | b'\\' | b'\n'));
            long += u8::from(matches!(byte, b'<' | b'>' | b'&'));
            strange |= u8::from((byte < 0x20) & (byte != b'\n') | (byte == LEAD));
        }
        length += match strange {
            0 => usize::from(short) + usize::from(long) * 5,
            _ => block.iter().map(|&byte| usize::from(GROWTH[usize::from(byte)])).sum(),
        };
        is_separated |= strange != 0;
    }
    for &byte in rest {
        length += usize::from(GROWTH[usize::from(byte)]);
        is_separated |= byte == LEAD;
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
        let long = format!("{}\u{1}\t\r{}", "a\u{2028}<\"".repeat(100), "\n>".repeat(100));
        assert_eq!(text_bytes(&long), 2 + 100 * (1 + 6 + 6 + 2) + 6 + 2 + 2 + 100 * (2 + 6));
    }

    #[test]
    fn no_document_is_longer_than_its_bound() {
        let flow = r#"{a: "\0\x1f\L\u2029\"", b: [n, ~, y, <>&, 'it''s', 0xffffffffffffffff, .inf], c: {? d, e: }}"#;
        let block = "a: |\n\n\n <&>\"\n\nb: >-\n x\n\n y\nc:\nd:\n- -\n- n\n";
        for text in [flow, block, "n", "''", "[[[[]]]]", "[1e15,1e15,1e15]", "{{}: {}}", "\"\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\""] {
            let documents = crate::input::yaml::parse(&text.to_owned().into(), &crate::input::yaml::YamlBudget::default());
            let Ok(tree) = &documents[0].tree else { continue };
            let root = tree.root();
            let shortest = (0..).find(|limit| is_surely_within(root, *limit)).unwrap();
            assert!(json_bytes(root) <= shortest, "{text}");
            assert_eq!(bytes_above(root, json_bytes(root)), None);
            assert_eq!(bytes_above(root, json_bytes(root) - 1), Some(json_bytes(root)));
        }
    }
}
