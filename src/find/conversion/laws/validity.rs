//! The law that results are valid.

use serde_json::Value;

use crate::find::conversion::convert::ConvertError;
use crate::find::conversion::lossless::never_fails;
use crate::find::conversion::manifest::Direction;
use crate::find::conversion::output_schema::output_schema;
use crate::find::conversion::search;
use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::server::key_fate::{KeyFate, Pruning};

use super::{Attempt, Counterexample, LawCheck, LawVerdict, NO_CONVERSION, PARTLY_KNOWN};

impl LawCheck<'_> {
    /// Checks that every converted object is valid in the other version (RT3).
    pub fn validity(&self, direction: Direction) -> LawVerdict {
        if self.ops(direction).is_none() {
            return LawVerdict::Undecided(NO_CONVERSION.into());
        }
        let (start, end) = self.endpoints(direction);
        let (proof, refused) = self.prove_validity(direction);
        let hinted = refused.and_then(|body| match self.convert(&end.object(body), direction.opposite()) {
            // Requests and stored objects are pruned before they are converted.
            Attempt::Converted(origin) => Some(start.pruned(&origin))
                .filter(|origin| start.accepts(origin) && !has_undeclared_null(origin, &Pruning::of(&start.shape))),
            _ => None,
        });
        let objects = hinted.iter().chain(self.samples(direction));
        LawCheck::decided(proof, objects, |object| self.invalid(object, direction))
    }

    /// Proves that results are valid. Otherwise the reason may come with a body that the other version refuses.
    fn prove_validity(&self, direction: Direction) -> (Result<(), String>, Option<Value>) {
        let (_, end) = self.endpoints(direction);
        let open = |because: &str| (Err(because.to_owned()), None);
        if self.manifest.preserve.is_some() && !self.preserves(direction) {
            return open("the field named by `preserve` has no room for the lost values");
        }
        if !self.manual_paths().is_empty() {
            return open("it has a manual step");
        }
        if let Err(because) = self.preserved_values_are_apart() {
            return (Err(because), None);
        }
        let Some(output) = self.output_schema(direction) else { return open(PARTLY_KNOWN) };
        let output = match self.with_restored_values(direction, output) {
            Ok(output) => output,
            Err(because) => return (Err(because), None),
        };
        match search::refused(&output, &end.shape, &self.budget) {
            Search::Impossible => (self.may_fail(direction).map_or(Ok(()), Err), None),
            Search::Found(body) => (Err(PARTLY_KNOWN.to_owned()), Some(body)),
            Search::Undecided(reason) => (Err(reason.to_string()), None),
        }
    }

    /// Returns why a step may fail on an object of the schema; `None` if it can't.
    fn may_fail(&self, direction: Direction) -> Option<String> {
        let (start, _) = self.endpoints(direction);
        let mut shape = start.shape.clone();
        for step in self.manifest.directed_steps(direction)?.iter() {
            if let Err(why) = never_fails(&step.op, &shape, step.step.conflict) {
                return Some(why);
            }
            match output_schema(&step.op, shape) {
                Some(output) => shape = output,
                None => return Some(PARTLY_KNOWN.to_owned()),
            }
        }
        None
    }

    /// Paths of manual steps.
    fn manual_paths(&self) -> Vec<&FieldPath> {
        self.manifest.steps.iter().filter_map(|step| step.op.manual()).map(|manual| &manual.path).collect()
    }

    pub(super) fn invalid(&self, object: &Value, direction: Direction) -> Option<LawVerdict> {
        let (_, end) = self.endpoints(direction);
        let (because, path, step) = match self.convert(object, direction) {
            Attempt::Excused => return None,
            Attempt::Failed(error) => {
                let step = if let ConvertError::Refused(refusal) = &error { Some(refusal.step) } else { None };
                (format!("it can't be converted: {error}"), None, step)
            }
            Attempt::Converted(converted) => {
                let outcome = end.request(&converted);
                let manual = |path: &FieldPath| self.manual_paths().iter().any(|above| path.starts_with(above));
                let error = outcome.errors.iter().find(|error| !manual(&error.path.general()))?;
                (format!("{}: {}", error.field, error.message), Some(error.path.general()), None)
            }
        };
        Some(LawVerdict::Broken(Box::new(Counterexample { object: object.clone(), because, path, step })))
    }
}

/// Whether an object has null where its schema only keeps undeclared fields. Nobody writes such an object, so it isn't an example worth
/// showing; the law is not proved because of it.
fn has_undeclared_null(value: &Value, by: &Pruning<&Shape>) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, value)| {
            let fate = by.key_fate(key);
            let undeclared = matches!(fate, KeyFate::Kept | KeyFate::Emptied);
            undeclared && value.is_null() || fate.below().is_some_and(|below| has_undeclared_null(value, &below))
        }),
        Value::Array(items) => items.iter().any(|item| has_undeclared_null(item, &by.items())),
        _ => false,
    }
}
