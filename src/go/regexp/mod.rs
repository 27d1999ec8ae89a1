//! Patterns: the text of a `pattern` comes in; a matcher and an automaton with Go's meaning go out.
//!
//! A pattern is searched for anywhere in the string, as Go's `MatchString` does.

mod alphabet;
mod anchor;
mod class;
mod go;
mod nfa;
mod run;
mod walk;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use regex_automata::meta;
use regex_syntax::hir::Hir;

use crate::go::bounded_cache::Memo;

pub(crate) use alphabet::{Alphabet, Letter};
pub(crate) use walk::{DEAD, MATCHED, Walk, WalkState};

use nfa::Nfa;

/// A pattern that expands to more is not analysed. The largest in the wild have some thousands.
const MAX_SIZE: u64 = 25_000;
/// Above it the compiled matcher is not worth its memory, and the automaton itself is run.
const MATCHER_LIMIT: usize = 1 << 20;
/// A matcher is worth its making only for a large pattern, a long text or the texts after the first few: else the automaton is run.
const SMALL_SIZE: usize = 500;
const SHORT_TEXT: usize = 256;
const FEW_TEXTS: usize = 8;
/// States of all patterns that a thread remembers; each counts a thousand more for what is built of it.
const REMEMBERED: usize = 400_000;

thread_local! {
    static KNOWN: Memo<String, Result<Pattern, PatternError>> = Memo::new(REMEMBERED);
}

/// A regular expression as the server reads it. Cheap to clone; matcher and automaton are built when first needed.
#[derive(Clone)]
pub struct Pattern(Arc<Inner>);

struct Inner {
    text: Box<str>,
    size: usize,
    hir: Hir,
    matcher: OnceLock<Option<meta::Regex>>,
    /// How many texts were matched without it.
    texts: AtomicUsize,
    finder: OnceLock<Option<meta::Regex>>,
    nfa: OnceLock<Nfa>,
}

/// Why a pattern can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// The server refuses the CRD; `reason` is Go's wording behind `error parsing regexp: `.
    #[error("error parsing regexp: {reason}")]
    GoRefuses { reason: String, offset: usize },
    /// The server takes it, but nothing is known here about what it matches.
    #[error("the pattern is not analysed: {reason}")]
    NotAnalysed { reason: String },
}

impl Pattern {
    /// Reads a pattern, or finds it among those that this thread has read.
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        KNOWN.with(|known| {
            known.get(text, |answer| 1_000 + answer.as_ref().map_or(text.len(), |pattern| pattern.0.size), || Self::read(text))
        })
    }

    fn read(text: &str) -> Result<Pattern, PatternError> {
        let parsed = go::parse(text)?;
        if parsed.size > MAX_SIZE {
            return Err(PatternError::NotAnalysed { reason: format!("the pattern expands to some {} states", parsed.size) });
        }
        Ok(Pattern(Arc::new(Inner {
            text: text.into(),
            size: parsed.size as usize,
            hir: parsed.hir,
            matcher: OnceLock::new(),
            texts: AtomicUsize::new(0),
            finder: OnceLock::new(),
            nfa: OnceLock::new(),
        })))
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Whether the pattern reads like a description of the whole value and is searched for anywhere in it.
    pub fn is_unanchored(&self) -> bool {
        anchor::is_open(&self.0.hir)
    }

    /// Whether the pattern matches somewhere in `text`, in time linear in it.
    pub fn is_match(&self, text: &str) -> bool {
        let slight = self.0.size <= SMALL_SIZE && text.len() <= SHORT_TEXT && self.0.matcher.get().is_none();
        if slight && self.0.texts.fetch_add(1, Ordering::Relaxed) < FEW_TEXTS {
            return run::is_match(self.nfa(), text);
        }
        match self.matcher() {
            Some(regex) => regex.is_match(text),
            None => run::is_match(self.nfa(), text),
        }
    }

    fn matcher(&self) -> Option<&meta::Regex> {
        let made = self.0.matcher.get_or_init(|| {
            let config = meta::Config::new()
                .nfa_size_limit(Some(MATCHER_LIMIT))
                .hybrid_cache_capacity(MATCHER_LIMIT / 4)
                .onepass(false)
                .dfa(false)
                .which_captures(regex_automata::nfa::thompson::WhichCaptures::None);
            meta::Builder::new().configure(config).build_from_hir(&self.0.hir).ok()
        });
        made.as_ref()
    }

    /// What matches, from left to right, as Go's `FindAllString` returns it: greedily, since laziness is not kept.
    /// `None` if the pattern is too large for that.
    pub fn find_all(&self, text: &str) -> Option<Vec<std::ops::Range<usize>>> {
        let finder = self.0.finder.get_or_init(|| {
            let config = meta::Config::new()
                .nfa_size_limit(Some(MATCHER_LIMIT))
                .hybrid_cache_capacity(MATCHER_LIMIT / 4)
                .which_captures(regex_automata::nfa::thompson::WhichCaptures::Implicit);
            meta::Builder::new().configure(config).build_from_hir(&self.0.hir).ok()
        });
        Some(finder.as_ref()?.find_iter(text).map(|found| found.range()).collect())
    }

    fn nfa(&self) -> &Nfa {
        self.0.nfa.get_or_init(|| Nfa::new(&self.0.hir))
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Pattern {}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.0.text)
    }
}

#[cfg(test)]
mod tests;
