//! The text of a file, in memory that everything referring to it shares.

use std::ops::Deref;
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
