//! Regular expressions with Go's meaning: a matcher and an automaton for the text of a `pattern`.
//!
//! A pattern may match anywhere in the string, as with Go's `MatchString`.

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

use crate::go::bounded_cache::BoundedCache;

pub(crate) use alphabet::{Alphabet, Letter};
pub(crate) use walk::{DEAD, MATCHED, Walk, WalkState};

use nfa::Nfa;

/// Patterns that expand to more states aren't analysed. The largest real ones have a few thousand.
const MAX_SIZE: u64 = 25_000;
/// For larger automata the compiled matcher isn't worth its memory, and the automaton itself is run.
const MATCHER_LIMIT: usize = 1 << 20;
/// Compiling a matcher pays off only for a large pattern, a long text, or after the first few texts; otherwise the automaton is
/// run.
const SLIGHT_WORK: usize = 128_000;
const FEW_TEXTS: usize = 8;
/// How many states of all patterns a thread caches; each pattern counts a thousand more for what is built from it.
const REMEMBERED: usize = 400_000;

thread_local! {
    static KNOWN: BoundedCache<String, Result<Pattern, PatternError>> = BoundedCache::new(REMEMBERED);
}

/// A regular expression as the server reads it. Cheap to clone; the matcher and automaton are built on first use.
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
    /// The server refuses the CRD; `reason` is Go's message after `error parsing regexp: `.
    #[error("error parsing regexp: {reason}")]
    GoRefuses { reason: String, offset: usize },
    /// The server accepts it, but its meaning isn't known here.
    #[error("the pattern is not analysed: {reason}")]
    NotAnalysed { reason: String },
}

impl Pattern {
    /// Parses a pattern, or finds it among those that this thread has cached.
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        KNOWN.with(|known| {
            // Only the text of a pattern that can't be used is kept, and reading a long one again is slow.
            let weigh = |answer: &Result<Pattern, _>| 1_000 + answer.as_ref().map_or(text.len() / 64, |pattern| pattern.0.size);
            known.get(text, weigh, || Self::read(text))
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

    /// Whether the pattern looks like a description of the whole value although it may match anywhere in it.
    pub fn is_unanchored(&self) -> bool {
        anchor::is_open(&self.0.hir)
    }

    /// Whether the pattern matches somewhere in `text`, in linear time.
    pub fn is_match(&self, text: &str) -> bool {
        let slight = self.0.size.saturating_mul(text.len()) <= SLIGHT_WORK && self.0.matcher.get().is_none();
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

    /// The matches from left to right, like Go's `FindAllString`: always greedy, because laziness isn't kept. Returns `None` if the
    /// pattern is too large for that.
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
