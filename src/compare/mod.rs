//! Compares two shapes: which objects each accepts and keeps, with an example object for each difference.
//!
//! Everything is based on one search ([`solver`]) for a value that the old side accepts and keeps, and that the new side rejects or
//! prunes in part. If there is none, it is proved that nothing is lost. Requests are checked as creates, so transition rules don't
//! count.
//!
//! - [`order_roots`], [`order`] and [`order_local`] compare whole schemas, one field with everything below it, or one field alone.
//! - [`filled`], [`around`] and [`embed`] generate valid objects.
//! - [`Witnesses`] shows a difference with an object, confirmed by requests to both sides.

mod budget;
mod cel_condition;
pub(crate) mod cel_implication;
mod condition;
mod constraint_objects;
mod generate;
mod limits;
mod neighbours;
mod order;
mod random;
mod sampling;
pub(crate) mod solver;
pub mod strings;
mod witness;

use serde_json::Value;

pub use crate::model::relation::{Comparison, Relation};
pub use budget::Budget;
pub(crate) use budget::divide;
pub(crate) use condition::{CONDITIONS, condition_keywords, condition_of, constrained_by, errors_of, restore};
pub(crate) use constraint_objects::CaseMaker;
#[cfg(test)]
pub(crate) use generate::smallest;
pub use generate::{around, embed, filled};
pub(crate) use limits::{MAX_LIST, MAX_RULE, bounded_shape, is_oversized, is_oversized_shape};
pub(crate) use order::is_same;
pub use order::{order, order_local, order_roots, order_with_lost_lists, order_without_lists};
#[cfg(any(test, fuzzing))]
pub(crate) use random::Random;
pub(crate) use solver::completed;
pub use witness::{Cause, SchemaPair, Trial, What, Witnesses};

/// The position of a node in its schema, which decides what happens to a null, a default and a missing value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Declared in `properties`.
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

#[cfg(test)]
mod tests;
