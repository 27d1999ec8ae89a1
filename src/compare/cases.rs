//! Objects that show one constraint of a schema: one that has to do with it and is accepted, one that is rejected for it alone.

use serde_json::Value;

use crate::model::fact::Aspect;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::{FieldPath, fact::Witness};
use crate::server::object::{Check, Kind};

use super::generate::Maker;
use super::solver::{Pin, Preference, Target};
use super::{Budget, Cause, Trial, What, Witnesses};

/// Makes objects of one version.
pub(crate) struct CaseMaker<'s> {
    root: &'s Shape,
    small: Maker<'s>,
    api_version: &'s str,
    kind: &'s str,
}

/// A request that is rejected.
pub(crate) struct Rejected {
    pub previous: Option<Value>,
    pub object: Value,
}

impl From<Witness> for Rejected {
    fn from(witness: Witness) -> Self {
        Rejected { previous: witness.previous, object: witness.object }
    }
}

impl<'s> CaseMaker<'s> {
    pub fn new(root: &'s Shape, api_version: &'s str, kind: &'s str) -> Self {
        CaseMaker { root, small: Maker::new(root, Preference::Small, &Budget::of_each()), api_version, kind }
    }

    /// Bodies with as little and with as much as possible.
    pub fn extremes(&mut self) -> Vec<Value> {
        super::filled(self.root).into_iter().chain(self.small.make(None)).collect()
    }

    /// A small body that has a value at the path.
    pub fn with(&mut self, path: &'s FieldPath) -> Option<Value> {
        let pin = (!path.is_root()).then_some(Pin { steps: path.steps(), target: Target::Sent });
        self.small.make(pin)
    }

    /// A request that this check of the node at the path rejects.
    pub fn rejected(&self, path: &FieldPath, check: &Check) -> Option<Rejected> {
        let lenient = self.without(path, check)?;
        let budget = Budget::of_each();
        let witnesses = Witnesses::new(&lenient, self.root, self.api_version, self.kind, &budget);
        let (at, what, cause) = match check {
            Check::Required(name) => (path.key(name), What::Absent, Cause::Refusal),
            Check::Keyword(kind) => (path.clone(), What::Sent, Cause::Here(aspect(*kind)?)),
            Check::Rule(number) => (path.clone(), What::Sent, Cause::Rule(&self.root.at(path.steps())?.rules.get(*number)?.rule)),
        };
        let transition = matches!(cause, Cause::Rule(rule) if crate::cel::normalise::is_transition(rule));
        if !transition && let Search::Found(witness) = witnesses.show(&at, what, cause) {
            return Some(witness.into());
        }
        let trial = match cause {
            Cause::Rule(rule) if transition => witnesses.sample_update(&at, rule),
            _ => witnesses.sample(&at, cause),
        };
        match trial {
            Trial::Shown(witness) => Some((*witness).into()),
            Trial::Passed { .. } | Trial::Open => None,
        }
    }

    /// The schema without the check.
    fn without(&self, path: &FieldPath, check: &Check) -> Option<Shape> {
        let mut root = self.root.clone();
        let node = root.at_mut(path.steps())?;
        match check {
            Check::Required(name) => {
                node.required.remove(&**name);
            }
            Check::Rule(number) if *number < node.rules.len() => {
                node.rules.remove(*number);
            }
            Check::Rule(_) => return None,
            Check::Keyword(kind) => {
                let free = Shape::any(node.at);
                super::restore(node, &free, aspect(*kind)?);
            }
        }
        Some(root)
    }

    /// The object of a body.
    pub fn whole(&self, body: Value) -> Value {
        let mut object = serde_json::json!({"apiVersion": self.api_version, "kind": self.kind, "metadata": {"name": "example"}});
        if let (Value::Object(all), Value::Object(own)) = (&mut object, body) {
            all.extend(own.into_iter().filter(|(key, _)| !crate::model::schema::is_meta(key)));
        }
        super::witness::write_whole_numbers(&mut object);
        object
    }
}

fn aspect(kind: Kind) -> Option<Aspect> {
    Some(match kind {
        Kind::Enum => Aspect::Enum,
        Kind::Pattern => Aspect::Pattern,
        Kind::Format => Aspect::Format,
        Kind::MinLength => Aspect::MinLength,
        Kind::MaxLength => Aspect::MaxLength,
        Kind::Minimum => Aspect::Minimum,
        Kind::Maximum => Aspect::Maximum,
        Kind::MultipleOf => Aspect::MultipleOf,
        Kind::MinItems => Aspect::MinItems,
        Kind::MaxItems => Aspect::MaxItems,
        Kind::MinProperties => Aspect::MinProperties,
        Kind::MaxProperties => Aspect::MaxProperties,
        Kind::AnyOf => Aspect::AnyOf,
        Kind::OneOf => Aspect::OneOf,
        Kind::AllOf => Aspect::AllOf,
        Kind::Not => Aspect::Not,
        _ => return None,
    })
}
