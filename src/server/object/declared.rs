//! Checks that only apply to declared nodes, not to the clauses of `anyOf`, `oneOf`, `allOf` and `not`: list types, embedded
//! resources and validation rules.

use serde_json::Value;

use crate::server::key_fate::PruneNode;

use super::check::{CheckNode, Findings, validate};
use super::path::Trail;
use super::{embedded, lists};

/// The node of a key's value: a declared property, or else that of all map values.
pub(super) fn child<'t, N: PruneNode>(node: &N, name: &'t str, trail: &'t Trail<'t>) -> Option<(N, Trail<'t>)> {
    let property = node.property(name).map(|property| (property, Trail::Key(trail, name)));
    property.or_else(|| Some((node.extra().values()?, Trail::Entry(trail, name))))
}

/// Calls `visit` with each value below a declared node and its own node, parents first. `enter` decides which nodes to visit.
pub(super) fn walk<N: PruneNode>(
    value: &Value,
    node: &N,
    trail: &Trail<'_>,
    enter: &impl Fn(&N) -> bool,
    visit: &mut impl FnMut(&Value, &N, &Trail<'_>),
) {
    if !enter(node) {
        return;
    }
    visit(value, node, trail);
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if let Some((node, trail)) = child(node, name, trail) {
                    walk(value, &node, &trail, enter, visit);
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = node.items() else { return };
            for (index, item) in items.iter().enumerate() {
                walk(item, &node, &Trail::Index(trail, index), enter, visit);
            }
        }
        _ => {}
    }
}

/// Whether the server accepts a value, after defaulting, in a clause of `anyOf`, `oneOf`, `allOf` or `not`; `None` if a check can't
/// be made here.
pub(crate) fn clause_accepts<N: CheckNode>(value: &Value, node: &N) -> Option<bool> {
    let mut findings = Findings::quiet();
    validate(value, node, &Trail::Root, None, &mut findings);
    findings.verdict()
}

/// The same for a declared node. `rules` returns whether the validation rules of a node hold for a value.
pub(crate) fn declared_accepts<N: CheckNode>(value: &Value, node: &N, rules: impl Fn(&N, &Value) -> Option<bool>) -> Option<bool> {
    let mut verdict = clause_accepts(value, node);
    if verdict == Some(false) {
        return verdict;
    }
    walk(value, node, &Trail::Root, &|_| true, &mut |value, node, _| {
        let shape = node.shape();
        let own = match value {
            Value::Null => return,
            Value::Array(items) => Some(lists::list_type_holds(shape.list_type, &shape.map_keys, items)),
            Value::Object(map) if shape.embedded => embedded::is_resource(map),
            _ => Some(true),
        };
        verdict = and(verdict, own);
        if verdict != Some(false) && !shape.rules.is_empty() {
            verdict = and(verdict, rules(node, value));
        }
    });
    verdict
}

/// Both must hold; false takes precedence over unknown.
fn and(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}
