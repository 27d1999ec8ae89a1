//! How two sets of values compare, and the result of a search for one value.
//!
//! The direction is always the same: the first set is the old one, the second the new one. `Narrower` means that the second has
//! fewer members.

use std::fmt;

use crate::input::shorten_line;

use super::fact::Effect;

/// How many characters of a rule a reason shows.
const RULE: usize = 80;

/// The answer to "is there a value such that …".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Search<T> {
    /// Such a value.
    Found(T),
    /// Proved that there is none.
    Impossible,
    /// Neither found nor excluded.
    Undecided(UndecidedReason),
}

/// Why a search was left undecided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndecidedReason {
    /// More alternatives than the budget allows.
    Budget,
    /// A CEL rule that the search can't analyse.
    Rule(String),
    /// Values were found, but none passed a check that the search models only in part.
    Unverified,
    /// A combination that the search has no complete method for.
    Method(&'static str),
    /// Another reason, in words.
    Text(String),
}

impl<T> Search<T> {
    /// The value, if one was found.
    pub fn found(self) -> Option<T> {
        self.into_result().ok()
    }

    /// Converts to a `Result`, for `?`: an error without a reason is a proof that there is no such value.
    pub fn into_result(self) -> Result<T, Option<UndecidedReason>> {
        match self {
            Search::Found(value) => Ok(value),
            Search::Impossible => Err(None),
            Search::Undecided(reason) => Err(Some(reason)),
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Search<U> {
        self.into_result().map(f).into()
    }

    /// Continues with the value, if one was found.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Search<U>) -> Search<U> {
        self.into_result().and_then(|value| f(value).into_result()).into()
    }

    /// Searches again if nothing was found, and returns that result.
    pub fn or_else(self, again: impl FnOnce() -> Search<T>) -> Search<T> {
        match self {
            Search::Found(_) => self,
            Search::Impossible | Search::Undecided(_) => again(),
        }
    }

    /// Tries another search if this one found nothing; if that fails too, this result is returned.
    pub fn or_else_shown(self, again: impl FnOnce() -> Option<T>) -> Search<T> {
        match self {
            Search::Found(_) => self,
            Search::Impossible | Search::Undecided(_) => again().map_or(self, Search::Found),
        }
    }

    /// The first of several searches that succeeds; `Impossible` only if all of them prove that there is no value.
    pub fn any(searches: impl IntoIterator<Item = Search<T>>) -> Search<T> {
        let mut open = None;
        for search in searches {
            match search {
                Search::Found(value) => return Search::Found(value),
                Search::Impossible => {}
                Search::Undecided(reason) => open = open.or(Some(reason)),
            }
        }
        Err(open).into()
    }

    /// Whether there is such a value; `None` if undecided.
    fn is_possible(&self) -> Option<bool> {
        match self {
            Search::Found(_) => Some(true),
            Search::Impossible => Some(false),
            Search::Undecided(_) => None,
        }
    }

    fn reason(&self) -> Option<&UndecidedReason> {
        match self {
            Search::Undecided(reason) => Some(reason),
            _ => None,
        }
    }
}

impl<T> From<Result<T, Option<UndecidedReason>>> for Search<T> {
    fn from(result: Result<T, Option<UndecidedReason>>) -> Self {
        match result {
            Ok(value) => Search::Found(value),
            Err(None) => Search::Impossible,
            Err(Some(reason)) => Search::Undecided(reason),
        }
    }
}

impl From<String> for UndecidedReason {
    fn from(text: String) -> Self {
        UndecidedReason::Text(text)
    }
}

impl From<&str> for UndecidedReason {
    fn from(text: &str) -> Self {
        UndecidedReason::Text(text.to_owned())
    }
}

impl fmt::Display for UndecidedReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UndecidedReason::Budget => f.write_str("there are too many alternatives to search"),
            UndecidedReason::Rule(rule) => write!(f, "the CEL rule `{}` can't be analysed completely", shorten_line(rule, RULE)),
            UndecidedReason::Unverified => f.write_str("no candidate holds"),
            UndecidedReason::Method(what) => write!(f, "no complete method for {what}"),
            UndecidedReason::Text(what) => f.write_str(what),
        }
    }
}

/// How a set of values compares with the one that replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Both accept the same values, and store the same.
    Equal,
    /// The second accepts or keeps fewer values.
    Narrower,
    /// The second accepts or keeps more values.
    Wider,
    /// The second accepts or keeps fewer values in one respect and more in another, or stores something else.
    Incomparable,
    /// Unknown; counts as `Incomparable`.
    Undecided,
}

impl Relation {
    /// From whether something is lost, and whether something is gained.
    pub fn of(lost: bool, gained: bool) -> Self {
        match (lost, gained) {
            (false, false) => Relation::Equal,
            (true, false) => Relation::Narrower,
            (false, true) => Relation::Wider,
            (true, true) => Relation::Incomparable,
        }
    }

    /// Combines the relations of two conditions that must both hold.
    pub fn and(self, other: Relation) -> Self {
        use Relation::{Equal, Incomparable, Undecided};
        match (self, other) {
            (Equal, one) | (one, Equal) => one,
            (Undecided, _) | (_, Undecided) => Undecided,
            (a, b) if a == b => a,
            _ => Incomparable,
        }
    }

    /// Whether something may be lost.
    pub fn narrows(self) -> bool {
        matches!(self, Relation::Narrower | Relation::Incomparable | Relation::Undecided)
    }

    /// The effect of a change that has this relation.
    pub fn effect(self) -> Effect {
        match self {
            Relation::Equal => Effect::Rewritten,
            Relation::Narrower => Effect::Narrowed,
            Relation::Wider => Effect::Widened,
            Relation::Incomparable => Effect::Changed,
            Relation::Undecided => Effect::Undecided,
        }
    }
}

/// The comparison of two sets, with a value for each difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison<T> {
    pub relation: Relation,
    /// The first accepts and keeps it; the second refuses it or prunes part of it.
    pub lost: Option<T>,
    /// The second accepts and keeps it; the first refuses it or prunes part of it.
    pub gained: Option<T>,
    /// Both accept and keep it but store something different: another default, or a null that only one of them keeps.
    pub changed: Option<T>,
    /// Whether anything is lost; `None` if undecided.
    pub loses: Option<bool>,
    /// Whether anything is gained; `None` if undecided.
    pub gains: Option<bool>,
    /// Why something is undecided.
    pub reason: Option<String>,
}

impl<T> Comparison<T> {
    /// Two sets that don't differ.
    pub fn equal() -> Self {
        Self::known(Relation::Equal)
    }

    /// Decides a comparison in which nothing is lost: whether anything is gained hurts nobody.
    pub fn or_wider(mut self) -> Self {
        if self.relation == Relation::Undecided && self.loses == Some(false) {
            self.relation = Relation::Wider;
        }
        self
    }

    /// A relation without an example value.
    pub fn known(relation: Relation) -> Self {
        let loses = match relation {
            Relation::Equal | Relation::Wider => Some(false),
            Relation::Narrower | Relation::Incomparable => Some(true),
            Relation::Undecided => None,
        };
        let gains = match relation {
            Relation::Equal | Relation::Narrower => Some(false),
            Relation::Wider | Relation::Incomparable => Some(true),
            Relation::Undecided => None,
        };
        Comparison { relation, lost: None, gained: None, changed: None, loses, gains, reason: None }
    }

    /// Combines the searches for a value that is lost, gained, or stored differently.
    pub fn of(lost: Search<T>, gained: Search<T>, changed: Search<T>) -> Self {
        use Search::{Found, Impossible, Undecided};
        let relation = match (&lost, &gained, &changed) {
            (Undecided(_), _, _) | (Impossible, Undecided(_), _) | (Impossible, Impossible, Undecided(_)) => Relation::Undecided,
            (Found(_), Impossible, _) => Relation::Narrower,
            (Found(_), _, _) => Relation::Incomparable,
            (Impossible, Found(_), _) => Relation::Wider,
            (Impossible, Impossible, Found(_)) => Relation::Incomparable,
            (Impossible, Impossible, Impossible) => Relation::Equal,
        };
        let reason = [&lost, &gained, &changed].into_iter().find_map(Search::reason).map(ToString::to_string);
        let (loses, gains) = (lost.is_possible(), gained.is_possible());
        Comparison { relation, lost: lost.found(), gained: gained.found(), changed: changed.found(), loses, gains, reason }
    }
}
