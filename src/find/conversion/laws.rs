//! The laws of a conversion: its results are valid, its round trips are lossless, it is idempotent, and it is independent of
//! the stored version.
//!
//! A law is proved from the conditions of the steps where possible, and otherwise tested with sample objects.

mod repetition;
mod restored_values;
mod round_trip;
mod validity;
#[cfg(any(test, fuzzing))]
pub(crate) mod violation;

use std::sync::Arc;

use serde_json::Value;

use crate::compare::Budget;
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::server::object::differences;

use super::address::ListKeys;
use super::convert::{ConvertError, Converter};
use super::directed_step::DirectedStep;
use super::manifest::{Direction, Manifest};
use super::output_schema::output_schema;
use super::preserve::Preserve;
use super::schema_endpoint::SchemaEndpoint;
use super::search::Wanted;
use super::shape_edit::{has_no_conditions, holds_anything};
use super::step::{Op, StepFailure, same, shown};

/// The laws in the order in which they are reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    Valid,
    ValidBack,
    RoundTrip,
    RoundTripBack,
    Idempotent,
    StoredVersion,
}

impl Law {
    pub const ALL: [Law; 6] = [Law::Valid, Law::ValidBack, Law::RoundTrip, Law::RoundTripBack, Law::Idempotent, Law::StoredVersion];

    pub fn title(self) -> &'static str {
        match self {
            Law::Valid => "results are valid",
            Law::ValidBack => "results of converting back are valid",
            Law::RoundTrip => "round trip is lossless",
            Law::RoundTripBack => "reverse round trip is lossless",
            Law::Idempotent => "idempotent",
            Law::StoredVersion => "independent of the stored version",
        }
    }
}

/// Why a law can't be proved.
const PARTLY_KNOWN: &str = "the results of the steps are only partly known";
const SHARED_KEY: &str = "two steps of one kind preserve values of the same field";

/// Why a law doesn't apply.
const NO_CONVERSION: &str = "the manifest doesn't convert in this direction";
const NO_REVERSE: &str = "the manifest doesn't convert back";

/// An object that breaks a law.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    pub object: Value,
    pub because: String,
    /// Where the objects differ, or what is wrong with the result.
    pub path: Option<FieldPath>,
    /// Position of the step that causes the violation, if there is one.
    pub step: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum LawVerdict {
    Proved,
    /// The law holds for this many objects. The reason says why it couldn't be proved.
    Tested {
        objects: usize,
        because: String,
    },
    Broken(Box<Counterexample>),
    /// The law doesn't apply.
    Undecided(String),
}

/// Checks the laws for a manifest and the schemas of its two versions.
pub struct LawCheck<'m> {
    pub manifest: &'m Manifest,
    pub old: &'m SchemaEndpoint,
    pub new: &'m SchemaEndpoint,
    forward: Option<Converter<'m>>,
    back: Option<Converter<'m>>,
    keys: Arc<ListKeys>,
    budget: Budget,
    /// The examples of the manifest that the old and the new version accept, with a name if they lack one.
    examples: [Vec<Value>; 2],
}

/// The result of converting one object.
enum Attempt {
    Converted(Value),
    /// A manual step or a number too large to represent; doesn't count against the conversion.
    Excused,
    Failed(ConvertError),
}

impl<'m> LawCheck<'m> {
    pub fn new(manifest: &'m Manifest, old: &'m SchemaEndpoint, new: &'m SchemaEndpoint) -> Self {
        let mut keys = ListKeys::default();
        [old, new].into_iter().for_each(|endpoint| keys.add_schema(&endpoint.shape));
        let keys = Arc::new(keys);
        let converter = |direction| Converter::new(manifest, direction).ok().map(|converter| converter.with_keys(&keys));
        // Requests are pruned before they are converted.
        let accepted = |endpoint: &SchemaEndpoint, example: &Value| {
            Some(endpoint.object(example.clone())).filter(|object| endpoint.accepts(object)).map(|object| endpoint.pruned(&object))
        };
        let examples = [
            manifest.examples.iter().filter_map(|example| accepted(old, &example.old)).collect(),
            manifest.examples.iter().filter_map(|example| accepted(new, &example.new)).collect(),
        ];
        let (forward, back) = (converter(Direction::Forward), converter(Direction::Back));
        LawCheck { manifest, old, new, forward, back, keys, budget: Budget::of_each(), examples }
    }

    /// Limits the work of all proofs together.
    #[must_use]
    pub fn within(self, budget: &Budget) -> Self {
        LawCheck { budget: budget.clone(), ..self }
    }

    fn converter(&self, direction: Direction) -> Option<&Converter<'m>> {
        match direction {
            Direction::Forward => self.forward.as_ref(),
            Direction::Back => self.back.as_ref(),
        }
    }

    /// The schemas that a direction converts from and to.
    fn endpoints(&self, direction: Direction) -> (&'m SchemaEndpoint, &'m SchemaEndpoint) {
        match direction {
            Direction::Forward => (self.old, self.new),
            Direction::Back => (self.new, self.old),
        }
    }

    fn convert(&self, object: &Value, direction: Direction) -> Attempt {
        let Some(converter) = self.converter(direction) else { return Attempt::Excused };
        match converter.converted(object) {
            Ok(converted) => Attempt::Converted(converted),
            Err(ConvertError::Refused(refusal)) if matches!(refusal.reason, StepFailure::Manual(_) | StepFailure::Overflow(_)) => {
                Attempt::Excused
            }
            Err(error) => Attempt::Failed(error),
        }
    }

    /// Sample objects: the examples of the manifest, then objects generated from the schema.
    fn samples(&self, direction: Direction) -> impl Iterator<Item = &Value> {
        let (start, _) = self.endpoints(direction);
        let [old, new] = &self.examples;
        let examples = if direction == Direction::Forward { old } else { new };
        examples.iter().chain(start.samples())
    }

    /// Whether the values that a direction loses are preserved: the target schema must keep the place where they are stored.
    fn preserves(&self, direction: Direction) -> bool {
        let (_, end) = self.endpoints(direction);
        match &self.manifest.preserve {
            None => false,
            Some(Preserve::Annotation(_)) => true,
            Some(Preserve::Field(path)) => holds_anything(&end.shape, path),
        }
    }

    /// Checks that the steps don't act on the field where values are preserved, and that storing values there has no other effect.
    fn preserved_values_are_apart(&self) -> Result<(), String> {
        let Some(Preserve::Field(field)) = &self.manifest.preserve else { return Ok(()) };
        let unconditional = |endpoint: &SchemaEndpoint| {
            let head = field.head().unwrap_or_default();
            let parent = endpoint.shape.property(head);
            !endpoint.shape.required.contains(head) && parent.is_none_or(|parent| parent.default.is_none() && has_no_conditions(parent))
        };
        let apart = |path: &&FieldPath| path.head() == field.head() && !path.starts_with(field) && !field.starts_with(path);
        let simple = field.steps().len() == 2 && unconditional(self.old) && unconditional(self.new);
        // The field may be removed together with an empty parent, which these steps need.
        let needs_parent = |op: &Op| op.triggers().iter().any(|(_, wanted)| matches!(wanted, Wanted::Missing));
        let ops = self.manifest.steps.iter().flat_map(|step| [Some(step.op.clone()), step.op.inverse()]).flatten();
        let simple = simple && !ops.into_iter().any(|op| needs_parent(&op));
        if simple && self.manifest.steps.iter().flat_map(|step| step.op.paths()).all(|path| apart(&path)) {
            return Ok(());
        }
        Err(format!("storing values in `{field}` may affect other fields"))
    }

    /// The operations of a direction, each with whether the values it loses are preserved.
    fn ops(&self, direction: Direction) -> Option<Vec<(Op, bool)>> {
        let preserved = self.preserves(direction);
        let steps = self.manifest.directed_steps(direction)?;
        Some(steps.iter().map(|step| (step.op.clone(), preserved && self.restores(step))).collect())
    }

    /// Whether a step may restore a preserved value instead of converting one.
    fn restores(&self, step: &DirectedStep) -> bool {
        self.manifest.preserve.is_some() && step.step.preserve && step.reversed
    }

    /// The schema of everything that a direction can produce; `None` if it isn't known.
    pub(crate) fn output_schema(&self, direction: Direction) -> Option<Shape> {
        let (start, _) = self.endpoints(direction);
        self.ops(direction)?.iter().try_fold(start.shape.clone(), |shape, (op, _)| output_schema(op, shape))
    }

    /// Returns the object without its `apiVersion` and preserved values.
    fn bare(&self, object: &Value) -> Value {
        let mut object = self.manifest.without_preserved(object);
        if let Some(map) = object.as_object_mut() {
            map.remove("apiVersion");
        }
        object
    }

    /// The verdict on a law with or without a proof: objects are tried in any case, and one that breaks the law refutes the proof.
    fn decided<'o>(
        proof: Result<(), String>,
        objects: impl Iterator<Item = &'o Value>,
        broken: impl Fn(&Value) -> Option<LawVerdict>,
    ) -> LawVerdict {
        let mut tried = 0;
        for object in objects {
            if let Some(verdict) = broken(object) {
                return verdict;
            }
            tried += 1;
        }
        match proof {
            Ok(()) => LawVerdict::Proved,
            Err(because) => LawVerdict::Tested { objects: tried, because },
        }
    }

    /// The verdict on a law.
    pub fn verdict(&self, law: Law) -> LawVerdict {
        match law {
            Law::Valid => self.validity(Direction::Forward),
            Law::ValidBack => self.validity(Direction::Back),
            Law::RoundTrip => self.round_trip(Direction::Forward),
            Law::RoundTripBack => self.round_trip(Direction::Back),
            Law::Idempotent => self.idempotence(),
            Law::StoredVersion => self.stored_version_independence(),
        }
    }
}

/// Returns the first place where two objects differ, and a description of the difference.
pub(crate) fn difference(before: &Value, after: &Value) -> Option<(FieldPath, String)> {
    let found = differences(before, after, same).into_iter().next()?;
    let at = found.path.general();
    let said = match (found.old, found.new) {
        (Some(was), Some(is)) => format!("`{at}` was {} and is {}", shown(was), shown(is)),
        (Some(was), None) => format!("`{at}` is lost: it was {}", shown(was)),
        (None, is) => format!("`{at}` appears: it is {}", is.map(shown).unwrap_or_default()),
    };
    Some((at, said))
}

#[cfg(test)]
mod tests;
