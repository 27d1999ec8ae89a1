//! Compares whether two versions accept the same values at one node, without its children.

use crate::cel::normalise::is_transition;
use crate::compare::cel_implication::{NodeRule, same_rules};
use crate::compare::{Budget, MAX_RULE, Relation, Role, bounded_shape, constrained_by, is_oversized, order_local, order_without_lists};
use crate::model::fact::Evidence;
use crate::model::schema::{Schema, Shape};

/// How certain it is that one accepts what the other refuses; `None` if both accept the same.
pub(super) fn difference(first: &Schema<'_>, other: &Schema<'_>, role: Role, budget: &Budget) -> Option<Evidence> {
    let (before, after) = (NodeRule::list(first), NodeRule::list(other));
    let mut rules = before.iter().chain(&after);
    if is_oversized(first.node()) || is_oversized(other.node()) || rules.any(|rule| rule.text.len() > MAX_RULE) {
        return Some(Evidence::undecided("a list or a rule of great length"));
    }
    let same = |transitions: bool| {
        let wanted = |rule: &&NodeRule<'_>| rule.is_transition() == transitions;
        same_rules(before.iter().filter(wanted), after.iter().filter(wanted))
    };
    if !same(true) {
        return Some(Evidence::undecided("rules that compare with the object before"));
    }
    let (mut a, mut b) = (bounded_shape(first), Shape::local(other));
    let matter = !same(false);
    a.rules.retain(|rule| matter && !is_transition(&rule.rule));
    b.rules.retain(|rule| matter && !is_transition(&rule.rule));
    // Nulls, defaults and required names are compared separately.
    a.default = None;
    a.nullable = false;
    a.required.extend(b.required.iter().cloned());
    let b = constrained_by(&a, &b);
    let texts = [first, other].iter().all(|schema| schema.ty() == Some("string"));
    let order = if texts { order_without_lists(&a, &b, role, budget) } else { order_local(&a, &b, role, budget) };
    match order.relation {
        Relation::Equal => None,
        Relation::Undecided => Some(Evidence::undecided(order.reason.unwrap_or_default())),
        Relation::Narrower | Relation::Wider | Relation::Incomparable => Some(Evidence::proved()),
    }
}
