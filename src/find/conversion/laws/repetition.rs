//! The laws for objects that may already be converted: idempotence, and independence of the stored version.

use serde_json::Value;

use crate::find::conversion::directed_step::DirectedStep;
use crate::find::conversion::manifest::Direction;
use crate::find::conversion::search;
use crate::find::conversion::shape_edit::known;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::{FieldPath, PathStep};

use super::{Attempt, Counterexample, LawCheck, LawVerdict, NO_CONVERSION, PARTLY_KNOWN, difference};

impl LawCheck<'_> {
    /// Checks that converting an object again changes nothing (RT4).
    pub fn idempotence(&self) -> LawVerdict {
        let Some(steps) = self.manifest.directed_steps(Direction::Forward) else { return LawVerdict::Undecided(NO_CONVERSION.into()) };
        let output = self.output_schema(Direction::Forward).ok_or_else(|| PARTLY_KNOWN.to_owned());
        let output = output.and_then(|output| self.with_restored_values(Direction::Forward, output));
        // A step that restores preserved values doesn't change them either.
        let is_noop =
            |step: &DirectedStep, output: &Shape| step.op.is_noop(output) && (!self.restores(step) || step.op.is_noop(&self.new.shape));
        let proof = output.and_then(|output| match steps.iter().all(|step| is_noop(step, &output)) {
            true => Ok(()),
            false => Err("a step may change an object that is already converted".to_owned()),
        });
        LawCheck::decided(proof, self.samples(Direction::Forward), |object| self.unstable(object))
    }

    /// The verdict if converting the object twice isn't the same as converting it once.
    pub(super) fn unstable(&self, object: &Value) -> Option<LawVerdict> {
        let Attempt::Converted(once) = self.convert(object, Direction::Forward) else { return None };
        let (because, path) = match self.convert(&once, Direction::Forward) {
            Attempt::Excused => return None,
            Attempt::Failed(error) => (format!("it can't be converted again: {error}"), None),
            Attempt::Converted(twice) => {
                let (path, said) = difference(&self.bare(&once), &self.bare(&twice))?;
                (format!("converting it again, {said}"), Some(path))
            }
        };
        Some(LawVerdict::Broken(Box::new(Counterexample { object: object.clone(), because, path, step: None })))
    }

    /// Checks that an object valid in both versions isn't changed, so that the conversion doesn't need to know the stored version.
    pub fn stored_version_independence(&self) -> LawVerdict {
        let Some(steps) = self.manifest.directed_steps(Direction::Forward) else { return LawVerdict::Undecided(NO_CONVERSION.into()) };
        let (old, new) = (&self.old.shape, &self.new.shape);
        let mut tested = 0;
        let mut open = None;
        for step in steps.iter() {
            // The first step that would change an object sees the original object, so each step can be checked alone.
            // A null isn't searched for, and a step acts on it whatever its type. Where the new version doesn't keep it, it doesn't refuse
            // it either.
            let nullable = |path: &&FieldPath| known(old, path).is_some_and(|node| node.nullable) && known(new, path).is_some();
            if let Some(path) = step.op.paths().into_iter().find(|path| nullable(path)) {
                open = open.or_else(|| Some(format!("`{path}` may be null")));
            }
            if step.op.is_noop(old) || step.op.is_noop(new) || !step.op.acts_on_both(old, new) {
                continue;
            }
            for (path, wanted) in step.op.triggers() {
                match search::shared(old, new, path, &wanted, &self.budget) {
                    Search::Impossible => {}
                    Search::Found(body) => {
                        tested += 1;
                        if let Some(verdict) = self.changed_by_step(&body, step.index) {
                            return verdict;
                        }
                        open = open.or_else(|| Some(format!("objects with `{path}` are valid in both versions")));
                    }
                    Search::Undecided(reason) => open = open.or(Some(reason.to_string())),
                }
            }
            if !step.op.decided_by_triggers() && open.is_none() {
                open = Some(format!(
                    "objects with `{}` are valid in both versions",
                    step.op.paths().first().map(ToString::to_string).unwrap_or_default()
                ));
            }
        }
        for sample in self.old.samples() {
            if self.is_in_both(sample) {
                tested += 1;
                if let Some(verdict) = self.changed(sample, None) {
                    return verdict;
                }
            }
        }
        open.map_or(LawVerdict::Proved, |because| LawVerdict::Tested { objects: tested, because })
    }

    /// Whether an object is valid in both versions, and both know the fields in it that a step acts on.
    pub(super) fn is_in_both(&self, object: &Value) -> bool {
        let declared = |path: &FieldPath| known(&self.old.shape, path).is_some() && known(&self.new.shape, path).is_some();
        let unknown = |path: &FieldPath| !declared(path) && holds(object, path.steps());
        let paths = self.manifest.steps.iter().flat_map(|step| step.op.paths());
        !paths.flat_map(|path| [Some(path.clone()), path.parent()]).flatten().any(|path| unknown(&path))
            && self.new.accepts(&self.as_new_version(object))
    }

    /// The verdict if the object is valid in both versions and converting it changes it.
    #[cfg(any(test, fuzzing))]
    pub(super) fn changed_in_both(&self, object: &Value) -> Option<LawVerdict> {
        if self.is_in_both(object) { self.changed(object, None) } else { None }
    }

    fn changed_by_step(&self, body: &Value, step: usize) -> Option<LawVerdict> {
        let object = self.old.object(body.clone());
        if !self.old.accepts(&object) || !self.new.accepts(&self.new.object(body.clone())) {
            return None;
        }
        self.changed(&object, Some(step))
    }

    fn as_new_version(&self, object: &Value) -> Value {
        let mut body = object.clone();
        if let Some(map) = body.as_object_mut() {
            map.remove("apiVersion");
        }
        self.new.object(body)
    }

    fn changed(&self, object: &Value, step: Option<usize>) -> Option<LawVerdict> {
        let (because, path) = match self.convert(object, Direction::Forward) {
            Attempt::Excused => return None,
            Attempt::Failed(error) => (format!("it is valid in both versions and can't be converted: {error}"), None),
            Attempt::Converted(converted) => {
                let (before, after) = (self.new.normalised(&self.bare(object)), self.new.normalised(&self.bare(&converted)));
                let (path, said) = difference(&before, &after)?;
                (format!("it is valid in both versions, but converting it changes it: {said}"), Some(path))
            }
        };
        Some(LawVerdict::Broken(Box::new(Counterexample { object: object.clone(), because, path, step })))
    }
}

/// Whether an object has a value at a path.
fn holds(value: &Value, steps: &[PathStep]) -> bool {
    let Some((step, rest)) = steps.split_first() else { return true };
    match (step, value) {
        (PathStep::Key(name), Value::Object(map)) => map.get(&**name).is_some_and(|child| holds(child, rest)),
        (PathStep::Items, Value::Array(items)) => items.iter().any(|item| holds(item, rest)),
        (PathStep::Values, Value::Object(map)) => map.values().any(|child| holds(child, rest)),
        _ => false,
    }
}
