//! Names inside CEL rules and junctors of a schema follow a field that got another name.

use std::sync::Arc;

use crate::model::schema::Shape;
use crate::model::{FieldPath, Step as Hop};

/// After a field moved, rules and junctors of all nodes above it speak of its new place; where they can't be made to, they go.
///
/// A shape that lost a condition takes more than before, never less.
pub(crate) fn follow(shape: &mut Shape, from: &FieldPath, to: &FieldPath) {
    for depth in 0..from.steps().len() {
        let (Some(above), Some(old), Some(new)) = (from.steps().get(..depth), from.steps().get(depth..), to.steps().get(depth..)) else {
            return;
        };
        if to.steps().get(..depth) != Some(above) {
            return;
        }
        let Some(node) = shape.at_mut(above) else { return };
        let names = |hops: &[Hop]| -> Option<Vec<String>> {
            hops.iter().map(|hop| if let Hop::Key(name) = hop { Some(name.as_ref().to_owned()) } else { None }).collect()
        };
        let (old, new) = (names(old), names(new));
        node.rules.retain_mut(|rule| {
            let Some(last) = from.name() else { return true };
            match (&old, &new) {
                (Some(old), Some(new)) => match renamed(&rule.rule, old, new) {
                    Some(text) => {
                        rule.rule = text;
                        true
                    }
                    None => false,
                },
                _ => !mentions(&rule.rule, last),
            }
        });
        let single = match (&old, &new) {
            (Some(old), Some(new)) => match (old.as_slice(), new.as_slice()) {
                ([old], [new]) => Some((old.clone(), new.clone())),
                _ => None,
            },
            _ => None,
        };
        let head = old.as_ref().and_then(|old| old.first().cloned());
        clauses(node, single.as_ref(), head.as_deref());
    }
}

/// A field that is gone or is no longer what it was: nothing above it that names it can be held on to.
pub(crate) fn forget(shape: &mut Shape, path: &FieldPath) {
    let Some(last) = path.name().map(str::to_owned) else { return };
    for depth in 0..path.steps().len() {
        let Some(above) = path.steps().get(..depth) else { return };
        let Some(node) = shape.at_mut(above) else { return };
        node.rules.retain(|rule| !mentions(&rule.rule, &last));
        let head = match path.steps().get(depth) {
            Some(Hop::Key(name)) => Some(name.as_ref().to_owned()),
            _ => None,
        };
        clauses(node, None, head.as_deref());
    }
}

/// Renames a property in the junctors of a node, or drops those that name it.
fn clauses(node: &mut Shape, single: Option<&(String, String)>, head: Option<&str>) {
    let Some(head) = head else {
        let items = |clause: &Shape| clause.items.is_some();
        node.all_of.retain(|clause| !items(clause));
        for list in [&mut node.any_of, &mut node.one_of] {
            if list.iter().any(items) {
                list.clear();
            }
        }
        if node.not.as_deref().is_some_and(items) {
            node.not = None;
        }
        return;
    };
    match single {
        Some((old, new)) => {
            let all = node.all_of.iter_mut().chain(&mut node.any_of).chain(&mut node.one_of).chain(node.not.as_mut().map(Arc::make_mut));
            all.for_each(|clause| rename_clause(clause, old, new));
        }
        None => {
            node.all_of.retain(|clause| !names(clause, head));
            for list in [&mut node.any_of, &mut node.one_of] {
                if list.iter().any(|clause| names(clause, head)) {
                    list.clear();
                }
            }
            if node.not.as_deref().is_some_and(|clause| names(clause, head)) {
                node.not = None;
            }
        }
    }
}

fn rename_clause(clause: &mut Shape, old: &str, new: &str) {
    if let Some(child) = clause.properties.remove(old) {
        clause.properties.insert(new.to_owned(), child);
    }
    if clause.required.remove(old) {
        clause.required.insert(new.to_owned());
    }
    let all = clause.all_of.iter_mut().chain(&mut clause.any_of).chain(&mut clause.one_of).chain(clause.not.as_mut().map(Arc::make_mut));
    all.for_each(|clause| rename_clause(clause, old, new));
}

fn names(clause: &Shape, name: &str) -> bool {
    clause.properties.contains_key(name)
        || clause.required.contains(name)
        || clause.all_of.iter().chain(&clause.any_of).chain(&clause.one_of).chain(clause.not.as_deref()).any(|clause| names(clause, name))
}

/// A stretch of a rule: a name, a string, or anything else.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'t> {
    Name(&'t str),
    Text(&'t str),
    Other(&'t str),
}

fn tokens(rule: &str) -> Vec<Token<'_>> {
    let bytes = rule.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        if byte.is_ascii_alphabetic() || byte == b'_' {
            at += bytes.get(at..).unwrap_or_default().iter().take_while(|b| name(b)).count();
            found.push(Token::Name(rule.get(start..at).unwrap_or_default()));
        } else if byte == b'"' || byte == b'\'' {
            at += 1;
            while let Some(&inner) = bytes.get(at) {
                at += if inner == b'\\' { 2 } else { 1 };
                if inner == byte {
                    break;
                }
            }
            at = at.min(bytes.len());
            found.push(Token::Text(rule.get(start..at).unwrap_or_default()));
        } else {
            at += 1;
            while !rule.is_char_boundary(at) {
                at += 1;
            }
            found.push(Token::Other(rule.get(start..at).unwrap_or_default()));
        }
    }
    found
}

/// Whether a rule has this word anywhere, be it as a name or in a text.
pub(crate) fn mentions(rule: &str, name: &str) -> bool {
    tokens(rule).iter().any(|token| match token {
        Token::Name(word) => *word == name,
        Token::Text(text) => text.contains(name),
        Token::Other(_) => false,
    })
}

/// The rule with `self.old…` written as `self.new…`; `None` if it speaks of the field in another way.
fn renamed(rule: &str, old: &[String], new: &[String]) -> Option<String> {
    let tokens = tokens(rule);
    let mut out = String::with_capacity(rule.len());
    let mut at = 0;
    let last = old.last()?;
    while let Some(token) = tokens.get(at) {
        let chained = at > 0 && matches!(tokens.get(at - 1), Some(Token::Other(".")));
        if *token == Token::Name("self") && !chained {
            let mut taken = 0;
            let step = |taken: usize| match (tokens.get(at + 1 + 2 * taken), tokens.get(at + 2 + 2 * taken)) {
                (Some(Token::Other(".")), Some(Token::Name(name))) => Some(*name),
                _ => None,
            };
            while old.get(taken).is_some_and(|name| step(taken) == Some(name.as_str())) {
                taken += 1;
            }
            out.push_str("self");
            if taken == old.len() {
                new.iter().for_each(|name| {
                    out.push('.');
                    out.push_str(name);
                });
                at += 1 + 2 * taken;
                continue;
            }
            at += 1;
            continue;
        }
        match token {
            Token::Name(name) if name == last => return None,
            Token::Text(text) if text.contains(last.as_str()) => return None,
            Token::Name(text) | Token::Text(text) | Token::Other(text) => out.push_str(text),
        }
        at += 1;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rename(rule: &str, old: &str, new: &str) -> Option<String> {
        let names = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        renamed(rule, &names(old), &names(new))
    }

    #[test]
    fn rules_follow_a_renamed_field() {
        assert_eq!(rename("has(self.a) && size(self.a) > 0", "a", "b").unwrap(), "has(self.b) && size(self.b) > 0");
        assert_eq!(rename("self.x.a == 'y'", "x.a", "z").unwrap(), "self.z == 'y'");
        assert_eq!(rename("self.ab == 1 || self.b == 'c'", "c2", "d").unwrap(), "self.ab == 1 || self.b == 'c'");
    }

    #[test]
    fn what_can_not_follow_is_told() {
        assert_eq!(rename("self.items.all(i, i.a > 1)", "a", "b"), None);
        assert_eq!(rename("self.mode == 'a'", "a", "b"), None);
    }
}
