//! Compares what two nodes accept as a whole, by the exact comparison of their shapes.

use std::collections::BTreeSet;

use crate::compare::{
    Budget, CONDITIONS, Comparison, MAX_LIST, Role, Sample, bounded_shape, constrained_by, is_oversized, is_oversized_shape, is_same,
    order_local, order_with_lost_lists, order_without_lists,
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

    /// Compares the values that the node accepts, and what each of these conditions contributes to the difference.
    pub(super) fn judge(&self, conditions: &[Aspect]) -> (Comparison<Sample>, Vec<Relation>) {
        let whole = self.whole();
        let relation = whole.as_ref().map_or(Relation::Undecided, |whole| whole.relation);
        let contribution = |&condition: &Aspect| match relation {
            _ if condition == Aspect::Type => self.types(),
            Relation::Undecided => self.alone(condition),
            relation if relation == Relation::Equal || conditions.len() == 1 => relation,
            relation => {
                let part = self.exchanged(condition).unwrap_or_else(|| self.alone(condition));
                // A keyword refuses nothing new if another one already refuses the same values.
                Relation::of(part.narrows() && relation.narrows(), widens(part) && widens(relation))
            }
        };
        let parts: Vec<Relation> = conditions.iter().map(contribution).collect();
        let whole = whole.unwrap_or_else(|reason| {
            let together = parts.iter().fold(Relation::Equal, |all, part| all.and(*part));
            Comparison { reason, ..Comparison::known(together) }
        });
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
        let listed = self.old.types.has(JsonTypes::ARRAY) || self.new.types.has(JsonTypes::ARRAY);
        Ok(self.compare(&self.node(&self.old, None), &self.node(&self.new, None), listed, order_with_lost_lists))
    }

    /// What a condition changes if all others stay: whether the old node loses values by it, and whether the new one owes values to
    /// it. `None` if undecided.
    ///
    /// Every value that only one node accepts is lost or gained by some condition, unless what the condition means also depends on
    /// another: then it counts what the old node gains, and what the new one would.
    fn exchanged(&self, condition: Aspect) -> Option<Relation> {
        let exchange = |own: &Side<'t>, other, unlisted: Compare| {
            self.compare(&self.node(own, None), &self.node(own, Some((condition, other))), own.types.has(JsonTypes::ARRAY), unlisted)
        };
        // That lists are accepted now doesn't count.
        let before = exchange(&self.old, &self.new, order_with_lost_lists);
        let after = exchange(&self.new, &self.old, order_without_lists);
        match Relation::of(before.loses?, after.loses?) {
            Relation::Equal => {
                // Of the types that both have: without strings, a pattern that is gone lets nothing pass.
                let alone = self.alone(condition);
                Some(Relation::of(after.gains? && alone.narrows(), before.gains? && widens(alone)))
            }
            part => Some(part),
        }
    }

    /// The node with the conditions of one side, except for one condition of the other. Both sides differ only in which values they
    /// accept: nulls, defaults, undeclared keys and rules have their own facts. Without rules both sides accept more, so no loss is
    /// hidden.
    fn node(&self, own: &Side<'t>, exchanged: Option<(Aspect, &Side<'t>)>) -> Shape {
        let mut node = bounded_shape(&self.pair.old);
        node.default = None;
        node.nullable = false;
        // Names that only one side requires already have a fact; here both require them.
        let required = [&self.old, &self.new].into_iter().flat_map(|side| side.conditions.required());
        node.required = required.map(str::to_owned).collect();
        let mut node = constrained_by(&node, &Shape::default());
        for (condition, ..) in CONDITIONS {
            let side = exchanged.filter(|(exchanged, _)| exchanged == condition).map_or(own, |(_, other)| other);
            side.conditions.add(&mut node, *condition);
        }
        if self.pair.position == Position::Root {
            node.ty = node.ty.or(Some(Type::Object));
        }
        node.format = node.format.filter(|_| own.types.read_formats());
        node.all_of.extend(self.demanded.clone());
        node
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

    /// Compares one condition by itself, where the exact comparison gives up.
    fn alone(&self, condition: Aspect) -> Relation {
        let (old, new) = self.only(condition);
        if is_oversized_shape(&old) || is_oversized_shape(&new) {
            return match self.values() {
                (Some(old), Some(new)) if condition == Aspect::Enum => Relation::of(!old.is_subset(&new), !new.is_subset(&old)),
                _ => Relation::Undecided,
            };
        }
        let listed = self.old.types.and(self.new.types).has(JsonTypes::ARRAY);
        let order = self.compare(&old, &new, listed, order_with_lost_lists);
        match (order.relation, order.gains) {
            // A stricter keyword counts as accepting fewer values, even if no example is found.
            (Relation::Undecided, Some(false)) => Relation::Narrower,
            (relation, _) => relation,
        }
    }

    fn compare(&self, old: &Shape, new: &Shape, listed: bool, unlisted: Compare) -> Comparison<Sample> {
        let compare = if listed { order_local } else { unlisted };
        compare(old, new, role(self.pair.position), self.pair.budget).or_wider()
    }
}

type Compare = fn(&Shape, &Shape, Role, &Budget) -> Comparison<Sample>;

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
