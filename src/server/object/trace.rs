//! Records which checks of a schema were made on an object, and their results, for the coverage of a test suite.

use crate::model::FieldPath;

use super::error::FieldErrorKind;

/// A check that a schema node requires.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Check {
    /// The keyword of this kind of error.
    Keyword(FieldErrorKind),
    /// That this field exists.
    Required(Box<str>),
    /// The rule with this index in the node's `x-kubernetes-validations`.
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
