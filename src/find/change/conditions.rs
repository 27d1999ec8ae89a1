//! A node together with the clauses that always apply: `allOf`, `anyOf` and `oneOf` with a single clause, double negation.
//!
//! A keyword that moved into such a clause is still the same condition.

use std::collections::BTreeSet;

use crate::compare::restore;
use crate::model::fact::Aspect;
use crate::model::schema::{Keyword, Schema, Shape};

use super::json_types::JsonTypes;
use super::value_text::{NodeKind, canonical};

/// The node itself, followed by the clauses.
pub(super) struct Conditions<'t> {
    list: Vec<Schema<'t>>,
}

impl<'t> Conditions<'t> {
    pub(super) fn of(schema: &Schema<'t>) -> Self {
        let mut list = vec![schema.clone()];
        let mut index = 0;
        while let Some(schema) = list.get(index) {
            let single = |word| schema.clauses(word).filter(move |_| schema.clauses(word).len() == 1);
            let clauses = schema.clauses(Keyword::AllOf).chain(single(Keyword::AnyOf)).chain(single(Keyword::OneOf));
            let clauses: Vec<Schema<'t>> = clauses.chain(doubly_negated(schema)).collect();
            list.extend(clauses);
            index += 1;
        }
        Conditions { list }
    }

    /// The required names.
    pub(super) fn required(&self) -> BTreeSet<&'t str> {
        self.list.iter().flat_map(|schema| schema.names(Keyword::Required)).collect()
    }

    /// The values that every `enum` allows, by their canonical text.
    pub(super) fn values(&self) -> Option<BTreeSet<String>> {
        let enums = self.list.iter().filter_map(Schema::enum_values).filter(|values| values.len() > 0);
        enums
            .map(|values| values.map(|value| canonical(value, NodeKind::Data)).collect::<BTreeSet<_>>())
            .reduce(|a, b| a.intersection(&b).cloned().collect())
    }

    /// Adds one condition to a node that doesn't have it.
    pub(super) fn add(&self, node: &mut Shape, condition: Aspect) {
        let Some((own, clauses)) = self.list.split_first() else { return };
        if condition != Aspect::AllOf {
            restore(node, &only(own, condition, true), condition);
        }
        let parts = clauses.iter().map(|clause| only(clause, condition, false));
        node.all_of.extend(parts.filter(|part| *part != Shape::default()));
    }

    /// A shape of these types with a single condition.
    pub(super) fn only(&self, condition: Aspect, types: JsonTypes) -> Shape {
        let mut parts = self.list.iter().enumerate().map(|(index, schema)| only(schema, condition, index == 0));
        let mut node = parts.next().unwrap_or_else(|| unreachable!("the node itself comes first"));
        types.apply(&mut node);
        node.format = node.format.filter(|_| types.read_formats());
        node.preserve_unknown = true;
        node.all_of = parts.filter(|part| *part != Shape::default()).collect();
        node
    }
}

/// One condition of a node or clause, without nested clauses that are conditions of their own.
fn only(schema: &Schema<'_>, condition: Aspect, own: bool) -> Shape {
    let any = Shape::default();
    match condition {
        // What a node says about its children isn't its own condition; what a clause says is.
        Aspect::AllOf if own => any,
        Aspect::AllOf => {
            let Shape { properties, items, extra, .. } = Shape::of(schema);
            Shape { properties, items, extra, ..any }
        }
        Aspect::AnyOf if schema.clauses(Keyword::AnyOf).len() == 1 => any,
        Aspect::OneOf if schema.clauses(Keyword::OneOf).len() == 1 => any,
        Aspect::Not if doubly_negated(schema).is_some() => any,
        _ => {
            let mut shape = any;
            restore(&mut shape, &Shape::local(schema), condition);
            shape
        }
    }
}

fn doubly_negated<'t>(schema: &Schema<'t>) -> Option<Schema<'t>> {
    schema.not().filter(|not| not.node().len() == 1)?.not()
}
