//! Patterns by their text, read once per solver.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::schema::format::Format;
use crate::schema::pattern::Pattern;

#[derive(Default)]
pub(crate) struct Words {
    patterns: RefCell<HashMap<Box<str>, Option<Pattern>>>,
}

impl Words {
    /// `None`: the pattern is not analysed.
    pub(crate) fn pattern(&self, text: &str) -> Option<Pattern> {
        if let Some(known) = self.patterns.borrow().get(text) {
            return known.clone();
        }
        let pattern = Pattern::new(text).ok();
        self.patterns.borrow_mut().insert(text.into(), pattern.clone());
        pattern
    }

    pub(crate) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        self.pattern(pattern).map(|pattern| pattern.is_match(text))
    }
}

/// The format of strings that a schema names, if the server knows it.
pub(crate) fn format(name: Option<&str>) -> Option<Format> {
    name.and_then(Format::of)
}
