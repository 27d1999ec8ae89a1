//! Determinises an automaton lazily over an alphabet, state by state as they are reached.

use std::rc::Rc;

use foldhash::{HashMap, HashMapExt};

use super::Pattern;
use super::alphabet::{Alphabet, Letter};
use super::nfa::{Nfa, State, StateId};
use super::run::{After, Before, Closure};

/// A state of one walk.
pub type WalkState = u32;

/// The pattern has matched, and stays matched whatever follows.
pub const MATCHED: WalkState = 0;
/// The pattern can no longer match, whatever follows.
pub const DEAD: WalkState = 1;

const UNKNOWN: WalkState = WalkState::MAX;

/// A pattern, determinised step by step.
pub struct Walk<'p> {
    nfa: &'p Nfa,
    /// Where this pattern's classes start among the sets of the alphabet.
    first_set: usize,
    letters: usize,
    closure: Closure,
    next: Closure,
    states: Vec<Key>,
    index: HashMap<Key, WalkState>,
    /// By state and letter.
    steps: Vec<WalkState>,
    ends: Vec<Option<bool>>,
    /// Automaton states visited so far, as the cost of the walk.
    pub work: usize,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    states: Rc<[StateId]>,
    before: Before,
}

impl<'p> Walk<'p> {
    /// The sets of code points that the pattern distinguishes; all walks of one product share an alphabet over them.
    pub fn sets(pattern: &Pattern) -> Vec<&[(char, char)]> {
        const WORD: &[(char, char)] = &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
        const NEWLINE: &[(char, char)] = &[('\n', '\n')];
        let nfa = pattern.nfa();
        let mut sets: Vec<_> = nfa.classes.iter().map(AsRef::as_ref).collect();
        if nfa.uses_words {
            sets.push(WORD);
        }
        if nfa.uses_lines {
            sets.push(NEWLINE);
        }
        sets
    }

    /// Starts a walk; the pattern's sets start at `first_set` in the alphabet.
    pub fn new(pattern: &'p Pattern, alphabet: &Alphabet, first_set: usize) -> Self {
        let nfa = pattern.nfa();
        let nothing = Key { states: Rc::new([]), before: Before::Other };
        let letters = alphabet.len();
        let mut steps = vec![MATCHED; letters];
        steps.resize(2 * letters, DEAD);
        Walk {
            nfa,
            first_set,
            letters,
            closure: Closure::new(nfa),
            next: Closure::new(nfa),
            // The first two are special: matched, and dead.
            states: vec![nothing.clone(), nothing],
            index: HashMap::new(),
            steps,
            ends: vec![Some(true), Some(false)],
            work: 0,
        }
    }

    pub fn start(&mut self) -> WalkState {
        self.next.clear();
        let (nfa, before) = (self.nfa, Before::Nothing);
        self.next.add(nfa, nfa.start, before, After::Unknown);
        self.intern(before)
    }

    pub fn step(&mut self, from: WalkState, letter: Letter, alphabet: &Alphabet) -> WalkState {
        let slot = from as usize * self.letters + letter as usize;
        match self.steps.get(slot) {
            Some(&UNKNOWN) => {}
            Some(&known) => return known,
            None => return DEAD,
        }
        let c = alphabet.shown(letter);
        let before = Before::of(self.nfa, c);
        self.look_ahead(from, After::of(c));
        let to = if self.closure.matched {
            MATCHED
        } else {
            self.next.clear();
            for &id in &self.closure.reached {
                if let Some(State::Class { class, next }) = self.nfa.state(id)
                    && alphabet.holds(self.first_set + *class as usize, letter)
                {
                    self.next.add(self.nfa, *next, before, After::Unknown);
                }
            }
            if !self.nfa.anchored {
                self.next.add(self.nfa, self.nfa.start, before, After::Unknown);
            }
            self.intern(before)
        };
        if let Some(step) = self.steps.get_mut(slot) {
            *step = to;
        }
        to
    }

    /// Whether the pattern matches the text that ends here.
    pub fn ends(&mut self, state: WalkState) -> bool {
        match self.ends.get(state as usize) {
            Some(Some(known)) => *known,
            None => false,
            Some(None) => {
                self.look_ahead(state, After::End);
                let matched = self.closure.matched;
                if let Some(end) = self.ends.get_mut(state as usize) {
                    *end = Some(matched);
                }
                matched
            }
        }
    }

    /// Resolves assertions that waited for the next code point, or for the end.
    fn look_ahead(&mut self, from: WalkState, after: After) {
        self.closure.clear();
        let Some(key) = self.states.get(from as usize) else {
            return;
        };
        self.work += key.states.len();
        for &id in key.states.iter() {
            self.closure.add(self.nfa, id, key.before, after);
        }
    }

    fn intern(&mut self, before: Before) -> WalkState {
        if self.next.matched {
            return MATCHED;
        }
        if self.next.reached.is_empty() && self.nfa.anchored {
            return DEAD;
        }
        self.next.reached.sort_unstable();
        let key = Key { states: self.next.reached.as_slice().into(), before };
        if let Some(&known) = self.index.get(&key) {
            return known;
        }
        let fresh = self.states.len() as WalkState;
        self.index.insert(key.clone(), fresh);
        self.states.push(key);
        self.steps.resize(self.steps.len() + self.letters, UNKNOWN);
        self.ends.push(None);
        fresh
    }
}
