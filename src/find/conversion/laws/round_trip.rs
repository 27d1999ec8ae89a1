//! The law that round trips are lossless.

use serde_json::Value;

use crate::find::conversion::address::Containers;
use crate::find::conversion::convert::ConvertError;
use crate::find::conversion::lossless::{Obstacle, lossless};
use crate::find::conversion::manifest::{Direction, Reverse};
use crate::find::conversion::output_schema::output_schema;
use crate::find::conversion::path_through_steps;
use crate::find::conversion::preserve::indexes_of_shared_keys;
use crate::find::conversion::shape_edit::check_kept;
use crate::find::conversion::step::Op;
use crate::model::{FieldPath, PathStep};

use super::{Attempt, Counterexample, LawCheck, LawVerdict, NO_REVERSE, PARTLY_KNOWN, SHARED_KEY, difference};

impl LawCheck<'_> {
    /// Checks that converting to the other version and back restores every object (RT1 forward, RT2 back), up to normal form and
    /// pruning.
    pub fn round_trip(&self, direction: Direction) -> LawVerdict {
        if self.converter(direction).is_none() || self.converter(direction.opposite()).is_none() {
            return LawVerdict::Undecided(NO_REVERSE.into());
        }
        let (proof, hint) = match self.prove_round_trip(direction) {
            Ok(()) => (Ok(()), None),
            Err(Obstacle { reason, hint, .. }) => (Err(reason), hint),
        };
        let hinted = hint.and_then(|(path, value)| self.object_with(direction, &path, &value));
        let objects = hinted.iter().chain(self.samples(direction));
        LawCheck::decided(proof, objects, |object| self.lossy(object, direction))
    }

    /// Proves a round trip: the inverse of each step restores its values, and the schema between them keeps everything.
    ///
    /// The inverses run in the opposite order, so each gets the very object that its step produced, unless a later one restored its
    /// object only up to normal form. Such a step must not touch what earlier steps touch.
    fn prove_round_trip(&self, direction: Direction) -> Result<(), Obstacle> {
        if !matches!(self.manifest.reverse, Reverse::Auto) {
            return Err(Obstacle::permanent("the reverse direction has its own steps".into()));
        }
        self.preserved_values_are_apart().map_err(Obstacle::permanent)?;
        let steps = self.manifest.directed_steps(direction).unwrap_or_default();
        if self.manifest.preserve.is_some() && !indexes_of_shared_keys(&steps).is_empty() {
            return Err(Obstacle::permanent(SHARED_KEY.into()));
        }
        let (start, end) = self.endpoints(direction);
        let mut shape = start.shape.clone();
        let mut done: Vec<Op> = Vec::new();
        let mut kept_in_list = false;
        for (op, preserved) in self.ops(direction).unwrap_or_default() {
            match lossless(&op, &shape) {
                Ok(()) if op.restores_exactly(&shape) => {}
                Ok(()) => {
                    if kept_in_list || done.iter().any(|earlier| touches(earlier, &op)) {
                        return Err(Obstacle::permanent("several steps change the same field".into()));
                    }
                }
                Err(Obstacle { preservable: true, .. }) if preserved => kept_in_list |= self.is_kept_in_list(&op)?,
                Err(mut found) => {
                    found.hint = found.hint.map(|(path, value)| (path_through_steps::origin(&done, &path), value));
                    return Err(found);
                }
            }
            shape = output_schema(&op, shape).ok_or_else(|| Obstacle::permanent(PARTLY_KNOWN.into()))?;
            done.push(op);
        }
        check_kept(&shape, &end.shape, &FieldPath::root())
            .map_err(|path| Obstacle::permanent(format!("the other version doesn't keep `{path}`")))
    }

    /// Whether a step preserves values of list items. They are found by the other fields of their item, so the step must not change
    /// the fields that identify it.
    fn is_kept_in_list(&self, op: &Op) -> Result<bool, Obstacle> {
        let mut in_list = false;
        for path in op.paths() {
            for (depth, _) in path.steps().iter().enumerate().filter(|(_, step)| **step == PathStep::Items) {
                in_list = true;
                match path.steps().get(depth + 1) {
                    Some(PathStep::Key(name)) if !self.keys.identify(name) => {}
                    _ => return Err(Obstacle::permanent(format!("`{path}` may identify the items whose values are preserved"))),
                }
            }
        }
        Ok(in_list)
    }

    /// Builds the smallest object with this value at a path.
    fn object_with(&self, direction: Direction, path: &FieldPath, value: &Value) -> Option<Value> {
        let (start, _) = self.endpoints(direction);
        let object = start.object(crate::compare::embed(&start.shape, path, value)?);
        start.accepts(&object).then_some(object)
    }

    pub(super) fn lossy(&self, object: &Value, direction: Direction) -> Option<LawVerdict> {
        let (start, end) = self.endpoints(direction);
        let Attempt::Converted(converted) = self.convert(object, direction) else { return None };
        let stored = end.pruned(&converted);
        let (because, path, step) = match self.convert(&stored, direction.opposite()) {
            Attempt::Excused => return None,
            Attempt::Failed(error) => {
                let step = if let ConvertError::Refused(refusal) = &error { Some(refusal.step) } else { None };
                (format!("it can't be converted back: {error}"), None, step)
            }
            Attempt::Converted(returned) => {
                // The field that stores preserved values belongs to the conversion, not to the object.
                let (before, after) = (
                    start.normalised(&self.manifest.without_preserved(object)),
                    start.normalised(&self.manifest.without_preserved(&returned)),
                );
                let (path, said) = difference(&before, &after)?;
                (said, Some(path), None)
            }
        };
        Some(LawVerdict::Broken(Box::new(Counterexample { object: object.clone(), because, path, step })))
    }
}

/// Whether a step touches a field of another one, or creates or removes a parent of it.
pub(super) fn touches(op: &Op, other: &Op) -> bool {
    let container = Containers::of(&op.paths()).map_or(0, |containers| containers.prefix.steps().len());
    let overlap = |a: &[PathStep], b: &[PathStep]| a.iter().zip(b).all(|(a, b)| a == b || *a == PathStep::Values || *b == PathStep::Values);
    op.paths().iter().any(|path| {
        let whole = path.steps().get(..=container).unwrap_or(path.steps());
        other.paths().iter().any(|other| overlap(whole, other.steps()))
    })
}
