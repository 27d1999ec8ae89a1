//! Finds the parts of two similar texts that differ, as a reader would mark them.

use std::ops::Range;

/// Returns the byte range of each text without the common start and end. A word or number that differs in part is marked as a
/// whole.
pub(super) fn differing(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let (a, b): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let most = a.len().min(b.len());
    let mut start = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let mut end = a.iter().rev().zip(b.iter().rev()).take(most - start).take_while(|(x, y)| x == y).count();
    let part = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let inside = |text: &[char], at: usize| part(text.get(at)) && at.checked_sub(1).is_some_and(|before| part(text.get(before)));
    while inside(&a, start) || inside(&b, start) {
        start -= 1;
    }
    while end > 0 && (inside(&a, a.len() - end) || inside(&b, b.len() - end)) {
        end -= 1;
    }
    let bytes = |text: &[char]| {
        let size = |chars: Option<&[char]>| chars.unwrap_or_default().iter().map(|c| c.len_utf8()).sum::<usize>();
        let from = size(text.get(..start));
        from..from + size(text.get(start..text.len() - end))
    };
    (bytes(&a), bytes(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_differ() {
        for (old, new, was, is) in [
            ("self.a > 5 && self.b < 9", "self.a > 6 && self.b < 9", "5", "6"),
            ("self.size() <= 128", "self.size() <= 126", "128", "126"),
            ("self.name == 'a'", "self.named == 'a'", "name", "named"),
            ("a || b", "a || c || b", "", "c || "),
            ("a && c", "a && b && c", "", "b && "),
            ("", "ä", "", "ä"),
            ("ä == 1", "ä == 2", "1", "2"),
            ("same", "same", "", ""),
            ("aa", "aaa", "aa", "aaa"),
        ] {
            let (before, after) = differing(old, new);
            assert_eq!((&old[before], &new[after]), (was, is), "{old} {new}");
        }
    }
}
