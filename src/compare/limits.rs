//! How much of a schema one comparison may look at.

use std::sync::Arc;

use crate::input::yaml::Node;
use crate::model::schema::shape::Extra;
use crate::model::schema::{Additional, Schema, Shape};

/// Nodes of a schema that one comparison looks at; of a larger one only the first level.
const MAX_NODES: usize = 2_000;
/// Nodes of a child that is small enough to be looked at anyway.
const SMALL_CHILD: usize = 60;
/// The longest CEL rule, in bytes, that is analysed.
pub(crate) const MAX_RULE: usize = 2_000;
/// Items of one list that comparisons try one by one. The longest enum of real CRDs has some hundreds.
pub(crate) const MAX_LIST: usize = 2_000;

/// The shape of a node; where much is below it, its large children are taken to accept anything, which hides no loss.
pub(crate) fn bounded_shape(schema: &Schema<'_>) -> Shape {
    if count(schema.node(), MAX_NODES) < MAX_NODES {
        return Shape::of(schema);
    }
    let anything = |schema: &Schema<'_>| match count(schema.node(), SMALL_CHILD) < SMALL_CHILD {
        true => Shape::of(schema),
        false => Shape { preserve_unknown: true, nullable: true, ..Shape::any(schema.node().id()) },
    };
    let mut shape = Shape::local(schema);
    shape.properties = schema.properties().map(|(entry, child)| (entry.name().to_owned(), Arc::new(anything(&child)))).collect();
    shape.items = schema.items().map(|items| Arc::new(anything(&items)));
    if let Additional::Schema(values) = schema.additional() {
        shape.extra = Extra::Values(Arc::new(anything(&values)));
    }
    shape
}

/// Whether a list somewhere below is longer than what is tried one by one.
pub(crate) fn is_oversized(node: Node<'_>) -> bool {
    node.items().len() > MAX_LIST || node.entries().map(|entry| entry.value).chain(node.items()).any(is_oversized)
}

/// The same of a shape.
pub(crate) fn is_oversized_shape(shape: &Shape) -> bool {
    let clauses = || [&shape.all_of, &shape.any_of, &shape.one_of].into_iter();
    shape.enum_values.as_ref().is_some_and(|values| values.len() > MAX_LIST)
        || clauses().any(|list| list.len() > MAX_LIST)
        || clauses().flatten().any(is_oversized_shape)
        || shape.properties.values().chain(&shape.not).chain(&shape.items).any(|child| is_oversized_shape(child))
        || matches!(&shape.extra, Extra::Values(values) if is_oversized_shape(values))
}

/// Nodes below and with this one, up to a limit.
fn count(node: Node<'_>, limit: usize) -> usize {
    let mut sum = 1;
    for child in node.entries().map(|entry| entry.value).chain(node.items()) {
        if sum >= limit {
            return sum;
        }
        sum += count(child, limit - sum);
    }
    sum
}
