//! Approximates a format by two regular sets: one inside it and one around it. If they are equal, the format is decided exactly;
//! otherwise a search looks inside for a witness and around for a proof that there is none.

use std::sync::OnceLock;

use super::{COUNT, Format, checksum, own, regular};
use crate::go::regexp::Pattern;

#[derive(Debug)]
pub struct Bounds {
    /// Every string in this set is valid.
    pub inner: Bound,
    /// No string outside this set is valid.
    pub outer: Bound,
    /// Both are the same.
    pub exact: bool,
}

/// A set of strings: one pattern matches, the other doesn't, and the length is limited.
#[derive(Debug, Clone)]
pub struct Bound {
    pub matches: Pattern,
    pub avoids: Option<Pattern>,
    /// In code points.
    pub max_length: Option<u64>,
}

impl Bound {
    pub fn holds(&self, text: &str) -> bool {
        let short = |max: u64| text.len() as u64 <= max || text.chars().count() as u64 <= max;
        self.max_length.is_none_or(short)
            && self.matches.is_match(text)
            && !self.avoids.as_ref().is_some_and(|avoids| avoids.is_match(text))
    }

    pub(super) fn matching(text: &str) -> Bound {
        Bound { matches: own(text), avoids: None, max_length: None }
    }

    pub(super) fn up_to(self, max_length: u64) -> Bound {
        Bound { max_length: Some(max_length), ..self }
    }

    pub(super) fn avoiding(self, text: &str) -> Bound {
        Bound { avoids: Some(own(text)), ..self }
    }
}

impl Bounds {
    pub(super) fn between(inner: Bound, outer: Bound) -> Bounds {
        Bounds { inner, outer, exact: false }
    }

    pub(super) fn exactly(bound: Bound) -> Bounds {
        Bounds { inner: bound.clone(), outer: bound, exact: true }
    }
}

pub(super) fn of(format: Format) -> &'static Bounds {
    static TABLE: [OnceLock<Bounds>; COUNT] = [const { OnceLock::new() }; COUNT];
    TABLE.get(format as usize).unwrap_or(&TABLE[0]).get_or_init(|| make(format))
}

fn make(format: Format) -> Bounds {
    match format {
        Format::Email => regular::email_bounds(),
        Format::Uri => regular::uri_bounds(),
        Format::Isbn | Format::Isbn10 | Format::Isbn13 | Format::CreditCard => checksum::bounds(format),
        Format::Duration => regular::duration_bounds(),
        Format::Hostname => regular::hostname_bounds(),
        Format::K8sLongName => Bounds::exactly(Bound::matching(&regular::pattern(format)).up_to(253)),
        _ => Bounds::exactly(Bound::matching(&regular::pattern(format))),
    }
}
