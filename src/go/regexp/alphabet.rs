//! Splits Unicode into letters that given sets of code points can't distinguish, each represented by its most readable member.
//!
//! A few dozen letters represent all of Unicode, so that automata can be walked letter by letter.

use foldhash::{HashMap, HashMapExt};

/// A letter, as its index in the alphabet.
pub type Letter = u16;

/// More letters than any pair of patterns needs.
const MAX_LETTERS: usize = 4096;

#[derive(Debug)]
pub struct Alphabet {
    /// The representative of each letter, most readable first.
    shown: Vec<char>,
    /// The letters in each set.
    sets: Vec<Box<[u64]>>,
}

impl Alphabet {
    /// The coarsest alphabet in which each of `sets` is a set of letters. Returns `None` if it would be too large.
    pub fn new(sets: &[&[(char, char)]]) -> Option<Alphabet> {
        let mut edges: Vec<(u32, u32, bool)> = Vec::new();
        for (set, ranges) in sets.iter().enumerate() {
            for &(low, high) in *ranges {
                edges.push((low as u32, set as u32, true));
                edges.push((high as u32 + 1, set as u32, false));
            }
        }
        edges.sort_unstable();
        let words = sets.len().div_ceil(64).max(1);
        let mut active = vec![0u64; words];
        let mut by_sets: HashMap<Box<[u64]>, (u32, char)> = HashMap::new();
        let mut from = 0;
        let mut edges = edges.into_iter().peekable();
        loop {
            let to = edges.peek().map_or(char::MAX as u32 + 1, |&(at, ..)| at);
            if to > from
                && let Some(candidate) = most_readable(from, to - 1)
            {
                by_sets.entry(active.clone().into_boxed_slice()).and_modify(|best| *best = candidate.min(*best)).or_insert(candidate);
            }
            from = to;
            while let Some((_, set, opens)) = edges.next_if(|&(at, ..)| at == to) {
                let (word, bit) = (set as usize / 64, 1u64 << (set % 64));
                if let Some(active) = active.get_mut(word) {
                    *active = if opens { *active | bit } else { *active & !bit };
                }
            }
            if edges.peek().is_none() && from > char::MAX as u32 {
                break;
            }
        }
        if by_sets.len() > MAX_LETTERS {
            return None;
        }
        let mut letters: Vec<_> = by_sets.into_iter().map(|(sets, best)| (best, sets)).collect();
        letters.sort_unstable();
        let letter_words = letters.len().div_ceil(64);
        let members = (0..sets.len())
            .map(|set| {
                let mut bits = vec![0u64; letter_words].into_boxed_slice();
                for (letter, (_, active)) in letters.iter().enumerate() {
                    let inside = active.get(set / 64).is_some_and(|w| w >> (set % 64) & 1 == 1);
                    if inside && let Some(word) = bits.get_mut(letter / 64) {
                        *word |= 1 << (letter % 64);
                    }
                }
                bits
            })
            .collect();
        Some(Alphabet { shown: letters.into_iter().map(|((_, c), _)| c).collect(), sets: members })
    }

    pub fn letters(&self) -> impl Iterator<Item = (Letter, char)> + '_ {
        self.shown.iter().enumerate().map(|(i, &c)| (i as Letter, c))
    }

    pub fn len(&self) -> usize {
        self.shown.len()
    }

    pub fn shown(&self, letter: Letter) -> char {
        self.shown.get(letter as usize).copied().unwrap_or_default()
    }

    pub fn holds(&self, set: usize, letter: Letter) -> bool {
        self.sets.get(set).and_then(|bits| bits.get(letter as usize / 64)).is_some_and(|word| word >> (letter % 64) & 1 == 1)
    }
}

/// The most readable code point in a range, with its rank (lower is better).
fn most_readable(low: u32, high: u32) -> Option<(u32, char)> {
    const LIKED: &[(char, char)] = &[
        ('a', 'z'),
        ('0', '9'),
        ('A', 'Z'),
        ('-', '.'),
        ('_', '_'),
        ('/', '/'),
        (':', '@'),
        ('!', '~'),
        (' ', ' '),
        ('é', 'é'),
        ('ß', 'ÿ'),
        ('À', 'Ö'),
        ('α', 'ω'),
        ('а', 'я'),
        ('ぁ', 'ん'),
        ('一', '龥'),
        ('가', '힣'),
        ('😀', '😏'),
        ('§', '»'),
    ];
    for (rank, &(first, last)) in LIKED.iter().enumerate() {
        let at = low.max(first as u32);
        if at <= high.min(last as u32)
            && let Some(c) = char::from_u32(at)
        {
            return Some((rank as u32, c));
        }
    }
    let from = low..=high.min(low.saturating_add(256));
    let tries = from.filter_map(char::from_u32);
    let rank = |c: char| match c {
        c if c.is_alphanumeric() => 100,
        '\n' | '\t' => 101,
        c if !c.is_control() && !c.is_whitespace() && (c as u32) < 0xE000 => 102,
        c if !c.is_control() => 103,
        _ => 104,
    };
    let best = tries.map(|c| (rank(c), c)).min();
    // The interval may start with surrogates.
    best.or_else(|| (low..=high).rev().find_map(char::from_u32).map(|c| (rank(c), c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_finest_common_split() {
        let alphabet = Alphabet::new(&[&[('a', 'z')], &[('x', 'z'), ('0', '9')]]).unwrap();
        let shown: String = alphabet.letters().map(|(_, c)| c).collect();
        assert_eq!(shown, "ax0A");
        assert!(alphabet.holds(0, 0) && !alphabet.holds(1, 0));
        assert!(alphabet.holds(0, 1) && alphabet.holds(1, 1));
        assert!(!alphabet.holds(0, 2) && alphabet.holds(1, 2));
        assert!(!alphabet.holds(0, 3) && !alphabet.holds(1, 3));
    }

    #[test]
    fn all_of_unicode_is_one_letter_without_sets() {
        let alphabet = Alphabet::new(&[]).unwrap();
        assert_eq!(alphabet.len(), 1);
        assert_eq!(alphabet.shown(0), 'a');
    }
}
