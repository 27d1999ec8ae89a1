//! Compares what two nodes accept as a whole, by the exact comparison of their shapes.

use std::collections::BTreeSet;

use crate::compare::{
    Comparison, MAX_LIST, Role, Sample, bounded_shape, constrained_by, is_oversized, is_oversized_shape, is_same, order_local,
    order_with_lost_lists,
};
use crate::model::fact::Aspect;
use crate::model::relation::Relation;
use crate::model::schema::shape::Type;
use crate::model::schema::{Schema, Shape};

use super::conditions::Conditions;
use super::implicit::is_reserved;
use super::json_types::JsonTypes;
use super::walk::{NodePair, Position};

/// Two nodes at the same place, compared as a whole and condition by condition, without their children.
pub(super) struct NodeComparison<'p, 'f, 't> {
    pair: &'p NodePair<'f, 't>,
    old: Side<'t>,
    new: Side<'t>,
    /// What is required of the node besides its schema, before and after.
    demanded: Option<Shape>,
}

struct Side<'t> {
    types: JsonTypes,
    conditions: Conditions<'t>,
}

impl<'t> Side<'t> {
    fn of(schema: &Schema<'t>, position: Position) -> Self {
        let types = match position {
            // A resource is an object, whether or not its schema says so.
            Position::Root => JsonTypes::of(schema).and(JsonTypes::OBJECT),
            _ => JsonTypes::of(schema),
        };
        Side { types, conditions: Conditions::of(schema) }
    }
}

impl<'p, 'f, 't> NodeComparison<'p, 'f, 't> {
    pub(super) fn of(pair: &'p NodePair<'f, 't>, demanded: Option<Shape>) -> Self {
        NodeComparison { pair, old: Side::of(&pair.old, pair.position), new: Side::of(&pair.new, pair.position), demanded }
    }

    /// The values that the enums of both sides allow.
    pub(super) fn values(&self) -> (Option<BTreeSet<String>>, Option<BTreeSet<String>>) {
        (self.old.conditions.values(), self.new.conditions.values())
    }

    /// Whether a condition is written differently, at the node or in a clause that always applies.
    pub(super) fn differs(&self, condition: Aspect) -> bool {
        if condition == Aspect::Type {
            return self.old.types != self.new.types;
        }
        let (old, new) = self.only(condition);
        !is_same(&old, &new, self.pair.budget)
    }

    /// Compares the values that the node accepts, and how much each of these conditions contributes.
    pub(super) fn judge(&self, conditions: Vec<Aspect>) -> (Comparison<Sample>, Vec<Relation>) {
        let whole = self.whole();
        let alone = conditions.len() == 1;
        let mut parts: Vec<Relation> = conditions
            .iter()
            .map(|&condition| match &whole {
                _ if condition == Aspect::Type => self.types(),
                Ok(whole) if whole.relation == Relation::Equal || (alone && whole.relation != Relation::Undecided) => whole.relation,
                _ => self.part(condition),
            })
            .collect();
        let whole = whole.unwrap_or_else(|reason| {
            let together = parts.iter().fold(Relation::Equal, |all, part| all.and(*part));
            Comparison { reason, ..Comparison::known(together) }
        });
        let alone = parts.iter().filter(|part| **part != Relation::Equal).count() == 1;
        for (part, _) in
            parts.iter_mut().zip(&conditions).filter(|(part, condition)| **part != Relation::Equal && **condition != Aspect::Type)
        {
            *part = match whole.relation {
                Relation::Undecided => *part,
                relation if alone => relation,
                // A keyword refuses nothing new if another one already refuses the same values.
                relation => Relation::of(part.narrows() && relation.narrows(), widens(*part) && widens(relation)),
            };
        }
        (whole, parts)
    }

    /// Compares the nodes with all conditions, or returns why that isn't conclusive.
    fn whole(&self) -> Result<Comparison<Sample>, Option<String>> {
        if is_oversized(self.pair.old.node()) || is_oversized(self.pair.new.node()) {
            return Err(Some(format!("a list of more than {MAX_LIST} items")));
        }
        let counts = [Aspect::MinProperties, Aspect::MaxProperties];
        // Undeclared keys count as well.
        if is_reserved(self.pair) && counts.into_iter().any(|count| self.differs(count)) {
            return Err(None);
        }
        let (mut old, mut new) = self.shapes();
        old.all_of.extend(self.demanded.clone());
        new.all_of.extend(self.demanded.clone());
        Ok(self.compare(&old, &new, self.old.types.has(JsonTypes::ARRAY) || self.new.types.has(JsonTypes::ARRAY)))
    }

    /// Both nodes, differing only in which values they accept: nulls, defaults, undeclared keys and rules have their own facts.
    /// Without rules both sides accept more, so no loss is hidden.
    fn shapes(&self) -> (Shape, Shape) {
        let mut old = bounded_shape(&self.pair.old);
        old.default = None;
        old.nullable = false;
        old.rules.clear();
        // Names that only one side requires already have a fact; here both require them.
        let required = [&self.old, &self.new].into_iter().flat_map(|side| side.conditions.required());
        old.required = required.map(str::to_owned).collect();
        let mut constraints = Shape::local(&self.pair.new);
        if self.pair.position == Position::Root {
            old.ty = old.ty.or(Some(Type::Object));
            constraints.ty = constraints.ty.or(Some(Type::Object));
        }
        constraints.rules.clear();
        old.format = old.format.filter(|_| self.old.types.read_formats());
        constraints.format = constraints.format.filter(|_| self.new.types.read_formats());
        let new = constrained_by(&old, &constraints);
        (old, new)
    }

    /// Both nodes with only one condition, and the types that they share.
    fn only(&self, condition: Aspect) -> (Shape, Shape) {
        let types = self.old.types.and(self.new.types);
        (self.old.conditions.only(condition, types), self.new.conditions.only(condition, types))
    }

    fn types(&self) -> Relation {
        let (old, new) = (self.old.types, self.new.types);
        Relation::of(!new.covers(old), !old.covers(new))
    }

    /// Compares one condition by itself.
    fn part(&self, condition: Aspect) -> Relation {
        let (old, new) = self.only(condition);
        if is_oversized_shape(&old) || is_oversized_shape(&new) {
            return match self.values() {
                (Some(old), Some(new)) if condition == Aspect::Enum => Relation::of(!old.is_subset(&new), !new.is_subset(&old)),
                _ => Relation::Undecided,
            };
        }
        let order = self.compare(&old, &new, self.old.types.and(self.new.types).has(JsonTypes::ARRAY));
        match (order.relation, order.gains) {
            // A stricter keyword counts as accepting fewer values, even if no example is found.
            (Relation::Undecided, Some(false)) => Relation::Narrower,
            (relation, _) => relation,
        }
    }

    fn compare(&self, old: &Shape, new: &Shape, listed: bool) -> Comparison<Sample> {
        let compare = if listed { order_local } else { order_with_lost_lists };
        compare(old, new, role(self.pair.position), self.pair.budget).or_wider()
    }
}

fn widens(relation: Relation) -> bool {
    matches!(relation, Relation::Wider | Relation::Incomparable | Relation::Undecided)
}

pub(super) fn role(position: Position) -> Role {
    match position {
        Position::Root | Position::Property { .. } => Role::Field,
        Position::Item => Role::Item,
        Position::Value => Role::Entry,
    }
}
