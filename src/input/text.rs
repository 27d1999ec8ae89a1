//! The text of a file, in memory that everything referring to it shares.

use std::hash::BuildHasher;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex, PoisonError, Weak};

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

/// Finds equal texts, so that a file on both sides of a review is in memory once. It doesn't keep texts that nobody else uses.
#[derive(Debug, Default)]
pub(super) struct SharedTexts(Mutex<KnownTexts>);

/// Texts by their hash.
type KnownTexts = foldhash::HashMap<u64, Vec<Weak<String>>>;

impl SharedTexts {
    /// Returns the text that is known already, if it is equal.
    pub(super) fn share(&self, text: Text) -> Text {
        let hasher = self.lock().hasher().clone();
        let hash = hasher.hash_one(&*text);
        let mut known = self.lock();
        let same = known.entry(hash).or_default();
        match same.iter().filter_map(Weak::upgrade).find(|known| *known == text.0) {
            Some(known) => Text(known),
            None => {
                same.push(Arc::downgrade(&text.0));
                text
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
        let [one, other, third] = ["a: 1", "a: 2", "a: 1"].map(|text| texts.share(text.into()));
        assert!(one.is_shared_with(&third) && !one.is_shared_with(&other));
        assert_eq!((&*third, &*other), ("a: 1", "a: 2"));
        drop((one, third));
        assert_eq!(&*texts.share("a: 1".into()), "a: 1", "nothing is kept for its own sake");
    }
}
