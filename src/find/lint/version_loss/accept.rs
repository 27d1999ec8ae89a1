//! Whether two versions accept the same values at one node; what stands below it is asked for there.

use std::collections::BTreeSet;

use crate::cel::normal::is_transition;
use crate::cel::{normal::normal, parse::parse};
use crate::compare::{Budget, MAX_RULE, Relation, Role, bounded_shape, constrained_by, is_oversized, order_local, order_without_lists};
use crate::model::fact::Evidence;
use crate::model::schema::{Schema, Shape};

/// How sure it is that one accepts what the other refuses; nothing where both accept the same.
pub(super) fn difference(first: &Schema<'_>, other: &Schema<'_>, role: Role, budget: &Budget) -> Option<Evidence> {
    let rules = || first.cel_rules().chain(other.cel_rules()).map(|rule| rule.rule());
    if is_oversized(first.node()) || is_oversized(other.node()) || rules().any(|rule| rule.len() > MAX_RULE) {
        return Some(Evidence::undecided("a list or a rule of great length"));
    }
    let (before, after) = (Rules::of(first), Rules::of(other));
    if before.transitions != after.transitions {
        return Some(Evidence::undecided("rules that compare with the object before"));
    }
    let (mut a, mut b) = (bounded_shape(first), Shape::local(other));
    let matter = before.others != after.others;
    a.rules.retain(|rule| matter && !is_transition(&rule.rule));
    b.rules.retain(|rule| matter && !is_transition(&rule.rule));
    // Nulls, defaults and required names are compared by themselves.
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

/// Rules of a node in normal form; messages are left aside.
#[derive(Default)]
struct Rules {
    /// Rules that compare with the object before.
    transitions: BTreeSet<(Option<bool>, String)>,
    others: BTreeSet<String>,
}

impl Rules {
    fn of(schema: &Schema<'_>) -> Self {
        let mut rules = Rules::default();
        for rule in schema.cel_rules() {
            let text = parse(rule.rule()).map_or_else(|_| rule.rule().to_owned(), |expr| normal(&expr, None));
            if is_transition(rule.rule()) {
                rules.transitions.insert((rule.optional_old_self(), text));
            } else {
                rules.others.insert(text);
            }
        }
        rules
    }
}
