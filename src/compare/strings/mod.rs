//! Strings: which ones a schema accepts, and the search for one with given properties.

mod search;

use crate::compare::budget::Budget;
use crate::go::regexp::Pattern;
use crate::go::strfmt::{Bound, Format};
use crate::model::relation::{Search, UndecidedReason};
use search::PatternSearch;

/// The properties that a string must have, all at once.
#[derive(Debug, Clone, Default)]
pub struct TextGoal<'a> {
    /// Lengths in code points.
    pub min_length: u64,
    pub max_length: Option<u64>,
    pub matches: Vec<&'a Pattern>,
    pub avoids: Vec<&'a Pattern>,
    pub formats: Vec<Format>,
    pub not_formats: Vec<Format>,
    /// If given, the string is one of these.
    pub allowed: Option<Vec<&'a str>>,
    /// The string is none of these.
    pub excluded: Vec<&'a str>,
}

impl<'a> TextGoal<'a> {
    /// Whether the string satisfies the goal.
    pub fn accepts(&self, text: &str) -> bool {
        let length_fits = || {
            let length = text.chars().count() as u64;
            length >= self.min_length && self.max_length.is_none_or(|max| length <= max)
        };
        self.allowed.as_ref().is_none_or(|allowed| allowed.contains(&text))
            && !self.excluded.contains(&text)
            && length_fits()
            && self.matches.iter().all(|pattern| pattern.is_match(text))
            && !self.avoids.iter().any(|pattern| pattern.is_match(text))
            && self.formats.iter().all(|format| format.is_valid(text))
            && !self.not_formats.iter().any(|format| format.is_valid(text))
    }

    /// Finds a string that satisfies the goal: the shortest, and of those the most readable.
    pub fn find(&self, budget: &Budget) -> Search<String> {
        if let Some(allowed) = &self.allowed {
            let fit = allowed.iter().filter(|text| self.accepts(text));
            let shortest = fit.min_by_key(|text| text.chars().count());
            return shortest.map_or(Search::Impossible, |text| Search::Found((*text).to_string()));
        }
        let contradicts = |not: &Format| self.formats.iter().any(|format| format.implies(*not));
        if self.not_formats.iter().any(contradicts) {
            return Search::Impossible;
        }
        // An example is easier to read than the shortest string of its format.
        if let [format] = self.formats.as_slice()
            && self.accepts(format.example())
        {
            return Search::Found(format.example().to_string());
        }
        let all = self.formats.iter().chain(&self.not_formats);
        let exact = all.clone().all(|format| format.exact().is_some());
        if exact {
            return Search::any(self.branches(false).map(|search| search.run(budget, None)));
        }
        let verify = |word: &str| self.accepts(word);
        for search in self.branches(false) {
            if let found @ Search::Found(_) = search.run(budget, Some(&verify)) {
                return found;
            }
        }
        let names: Vec<_> = all.filter(|format| format.exact().is_none()).map(|format| format!("{format:?}")).collect();
        Search::any(self.branches(true).map(|search| match search.run(budget, Some(&verify)) {
            Search::Undecided(UndecidedReason::Unverified) => {
                Search::Undecided(format!("the values that the format {} accepts are only partly known", names.join(", ")).into())
            }
            found => found,
        }))
    }

    /// The goal as searches over patterns, one of which must succeed. `wide`: searches every string that may satisfy the goal;
    /// otherwise only those that certainly do.
    fn branches(&self, wide: bool) -> impl Iterator<Item = PatternSearch<'a>> {
        let mut base = PatternSearch {
            must: self.matches.clone(),
            must_not: self.avoids.clone(),
            excluded: self.excluded.clone(),
            min_length: self.min_length,
            max_length: self.max_length,
        };
        for format in &self.formats {
            let bounds = format.bounds();
            let bound = if wide { &bounds.outer } else { &bounds.inner };
            base.must.push(&bound.matches);
            base.must_not.extend(&bound.avoids);
            base.limit(bound.max_length);
        }
        let mut branches = vec![base];
        for format in &self.not_formats {
            let bounds = format.bounds();
            let bound = if wide { &bounds.inner } else { &bounds.outer };
            branches = branches.into_iter().flat_map(|branch| branch.outside(bound)).collect();
        }
        branches.into_iter()
    }
}

impl<'a> PatternSearch<'a> {
    fn limit(&mut self, max: Option<u64>) {
        self.max_length = match (self.max_length, max) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// The ways to be outside the bound.
    fn outside(self, bound: &'static Bound) -> Vec<PatternSearch<'a>> {
        let mut ways = Vec::with_capacity(3);
        if let Some(avoids) = &bound.avoids {
            let mut way = self.clone();
            way.must.push(avoids);
            ways.push(way);
        }
        if let Some(max) = bound.max_length {
            let mut way = self.clone();
            way.min_length = way.min_length.max(max + 1);
            ways.push(way);
        }
        let mut way = self;
        way.must_not.push(&bound.matches);
        ways.push(way);
        ways.reverse();
        ways
    }
}

/// A set of strings described by a schema's keywords.
#[derive(Debug, Clone, Default)]
pub struct TextDomain<'a> {
    pub min_length: u64,
    pub max_length: Option<u64>,
    pub patterns: Vec<&'a Pattern>,
    pub formats: Vec<Format>,
    pub allowed: Option<Vec<&'a str>>,
}

impl<'a> TextDomain<'a> {
    /// A goal for strings in the domain.
    pub fn goal(&self) -> TextGoal<'a> {
        TextGoal {
            min_length: self.min_length,
            max_length: self.max_length,
            matches: self.patterns.clone(),
            formats: self.formats.clone(),
            allowed: self.allowed.clone(),
            ..TextGoal::default()
        }
    }
}

#[cfg(test)]
mod tests;
