//! Decodes the bytes of a file as text, or recognises what else they are.
//!
//! Kubernetes reads UTF-8. A byte-order mark is removed, so that columns match an editor; UTF-16 with a mark is decoded with a
//! note. Archives and Git LFS pointers are recognised, so that nobody looks for a syntax error in them.

use thiserror::Error;

use super::place::{LineColumn, Lines};
use super::text::Text;

/// The encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16Le => "UTF-16 (little-endian)",
            Encoding::Utf16Be => "UTF-16 (big-endian)",
        })
    }
}

#[derive(Debug)]
pub(super) struct Decoded {
    pub text: Text,
    pub encoding: Encoding,
}

/// Why bytes aren't text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Malformed {
    #[error("byte {offset} (0x{byte:02X}) is not UTF-8")]
    NotUtf8 { offset: usize, byte: u8, place: LineColumn },
    #[error("the file ends in the middle of a UTF-8 character, after byte {offset}")]
    CutUtf8 { offset: usize, place: LineColumn },
    #[error("{encoding} is broken at byte {offset}: {why}")]
    BrokenUtf16 { encoding: Encoding, offset: usize, place: LineColumn, why: &'static str },
    #[error("this is UTF-16 without a byte-order mark")]
    UnmarkedUtf16,
    #[error("this is UTF-32")]
    Utf32,
    #[error("control character {} is not allowed in YAML", escaped(*.character))]
    Control { character: char, place: LineColumn },
    #[error("this is {0}, not a manifest")]
    Archive(&'static str),
    #[error("this is a git LFS pointer, not the file itself")]
    LfsPointer,
}

impl Malformed {
    pub fn place(&self) -> Option<LineColumn> {
        match self {
            Malformed::NotUtf8 { place, .. }
            | Malformed::CutUtf8 { place, .. }
            | Malformed::BrokenUtf16 { place, .. }
            | Malformed::Control { place, .. } => Some(*place),
            _ => None,
        }
    }

    /// Advice for the user.
    pub fn advice(&self) -> &'static str {
        match self {
            Malformed::NotUtf8 { .. } => "save the file as UTF-8",
            Malformed::CutUtf8 { .. } => "the file looks truncated: download it again",
            Malformed::BrokenUtf16 { .. } | Malformed::UnmarkedUtf16 | Malformed::Utf32 => {
                "save the file as UTF-8; Kubernetes reads nothing else"
            }
            Malformed::Control { .. } => "remove it, or write it as an escape in a double-quoted string",
            Malformed::Archive(_) => "unpack it and pass the files in it",
            Malformed::LfsPointer => "run `git lfs pull` and read the file from the working tree",
        }
    }
}

fn escaped(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

pub(super) fn decode(bytes: Vec<u8>) -> Result<Decoded, Malformed> {
    if let Some(kind) = archive(&bytes) {
        return Err(Malformed::Archive(kind));
    }
    let decoded = match &*bytes {
        [0xFF, 0xFE, 0, 0, ..] | [0, 0, 0xFE, 0xFF, ..] => return Err(Malformed::Utf32),
        [0xFF, 0xFE, rest @ ..] => utf16(rest, Encoding::Utf16Le)?,
        [0xFE, 0xFF, rest @ ..] => utf16(rest, Encoding::Utf16Be)?,
        // Without a mark, the YAML specification looks at where the zero byte of the first character is.
        [0, first, ..] | [first, 0, ..] if first.is_ascii() && *first != 0 => {
            return Err(Malformed::UnmarkedUtf16);
        }
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest.to_vec())?,
        _ => utf8(bytes)?,
    };
    if is_lfs_pointer(&decoded.text) {
        return Err(Malformed::LfsPointer);
    }
    match control_character(&decoded.text) {
        None => Ok(decoded),
        Some((offset, character)) => Err(Malformed::Control { character, place: Lines::new(&decoded.text).place(&decoded.text, offset) }),
    }
}

fn utf8(bytes: Vec<u8>) -> Result<Decoded, Malformed> {
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Decoded { text: text.into(), encoding: Encoding::Utf8 }),
        Err(error) => error,
    };
    let (bytes, error) = (error.as_bytes(), error.utf8_error());
    let offset = error.valid_up_to();
    let sound = bytes.get(..offset).unwrap_or_default();
    let place = end_of(std::str::from_utf8(sound).unwrap_or_default());
    Err(match (error.error_len(), bytes.get(offset)) {
        (Some(_), Some(byte)) => Malformed::NotUtf8 { offset, byte: *byte, place },
        _ => Malformed::CutUtf8 { offset, place },
    })
}

fn utf16(bytes: &[u8], encoding: Encoding) -> Result<Decoded, Malformed> {
    const MARK: usize = 2;
    let (pairs, odd) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| match encoding {
        Encoding::Utf16Be => u16::from_be_bytes(*pair),
        _ => u16::from_le_bytes(*pair),
    });
    let mut text = String::with_capacity(pairs.len());
    let mut offset = MARK;
    for unit in char::decode_utf16(units) {
        match unit {
            Ok(character) => {
                text.push(character);
                offset += character.len_utf16() * 2;
            }
            Err(_) => {
                return Err(Malformed::BrokenUtf16 { encoding, offset, place: end_of(&text), why: "half of a surrogate pair" });
            }
        }
    }
    if !odd.is_empty() {
        return Err(Malformed::BrokenUtf16 { encoding, offset, place: end_of(&text), why: "half of a character at the end" });
    }
    Ok(Decoded { text: text.into(), encoding })
}

fn end_of(text: &str) -> LineColumn {
    Lines::new(text).place(text, text.len())
}

/// Finds the first character that YAML readers refuse (c-printable of YAML 1.2).
///
/// JSON allows more in strings than YAML does (DEL and the C1 set). In what may be JSON, only characters below U+0020 are refused
/// here, and the parser handles the others.
fn control_character(text: &str) -> Option<(usize, char)> {
    // A pass without branches shows for nearly every file that no closer look is needed: 0xC2 and 0xEF are the first bytes of the
    // C1 set and of U+FFFE and U+FFFF.
    let dubious = text.as_bytes().chunks(4096).any(|chunk| {
        chunk.iter().fold(false, |found, byte| {
            let low = *byte < 0x20 && *byte != b'\t' && *byte != b'\n' && *byte != b'\r';
            found | low | (*byte == 0x7F) | (*byte == 0xC2) | (*byte == 0xEF)
        })
    });
    if !dubious {
        return None;
    }
    let json = text.trim_start().starts_with(['{', '[']);
    text.char_indices().find(|(_, character)| match character {
        '\t' | '\n' | '\r' | '\u{85}' => false,
        '\0'..='\u{1F}' => true,
        '\u{7F}'..='\u{9F}' | '\u{FFFE}' | '\u{FFFF}' => !json,
        _ => false,
    })
}

fn archive(bytes: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 9] = [
        (b"\x1F\x8B", "a gzip archive"),
        (b"PK\x03\x04", "a zip archive"),
        (b"PK\x05\x06", "an empty zip archive"),
        (b"PK\x07\x08", "a multi-part zip archive"),
        (b"\x28\xB5\x2F\xFD", "a zstd archive"),
        (b"\xFD7zXZ\0", "an xz archive"),
        (b"BZh", "a bzip2 archive"),
        (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
        (b"%PDF-", "a PDF document"),
    ];
    let found = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic));
    match found {
        // The letters alone could also be a key `BZh: …`, but not the block magic.
        Some((b"BZh", _)) if bytes.get(4..10) != Some(b"1AY&SY") => None,
        Some((_, name)) => Some(name),
        None => (bytes.get(257..262) == Some(b"ustar")).then_some("a tar archive"),
    }
}

fn is_lfs_pointer(text: &str) -> bool {
    // The specification limits a pointer to 1,024 bytes.
    text.len() < 1024 && text.starts_with("version https://git-lfs.github.com/spec/") && text.lines().any(|line| line.starts_with("oid "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(bytes: &[u8]) -> String {
        decode(bytes.to_vec()).unwrap().text.to_string()
    }

    fn refused(bytes: &[u8]) -> Malformed {
        decode(bytes.to_vec()).unwrap_err()
    }

    fn in_utf16(text: &str, encoding: Encoding) -> Vec<u8> {
        let mark = std::iter::once(0xFEFF);
        mark.chain(text.encode_utf16())
            .flat_map(|unit| match encoding {
                Encoding::Utf16Be => unit.to_be_bytes(),
                _ => unit.to_le_bytes(),
            })
            .collect()
    }

    #[test]
    fn a_byte_order_mark_is_removed_without_shifting_columns() {
        assert_eq!(text(b"\xEF\xBB\xBFkind: A"), "kind: A");
        assert_eq!(text(b""), "");
        assert_eq!(text(b"\xEF\xBB\xBF"), "");
    }

    #[test]
    fn utf16_is_decoded_and_named() {
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            let decoded = decode(in_utf16("ä: 😀\n", encoding)).unwrap();
            assert_eq!(&*decoded.text, "ä: 😀\n");
            assert_eq!(decoded.encoding, encoding);
        }
    }

    #[test]
    fn invalid_utf16_is_reported_at_its_byte() {
        let mut odd = in_utf16("a\nbc", Encoding::Utf16Le);
        odd.push(b'x');
        let place = LineColumn { line: 2, column: 3 };
        assert!(matches!(refused(&odd), Malformed::BrokenUtf16 { offset: 10, place: p, .. } if p == place));
        let half = [0xFF, 0xFE, b'a', 0, 0x00, 0xD8, b'b', 0];
        let place = LineColumn { line: 1, column: 2 };
        assert!(matches!(refused(&half), Malformed::BrokenUtf16 { offset: 4, place: p, .. } if p == place));
    }

    #[test]
    fn utf16_without_a_mark_is_recognised() {
        assert_eq!(refused(b"a\0p\0i\0"), Malformed::UnmarkedUtf16);
        assert_eq!(refused(b"\0a\0p"), Malformed::UnmarkedUtf16);
        assert_eq!(refused(b"\xFF\xFE\0\0a\0\0\0"), Malformed::Utf32);
        assert_eq!(refused(b"\0\0\xFE\xFF\0\0\0a"), Malformed::Utf32);
    }

    #[test]
    fn invalid_utf8_is_reported_at_its_byte() {
        assert_eq!(
            refused("a: ä\r\nb: €".as_bytes().iter().chain(b"\xFFx").copied().collect::<Vec<_>>().as_slice()),
            Malformed::NotUtf8 { offset: 13, byte: 0xFF, place: LineColumn { line: 2, column: 5 } }
        );
        assert_eq!(refused(b"name: \xE2\x82"), Malformed::CutUtf8 { offset: 6, place: LineColumn { line: 1, column: 7 } });
    }

    #[test]
    fn control_characters_are_errors_and_shown_escaped() {
        let error = refused(b"a: 1\nb: x\x1B[31m");
        assert_eq!(error.place(), Some(LineColumn { line: 2, column: 5 }));
        assert_eq!(error.to_string(), "control character U+001B is not allowed in YAML");
        assert!(matches!(refused(b"abc: \0"), Malformed::Control { character: '\0', .. }));
        assert!(matches!(refused("a: \u{7F}".as_bytes()), Malformed::Control { .. }));
        assert!(matches!(refused("a: \u{80}".as_bytes()), Malformed::Control { .. }));
        assert!(matches!(refused("a: \u{FFFF}".as_bytes()), Malformed::Control { .. }));
        for fine in ["a:\t1\r\n\r", "a: \u{85}\u{A0}\u{2028}", "{\"a\": \"\u{7F}\u{80}\"}", "a: \u{FFFD}"] {
            assert_eq!(text(fine.as_bytes()), fine);
        }
    }

    #[test]
    fn archives_are_recognised() {
        let named = |bytes: &[u8], name| assert_eq!(refused(bytes), Malformed::Archive(name));
        named(b"\x1F\x8B\x08\0", "a gzip archive");
        named(b"PK\x03\x04..", "a zip archive");
        named(b"BZh91AY&SY", "a bzip2 archive");
        let mut tar = vec![b'a'; 257];
        tar.extend(b"ustar\x0000");
        named(&tar, "a tar archive");
        assert_eq!(text(b"BZh: 1"), "BZh: 1");
    }

    #[test]
    fn a_git_lfs_pointer_is_recognised() {
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
        assert_eq!(refused(pointer.as_bytes()), Malformed::LfsPointer);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let _ = decode(bytes);
        }

        #[test]
        fn bytes_with_known_prefixes_never_panic(
            head in proptest::sample::select(vec![
                &b""[..], b"\xFF\xFE", b"\xFE\xFF", b"\xEF\xBB\xBF", b"\0", b"a\0", b"BZh", b"version https://git-lfs.github.com/spec/",
            ]),
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            let _ = decode([head, &bytes].concat());
        }

        #[test]
        fn printable_text_survives_every_encoding(line in "\\PC{0,200}") {
            let expected = format!("a{line}");
            for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
                if let Ok(decoded) = decode(in_utf16(&expected, encoding)) {
                    prop_assert_eq!(&*decoded.text, expected.as_str());
                }
            }
        }
    }
}
