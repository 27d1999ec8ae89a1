//! Compiles an expression into a nondeterministic automaton over code points.
//!
//! Code points, not bytes: lengths are counted in them, and witnesses are built from them.

use foldhash::HashMap;

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

pub type StateId = u32;

#[derive(Debug)]
pub struct Nfa {
    pub(super) states: Vec<State>,
    /// Each is a sorted list of ranges that don't touch.
    pub(super) classes: Vec<Box<[(char, char)]>>,
    pub(super) start: StateId,
    /// Every match starts at the beginning of the text.
    pub(super) anchored: bool,
    /// Needs the neighbouring characters for word boundaries or line ends, not only the ends of the text.
    pub(super) uses_words: bool,
    pub(super) uses_lines: bool,
}

#[derive(Debug)]
pub(super) enum State {
    /// A code point of the class leads to the next state.
    Class {
        class: u32,
        next: StateId,
    },
    Split(Vec<StateId>),
    Look {
        look: Look,
        next: StateId,
    },
    Match,
}

impl Nfa {
    /// The number of states is at most about twice the size that Go computes for the expression.
    pub(super) fn new(hir: &Hir) -> Nfa {
        let looks = hir.properties().look_set();
        let mut builder = Builder::default();
        let end = builder.add(State::Match);
        let start = builder.compile(hir, end);
        Nfa {
            states: builder.states,
            classes: builder.classes,
            start,
            anchored: hir.properties().look_set_prefix().contains(Look::Start),
            uses_words: looks.contains_word(),
            uses_lines: looks.contains(Look::StartLF) || looks.contains(Look::EndLF),
        }
    }

    pub(super) fn state(&self, id: StateId) -> Option<&State> {
        self.states.get(id as usize)
    }

    pub(super) fn class_holds(&self, class: u32, c: char) -> bool {
        self.classes.get(class as usize).is_some_and(|ranges| holds(ranges, c))
    }
}

pub(super) fn holds(ranges: &[(char, char)], c: char) -> bool {
    let after = ranges.partition_point(|&(low, _)| low <= c);
    after > 0 && ranges.get(after - 1).is_some_and(|&(_, high)| c <= high)
}

/// Builds from the end: each piece is compiled towards the state that follows it.
#[derive(Default)]
struct Builder {
    states: Vec<State>,
    classes: Vec<Box<[(char, char)]>>,
    known: HashMap<Box<[(char, char)]>, u32>,
}

impl Builder {
    fn add(&mut self, state: State) -> StateId {
        self.states.push(state);
        (self.states.len() - 1) as StateId
    }

    fn step(&mut self, ranges: Box<[(char, char)]>, next: StateId) -> StateId {
        let fresh = self.classes.len() as u32;
        let classes = &mut self.classes;
        let class = *self.known.entry(ranges).or_insert_with_key(|ranges| {
            classes.push(ranges.clone());
            fresh
        });
        self.add(State::Class { class, next })
    }

    fn compile(&mut self, hir: &Hir, next: StateId) -> StateId {
        match hir.kind() {
            HirKind::Empty => next,
            HirKind::Literal(literal) => {
                let text = String::from_utf8_lossy(&literal.0);
                let chars = text.chars().rev();
                chars.fold(next, |next, c| self.step(Box::new([(c, c)]), next))
            }
            HirKind::Class(Class::Unicode(class)) => {
                let ranges = class.ranges().iter().map(|r| (r.start(), r.end()));
                self.step(ranges.collect(), next)
            }
            HirKind::Class(Class::Bytes(class)) => {
                let ranges = class.ranges().iter();
                let ranges = ranges.map(|r| (char::from(r.start()), char::from(r.end())));
                self.step(ranges.collect(), next)
            }
            HirKind::Look(look) => self.add(State::Look { look: *look, next }),
            HirKind::Capture(capture) => self.compile(&capture.sub, next),
            HirKind::Concat(parts) => parts.iter().rev().fold(next, |next, part| self.compile(part, next)),
            HirKind::Alternation(parts) => {
                let ways = parts.iter().map(|part| self.compile(part, next)).collect();
                self.add(State::Split(ways))
            }
            HirKind::Repetition(repetition) => self.repeat(repetition, next),
        }
    }

    fn repeat(&mut self, repetition: &Repetition, end: StateId) -> StateId {
        let (sub, min) = (&repetition.sub, repetition.min);
        let (mut next, copies) = match repetition.max {
            None => {
                let turn = self.add(State::Split(vec![end]));
                let body = self.compile(sub, turn);
                if let Some(State::Split(ways)) = self.states.get_mut(turn as usize) {
                    ways.push(body);
                }
                // One copy serves as the loop and as the last required repetition; otherwise nested loops would double.
                match min {
                    0 => (turn, 0),
                    _ => (body, min - 1),
                }
            }
            Some(max) => {
                let mut next = end;
                for _ in min..max {
                    let once = self.compile(sub, next);
                    next = self.add(State::Split(vec![once, end]));
                }
                (next, min)
            }
        };
        for _ in 0..copies {
            next = self.compile(sub, next);
        }
        next
    }
}
