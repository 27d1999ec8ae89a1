//! Two shapes come in; how the sets of objects that they accept and keep compare, and an object for each difference, go out.
//!
//! Everything rests on one search (`solve`): the old side accepts and keeps a value, the new side refuses it or prunes a
//! part of it. If there is none, nothing is lost, and that is a proof. Requests are judged as the creation of an object:
//! rules that compare with the object before have no say.
//!
//! - [`order_roots`], [`order`] and [`order_local`] compare whole schemas, one field with all below it, one field alone.
//! - [`smallest`], [`filled`], [`around`] and [`embed`] make valid objects.
//! - [`Witnesses`] shows a difference by an object, confirmed by the request path on both sides.

mod budget;
mod cel_condition;
pub(crate) mod cel_implication;
mod condition;
mod generate;
mod limits;
mod order;
pub(crate) mod solver;
pub mod text;
mod witness;

use serde_json::Value;

pub use crate::model::relation::{Comparison, Relation};
pub use budget::Budget;
pub(crate) use condition::{CONDITIONS, condition_keywords, constrained_by, restore};
pub use generate::{MAX_AROUND, around, embed, filled, smallest};
pub(crate) use limits::{MAX_LIST, MAX_RULE, bounded_shape, is_oversized, is_oversized_shape};
pub(crate) use order::is_same;
pub use order::{order, order_local, order_roots, order_without_lists};
pub use solver::MAX_STEPS;
pub(crate) use solver::completed;
pub use witness::{Cause, What, Witnesses};

/// Where a node stands in the schema: it decides what becomes of a null, of a default, and of a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Named in `properties`.
    Field,
    /// A value of `additionalProperties`.
    Entry,
    /// An item of a list.
    Item,
}

/// What a client sends at a node.
#[derive(Debug, Clone, PartialEq)]
pub enum Sample {
    /// Nothing: the key is left out.
    Absent,
    Sent(Value),
}

impl Sample {
    pub fn value(&self) -> Option<&Value> {
        match self {
            Sample::Absent => None,
            Sample::Sent(value) => Some(value),
        }
    }
}

#[cfg(test)]
mod tests;
