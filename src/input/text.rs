//! The text of a file, in memory that everything referring to it shares.

use std::ops::{Deref, Range};
use std::sync::Arc;

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
