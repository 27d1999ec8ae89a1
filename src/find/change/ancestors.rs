//! Finds how a change in a node affects the conditions of its ancestors: compositions and enums may constrain nodes far below them.
//!
//! The old and the new node are placed in the same ancestors, and both results are compared exactly.

use std::sync::Arc;

use serde_json::Value;

use crate::compare::{self, Comparison, Sample, bounded_shape, is_oversized, order_roots};
use crate::input::yaml::Entry;
use crate::model::PathStep;
use crate::model::schema::shape::Extra;
use crate::model::schema::{Keyword, Schema, Shape};

use super::accepted_values::COMPOSITIONS;
use super::node_comparison::role;
use super::walk::{NodePair, Position};

/// A keyword of an ancestor, or of the node itself, that depends on the node.
pub(super) struct DependentKeyword<'t> {
    pub old: Option<Entry<'t>>,
    pub new: Entry<'t>,
    /// The path from the keyword's node down to the node.
    steps: Vec<PathStep<&'t str>>,
}

impl DependentKeyword<'_> {
    /// The node's part of a value that a comparison found.
    pub(super) fn part(&self, found: Sample) -> Option<Sample> {
        let Sample::Sent(mut value) = found else { return self.steps.is_empty().then_some(found) };
        for child_step in &self.steps {
            value = match (child_step, value) {
                (PathStep::Key(name), Value::Object(mut map)) => map.remove(*name)?,
                (PathStep::Items, Value::Array(list)) => list.into_iter().next()?,
                (PathStep::Values, Value::Object(map)) => map.into_iter().next()?.1,
                _ => return None,
            };
        }
        Some(Sample::Sent(value))
    }
}

/// Keywords that may refuse an additional key.
pub(super) const MOST: &[Keyword] = &[Keyword::MaxProperties, Keyword::Enum];
/// Keywords that may refuse an additional or a missing key.
pub(super) const KEYS: &[Keyword] = &[Keyword::MaxProperties, Keyword::MinProperties, Keyword::Required, Keyword::Enum];

/// The keyword that depends on which keys a node has, one of its `own` or a composition; the topmost if there are several.
pub(super) fn notice<'t>(pair: &NodePair<'_, 't>, own: &[Keyword]) -> Option<DependentKeyword<'t>> {
    let mut steps = Vec::new();
    let mut found: Option<DependentKeyword<'t>> = None;
    let mut here = pair;
    loop {
        if let Some(new) = keyword(&here.new, &steps, own) {
            let old = Keyword::parse(new.name()).and_then(|word| here.old.entry(word));
            found = Some(DependentKeyword { old, new, steps: steps.clone() });
        }
        let (Some(up), Some(child_step)) = (here.up, child_step(here)) else { break };
        steps.insert(0, child_step);
        here = up;
    }
    found
}

/// Compares a node with another in its place, as far as the noticing keyword sees it; rules of its ancestors are ignored.
pub(super) fn compare<'t>(
    pair: &NodePair<'_, 't>,
    notice: Option<&DependentKeyword<'t>>,
    old: Shape,
    new: Shape,
) -> Option<Comparison<Sample>> {
    let (mut before, mut after) = (old, new);
    let mut here = pair;
    for _ in 0..notice.map_or(0, |notice| notice.steps.len()) {
        let (Some(up), Some(child_step)) = (here.up, child_step(here)) else { break };
        let outer = shape(&up.new)?;
        before = placed(outer.clone(), child_step, before);
        after = placed(outer, child_step, after);
        here = up;
    }
    if matches!(here.position, Position::Root) {
        return Some(order_roots(&before, &after, pair.budget));
    }
    // An absent node never makes the difference.
    before.default = None;
    after.default = None;
    Some(compare::order(&before, &after, role(here.position), pair.budget))
}

/// The shape of a node without its rules; `None` if a list is too long to be searched.
pub(super) fn shape(schema: &Schema<'_>) -> Option<Shape> {
    let mut shape = ruled_shape(schema)?;
    unruled(&mut shape);
    Some(shape)
}

/// The shape of a node with its rules; `None` if a list is too long to be searched.
pub(super) fn ruled_shape(schema: &Schema<'_>) -> Option<Shape> {
    (!is_oversized(schema.node())).then(|| bounded_shape(schema))
}

/// Adds an unrestricted clause for a key that nobody declares, so that the comparison also tries a null under it.
pub(super) fn name_a_key(shape: &mut Shape, taken: &Shape) {
    let mut names = (0..).map(|n| format!("key{n}"));
    let free = names.find(|name| !shape.properties.contains_key(name) && !taken.properties.contains_key(name));
    shape.all_of.extend(free.map(|name| Shape { properties: [(name, Arc::new(Shape::default()))].into(), ..Shape::default() }));
}

/// Whether the ancestors of a node can refuse a null in it that they didn't see before.
pub(super) fn notices_null(pair: &NodePair<'_, '_>) -> bool {
    let (Some(up), Some(child_step)) = (pair.up, child_step(pair)) else { return false };
    let Some(notice) = notice(up, KEYS) else { return false };
    let (Some(mut outer), Some(child)) = (shape(&up.new), shape(&pair.new)) else { return true };
    let name = outer.clone();
    name_a_key(&mut outer, &name);
    let seen = |nullable: bool| placed(outer.clone(), child_step, Shape { nullable, ..child.clone() });
    compare(up, Some(&notice), seen(false), seen(true)).is_none_or(|order| order.loses != Some(false))
}

/// The step from a node's parent to the node, if the new schema has it there.
fn child_step<'t>(pair: &NodePair<'_, 't>) -> Option<PathStep<&'t str>> {
    let child_step = match pair.position {
        Position::Root => return None,
        Position::Property { .. } => PathStep::Key(pair.name.1),
        Position::Item => PathStep::Items,
        Position::Value => PathStep::Values,
    };
    let child = pair.up?.new.below(&child_step.into());
    child.filter(|child| child.node().id() == pair.new.node().id()).map(|_| child_step)
}

fn placed(mut outer: Shape, child_step: PathStep<&str>, child: Shape) -> Shape {
    match child_step {
        PathStep::Key(name) => drop(outer.properties.insert(name.to_owned(), Arc::new(child))),
        PathStep::Items => outer.items = Some(Arc::new(child)),
        PathStep::Values => outer.extra = Extra::Values(Arc::new(child)),
    }
    outer
}

/// The keyword of an ancestor that depends on the keys of the node at `steps`.
fn keyword<'t>(schema: &Schema<'t>, steps: &[PathStep<&'t str>], own: &[Keyword]) -> Option<Entry<'t>> {
    let own = if steps.is_empty() { own } else { &[Keyword::Enum] };
    let counted = own.iter().find_map(|&word| schema.entry(word).filter(|entry| !entry.value.is_seq() || !entry.value.is_empty()));
    let clause = |word: Keyword| {
        let looks = match word {
            Keyword::Not => schema.not().is_some_and(|not| constrains(&not, steps)),
            word => schema.clauses(word).any(|clause| constrains(&clause, steps)),
        };
        schema.entry(word).filter(|_| looks)
    };
    counted.or_else(|| COMPOSITIONS.iter().find_map(|&word| clause(word)))
}

/// Whether a clause says anything about the node at `steps`.
fn constrains<'t>(clause: &Schema<'t>, steps: &[PathStep<&'t str>]) -> bool {
    let deeper = match steps {
        [] => return clause.node().entries().next().is_some(),
        [PathStep::Items, rest @ ..] => clause.items().is_some_and(|items| constrains(&items, rest)),
        [PathStep::Key(name), rest @ ..] => {
            clause.property(name).map(|(_, child)| child).or_else(|| clause.values()).is_some_and(|child| constrains(&child, rest))
        }
        [PathStep::Values, rest @ ..] => {
            clause.properties().map(|(_, child)| child).chain(clause.values()).any(|child| constrains(&child, rest))
        }
    };
    deeper
        || clause.word(Keyword::Enum).is_some()
        || clause.not().is_some_and(|not| constrains(&not, steps))
        || [Keyword::AllOf, Keyword::AnyOf, Keyword::OneOf]
            .iter()
            .any(|&word| clause.clauses(word).any(|clause| constrains(&clause, steps)))
}

/// Drops the rules of a node and of everything below it.
pub(super) fn unruled(shape: &mut Shape) {
    shape.rules.clear();
    shape.children_mut().for_each(|child| unruled(Arc::make_mut(child)));
}
