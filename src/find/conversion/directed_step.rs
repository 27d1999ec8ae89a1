//! A step of a manifest as it runs in one direction, and what its inverse would restore.

use serde_json::{Map, Value};

use super::address::{Names, get, put, take};
use super::step::{Op, Step, inner_paths, same, view};

/// A step as it runs in one direction.
#[derive(Debug, Clone)]
pub(crate) struct DirectedStep {
    /// Position in the manifest's own list.
    pub index: usize,
    pub step: Step,
    pub op: Op,
    /// The paths of `op` inside a container.
    pub op_inner: Vec<Names>,
    /// Whether the other direction runs the inverse of this step, so that preserved values can be restored.
    pub reversed: bool,
    /// Undoes this step alone, even if the manifest can't be reversed; `None` if the reverse direction has its own steps.
    undo: Option<Op>,
    undo_inner: Vec<Names>,
}

impl DirectedStep {
    /// The step as the manifest lists it. `own_reverse`: the manifest lists the steps of the other direction.
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

    /// The inverse of a listed step, if it has one.
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
    pub fn undo(&self) -> Option<(&Op, &[Names])> {
        Some((self.undo.as_ref()?, &self.undo_inner))
    }

    /// Paths inside a container, in the order of the manifest.
    pub fn inner(&self) -> &[Names] {
        &self.step.containers.inner
    }

    /// What the inverse makes of these values: the values at the step's paths, or `None` if it fails.
    pub fn undone(&self, values: &[Option<Value>], container: &Value) -> Option<Vec<Option<Value>>> {
        let mut scratch = self.container_with(values, container);
        let undo = self.undo.as_ref()?;
        undo.apply(&mut scratch, &self.undo_inner, self.step.conflict).ok()?;
        Some(view(&scratch, self.inner()))
    }

    /// The first of the values before the step that its inverse doesn't restore, and what it restores instead. Writing out a
    /// default loses nothing.
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

    /// Whether the step moves a value to a place where there was none, by which nothing is lost.
    pub fn only_moves(&self, before: &[Option<Value>]) -> bool {
        self.undo.is_some() && self.op.moves_value() && before.iter().flatten().count() < 2
    }

    /// Whether the parents exist that the step needs to write its fields.
    pub fn can_write(&self, container: &Value) -> bool {
        let parent = |names: &Names| names.split_last().and_then(|(_, above)| get(container, above)).is_some();
        !self.op.needs_parent() || self.inner().iter().all(parent)
    }

    /// Puts values at the step's paths; `None` removes what is there.
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

    /// A container with only these values, and with the parents that the real one has.
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
