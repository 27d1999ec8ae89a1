//! Runs an automaton step by step: which states a code point leads to, given its neighbours.

use regex_syntax::hir::Look;

use super::nfa::{Nfa, State, StateId};

/// The context before a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Before {
    Nothing,
    Newline,
    Word,
    Other,
}

/// The context after a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Unknown,
    End,
    Newline,
    Word,
    Other,
}

pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

impl Before {
    /// The least that this automaton must remember about `c`, to keep the number of states small.
    pub(super) fn of(nfa: &Nfa, c: char) -> Self {
        match c {
            '\n' if nfa.uses_lines => Before::Newline,
            c if nfa.uses_words && is_word(c) => Before::Word,
            _ => Before::Other,
        }
    }
}

impl After {
    pub(super) fn of(c: char) -> Self {
        match c {
            '\n' => After::Newline,
            c if is_word(c) => After::Word,
            _ => After::Other,
        }
    }
}

/// Whether the assertion holds between the two; `None` if the next code point isn't known yet.
fn look_holds(look: Look, before: Before, after: After) -> Option<bool> {
    let ahead = |holds: bool| (after != After::Unknown).then_some(holds);
    let boundary = (before == Before::Word) != (after == After::Word);
    match look {
        Look::Start => Some(before == Before::Nothing),
        Look::StartLF => Some(matches!(before, Before::Nothing | Before::Newline)),
        Look::End => ahead(after == After::End),
        Look::EndLF => ahead(matches!(after, After::End | After::Newline)),
        Look::WordAscii => ahead(boundary),
        Look::WordAsciiNegate => ahead(!boundary),
        // Go's syntax has no other assertions.
        _ => Some(false),
    }
}

/// A buffer for following empty transitions, reused for every step.
pub(super) struct Closure {
    seen: Vec<u32>,
    round: u32,
    pending: Vec<StateId>,
    /// The states reached that wait for a code point, or for the context after it.
    pub(super) reached: Vec<StateId>,
    pub(super) matched: bool,
}

impl Closure {
    pub(super) fn new(nfa: &Nfa) -> Self {
        Closure { seen: vec![0; nfa.states.len()], round: 0, pending: Vec::new(), reached: Vec::new(), matched: false }
    }

    pub(super) fn clear(&mut self) {
        self.round += 1;
        self.reached.clear();
        self.matched = false;
    }

    /// Adds `from` and everything it leads to without a code point.
    pub(super) fn add(&mut self, nfa: &Nfa, from: StateId, before: Before, after: After) {
        self.pending.push(from);
        while let Some(id) = self.pending.pop() {
            match self.seen.get_mut(id as usize) {
                Some(seen) if *seen != self.round => *seen = self.round,
                _ => continue,
            }
            match nfa.state(id) {
                Some(State::Class { .. }) => self.reached.push(id),
                Some(State::Split(ways)) => self.pending.extend(ways),
                Some(State::Look { look, next }) => match look_holds(*look, before, after) {
                    Some(true) => self.pending.push(*next),
                    Some(false) => {}
                    None => self.reached.push(id),
                },
                Some(State::Match) => self.matched = true,
                None => {}
            }
        }
    }
}

/// Whether the pattern matches somewhere in the text; slow, for patterns whose compiled matcher would be too large or expensive.
pub(super) fn is_match(nfa: &Nfa, text: &str) -> bool {
    let mut now = Closure::new(nfa);
    let mut before = Before::Nothing;
    let mut starts = vec![nfa.start];
    let mut chars = text.chars();
    loop {
        let c = chars.next();
        now.clear();
        for &state in &starts {
            now.add(nfa, state, before, c.map_or(After::End, After::of));
        }
        if now.matched {
            return true;
        }
        let Some(c) = c else { return false };
        starts.clear();
        for &id in &now.reached {
            if let Some(State::Class { class, next }) = nfa.state(id)
                && nfa.class_holds(*class, c)
            {
                starts.push(*next);
            }
        }
        if !nfa.anchored {
            starts.push(nfa.start);
        } else if starts.is_empty() {
            return false;
        }
        before = Before::of(nfa, c);
    }
}
