//! The law that results are valid.

use serde_json::Value;

use crate::find::conversion::convert::ConvertError;
use crate::find::conversion::lossless::never_fails;
use crate::find::conversion::manifest::Direction;
use crate::find::conversion::output_schema::output_schema;
use crate::find::conversion::search;
use crate::model::FieldPath;
use crate::model::relation::Search;

use super::{Attempt, Counterexample, LawCheck, LawVerdict, NO_CONVERSION};

impl LawCheck<'_> {
    /// Checks that every converted object is valid in the other version (RT3).
    pub fn validity(&self, direction: Direction) -> LawVerdict {
        let (start, end) = self.endpoints(direction);
        let Some(output) = self.output_schema(direction) else { return LawVerdict::Undecided(NO_CONVERSION.into()) };
        let manual = self.manual_paths();
        let no_room = self.manifest.preserve.is_some() && !self.preserves(direction);
        let because = if no_room {
            "the field named by `preserve` has no room for the lost values".to_owned()
        } else if manual.is_empty() {
            match search::refused(&output, &end.shape) {
                Search::Impossible => match self.may_fail(direction) {
                    None => return LawVerdict::Proved,
                    Some(why) => why,
                },
                Search::Found(body) => {
                    if let Attempt::Converted(origin) = self.convert(&end.object(body), direction.opposite())
                        && start.accepts(&origin)
                        && let Some(broken) = self.invalid(&origin, direction)
                    {
                        return broken;
                    }
                    "the results of the steps are only partly known".to_owned()
                }
                Search::Undecided(reason) => reason.to_string(),
            }
        } else {
            "it has a manual step".to_owned()
        };
        let mut objects = 0;
        for sample in self.samples(direction) {
            if let Some(broken) = self.invalid(sample, direction) {
                return broken;
            }
            objects += 1;
        }
        LawVerdict::Tested { objects, because }
    }

    /// Returns why a step may fail on an object of the schema; `None` if it can't.
    fn may_fail(&self, direction: Direction) -> Option<String> {
        let (start, _) = self.endpoints(direction);
        let mut shape = start.shape.clone();
        self.manifest.directed_steps(direction).unwrap_or_default().iter().find_map(|step| {
            let why = never_fails(&step.op, &shape, step.step.conflict).err();
            shape = output_schema(&step.op, &shape);
            why
        })
    }

    /// Paths of manual steps.
    fn manual_paths(&self) -> Vec<&FieldPath> {
        self.manifest.steps.iter().filter_map(|step| step.op.manual()).map(|manual| &manual.path).collect()
    }

    fn invalid(&self, object: &Value, direction: Direction) -> Option<LawVerdict> {
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
