//! What the objects around a node notice of a change in it: their junctors and enums may speak of what stands far below them.
//!
//! The node stands twice in the same surroundings, as it was and as it is, and both are compared exactly.

use std::sync::Arc;

use serde_json::Value;

use crate::compare::{self, Comparison, Sample, order_roots};
use crate::input::yaml::Entry;
use crate::model::schema::shape::Extra;
use crate::model::schema::{Additional, Keyword, Schema, Shape};

use super::accept::JUNCTORS;
use super::judge::role;
use super::walk::{Pair, Position};
use crate::compare::{bounded_shape, is_oversized};

/// One step from a node down to a child.
#[derive(Debug, Clone, Copy)]
enum Hop<'t> {
    Key(&'t str),
    Items,
    Values,
}

/// A keyword that looks at a node from above, or from the node itself.
pub(super) struct Notice<'t> {
    pub old: Option<Entry<'t>>,
    pub new: Entry<'t>,
    /// The way from where it stands down to the node.
    hops: Vec<Hop<'t>>,
}

impl Notice<'_> {
    /// The node's part of what a comparison found.
    pub(super) fn part(&self, found: Sample) -> Option<Sample> {
        let Sample::Sent(mut value) = found else { return self.hops.is_empty().then_some(found) };
        for hop in &self.hops {
            value = match (hop, value) {
                (Hop::Key(name), Value::Object(mut map)) => map.remove(*name)?,
                (Hop::Items, Value::Array(list)) => list.into_iter().next()?,
                (Hop::Values, Value::Object(map)) => map.into_iter().next()?.1,
                _ => return None,
            };
        }
        Some(Sample::Sent(value))
    }
}

/// What a node may have against one key more.
pub(super) const MOST: &[Keyword] = &[Keyword::MaxProperties, Keyword::Enum];
/// What a node may have against one key more or less.
pub(super) const KEYS: &[Keyword] = &[Keyword::MaxProperties, Keyword::MinProperties, Keyword::Required, Keyword::Enum];

/// The keyword that looks at which keys a node has, one of its `own` or a junctor, the uppermost if there are several.
pub(super) fn notice<'t>(pair: &Pair<'_, 't>, own: &[Keyword]) -> Option<Notice<'t>> {
    let mut hops = Vec::new();
    let mut found: Option<Notice<'t>> = None;
    let mut here = pair;
    loop {
        if let Some(new) = keyword(&here.new, &hops, own) {
            let old = Keyword::parse(new.name()).and_then(|word| here.old.entry(word));
            found = Some(Notice { old, new, hops: hops.clone() });
        }
        let (Some(up), Some(hop)) = (here.up, hop(here)) else { break };
        hops.insert(0, hop);
        here = up;
    }
    found
}

/// How a node compares with another in its place, seen from where it is noticed; rules are left aside.
pub(super) fn compare<'t>(pair: &Pair<'_, 't>, notice: Option<&Notice<'t>>, old: Shape, new: Shape) -> Option<Comparison<Sample>> {
    let (mut before, mut after) = (old, new);
    let mut here = pair;
    for _ in 0..notice.map_or(0, |notice| notice.hops.len()) {
        let (Some(up), Some(hop)) = (here.up, hop(here)) else { break };
        let outer = shape(&up.new)?;
        before = placed(outer.clone(), hop, before);
        after = placed(outer, hop, after);
        here = up;
    }
    unruled(&mut before);
    unruled(&mut after);
    if matches!(here.position, Position::Root) {
        return Some(order_roots(&before, &after, pair.budget));
    }
    // An absent node is never what makes the difference.
    before.default = None;
    after.default = None;
    Some(compare::order(&before, &after, role(here.position), pair.budget))
}

/// The shape of a node; nothing where a list is too long to be tried.
pub(super) fn shape(schema: &Schema<'_>) -> Option<Shape> {
    (!is_oversized(schema.node())).then(|| bounded_shape(schema))
}

/// Adds a clause without conditions that names a key which nobody declares, so that a comparison tries what becomes of a null in it.
pub(super) fn name_a_key(shape: &mut Shape, taken: &Shape) {
    let mut names = (0..).map(|n| format!("key{n}"));
    let free = names.find(|name| !shape.properties.contains_key(name) && !taken.properties.contains_key(name));
    shape.all_of.extend(free.map(|name| Shape { properties: [(name, Arc::new(Shape::any(shape.at)))].into(), ..Shape::any(shape.at) }));
}

/// Whether the objects around a node can refuse a null in it that they didn't see before.
pub(super) fn notices_null(pair: &Pair<'_, '_>) -> bool {
    let (Some(up), Some(hop)) = (pair.up, hop(pair)) else { return false };
    let Some(notice) = notice(up, KEYS) else { return false };
    let (Some(mut outer), Some(child)) = (shape(&up.new), shape(&pair.new)) else { return true };
    let name = outer.clone();
    name_a_key(&mut outer, &name);
    let seen = |nullable: bool| placed(outer.clone(), hop, Shape { nullable, ..child.clone() });
    compare(up, Some(&notice), seen(false), seen(true)).is_none_or(|order| order.loses != Some(false))
}

/// The step that leads to a node from the one above it, where the new schema has it there.
fn hop<'t>(pair: &Pair<'_, 't>) -> Option<Hop<'t>> {
    let up = &pair.up?.new;
    let (hop, child) = match pair.position {
        Position::Root => return None,
        Position::Property { .. } => (Hop::Key(pair.name.1), up.property(pair.name.1).map(|(_, child)| child)),
        Position::Item => (Hop::Items, up.items()),
        Position::Value => match up.additional() {
            Additional::Schema(values) => (Hop::Values, Some(values)),
            _ => return None,
        },
    };
    child.filter(|child| child.node().id() == pair.new.node().id()).map(|_| hop)
}

fn placed(mut outer: Shape, hop: Hop<'_>, child: Shape) -> Shape {
    match hop {
        Hop::Key(name) => drop(outer.properties.insert(name.to_owned(), Arc::new(child))),
        Hop::Items => outer.items = Some(Arc::new(child)),
        Hop::Values => outer.extra = Extra::Values(Arc::new(child)),
    }
    outer
}

/// The keyword of a node on the spine that looks at the keys of the node to which `hops` lead.
fn keyword<'t>(schema: &Schema<'t>, hops: &[Hop<'t>], own: &[Keyword]) -> Option<Entry<'t>> {
    let own = if hops.is_empty() { own } else { &[Keyword::Enum] };
    let counted = own.iter().find_map(|&word| schema.entry(word).filter(|entry| !entry.value.is_seq() || !entry.value.is_empty()));
    let clause = |word: Keyword| {
        let looks = match word {
            Keyword::Not => schema.not().is_some_and(|not| looks(&not, hops)),
            word => schema.clauses(word).any(|clause| looks(&clause, hops)),
        };
        schema.entry(word).filter(|_| looks)
    };
    counted.or_else(|| JUNCTORS.iter().find_map(|&word| clause(word)))
}

/// Whether a clause says anything about the node to which `hops` lead.
fn looks<'t>(clause: &Schema<'t>, hops: &[Hop<'t>]) -> bool {
    let values = || match clause.additional() {
        Additional::Schema(values) => Some(values),
        _ => None,
    };
    let deeper = match hops {
        [] => return clause.node().entries().next().is_some(),
        [Hop::Items, rest @ ..] => clause.items().is_some_and(|items| looks(&items, rest)),
        [Hop::Key(name), rest @ ..] => {
            clause.property(name).map(|(_, child)| child).or_else(values).is_some_and(|child| looks(&child, rest))
        }
        [Hop::Values, rest @ ..] => clause.properties().map(|(_, child)| child).chain(values()).any(|child| looks(&child, rest)),
    };
    deeper
        || clause.word(Keyword::Enum).is_some()
        || clause.not().is_some_and(|not| looks(&not, hops))
        || [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf].iter().any(|&word| clause.clauses(word).any(|clause| looks(&clause, hops)))
}

fn unruled(shape: &mut Shape) {
    shape.rules.clear();
    shape.properties.values_mut().for_each(|child| unruled(Arc::make_mut(child)));
    shape.items.iter_mut().for_each(|items| unruled(Arc::make_mut(items)));
    if let Extra::Values(values) = &mut shape.extra {
        unruled(Arc::make_mut(values));
    }
}
