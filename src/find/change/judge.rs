//! The verdict on what two nodes accept as a whole, by the exact comparison of their shapes.

use std::sync::Arc;

use crate::compare::{self, MAX_LIST, MAX_RULE, Role, Sample, bounded_shape, is_oversized, order_local, order_without_lists};
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

use super::implicit::is_reserved;
use super::limits::{Limits, Types};
use super::relation::Relation;
use super::undeclared_keys::Undeclared;
use super::walk::{Pair, Position};

#[derive(Debug, Clone)]
pub(super) struct Judgement {
    pub relation: Relation,
    /// What the old node accepts and the new one doesn't.
    pub lost: Option<Sample>,
    /// Why it is undecided.
    pub reason: Option<String>,
}

impl Judgement {
    fn of(order: compare::Order) -> Self {
        let relation = match (order.relation, order.loses) {
            (compare::Relation::Equal, _) => Relation::Equal,
            (compare::Relation::Narrower, _) => Relation::Narrowed,
            (compare::Relation::Wider, _) => Relation::Widened,
            (compare::Relation::Incomparable, _) => Relation::Changed,
            // Nothing is lost, and whether anything is gained hurts nobody.
            (compare::Relation::Undecided, Some(false)) => Relation::Widened,
            (compare::Relation::Undecided, _) => Relation::Undecided,
        };
        Judgement { relation, lost: order.lost, reason: order.reason }
    }

    pub(super) fn known(relation: Relation) -> Self {
        Judgement { relation, lost: None, reason: None }
    }

    fn undecided(&self) -> bool {
        self.relation == Relation::Undecided
    }
}

/// What became of the values that a node accepts, its children on the spine left aside. `together` is what its parts say one by one.
/// What is `demanded` of the node beside its schema holds before and after.
pub(super) fn judge(
    pair: &Pair<'_, '_>,
    before: &Limits<'_>,
    after: &Limits<'_>,
    together: Relation,
    demanded: Option<Shape>,
) -> Judgement {
    // The same conditions accept the same values, unless a bound or a format reads otherwise where it stands now.
    if together == Relation::Equal && before.refuses_all() == after.refuses_all() && !before.displaced && !after.displaced {
        return Judgement::known(together);
    }
    if is_oversized(pair.old.node()) || is_oversized(pair.new.node()) {
        return Judgement { reason: Some(format!("a list of more than {MAX_LIST} items")), ..Judgement::known(together) };
    }
    // Keys that no schema declares count as well.
    if before.properties != after.properties && is_reserved(pair) {
        return Judgement::known(together);
    }
    let (mut old, mut new) = shapes(pair, before, after);
    old.all_of.extend(demanded.clone());
    new.all_of.extend(demanded);
    let listed = before.types.has(Types::ARRAY) || after.types.has(Types::ARRAY);
    let compare = if listed { order_local } else { order_without_lists };
    let mut judgement = Judgement::of(compare(&old, &new, role(pair.position)));
    if judgement.undecided() || (judgement.relation == Relation::Equal && before.is_beyond_floats(after)) {
        judgement.relation = match (before.refuses_all(), after.refuses_all()) {
            (true, true) => Relation::Equal,
            (true, false) => Relation::Widened,
            (false, true) => Relation::Narrowed,
            (false, false) if judgement.undecided() => Relation::Undecided,
            (false, false) => together,
        };
    }
    judgement
}

/// Both nodes with nothing different but what a value must be: nulls, defaults, undeclared keys and rules have facts of their own.
/// Without rules more is accepted on both sides, so no loss is hidden.
fn shapes(pair: &Pair<'_, '_>, before: &Limits<'_>, after: &Limits<'_>) -> (Shape, Shape) {
    let mut old = bounded_shape(&pair.old);
    old.default = None;
    old.nullable = false;
    old.rules.clear();
    // Names that only one side demands are told as such; here both demand them.
    old.required = before.required.union(&after.required).map(|name| (*name).to_owned()).collect();
    let mut constraints = Shape::local(&pair.new);
    if pair.position == Position::Root {
        old.ty = old.ty.or(Some(Type::Object));
        constraints.ty = constraints.ty.or(Some(Type::Object));
    }
    constraints.rules.clear();
    let new = old.constrained_by(constraints);
    (old, new)
}

/// What becomes of the values of the old node when rules take the place of others, or come, or go.
pub(super) fn judge_rules(pair: &Pair<'_, '_>, old: &[&str], new: &[&str]) -> Judgement {
    let undecided = |reason: String| Judgement { reason: Some(reason), ..Judgement::known(Relation::Undecided) };
    if is_oversized(pair.old.node()) {
        return undecided(format!("a list of more than {MAX_LIST} items"));
    }
    if old.iter().chain(new).any(|rule| rule.len() > MAX_RULE) {
        return undecided(format!("a rule of more than {MAX_RULE} bytes"));
    }
    let mut before = bounded_shape(&pair.old);
    before.default = None;
    // Rules may look at fields that the old schema dropped: no object that it kept has them.
    if Undeclared::both(pair).0 == Undeclared::Pruned {
        let added = pair.new.properties().filter(|(entry, child)| pair.old.property(entry.name()).is_none() && child.default().is_none());
        for (entry, child) in added {
            let name = entry.name().to_owned();
            let there = Shape { required: [name.clone()].into(), ..Shape::any(before.at) };
            before.all_of.push(Shape { not: Some(Arc::new(there)), ..Shape::any(before.at) });
            before.properties.insert(name, Arc::new(bounded_shape(&child)));
        }
    }
    before.rules = old.iter().map(|rule| rule_of(rule)).collect();
    let after = Shape { rules: new.iter().map(|rule| rule_of(rule)).collect(), ..before.clone() };
    Judgement::of(order_local(&before, &after, role(pair.position)))
}

fn rule_of(rule: &str) -> crate::model::schema::shape::CelRule {
    crate::model::schema::shape::CelRule {
        rule: rule.to_owned(),
        message: None,
        message_expression: None,
        reason: None,
        field_path: None,
        optional_old_self: None,
    }
}

pub(super) fn role(position: Position) -> Role {
    match position {
        Position::Root | Position::Property { .. } => Role::Field,
        Position::Item => Role::Item,
        Position::Value => Role::Entry,
    }
}
