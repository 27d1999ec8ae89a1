//! What an API server does with one object: it prunes, drops nulls, fills in defaults, and judges what is left.
//!
//! A [`Shape`] and an object come in; what would be stored, what was dropped and filled in, and every error go out.

mod check;
mod enumeration;
mod error;
mod fill;
mod lists;
mod node;
mod path;
mod prune;
mod ratchet;
mod standin;

use serde_json::Value;

use crate::schema::Shape;

pub use error::{Error, Kind, Reason};
pub use path::{ObjectPath, ObjectStep};

use node::{Node, Purpose};
use path::Trail;
use ratchet::Twin;

/// A version's schema, ready for many objects.
#[derive(Debug)]
pub struct Compiled {
    root: Node,
}

/// What became of a request.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The object as it would be stored; where there are errors, as it was judged.
    pub stored: Value,
    /// Unknown fields that were dropped.
    pub pruned: Vec<ObjectPath>,
    /// Fields dropped because they were null.
    pub nulls: Vec<ObjectPath>,
    /// Fields that got their default.
    pub defaulted: Vec<ObjectPath>,
    /// Why the request is refused.
    pub errors: Vec<Error>,
    /// What is wrong and forgiven, because the update didn't touch it.
    pub warnings: Vec<Error>,
}

impl Outcome {
    pub fn accepted(&self) -> bool {
        self.errors.is_empty()
    }
}

impl Compiled {
    pub fn new(root: &Shape) -> Self {
        Compiled { root: Node::compile(root, Purpose::Request) }
    }

    /// A request to create the object.
    pub fn request(&self, object: Value) -> Outcome {
        let mut outcome = self.admit(object);
        self.judge(&mut outcome, None);
        outcome
    }

    /// A request to replace `old`, as it is stored, by `new`.
    pub fn request_update(&self, old: &Value, new: Value) -> Outcome {
        let mut outcome = self.admit(new);
        self.judge(&mut outcome, Some(old));
        outcome
    }

    /// What is done to an object before it is judged.
    fn admit(&self, mut object: Value) -> Outcome {
        let mut outcome = Outcome { pruned: prune::unknown(&mut object, &self.root, true), ..Outcome::default() };
        prune::nulls(&mut object, &self.root, &Trail::Root, &mut outcome.nulls);
        fill::defaults(&mut object, &self.root, &Trail::Root, &mut outcome.defaulted);
        outcome.stored = object;
        outcome
    }

    fn judge(&self, outcome: &mut Outcome, old: Option<&Value>) {
        let twin = old.map(|old| Twin { old, new: &outcome.stored, node: &self.root });
        let (mut errors, warnings) = check::run(&outcome.stored, &self.root, twin);
        lists::check(&outcome.stored, &self.root, &Trail::Root, &mut errors);
        outcome.errors = errors;
        outcome.warnings = warnings;
    }
}
