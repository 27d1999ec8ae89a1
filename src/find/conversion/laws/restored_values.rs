//! Results with preserved values: the object may have been edited since they were preserved, so each step either converts or restores.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::compare::Budget;
use crate::find::conversion::address::Containers;
use crate::find::conversion::directed_step::DirectedStep;
use crate::find::conversion::lossless::lossless;
use crate::find::conversion::manifest::Direction;
use crate::find::conversion::output_schema::output_schema;
use crate::find::conversion::preserve::indexes_of_shared_keys;
use crate::find::conversion::search;
use crate::find::conversion::shape_edit::{always_exists, declared, loosen_above, never_exists, replace};
use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;

use super::round_trip::touches;
use super::{LawCheck, SHARED_KEY};

impl LawCheck<'_> {
    /// The schema of results, extended by the values that steps may restore. The error says why they aren't known.
    ///
    /// A restored value is the one that the field had before, as long as no step changes it afterwards.
    pub(super) fn with_restored_values(&self, direction: Direction, mut output: Shape) -> Result<Shape, String> {
        let steps = self.manifest.directed_steps(direction).unwrap_or_default();
        let opposite = self.manifest.directed_steps(direction.opposite()).unwrap_or_default();
        if !steps.iter().any(|step| self.restores(step)) {
            return Ok(output);
        }
        if !indexes_of_shared_keys(&steps).is_empty() {
            return Err(SHARED_KEY.to_owned());
        }
        let restored = self.restored_steps(direction, [&steps, &opposite]);
        let (_, end) = self.endpoints(direction);
        for (position, step) in steps.iter().enumerate().filter(|(_, step)| restored.contains(&step.index)) {
            let container = Containers::of(&step.op.paths()).map_or(0, |containers| containers.prefix.steps().len());
            let changed_later = steps.iter().skip(position + 1).any(|later| near(later, step));
            for path in step.op.paths() {
                let alone = !changed_later && path.steps().len() == container + 1;
                if !alone || add_restored(&mut output, path, &end.shape, &self.budget).is_none() {
                    return Err(format!("a restored value of `{path}` may not fit what was changed in the meantime"));
                }
            }
        }
        Ok(output)
    }

    /// The steps, by index, that may restore values in a direction: those that may preserve some in the opposite one.
    ///
    /// Which steps lose values is known for objects without preserved values. A step that restores values may also change what others
    /// near it see.
    fn restored_steps(&self, direction: Direction, [steps, opposite]: [&[DirectedStep]; 2]) -> BTreeSet<usize> {
        let mut preserving = [self.losing_steps(direction, steps), self.losing_steps(direction.opposite(), opposite)];
        let mut open: Vec<(usize, usize)> =
            preserving.iter().enumerate().flat_map(|(side, losing)| losing.iter().map(move |index| (side, *index))).collect();
        // What a step preserves in one direction, it may restore in the other.
        while let Some((side, index)) = open.pop() {
            let [there, back] = if side == 0 { [steps, opposite] } else { [opposite, steps] };
            let Some(restoring) = back.iter().find(|step| step.index == index).filter(|step| self.restores(step)) else { continue };
            let Some(preserved) = preserving.get_mut(1 - side) else { continue };
            for step in back.iter().filter(|step| step.index != index && near(step, restoring)) {
                if there.iter().any(|other| other.index == step.index) && preserved.insert(step.index) {
                    open.push((1 - side, step.index));
                }
            }
        }
        let [_, there] = preserving;
        let can_restore = |index: &usize| steps.iter().any(|step| step.index == *index && self.restores(step));
        there.into_iter().filter(can_restore).collect()
    }

    /// The steps of a direction, by index, that preserve values of some objects, if no object has preserved values yet.
    fn losing_steps(&self, direction: Direction, steps: &[DirectedStep]) -> BTreeSet<usize> {
        let (start, _) = self.endpoints(direction);
        let mut shape = Some(start.shape.clone());
        let mut losing = BTreeSet::new();
        for step in steps.iter() {
            let exact = shape.as_ref().is_some_and(|shape| lossless(&step.op, shape).is_ok() && step.op.restores_exactly(shape));
            if !exact {
                losing.insert(step.index);
            }
            shape = shape.and_then(|shape| output_schema(&step.op, shape));
        }
        losing
    }
}

/// Whether one of two steps sees or changes what the other does.
fn near(a: &DirectedStep, b: &DirectedStep) -> bool {
    touches(&a.op, &b.op) || touches(&b.op, &a.op)
}

/// Lets a field have the values of its former schema as well, or be missing. Returns `None` if that can't be described.
fn add_restored(output: &mut Shape, path: &FieldPath, former: &Shape, budget: &Budget) -> Option<()> {
    let gone = never_exists(output, path);
    if never_exists(former, path) {
        if !gone {
            loosen_above(output, path)?;
            let now = declared(output, path)?.clone();
            replace(output, path, now, false)?;
        }
        return Some(());
    }
    let was = declared(former, path)?;
    if !gone && declared(output, path).is_none_or(|now| !fits(now, was, budget)) {
        return None;
    }
    let always = always_exists(output, path) && always_exists(former, path);
    loosen_above(output, path)?;
    replace(output, path, was.clone(), always)
}

/// Whether every value of a field with the one schema is also a value of the other.
fn fits(now: &Shape, was: &Shape, budget: &Budget) -> bool {
    let holder = |child: &Shape| {
        let mut holder = Shape { ty: Some(Type::Object), ..Shape::default() };
        holder.properties.insert("value".to_owned(), Arc::new(child.clone()));
        holder
    };
    now == was || matches!(search::refused(&holder(now), &holder(was), budget), Search::Impossible)
}
