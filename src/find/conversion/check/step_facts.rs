//! Checks the steps of a manifest: manual steps, merges, their order, and the paths they use.

use std::sync::Arc;

use crate::find::conversion::manifest_endpoints::ManifestEndpoints;
use crate::find::conversion::output_schema::output_schema;
use crate::find::conversion::path_through_steps::destination;
use crate::find::conversion::preserve::Preserve;
use crate::find::conversion::shape_edit::{declared, open, prefix};
use crate::find::conversion::step::{Manual, Op};
use crate::input::json_schema_check::nearest;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Word};
use crate::model::schema::Shape;
use crate::model::{FieldPath, PathStep};

use super::ManifestChecker;

impl ManifestChecker<'_> {
    /// Reports that a webhook's conversion can't be checked.
    pub fn webhook(&mut self) {
        if self.manifest.webhook {
            let fact = self.fact(Aspect::ConversionWebhook, Effect::Manual, self.manifest.place(self.manifest.span));
            self.facts.push(fact);
        }
    }

    pub fn manual_steps(&mut self) {
        for (index, step) in self.manifest.steps.iter().enumerate() {
            if let Some(Manual { path, effect, guidance }) = step.op.manual() {
                let fact = self.at_step(Aspect::Step, Effect::Manual, index, step, path);
                let guidance = guidance.split_whitespace().collect::<Vec<_>>().join(" ");
                self.facts.push(
                    fact.word(Word::Guidance, guidance)
                        .word(Word::What, effect.name())
                        .evidence(Evidence::undecided("a manual step can't be checked")),
                );
            }
        }
    }

    /// Reports merges, because merged fields are hard to separate again.
    pub fn merging_steps(&mut self) {
        for (index, step) in self.manifest.steps.iter().enumerate() {
            if let Some(to) = step.op.writes().first().filter(|_| step.op.merges_fields()) {
                let list: Vec<String> = step.op.reads().iter().map(ToString::to_string).collect();
                let mut fact = self.at_step(Aspect::Step, Effect::Lossy, index, step, to);
                fact = fact.word(Word::List, list.join(", "));
                self.facts.push(fact.affects(&[Affected::Data]));
            }
        }
    }

    /// Reports two steps whose result depends on their order, unless the second one uses the result of the first.
    pub fn step_order(&mut self) {
        let steps = &self.manifest.steps;
        for (later_index, later) in steps.iter().enumerate() {
            for (index, earlier) in steps.iter().enumerate().take(later_index) {
                let clash = |a: &FieldPath, b: &FieldPath| a.starts_with(b) || b.starts_with(a);
                let both_write = earlier.op.writes().iter().any(|a| later.op.writes().contains(a)) && !later.op.in_place();
                // A later step writes a field that an earlier one removed, and gives it another meaning.
                let reused = earlier.op.reads().iter().any(|a| {
                    !earlier.op.in_place()
                        && later.op.writes().iter().any(|b| clash(a, b) && !later.op.reads().contains(b))
                        && later.op.writes().contains(a)
                });
                if both_write || reused {
                    let path = later.op.writes().first().map(|path| (*path).clone()).unwrap_or_default();
                    let fact = self.at_step(Aspect::Step, Effect::Mixed, later_index, later, &path);
                    self.facts.push(fact.word(Word::Other, (index + 1).to_string()));
                }
            }
        }
    }

    /// Reports paths that don't exist when the step runs, and returns whether there are none.
    pub fn paths_exist(&mut self, ends: &ManifestEndpoints<'_, '_, '_>) -> bool {
        let mut shape = ends.old.shape.clone();
        let ops: Vec<Op> = self.manifest.steps.iter().map(|step| step.op.clone()).collect();
        let mut exist = true;
        for (index, step) in self.manifest.steps.iter().enumerate() {
            let later = ops.get(index + 1..).unwrap_or_default();
            let all = step.op.paths();
            for path in step.op.reads() {
                let span = all.iter().position(|other| *other == path).and_then(|at| step.path_spans.get(at)).copied().unwrap_or(step.span);
                if let Err(hint) = path_exists(&shape, path) {
                    exist = false;
                    let fact = self.at_step(Aspect::Step, Effect::Unknown, index, step, path).after(self.manifest.place(span));
                    self.facts.push(fact.word(Word::Side, ends.from.name).word(Word::Hint, hint));
                }
            }
            for path in step.op.writes() {
                let end = destination(later, path);
                let gone = later.iter().any(|op| op.drops_field() && op.reads().iter().any(|dropped| path.starts_with(dropped)));
                let span =
                    all.iter().rposition(|other| *other == path).and_then(|at| step.path_spans.get(at)).copied().unwrap_or(step.span);
                if let Err(hint) = path_exists(&ends.new.shape, &end)
                    && !gone
                {
                    exist = false;
                    let fact = self.at_step(Aspect::Step, Effect::Unknown, index, step, path).after(self.manifest.place(span));
                    self.facts.push(fact.word(Word::Side, ends.to.name).word(Word::Hint, hint));
                }
            }
            shape = output_schema(&step.op, shape.clone()).unwrap_or_else(|| with_anything(&shape, &step.op.writes()));
        }
        if let Some(Preserve::Field(path)) = &self.manifest.preserve
            && let (Err(_), Err(hint)) = (path_exists(&ends.old.shape, path), path_exists(&ends.new.shape, path))
        {
            exist = false;
            let fact = self.fact(Aspect::Step, Effect::Unknown, self.manifest.place(self.manifest.preserve_span)).path(path);
            self.facts.push(fact.key(format!("{}/preserve", self.manifest.name)).word(Word::Side, ends.to.name).word(Word::Hint, hint));
        }
        exist
    }
}

/// The schema with these fields, and without any condition on them.
fn with_anything(shape: &Shape, paths: &[&FieldPath]) -> Shape {
    let mut shape = shape.clone();
    for path in paths {
        let mut node = &mut shape;
        for step in path.steps() {
            if let PathStep::Key(name) = step
                && !node.properties.contains_key(&**name)
            {
                let below = Arc::new(Shape::anything());
                node.properties.insert(name.as_ref().to_owned(), below);
            }
            match node.at_mut(std::slice::from_ref(step)) {
                Some(below) => node = below,
                None => break,
            }
        }
    }
    shape
}

/// Checks that a path exists in a schema; otherwise returns a hint with the most similar name.
fn path_exists(shape: &Shape, path: &FieldPath) -> Result<(), String> {
    if matches!(path.head(), Some("metadata")) {
        return Ok(());
    }
    for depth in 1..=path.steps().len() {
        let here = prefix(path, depth);
        if declared(shape, &here).is_some() {
            continue;
        }
        let parent = declared(shape, &prefix(path, depth - 1));
        // Below a field that preserves unknown fields, every path can exist.
        if parent.is_none_or(|parent| parent.preserve_unknown || parent.embedded || (open(parent) && parent.ty.is_none())) {
            return Ok(());
        }
        let Some(PathStep::Key(name)) = here.steps().last() else { return Err(String::new()) };
        let names = parent.map(|parent| parent.properties.keys().map(String::as_str).collect::<Vec<_>>()).unwrap_or_default();
        return Err(nearest(name, names.into_iter()));
    }
    Ok(())
}
