//! Finds which removed property became which added one.
//!
//! Two properties of one parent are one renamed property if each is the other's best match and the match is good enough. The score
//! weighs the similarity of their names and shapes; the larger a shape, the more it counts. A tie is not a rename.

use std::collections::BTreeSet;

use crate::input::yaml::Entry;
use crate::model::schema::{Keyword, Schema};

use super::ChangeOptions;
use super::json_types::JsonTypes;
use super::value_text::{NodeKind, canonical};

/// How many pairs are scored for one parent; beyond it, nothing counts as a rename.
const PAIRS: usize = 4096;
/// How many nested pairs are scored inside one pair.
const NESTED: usize = 400;
/// Two best matches closer than this are a tie.
const TIE: f64 = 0.01;
/// How deep shapes are compared.
const DEPTH: u32 = 6;

/// A rename, with its score in percent.
#[derive(Debug)]
pub(super) struct RenameMatch<'t> {
    pub old: Entry<'t>,
    pub new: Entry<'t>,
    pub score: u32,
}

pub(super) fn matches<'t>(
    removed: &[(Entry<'t>, Schema<'t>)],
    added: &[(Entry<'t>, Schema<'t>)],
    options: &ChangeOptions<'_>,
) -> Vec<RenameMatch<'t>> {
    if removed.is_empty() || added.is_empty() || removed.len() * added.len() > PAIRS {
        return Vec::new();
    }
    let fields = |list: &[(Entry<'t>, Schema<'t>)]| list.iter().map(|(entry, schema)| Field::of(entry.name(), schema.clone())).collect();
    let (old, new): (Vec<Field<'t>>, Vec<Field<'t>>) = (fields(removed), fields(added));
    let scores: Vec<Vec<f64>> = old.iter().map(|old| new.iter().map(|new| score(old, new, DEPTH, &mut NESTED.clone())).collect()).collect();
    let threshold = f64::from(options.rename_threshold) / 100.0;
    let mut found = Vec::new();
    for (row, (old, _)) in removed.iter().enumerate() {
        let Some((column, best)) = clear_best(scores.iter().skip(row).take(1).flatten().copied()) else { continue };
        let back = clear_best(scores.iter().filter_map(|row| row.get(column).copied()));
        if best >= threshold
            && back.is_some_and(|(index, _)| index == row)
            && let Some((new, _)) = added.get(column)
        {
            found.push(RenameMatch { old: *old, new: *new, score: (best * 100.0).round() as u32 });
        }
    }
    found
}

/// The highest score, if no other is close.
fn clear_best(scores: impl Iterator<Item = f64>) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    let mut second = f64::MIN;
    for (index, score) in scores.enumerate() {
        match best {
            Some((_, top)) if score <= top => second = second.max(score),
            _ => {
                second = best.map_or(f64::MIN, |(_, top)| top).max(second);
                best = Some((index, score));
            }
        }
    }
    best.filter(|(_, top)| top - second > TIE)
}

/// A property that may have been renamed.
struct Field<'t> {
    name: Name,
    schema: Schema<'t>,
}

impl<'t> Field<'t> {
    fn of(name: &str, schema: Schema<'t>) -> Self {
        Field { name: Name::of(name), schema }
    }
}

/// The similarity of two properties, from 0 to 1.
fn score(old: &Field<'_>, new: &Field<'_>, depth: u32, budget: &mut usize) -> f64 {
    let shape = shape_similarity(&old.schema, &new.schema, depth, budget);
    if shape.similarity == 0.0 {
        return 0.0;
    }
    // A plain scalar says little, so its name decides; an object with a dozen fields can be recognised by its shape.
    let weight = (0.5 + shape.evidence / 4.0).min(3.0);
    let name = old.name.similarity(&new.name);
    (weight * shape.similarity + name) / (weight + 1.0)
}

/// How similar two shapes are, and on how much evidence.
struct Shape {
    similarity: f64,
    evidence: f64,
}

const TELLING: &[Keyword] = &[
    Keyword::Enum,
    Keyword::Pattern,
    Keyword::Format,
    Keyword::Default,
    Keyword::Minimum,
    Keyword::Maximum,
    Keyword::MinLength,
    Keyword::MaxLength,
    Keyword::MinItems,
    Keyword::MaxItems,
    Keyword::ListType,
    Keyword::ListMapKeys,
    Keyword::PreserveUnknownFields,
    Keyword::AnyOf,
    Keyword::OneOf,
    Keyword::AllOf,
    Keyword::Not,
];

fn shape_similarity(old: &Schema<'_>, new: &Schema<'_>, depth: u32, budget: &mut usize) -> Shape {
    let none = Shape { similarity: 0.0, evidence: 1.0 };
    let Some(left) = budget.checked_sub(1).filter(|_| depth > 0) else { return none };
    *budget = left;
    if JsonTypes::of(old) != JsonTypes::of(new) {
        // An object that became a list of such objects, or vice versa, keeps most of its shape.
        let inner = match (old.items(), new.items()) {
            (None, Some(items)) => shape_similarity(old, &items, depth - 1, budget),
            (Some(items), None) => shape_similarity(&items, new, depth - 1, budget),
            _ => none,
        };
        return Shape { similarity: inner.similarity * 0.9, evidence: inner.evidence };
    }
    let mut met = 1.0;
    let mut all = 1.0;
    for &word in TELLING {
        match (old.word(word), new.word(word)) {
            (None, None) => {}
            (Some(a), Some(b)) => {
                all += 1.0;
                met += if a.same(b) || canonical(a, NodeKind::Schema) == canonical(b, NodeKind::Schema) { 1.0 } else { 0.4 };
            }
            _ => all += 0.5,
        }
    }
    if let (Some(a), Some(b)) = (old.text(Keyword::Description), new.text(Keyword::Description)) {
        let (a, b) = (words(a), words(b));
        if a.len().min(b.len()) >= 4 {
            let shared = a.intersection(&b).count() as f64;
            all += 2.0;
            met += 2.0 * shared / (a.len() + b.len()) as f64 * 2.0;
        }
    }
    if let (Some(a), Some(b)) = (old.items(), new.items()) {
        let inner = shape_similarity(&a, &b, depth - 1, budget);
        met += inner.similarity * inner.evidence;
        all += inner.evidence;
    }
    if let (Some(a), Some(b)) = (old.values(), new.values()) {
        let inner = shape_similarity(&a, &b, depth - 1, budget);
        met += inner.similarity * inner.evidence;
        all += inner.evidence;
    }
    let (children_met, children_all) = children(old, new, depth, budget);
    Shape { similarity: (met + children_met) / (all + children_all), evidence: all + children_all }
}

/// Compares properties with the same name, and the rest by their best match, so that nested renames count.
fn children(old: &Schema<'_>, new: &Schema<'_>, depth: u32, budget: &mut usize) -> (f64, f64) {
    let (mut met, mut all) = (0.0, 0.0);
    let mut lone: Vec<Field<'_>> = Vec::new();
    for (entry, child) in old.properties() {
        match new.property(entry.name()) {
            Some((_, other)) => {
                let inner = shape_similarity(&child, &other, depth - 1, budget);
                // The shared name alone is evidence, whatever happened to the shape.
                met += 1.0 + inner.similarity * inner.evidence;
                all += 1.0 + inner.evidence;
            }
            None => lone.push(Field::of(entry.name(), child)),
        }
    }
    let fresh = new.properties().filter(|(entry, _)| old.property(entry.name()).is_none());
    let fresh: Vec<Field<'_>> = fresh.map(|(entry, child)| Field::of(entry.name(), child)).collect();
    let mut scores: Vec<Score> = Vec::new();
    for (row, field) in lone.iter().enumerate() {
        for (column, other) in fresh.iter().enumerate() {
            let score = score(field, other, depth - 1, budget);
            if score > 0.5 {
                scores.push((score, row, column));
            }
        }
    }
    let pairs = best_pairs(scores);
    for (score, ..) in &pairs {
        met += 2.0 * score;
        all += 2.0;
    }
    all += (lone.len() + fresh.len() - 2 * pairs.len()) as f64;
    (met, all)
}

/// The score of a pair, and its indexes on both sides.
pub(super) type Score = (f64, usize, usize);

/// Pairs the best matches first; each index is used once.
pub(super) fn best_pairs(mut scores: Vec<Score>) -> Vec<Score> {
    scores.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut rows, mut columns) = (BTreeSet::new(), BTreeSet::new());
    scores.retain(|(_, row, column)| {
        let is_free = !rows.contains(row) && !columns.contains(column);
        if is_free {
            rows.insert(*row);
            columns.insert(*column);
        }
        is_free
    });
    scores
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3).collect()
}

/// A name, ignoring case.
struct Name {
    lower: String,
    /// Each of its letters with the next one, in order.
    pairs: Vec<(char, char)>,
}

impl Name {
    fn of(name: &str) -> Self {
        let lower = name.to_lowercase();
        let letters = || lower.chars().filter(|c| c.is_alphanumeric());
        let mut pairs: Vec<(char, char)> = letters().zip(letters().skip(1)).collect();
        pairs.sort_unstable();
        Name { lower, pairs }
    }

    /// From 0 to 1: the share of pairs in common.
    fn similarity(&self, other: &Name) -> f64 {
        let total = self.pairs.len() + other.pairs.len();
        if total == 0 {
            return f64::from(u8::from(self.lower == other.lower));
        }
        let (mut left, mut right) = (self.pairs.iter().peekable(), other.pairs.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let order = a.cmp(b);
            shared += u32::from(order.is_eq());
            left.next_if(|_| order.is_le());
            right.next_if(|_| order.is_ge());
        }
        2.0 * f64::from(shared) / total as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_their_letters() {
        let similarity = |a: &str, b: &str| Name::of(a).similarity(&Name::of(b));
        assert_eq!(similarity("replicas", "replicas"), 1.0);
        assert_eq!((similarity("a", "A"), similarity("a", "b"), similarity("aaa", "aa")), (1.0, 0.0, 2.0 / 3.0));
        assert!(similarity("caCertRefs", "caCertificateRefs") > 0.6);
        assert!(similarity("tls", "validation") < 0.2);
        assert!(similarity("region", "zone") < 0.4);
    }

    #[test]
    fn a_tie_has_no_best() {
        assert_eq!(clear_best([0.7, 0.7, 0.1].into_iter()), None);
        assert_eq!(clear_best([0.2, 0.7, 0.1].into_iter()).map(|(index, _)| index), Some(1));
        assert_eq!(clear_best([].into_iter()), None);
    }
}
