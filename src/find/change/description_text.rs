//! Compares descriptions: which sentence changed, and whether a promise, a unit or a default changed with it.

use std::collections::BTreeMap;

use similar::{ChangeTag, TextDiff};

use super::value_text::cut;

/// The longest sentence that a message shows.
const SENTENCE: usize = 160;

/// The sentences that differ, old and new.
pub(super) struct TextDifference {
    pub old: String,
    pub new: String,
    /// Whether a promise (MUST, MAY), a unit, a number or a default differs.
    pub meaning: bool,
}

/// Returns `None` if the texts differ only in line breaks.
pub(super) fn difference(old: &str, new: &str) -> Option<TextDifference> {
    let (old, new) = (sentences(old), sentences(new));
    // All texts are compared by `TextDiff`, so that the diff algorithms are compiled only once.
    let before: Vec<&str> = old.iter().map(String::as_str).collect();
    let after: Vec<&str> = new.iter().map(String::as_str).collect();
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    let difference = TextDiff::from_slices(&before, &after);
    for change in difference.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => gone.push(change.value()),
            ChangeTag::Insert => come.push(change.value()),
            ChangeTag::Equal => {}
        }
    }
    if gone.is_empty() && come.is_empty() {
        return None;
    }
    let (was, is) = (signals(&gone), signals(&come));
    let meaning = !gone.is_empty() && !come.is_empty() && was != is;
    let differs = |word: &String| meaning && was.get(word) != is.get(word);
    Some(TextDifference { old: shown(&gone, &differs), new: shown(&come, &differs), meaning })
}

/// The first sentence with a word that makes the difference, or else the first one.
fn shown(list: &[&str], differs: &dyn Fn(&String) -> bool) -> String {
    let telling = list.iter().find(|sentence| signals(std::slice::from_ref(*sentence)).keys().any(differs));
    let first = telling.or(list.first()).map(|sentence| cut(sentence, SENTENCE)).unwrap_or_else(|| "nothing".to_owned());
    match list.len() {
        0 | 1 => first,
        more => format!("{first} (and {} more)", more - 1),
    }
}

/// Splits a text into sentences and list items, ignoring white space.
fn sentences(text: &str) -> Vec<String> {
    let mut list = Vec::new();
    for block in text.split("\n\n").flat_map(|block| block.split("\n- ").flat_map(|item| item.split("\n* "))) {
        let mut sentence = String::new();
        for word in block.split_whitespace() {
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str(word);
            // `3.` at the beginning numbers what follows.
            let number = sentence == word && word.strip_suffix('.').is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
            if word.ends_with(['.', '!', '?', ':', ';']) && !number && !ABBREVIATIONS.contains(&word) {
                list.push(std::mem::take(&mut sentence));
            }
        }
        if !sentence.is_empty() {
            list.push(sentence);
        }
    }
    list
}

const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "etc.", "vs.", "cf."];
const PROMISES: &[&str] = &["MUST", "SHOULD", "MAY", "SHALL", "REQUIRED", "OPTIONAL", "RECOMMENDED", "NOT", "CAN", "CANNOT"];
const UNITS: &[&str] = &[
    "nanoseconds",
    "microseconds",
    "milliseconds",
    "millisecond",
    "seconds",
    "second",
    "minutes",
    "minute",
    "hours",
    "hour",
    "days",
    "day",
    "weeks",
    "bytes",
    "byte",
    "kilobytes",
    "megabytes",
    "gigabytes",
    "kib",
    "mib",
    "gib",
    "kb",
    "mb",
    "gb",
    "percent",
    "percentage",
    "millicores",
    "cores",
    "milli",
    "bits",
];

/// Counts promises, units and defaults in a text.
fn signals(sentences: &[&str]) -> BTreeMap<String, u32> {
    let mut found = BTreeMap::new();
    for sentence in sentences {
        let mut rest = 0;
        for word in sentence.split(|c: char| c.is_whitespace()) {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
            let small = bare.to_lowercase();
            let told = PROMISES.contains(&bare) || UNITS.contains(&small.as_str());
            if told {
                *found.entry(small.clone()).or_default() += 1;
            }
            // "defaults to X", "default is X", "default: X": the next few words are the value.
            rest = if small.starts_with("default") { 4 } else { u8::saturating_sub(rest, 1) };
            let value =
                rest > 0 && !small.starts_with("default") && !matches!(small.as_str(), "" | "to" | "is" | "value" | "the" | "a" | "of");
            if value {
                *found.entry(format!("default {small}")).or_default() += 1;
                rest = 0;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_sentence_that_changed_is_shown() {
        let difference = difference("How long. In seconds. Fine.", "How long. In minutes.\nFine.").unwrap();
        assert_eq!((difference.old.as_str(), difference.new.as_str()), ("In seconds.", "In minutes."));
        assert!(difference.meaning);
    }

    #[test]
    fn the_sentence_that_makes_the_difference_is_shown() {
        let found = difference("The name. 1. It is set. 2. In seconds.", "A name. 1. It is set. 2. In minutes. More.").unwrap();
        assert_eq!((found.old.as_str(), found.new.as_str()), ("2. In seconds. (and 1 more)", "2. In minutes. (and 2 more)"));
    }

    #[test]
    fn line_breaks_are_no_difference() {
        assert!(difference("One\ntwo. Three.", "One two.\nThree.").is_none());
    }

    #[test]
    fn promises_and_defaults_count_and_typos_do_not() {
        assert!(difference("It MUST be set.", "It SHOULD be set.").unwrap().meaning);
        assert!(difference("Defaults to 5.", "Defaults to 10.").unwrap().meaning);
        assert!(!difference("It is teh name.", "It is the name.").unwrap().meaning);
        assert!(!difference("A name.", "A name. It MUST be set.").unwrap().meaning);
    }
}
