//! Which checks of a schema were made on an object, and how they went: what the coverage of a test suite is counted from.

use crate::model::FieldPath;

use super::error::Kind;

/// A check that a schema node asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// By the keyword of this kind of error.
    Keyword(Kind),
    /// That this field is there.
    Required(Box<str>),
    /// The rule of this number among the node's `x-kubernetes-validations`.
    Rule(usize),
}

/// A check that was made on a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    /// The node.
    pub path: FieldPath,
    pub check: Check,
    pub holds: bool,
    /// Whether the request was an update.
    pub update: bool,
}
