//! Limits on how much of a schema one comparison considers.

use std::sync::Arc;

use crate::cel::ast::Expr;
use crate::cel::parse::read;
use crate::input::yaml::Node;
use crate::model::schema::shape::Extra;
use crate::model::schema::{Schema, Shape};

/// How many nodes of a schema one comparison considers; for a larger schema only the first level.
const MAX_NODES: usize = 2_000;
/// A child with at most this many nodes is considered anyway.
const SMALL_CHILD: usize = 60;
/// The longest CEL rule, in bytes, that is analysed.
pub(crate) const MAX_RULE: usize = 2_000;
/// The expression of a rule that is short enough to be analysed.
pub(crate) fn analysed(rule: &str) -> Option<Arc<Expr>> {
    (rule.len() <= MAX_RULE).then(|| read(rule).ok()).flatten()
}

/// How many items of one list are tried one by one. The longest enum of real CRDs has a few hundred.
pub(crate) const MAX_LIST: usize = 2_000;

/// The shape of a node; if there is too much below it, large children are assumed to accept anything, which hides no loss.
pub(crate) fn bounded_shape(schema: &Schema<'_>) -> Shape {
    if count(schema.node(), MAX_NODES) < MAX_NODES {
        return Shape::of(schema);
    }
    let anything = |schema: &Schema<'_>| match count(schema.node(), SMALL_CHILD) < SMALL_CHILD {
        true => Shape::of(schema),
        false => Shape { nullable: true, ..Shape::anything() },
    };
    let mut shape = Shape::local(schema);
    shape.properties = schema.properties().map(|(entry, child)| (entry.name().to_owned(), Arc::new(anything(&child)))).collect();
    shape.items = schema.items().map(|items| Arc::new(anything(&items)));
    if let Some(values) = schema.values() {
        shape.extra = Extra::Values(Arc::new(anything(&values)));
    }
    shape
}

/// Whether a list somewhere below is too long to be tried item by item.
pub(crate) fn is_oversized(node: Node<'_>) -> bool {
    node.items().len() > MAX_LIST || node.entries().map(|entry| entry.value).chain(node.items()).any(is_oversized)
}

/// The same for a shape.
pub(crate) fn is_oversized_shape(shape: &Shape) -> bool {
    let clauses = || [&shape.all_of, &shape.any_of, &shape.one_of].into_iter();
    shape.enum_values.as_ref().is_some_and(|values| values.len() > MAX_LIST)
        || clauses().any(|list| list.len() > MAX_LIST)
        || clauses().flatten().any(is_oversized_shape)
        || shape.children().chain(shape.not.as_deref()).any(is_oversized_shape)
}

/// The number of nodes from this one down, up to a limit.
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
