//! Searches the product of several patterns' automata for the shortest, and of those the most readable, string that matches some
//! patterns and not others, within given lengths and different from given strings.

use std::hash::{DefaultHasher, Hash, Hasher};

use foldhash::{HashMap, HashMapExt};

use crate::compare::budget::Budget;
use crate::go::regexp::{Alphabet, DEAD, Letter, MATCHED, Pattern, Walk, WalkState};
use crate::model::relation::{Search, UndecidedReason};

/// How many states of the product a search may visit. Real patterns need a few hundred.
const MAX_STATES: usize = 10_000;
const INTRICATE: &str = "the patterns are too intricate";
/// The longest string that is shown as a witness.
const MAX_WITNESS: u64 = 1 << 20;
/// How many paths to one state are tried if a candidate must be verified.
const TRIES: u8 = 6;

#[derive(Clone)]
pub(super) struct PatternSearch<'a> {
    pub must: Vec<&'a Pattern>,
    pub must_not: Vec<&'a Pattern>,
    pub excluded: Vec<&'a str>,
    pub min_length: u64,
    pub max_length: Option<u64>,
}

impl PatternSearch<'_> {
    /// Finds a string that `verify` accepts; without verification the first one is returned.
    pub(super) fn run(mut self, budget: &Budget, verify: Option<&dyn Fn(&str) -> bool>) -> Search<String> {
        dedup(&mut self.must);
        dedup(&mut self.must_not);
        let hopeless =
            self.max_length.is_some_and(|max| max < self.min_length) || self.must.iter().any(|must| self.must_not.contains(must));
        if hopeless {
            return Search::Impossible;
        }
        if self.min_length > MAX_WITNESS {
            return Search::Undecided("a string that long can't be searched".into());
        }
        if !budget.build(self.min_length as usize) {
            return Search::Undecided("too many strings that long were built".into());
        }
        let Some(most) = budget.states(|| self.fingerprint()) else {
            return Search::Undecided(INTRICATE.into());
        };
        let Some(mut product) = Product::new(&self, most) else {
            return Search::Undecided("too many kinds of characters to tell apart".into());
        };
        let outcome = product.search(self.min_length, self.max_length, verify);
        budget.visited(product.work(), outcome.is_err().then(|| self.fingerprint()));
        outcome.unwrap_or_else(|Exhausted(what)| Search::Undecided(what.into()))
    }

    /// A fingerprint of the search.
    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for patterns in [&self.must, &self.must_not] {
            patterns.len().hash(&mut hasher);
            patterns.iter().for_each(|pattern| pattern.text().hash(&mut hasher));
        }
        (&self.excluded, self.min_length, self.max_length).hash(&mut hasher);
        hasher.finish()
    }
}

fn dedup(patterns: &mut Vec<&Pattern>) {
    let mut seen: Vec<&Pattern> = Vec::with_capacity(patterns.len());
    patterns.retain(|pattern| {
        let fresh = !seen.contains(pattern);
        if fresh {
            seen.push(pattern);
        }
        fresh
    });
}

struct Exhausted(&'static str);

/// All conditions in parallel: a state is one state of each.
struct Product<'a> {
    alphabet: Alphabet,
    walks: Vec<(Walk<'a>, bool)>,
    trie: Trie,
    /// The states of the product, `width` numbers each.
    states: Vec<WalkState>,
    width: usize,
    index: HashMap<Box<[WalkState]>, u32>,
    /// The live successors, once computed.
    successors: Vec<Option<Successors>>,
    /// The maximum work of the search.
    most: usize,
}

type Successors = Box<[(Letter, u32)]>;

/// How a string reached a state: by which letter, from which step.
struct Step {
    state: u32,
    from: u32,
    letter: Letter,
}

const NO_STEP: u32 = u32::MAX;

impl<'a> Product<'a> {
    fn new(search: &PatternSearch<'a>, most: usize) -> Option<Product<'a>> {
        let wanted = search.must.iter().map(|&p| (p, true));
        let patterns: Vec<_> = wanted.chain(search.must_not.iter().map(|&p| (p, false))).collect();
        let mut excluded_chars: Vec<char> = search.excluded.iter().flat_map(|s| s.chars()).collect();
        excluded_chars.sort_unstable();
        excluded_chars.dedup();
        let singles: Vec<[(char, char); 1]> = excluded_chars.iter().map(|&c| [(c, c)]).collect();

        let mut sets: Vec<&[(char, char)]> = Vec::new();
        let mut firsts = Vec::with_capacity(patterns.len());
        for (pattern, _) in &patterns {
            firsts.push(sets.len());
            sets.extend(Walk::sets(pattern));
        }
        sets.extend(singles.iter().map(|single| single.as_slice()));
        let alphabet = Alphabet::new(&sets)?;
        let walks = patterns.iter().zip(firsts);
        let walks = walks.map(|(&(pattern, must), first)| (Walk::new(pattern, &alphabet, first), must));
        let trie = Trie::new(&search.excluded, &alphabet);
        Some(Product {
            width: patterns.len() + 1,
            walks: walks.collect(),
            alphabet,
            trie,
            states: Vec::new(),
            index: HashMap::new(),
            successors: Vec::new(),
            most,
        })
    }

    /// How many automaton states were visited.
    fn work(&self) -> usize {
        self.walks.iter().map(|(walk, _)| walk.work).sum()
    }

    fn search(&mut self, min: u64, max: Option<u64>, verify: Option<&dyn Fn(&str) -> bool>) -> Result<Search<String>, Exhausted> {
        let mut first: Vec<WalkState> = self.walks.iter_mut().map(|(walk, _)| walk.start()).collect();
        first.push(Trie::ROOT);
        let Some(start) = self.intern(&first)? else {
            return Ok(Search::Impossible);
        };
        let mut steps = vec![Step { state: start, from: NO_STEP, letter: 0 }];
        // First find every state that a string of exactly `min` characters can reach, one length at a time.
        let mut layer = 0..1;
        let mut still = None;
        for length in 0..min {
            let Some(next) = self.advance(&mut steps, layer.clone())? else {
                return Ok(Search::Impossible);
            };
            if same_states(&steps, &layer, &next) {
                // From here on every length reaches the same states, so the rest repeats this layer.
                still = Some(InPlace { turns: min - length - 1, layer: next.clone() });
                layer = next;
                break;
            }
            layer = next;
        }
        self.shortest(steps, layer, still, min, max, verify)
    }

    /// All live successors of a layer, each state once.
    fn advance(&mut self, steps: &mut Vec<Step>, layer: std::ops::Range<usize>) -> Result<Option<std::ops::Range<usize>>, Exhausted> {
        let begin = steps.len();
        let mut reached = HashMap::new();
        for from in layer {
            let Some(state) = steps.get(from).map(|step| step.state) else {
                break;
            };
            for i in 0.. {
                let Some((letter, to)) = self.successor(state, i)? else {
                    break;
                };
                reached.entry(to).or_insert_with(|| {
                    steps.push(Step { state: to, from: from as u32, letter });
                });
            }
        }
        if steps.len() > 4 * MAX_STATES {
            return Err(Exhausted("the lengths and patterns need too many states"));
        }
        Ok((begin < steps.len()).then_some(begin..steps.len()))
    }

    /// Searches breadth-first from a layer to the nearest accepting state.
    fn shortest(
        &mut self,
        mut steps: Vec<Step>,
        layer: std::ops::Range<usize>,
        still: Option<InPlace>,
        min: u64,
        max: Option<u64>,
        verify: Option<&dyn Fn(&str) -> bool>,
    ) -> Result<Search<String>, Exhausted> {
        let allowed = if verify.is_some() { TRIES } else { 1 };
        let mut visits: HashMap<u32, u8> = HashMap::new();
        let mut unverified = false;
        for step in steps.get(layer.clone()).unwrap_or_default() {
            visits.insert(step.state, 1);
        }
        let mut queue = layer;
        let mut length = min;
        while !queue.is_empty() {
            let end = queue.end;
            for at in queue.clone() {
                let Some(state) = steps.get(at).map(|step| step.state) else {
                    break;
                };
                if self.accepts(state) {
                    let word = self.word(&steps, at, still.as_ref());
                    match verify {
                        Some(verify) if !verify(&word) => unverified = true,
                        _ => return Ok(Search::Found(word)),
                    }
                }
            }
            length += 1;
            if max.is_some_and(|max| length > max) {
                break;
            }
            if length > MAX_WITNESS {
                return Err(Exhausted("a string that long can't be searched"));
            }
            for at in queue {
                let Some(state) = steps.get(at).map(|step| step.state) else {
                    break;
                };
                for i in 0.. {
                    let Some((letter, to)) = self.successor(state, i)? else {
                        break;
                    };
                    let count = visits.entry(to).or_insert(0);
                    if *count < allowed {
                        *count += 1;
                        steps.push(Step { state: to, from: at as u32, letter });
                    }
                }
            }
            queue = end..steps.len();
        }
        Ok(if unverified { Search::Undecided(UndecidedReason::Unverified) } else { Search::Impossible })
    }

    fn word(&self, steps: &[Step], mut at: usize, still: Option<&InPlace>) -> String {
        let mut letters = Vec::new();
        let mut turns = still.map(|still| still.turns);
        while let Some(step) = steps.get(at) {
            if let (Some(still), Some(left)) = (still, turns.as_mut())
                && still.layer.contains(&at)
                && *left > 0
            {
                // The step before has the same states one layer earlier, so stay in this layer.
                let Some(before) = steps.get(step.from as usize).map(|step| step.state) else {
                    break;
                };
                letters.push(step.letter);
                *left -= 1;
                let here = still.layer.clone();
                let Some(again) = here.into_iter().find(|&i| steps.get(i).is_some_and(|step| step.state == before)) else {
                    break;
                };
                at = again;
                continue;
            }
            if step.from == NO_STEP {
                break;
            }
            letters.push(step.letter);
            at = step.from as usize;
        }
        letters.into_iter().rev().map(|letter| self.alphabet.shown(letter)).collect()
    }

    fn accepts(&mut self, state: u32) -> bool {
        let begin = state as usize * self.width;
        let Some(parts) = self.states.get(begin..begin + self.width) else {
            return false;
        };
        let walks = self.walks.iter_mut().zip(parts);
        for ((walk, must), &part) in walks {
            if walk.ends(part) != *must {
                return false;
            }
        }
        parts.last().is_some_and(|&node| !self.trie.ends(node))
    }

    fn successor(&mut self, state: u32, i: usize) -> Result<Option<(Letter, u32)>, Exhausted> {
        if let Some(Some(known)) = self.successors.get(state as usize) {
            return Ok(known.get(i).copied());
        }
        let begin = state as usize * self.width;
        let from: Vec<WalkState> = self.states.get(begin..begin + self.width).unwrap_or_default().to_vec();
        let mut found: Vec<(Letter, u32)> = Vec::new();
        let mut to = from.clone();
        for letter in 0..self.alphabet.len() as Letter {
            let mut alive = true;
            for (((walk, must), &from), to) in self.walks.iter_mut().zip(&from).zip(&mut to) {
                *to = walk.step(from, letter, &self.alphabet);
                alive &= *to != if *must { DEAD } else { MATCHED };
                if !alive {
                    break;
                }
            }
            if !alive {
                continue;
            }
            if let (Some(to), Some(&from)) = (to.last_mut(), from.last()) {
                *to = self.trie.step(from, letter);
            }
            if let Some(to) = self.intern(&to)?
                && !found.iter().any(|&(_, known)| known == to)
            {
                found.push((letter, to));
            }
        }
        if self.work() > self.most {
            return Err(Exhausted(INTRICATE));
        }
        let answer = found.get(i).copied();
        if let Some(slot) = self.successors.get_mut(state as usize) {
            *slot = Some(found.into_boxed_slice());
        }
        Ok(answer)
    }

    /// The index of a state; `None` if it is dead.
    fn intern(&mut self, parts: &[WalkState]) -> Result<Option<u32>, Exhausted> {
        let lost = |((_, must), &part): (&(Walk, bool), &WalkState)| part == if *must { DEAD } else { MATCHED };
        if self.walks.iter().zip(parts).any(lost) {
            return Ok(None);
        }
        if let Some(&known) = self.index.get(parts) {
            return Ok(Some(known));
        }
        if self.index.len() >= MAX_STATES {
            return Err(Exhausted("the patterns need too many states"));
        }
        let fresh = self.index.len() as u32;
        self.index.insert(parts.into(), fresh);
        self.states.extend_from_slice(parts);
        self.successors.push(None);
        Ok(Some(fresh))
    }
}

/// A layer of states that leads to itself, and how many more times it is repeated.
struct InPlace {
    turns: u64,
    layer: std::ops::Range<usize>,
}

fn same_states(steps: &[Step], a: &std::ops::Range<usize>, b: &std::ops::Range<usize>) -> bool {
    let states = |range: &std::ops::Range<usize>| {
        let layer = steps.get(range.clone()).unwrap_or_default().iter();
        let mut states: Vec<u32> = layer.map(|step| step.state).collect();
        states.sort_unstable();
        states
    };
    a.len() == b.len() && states(a) == states(b)
}

/// The excluded strings as an automaton: a node, or off the known paths.
struct Trie {
    nodes: Vec<(HashMap<Letter, u32>, bool)>,
}

impl Trie {
    const ROOT: WalkState = 0;
    const OFF: WalkState = WalkState::MAX;

    fn new(strings: &[&str], alphabet: &Alphabet) -> Trie {
        let letters: HashMap<char, Letter> = alphabet.letters().map(|(letter, c)| (c, letter)).collect();
        let mut nodes = vec![(HashMap::new(), false)];
        for string in strings {
            let mut at = 0;
            for c in string.chars() {
                // The alphabet has a separate letter for each of these characters.
                let Some(&letter) = letters.get(&c) else {
                    break;
                };
                let fresh = nodes.len();
                let Some((ways, _)) = nodes.get_mut(at) else {
                    break;
                };
                at = *ways.entry(letter).or_insert(fresh as u32) as usize;
                if at == fresh {
                    nodes.push((HashMap::new(), false));
                }
            }
            if let Some((_, ends)) = nodes.get_mut(at) {
                *ends = true;
            }
        }
        Trie { nodes }
    }

    fn step(&self, node: WalkState, letter: Letter) -> WalkState {
        self.nodes.get(node as usize).and_then(|(ways, _)| ways.get(&letter)).copied().unwrap_or(Trie::OFF)
    }

    fn ends(&self, node: WalkState) -> bool {
        self.nodes.get(node as usize).is_some_and(|(_, ends)| *ends)
    }
}
