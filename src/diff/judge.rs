//! The verdict on what two nodes accept as a whole, by the exact comparison of their shapes.

use crate::order::{self, Role, Sample, order_local};
use crate::schema::shape::Type;
use crate::schema::{Schema, Shape};
use crate::validate::Compiled;
use crate::yaml::Node;

use super::limits::{Limits, Types};
use super::relation::Relation;
use super::walk::{Pair, Position};

/// Nodes of a schema that one comparison looks at; what is below a larger one is left out of it.
const NODES: usize = 20_000;

/// Lists longer than this are compared as sets and searched no further: an enum of a million values must not cost a million searches.
const LONG_LIST: usize = 2_000;

/// Whether the schema holds a list too long to search. Recursion is bounded by the depth of the tree.
pub(super) fn has_long_list(node: Node<'_>) -> bool {
    (node.is_seq() && node.len() > LONG_LIST) || node.entries().map(|entry| entry.value).chain(node.items()).any(has_long_list)
}

#[derive(Debug, Clone)]
pub(super) struct Judgement {
    pub relation: Relation,
    /// What the old node accepts and the new one doesn't.
    pub lost: Option<Sample>,
    /// Why it is undecided.
    pub reason: Option<String>,
}

impl Judgement {
    fn of(order: order::Order) -> Self {
        let relation = match (order.relation, order.loses) {
            (order::Relation::Equal, _) => Relation::Equal,
            (order::Relation::Narrower, _) => Relation::Narrowed,
            (order::Relation::Wider, _) => Relation::Widened,
            (order::Relation::Incomparable, _) => Relation::Changed,
            // Nothing is lost, and whether anything is gained hurts nobody.
            (order::Relation::Undecided, Some(false)) => Relation::Widened,
            (order::Relation::Undecided, _) => Relation::Undecided,
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
pub(super) fn judge(pair: &Pair<'_, '_>, before: &Limits<'_>, after: &Limits<'_>, together: Relation) -> Judgement {
    // The same conditions accept the same values, unless a fractional bound makes an integer impossible.
    if together == Relation::Equal && before.refuses_all() == after.refuses_all() {
        return Judgement::known(together);
    }
    if has_long_list(pair.old.node()) || has_long_list(pair.new.node()) {
        return Judgement::known(together);
    }
    let (mut old, mut new) = shapes(pair, before, after);
    let mut judgement = Judgement::of(order_local(&old, &new, role(pair.position)));
    if judgement.undecided() && !old.rules.is_empty() {
        // Mostly a rule that can't be taken apart; without it more is accepted on both sides, so no loss is hidden.
        old.rules.clear();
        new.rules.clear();
        judgement = Judgement::of(order_local(&old, &new, role(pair.position)));
    }
    // That nothing is lost of what nothing satisfies proves nothing, unless it is known why nothing does.
    if together.narrows() && !judgement.relation.narrows() && !before.refuses_all() && !is_inhabited(&old) {
        return Judgement::known(together);
    }
    // Beside a format of strings servers let lists pass, whatever the type is: nobody relies on that.
    if matches!(&judgement.lost, Some(Sample::Sent(serde_json::Value::Array(_)))) && !before.types.has(Types::ARRAY) {
        return Judgement::known(together);
    }
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

/// Whether some value is known that the node accepts: found, and confirmed by the request path.
fn is_inhabited(node: &Shape) -> bool {
    let mut root = Shape::any(node.at);
    root.ty = Some(Type::Object);
    root.properties.insert("spec".to_owned(), node.clone());
    root.required.insert("spec".to_owned());
    order::smallest(&root).is_some_and(|body| Compiled::new(&root).request(body).accepted())
}

/// Both nodes with nothing different but what a value must be: nulls, defaults, undeclared keys and rules have facts of their own.
fn shapes(pair: &Pair<'_, '_>, before: &Limits<'_>, after: &Limits<'_>) -> (Shape, Shape) {
    let mut old = shape(&pair.old);
    old.default = None;
    old.nullable = false;
    // Names that only one side demands are told as such; here both demand them.
    old.required = before.required.union(&after.required).map(|name| (*name).to_owned()).collect();
    let constraints = Shape::local(&pair.new);
    let new = Shape {
        ty: constraints.ty,
        int_or_string: constraints.int_or_string,
        enum_values: constraints.enum_values,
        bounds: constraints.bounds,
        length: constraints.length,
        pattern: constraints.pattern,
        format: constraints.format,
        item_count: constraints.item_count,
        unique_items: constraints.unique_items,
        property_count: constraints.property_count,
        all_of: constraints.all_of,
        any_of: constraints.any_of,
        one_of: constraints.one_of,
        not: constraints.not,
        ..old.clone()
    };
    (old, new)
}

/// What becomes of the values of the old node under other rules.
pub(super) fn judge_rules(pair: &Pair<'_, '_>, old: &[&str], new: &[&str]) -> Judgement {
    let with = |rules: &[&str]| {
        let mut shape = shape(&pair.old);
        shape.default = None;
        shape.rules = rules.iter().map(|rule| rule_of(rule)).collect();
        shape
    };
    Judgement::of(order_local(&with(old), &with(new), role(pair.position)))
}

fn rule_of(rule: &str) -> crate::schema::shape::CelRule {
    crate::schema::shape::CelRule {
        rule: rule.to_owned(),
        message: None,
        message_expression: None,
        reason: None,
        field_path: None,
        optional_old_self: None,
    }
}

fn shape(schema: &Schema<'_>) -> Shape {
    if count(schema.node(), NODES) < NODES { Shape::of(schema) } else { Shape::local(schema) }
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

fn role(position: Position) -> Role {
    match position {
        Position::Root | Position::Property { .. } => Role::Field,
        Position::Item => Role::Item,
        Position::Value => Role::Entry,
    }
}
