//! Recognises patterns that match more than they seem to.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// Whether a pattern looks like a description of the whole value although it may match anywhere in it.
///
/// `[a-z]+` does: it accepts `"A-a-!"`. `^https?://`, `%$`, `.+@.+` and `\S` don't: there the open end is intended, or makes no
/// difference.
pub(super) fn is_open(hir: &Hir) -> bool {
    let looks = hir.properties();
    let starts = looks.look_set_prefix().contains(Look::Start);
    let ends = looks.look_set_suffix().contains(Look::End);
    match (starts, ends) {
        (true, true) => false,
        (true, false) => describes(last(hir)),
        (false, true) => describes(first(hir)),
        (false, false) => describes(first(hir)) && describes(last(hir)) && repeats(hir),
    }
}

fn first(hir: &Hir) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Concat(parts) => parts.iter().find(|part| !matches!(part.kind(), HirKind::Look(_) | HirKind::Empty)).and_then(first),
        HirKind::Capture(group) => first(&group.sub),
        HirKind::Empty | HirKind::Look(_) => None,
        _ => Some(hir),
    }
}

fn last(hir: &Hir) -> Option<&Hir> {
    match hir.kind() {
        HirKind::Concat(parts) => parts.iter().rev().find(|part| !matches!(part.kind(), HirKind::Look(_) | HirKind::Empty)).and_then(last),
        HirKind::Capture(group) => last(&group.sub),
        HirKind::Empty | HirKind::Look(_) => None,
        _ => Some(hir),
    }
}

/// Whether the open end is a set of characters, single or repeated, that isn't simply "anything".
fn describes(edge: Option<&Hir>) -> bool {
    let Some(edge) = edge else { return false };
    match edge.kind() {
        HirKind::Class(class) => is_narrow(class),
        HirKind::Repetition(repetition) => match repetition.sub.kind() {
            HirKind::Class(class) => is_narrow(class),
            HirKind::Capture(_) | HirKind::Concat(_) => describes(last(&repetition.sub)),
            _ => false,
        },
        _ => false,
    }
}

/// At most a few hundred characters: letters, digits, word characters. A negated set is wide.
fn is_narrow(class: &Class) -> bool {
    match class {
        Class::Unicode(class) => class.iter().map(|range| u32::from(range.end()) - u32::from(range.start()) + 1).sum::<u32>() <= 512,
        Class::Bytes(class) => class.iter().map(|range| u32::from(range.end()) - u32::from(range.start()) + 1).sum::<u32>() <= 128,
    }
}

/// Whether some set of characters is repeated; a single set searches for one character.
fn repeats(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => repetition.max.is_none_or(|max| max > 1) || repeats(&repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(repeats),
        HirKind::Capture(group) => repeats(&group.sub),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;

    fn is_unanchored(text: &str) -> bool {
        Pattern::new(text).unwrap().is_unanchored()
    }

    #[test]
    fn whole_values_are_distinguished_from_searches() {
        for open in ["[a-z]+", "[a-z0-9]([-a-z0-9]*[a-z0-9])?", "^[a-z]+", "[0-9]+$", "[0-9]+(\\.[0-9]+)?", "\\d+", "^v\\d+"] {
            assert!(is_unanchored(open), "{open}");
        }
        for fine in
            ["^[a-z]+$", "^https?://", "%$", ".+@.+", "\\S", "[a-z]", "abc", "^$|^[a-z]+$", "^(a|b)$", "^arn:.*", "^[^ ]+", "\\A[a-z]+\\z"]
        {
            assert!(!is_unanchored(fine), "{fine}");
        }
    }
}
