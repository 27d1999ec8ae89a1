//! The text of a file, in memory that everything referring to it shares.

use std::hash::BuildHasher;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::decode::{Decoded, Encoding, Malformed, decode};

/// Takes over the string that was read, without copying it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(Arc<String>);

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(Arc::new(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// Replaces parts of a text. The edits must be in order and must not overlap.
pub fn edited(text: &str, edits: impl Iterator<Item = (Range<usize>, impl AsRef<str>)>) -> Option<String> {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut done = 0;
    for (range, new) in edits {
        out.push_str(text.get(done..range.start)?);
        out.push_str(new.as_ref());
        done = range.end;
    }
    out.push_str(text.get(done..)?);
    Some(out)
}

impl Text {
    /// Whether both are the same memory, and not only the same text.
    pub fn is_shared_with(&self, other: &Text) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Finds equal files, so that one on both sides of a review is decoded once and in memory once. It doesn't keep texts that nobody
/// else uses.
#[derive(Debug, Default)]
pub(super) struct SharedTexts(Mutex<KnownTexts>);

/// Texts by the hash of the bytes they were decoded from.
type KnownTexts = foldhash::HashMap<u64, Vec<Weak<String>>>;

impl SharedTexts {
    /// Decodes the bytes of a file, unless they are those of a known text.
    pub(super) fn decode(&self, bytes: Vec<u8>) -> Result<Decoded, Malformed> {
        let hasher = self.lock().hasher().clone();
        let hash = hasher.hash_one(&*bytes);
        let is_same = |known: &Arc<String>| known.as_bytes() == bytes;
        let known = self.lock().get(&hash).into_iter().flatten().filter_map(Weak::upgrade).find(is_same);
        if let Some(text) = known {
            return Ok(Decoded { text: Text(text), encoding: Encoding::Utf8 });
        }
        let decoded = decode(bytes)?;
        let mut known = self.lock();
        let same = known.entry(hash).or_default();
        // Another thread may have decoded an equal file meanwhile.
        match same.iter().filter_map(Weak::upgrade).find(|known| *known == decoded.text.0) {
            Some(text) => Ok(Decoded { text: Text(text), ..decoded }),
            None => {
                same.push(Arc::downgrade(&decoded.text.0));
                Ok(decoded)
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, KnownTexts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_share_their_memory() {
        let texts = SharedTexts::default();
        let decoded = |text: &str| texts.decode(text.into()).unwrap().text;
        let [one, other, third] = ["a: 1", "a: 2", "a: 1"].map(decoded);
        assert!(one.is_shared_with(&third) && !one.is_shared_with(&other));
        assert_eq!((&*third, &*other), ("a: 1", "a: 2"));
        drop((one, third));
        assert_eq!(&*decoded("a: 1"), "a: 1", "nothing is kept for its own sake");
    }

    #[test]
    fn a_file_is_never_taken_for_one_with_other_bytes() {
        let texts = SharedTexts::default();
        let marked = texts.decode(b"\xEF\xBB\xBFBZh91AY&SY".to_vec()).unwrap();
        assert_eq!(&*marked.text, "BZh91AY&SY");
        assert!(matches!(texts.decode(b"BZh91AY&SY".to_vec()), Err(Malformed::Archive(_))));
        assert!(matches!(texts.decode(b"a: \0".to_vec()), Err(Malformed::Control { .. })));
        assert!(matches!(texts.decode(b"a: \0".to_vec()), Err(Malformed::Control { .. })), "and again");
        let wide = texts.decode(b"\xFF\xFEa\0".to_vec()).unwrap();
        assert_eq!((&*wide.text, wide.encoding), ("a", Encoding::Utf16Le));
        assert_eq!(texts.decode(b"a".to_vec()).unwrap().encoding, Encoding::Utf8);
    }
}
