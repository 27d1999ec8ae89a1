//! A step of a manifest as applied in one direction, and what its inverse would restore.

use serde_json::{Map, Value};

use super::address::{NamePath, get, put, take};
use super::step::{Op, Step, inner_paths, same, view};

/// A step as applied in one direction.
#[derive(Debug, Clone)]
pub(crate) struct DirectedStep {
    /// Position of the step in the manifest's list.
    pub index: usize,
    pub step: Step,
    pub op: Op,
    /// The paths of `op`, relative to a container.
    pub op_inner: Vec<NamePath>,
    /// Whether the other direction applies the inverse of this step, so that preserved values can be restored.
    pub reversed: bool,
    /// Undoes this step alone, even if the manifest as a whole can't be reversed; `None` if the manifest lists separate reverse
    /// steps.
    undo: Option<Op>,
    undo_inner: Vec<NamePath>,
}

impl DirectedStep {
    /// Prepares a step as the manifest lists it. `own_reverse`: the manifest lists separate steps for the other direction.
    pub fn listed(index: usize, step: &Step, reversed: bool, own_reverse: bool) -> DirectedStep {
        let undo = step.op.inverse();
        DirectedStep {
            index,
            op: step.op.clone(),
            op_inner: step.containers.inner.clone(),
            reversed: reversed && undo.is_some(),
            undo_inner: undo.as_ref().map(inner_paths).unwrap_or_default(),
            undo: undo.filter(|_| !own_reverse),
            step: step.clone(),
        }
    }

    /// Prepares the inverse of a listed step, if it has one.
    pub fn inverted(index: usize, step: &Step) -> Option<DirectedStep> {
        let op = step.op.inverse()?;
        Some(DirectedStep {
            index,
            op_inner: inner_paths(&op),
            op,
            reversed: true,
            undo: Some(step.op.clone()),
            undo_inner: step.containers.inner.clone(),
            step: step.clone(),
        })
    }

    /// The inverse, and its paths inside a container.
    pub fn undo(&self) -> Option<(&Op, &[NamePath])> {
        Some((self.undo.as_ref()?, &self.undo_inner))
    }

    /// The paths relative to a container, in the order of the manifest.
    pub fn inner(&self) -> &[NamePath] {
        &self.step.containers.inner
    }

    /// Applies the inverse to these values and returns the values at the step's paths, or `None` if it fails.
    pub fn undone(&self, values: &[Option<Value>], container: &Value) -> Option<Vec<Option<Value>>> {
        let mut scratch = self.container_with(values, container);
        let undo = self.undo.as_ref()?;
        undo.apply(&mut scratch, &self.undo_inner, self.step.conflict).ok()?;
        Some(view(&scratch, self.inner()))
    }

    /// Returns the first value that the inverse doesn't restore, with what it restores instead. Writing out a default doesn't count
    /// as a loss.
    pub fn lost_value(&self, before: &[Option<Value>], container: &Value) -> Option<(usize, Option<Value>)> {
        if self.undo.is_none() || self.op.is_default() {
            return None;
        }
        let restored = self.undone(&view(container, self.inner()), container).unwrap_or_else(|| vec![None; before.len()]);
        let lost = |(was, restored): &(&Option<Value>, Option<Value>)| match (was, restored) {
            (None, _) => false,
            (Some(was), Some(restored)) => !same(was, restored),
            (Some(_), None) => true,
        };
        let pairs = before.iter().zip(restored);
        pairs.enumerate().find(|(_, pair)| lost(pair)).map(|(index, (_, restored))| (index, restored))
    }

    /// Whether the step only moves a value to a place that has none, so that nothing is lost.
    pub fn only_moves(&self, before: &[Option<Value>]) -> bool {
        self.undo.is_some() && self.op.moves_value() && before.iter().flatten().count() < 2
    }

    /// Whether the parents that the step needs to write its fields exist. A null has no fields.
    pub fn can_write(&self, container: &Value) -> bool {
        if container.is_null() && self.inner().iter().any(|names| !names.is_empty()) {
            return false;
        }
        let parent = |names: &NamePath| names.split_last().and_then(|(_, above)| get(container, above)).is_some();
        !self.op.needs_parent() || self.inner().iter().all(parent)
    }

    /// Writes values to the step's paths; `None` removes the existing value.
    pub fn assign(&self, container: &mut Value, values: &[Option<Value>]) {
        for (names, _) in self.inner().iter().zip(values).filter(|(_, value)| value.is_none()) {
            take(container, names);
        }
        for (names, value) in self.inner().iter().zip(values) {
            if let Some(value) = value {
                let _ = put(container, names, value.clone());
            }
        }
    }

    /// Builds a container with only these values, and with the parent objects that the real container has.
    fn container_with(&self, values: &[Option<Value>], container: &Value) -> Value {
        let mut scratch = Value::Object(Map::new());
        for names in self.inner() {
            let mut depth = names.len().saturating_sub(1);
            while depth > 0 && get(container, names.get(..depth).unwrap_or_default()).is_none() {
                depth -= 1;
            }
            if let Some(above) = names.get(..depth).filter(|above| !above.is_empty()) {
                let _ = put(&mut scratch, above, Value::Object(Map::new()));
            }
        }
        self.assign(&mut scratch, values);
        scratch
    }
}
