//! The scope of a run: a waiver or baseline entry for something outside it isn't unused.

use std::collections::BTreeSet;

use crate::input::glob::Glob;
use crate::judge::rule::{Book, Family};

pub struct RunScope<'a> {
    pub crds: BTreeSet<&'a str>,
    /// Whether changes were reviewed.
    pub review: bool,
    pub book: &'a Book,
}

impl RunScope<'_> {
    fn sees_rule(&self, rule: &Glob) -> bool {
        let seen = |family: Family| self.review || !matches!(family, Family::Change | Family::Conversion);
        self.book.ids().filter(|id| self.book.matches_id(id, rule)).filter_map(|id| self.book.get(id)).any(|known| seen(known.family))
    }

    /// Whether findings of these rules and CRDs could have been found. Without a rule, a change may be meant.
    pub fn sees(&self, rule: Option<&Glob>, crd: Option<&Glob>) -> bool {
        let seen = |glob: &Glob| match glob.is_plain() {
            true => self.crds.contains(glob.as_str()),
            false => self.crds.iter().any(|crd| glob.matches(crd)),
        };
        crd.is_none_or(seen) && rule.map_or(self.review, |rule| self.sees_rule(rule))
    }

    /// Whether a finding of this rule and CRD could have been found. Most findings about a bundle as a whole need two bundles.
    pub fn could_find(&self, rule: &str, crd: &str) -> bool {
        let looked_at = if crd.is_empty() { self.review } else { self.crds.contains(crd) };
        looked_at && self.sees_rule(&Glob::name(rule))
    }
}
