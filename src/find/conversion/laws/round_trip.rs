//! The law that round trips are lossless.

use serde_json::Value;

use crate::find::conversion::convert::ConvertError;
use crate::find::conversion::lossless::{Obstacle, lossless};
use crate::find::conversion::manifest::{Direction, Reverse};
use crate::find::conversion::output_schema::output_schema;
use crate::find::conversion::path_through_steps;
use crate::find::conversion::shape_edit::check_kept;
use crate::find::conversion::step::Op;
use crate::model::FieldPath;

use super::{Attempt, Counterexample, LawCheck, LawVerdict, NO_REVERSE, difference};

impl LawCheck<'_> {
    /// Checks that converting to the other version and back restores every object (RT1 forward, RT2 back), up to normal form and
    /// pruning.
    pub fn round_trip(&self, direction: Direction) -> LawVerdict {
        if self.converter(direction).is_none() || self.converter(direction.opposite()).is_none() {
            return LawVerdict::Undecided(NO_REVERSE.into());
        }
        let Obstacle { reason: because, hint, .. } = match self.prove_round_trip(direction) {
            Ok(()) => return LawVerdict::Proved,
            Err(obstacle) => obstacle,
        };
        let mut objects = 0;
        if let Some(hinted) = hint.and_then(|(path, value)| self.object_with(direction, &path, &value)) {
            objects += 1;
            if let Some(broken) = self.lossy(&hinted, direction) {
                return broken;
            }
        }
        for sample in self.samples(direction) {
            if let Some(broken) = self.lossy(sample, direction) {
                return broken;
            }
            objects += 1;
        }
        LawVerdict::Tested { objects, because }
    }

    /// Proves a round trip: the inverse of each step restores its values, and the schema between them keeps everything.
    fn prove_round_trip(&self, direction: Direction) -> Result<(), Obstacle> {
        if !matches!(self.manifest.reverse, Reverse::Auto) {
            return Err(Obstacle::permanent("the reverse direction has its own steps".into()));
        }
        let (start, end) = self.endpoints(direction);
        let mut shape = start.shape.clone();
        let mut done: Vec<Op> = Vec::new();
        for (op, preserved) in self.ops(direction).unwrap_or_default() {
            match lossless(&op, &shape) {
                Ok(()) => {}
                Err(Obstacle { preservable: true, .. }) if preserved => {}
                Err(mut found) => {
                    found.hint = found.hint.map(|(path, value)| (path_through_steps::origin(&done, &path), value));
                    return Err(found);
                }
            }
            shape = output_schema(&op, &shape);
            done.push(op);
        }
        check_kept(&shape, &end.shape, &FieldPath::root())
            .map_err(|path| Obstacle::permanent(format!("the other version doesn't keep `{path}`")))
    }

    /// Builds the smallest object with this value at a path.
    fn object_with(&self, direction: Direction, path: &FieldPath, value: &Value) -> Option<Value> {
        let (start, _) = self.endpoints(direction);
        let object = start.object(crate::compare::embed(&start.shape, path, value)?);
        start.accepts(&object).then_some(object)
    }

    fn lossy(&self, object: &Value, direction: Direction) -> Option<LawVerdict> {
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
