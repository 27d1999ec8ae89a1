//! Renames a field in the validation rules and in the `allOf`, `anyOf`, `oneOf` and `not` of the schemas above it.

use std::sync::Arc;

use crate::cel::rename::{mentions, rename};
use crate::model::schema::Shape;
use crate::model::schema::shape::{CountRange, Extra};
use crate::model::{FieldPath, PathStep};

/// Makes the conditions above a moved field refer to its new path, and drops those that can't.
///
/// A schema without one of its conditions accepts more than before, never less.
pub(crate) fn rename_references(shape: &mut Shape, from: &FieldPath, to: &FieldPath) {
    for depth in 0..from.steps().len() {
        let (Some(above), Some(old)) = (from.steps().get(..depth), from.steps().get(depth..)) else { return };
        let Some(node) = shape.at_mut(above) else { return };
        // The rules of a node can't refer to a field outside it.
        let new = to.steps().strip_prefix(above);
        node.rules.retain_mut(|rule| match new {
            Some(new) => match rename(&rule.rule, old, new) {
                Some(text) => {
                    rule.rule = text;
                    true
                }
                None => false,
            },
            None => !mentions(&rule.rule, old),
        });
        let single = match (old, new) {
            ([PathStep::Key(old)], Some([PathStep::Key(new)])) => Some((old.to_string(), new.to_string())),
            _ => None,
        };
        let head = if let Some(PathStep::Key(name)) = old.first() { Some(&**name) } else { None };
        clauses(node, single.as_ref(), head);
    }
}

/// Drops the conditions above a field that was removed or changed.
pub(crate) fn drop_references(shape: &mut Shape, path: &FieldPath) {
    for depth in 0..path.steps().len() {
        let (Some(above), Some(below)) = (path.steps().get(..depth), path.steps().get(depth..)) else { return };
        let Some(node) = shape.at_mut(above) else { return };
        node.rules.retain(|rule| !mentions(&rule.rule, below));
        let head = match path.steps().get(depth) {
            Some(PathStep::Key(name)) => Some(name.as_ref().to_owned()),
            _ => None,
        };
        clauses(node, None, head.as_deref());
    }
}

/// Renames a property in the `allOf`, `anyOf`, `oneOf` and `not` of a node, or drops the ones that mention it.
fn clauses(node: &mut Shape, single: Option<&(String, String)>, head: Option<&str>) {
    let Some(head) = head else {
        let items = |clause: &Shape| clause.items.is_some() || !matches!(clause.extra, Extra::Closed) || sees_whole(clause);
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
    match single.filter(|(_, new)| !conditions(node).any(|clause| names(clause, new))) {
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

/// The clauses of `allOf`, `anyOf`, `oneOf` and `not`.
fn conditions(node: &Shape) -> impl Iterator<Item = &Shape> {
    node.all_of.iter().chain(&node.any_of).chain(&node.one_of).chain(node.not.as_deref())
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

/// Whether a clause depends on more than the values of the fields that it names.
fn sees_whole(clause: &Shape) -> bool {
    clause.property_count != CountRange::default()
        || clause.unique_items
        || clause.enum_values.is_some()
        || !clause.rules.is_empty()
        || !matches!(clause.extra, Extra::Closed)
}

fn names(clause: &Shape, name: &str) -> bool {
    sees_whole(clause)
        || clause.properties.contains_key(name)
        || clause.required.contains(name)
        || conditions(clause).any(|clause| names(clause, name))
}
