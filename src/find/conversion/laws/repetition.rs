//! The laws for objects that may already be converted: idempotence, and independence of the stored version.

use serde_json::Value;

use crate::find::conversion::manifest::Direction;
use crate::find::conversion::search;
use crate::model::FieldPath;
use crate::model::relation::Search;

use super::{Attempt, Counterexample, LawCheck, LawVerdict, NO_CONVERSION, difference};

impl LawCheck<'_> {
    /// Checks that converting an object again changes nothing (RT4).
    pub fn idempotence(&self) -> LawVerdict {
        let (Some(ops), Some(output)) = (self.ops(Direction::Forward), self.output_schema(Direction::Forward)) else {
            return LawVerdict::Undecided(NO_CONVERSION.into());
        };
        if ops.iter().all(|(op, _)| op.is_noop(&output)) {
            return LawVerdict::Proved;
        }
        let mut objects = 0;
        for sample in self.samples(Direction::Forward) {
            objects += 1;
            let Attempt::Converted(once) = self.convert(sample, Direction::Forward) else { continue };
            let broken = |because: String, path: Option<FieldPath>| {
                LawVerdict::Broken(Box::new(Counterexample { object: sample.clone(), because, path, step: None }))
            };
            match self.convert(&once, Direction::Forward) {
                Attempt::Converted(twice) => {
                    if let Some((path, said)) = difference(&self.bare(&once), &self.bare(&twice)) {
                        return broken(format!("converting it again, {said}"), Some(path));
                    }
                }
                Attempt::Failed(error) => return broken(format!("it can't be converted again: {error}"), None),
                Attempt::Excused => {}
            }
        }
        LawVerdict::Tested { objects, because: "a step may change an object that is already converted".into() }
    }

    /// Checks that an object valid in both versions isn't changed, so that the conversion doesn't need to know the stored version.
    pub fn stored_version_independence(&self) -> LawVerdict {
        let Some(steps) = self.manifest.directed_steps(Direction::Forward) else { return LawVerdict::Undecided(NO_CONVERSION.into()) };
        let (old, new) = (&self.old.shape, &self.new.shape);
        let mut tested = 0;
        let mut open = None;
        for step in steps.iter() {
            // The first step that would change an object sees the original object, so each step can be checked alone.
            if step.op.is_noop(old) || step.op.is_noop(new) || !step.op.acts_on_both(old, new) {
                continue;
            }
            for (path, wanted) in step.op.triggers() {
                match search::shared(old, new, path, &wanted) {
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
        let Some(because) = open else { return LawVerdict::Proved };
        for sample in self.old.samples() {
            if self.new.accepts(&self.as_new_version(sample)) {
                tested += 1;
                if let Some(verdict) = self.changed(sample, None) {
                    return verdict;
                }
            }
        }
        LawVerdict::Tested { objects: tested, because }
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
