//! The kinds of conversion steps, one file each: parsing, applying, inverse, output schema and proofs.
//!
//! A step acts on one container of an object at a time: the deepest list item or map value that all of its paths share. Its inverse
//! is a step on the same paths, so a manifest can be applied in both directions.
//!
//! To add a kind: write its file with a `parse` function and an implementation of [`StepKind`], list it in [`KINDS`], and describe
//! it in `manifest.schema.json`. The compiler and a test report anything missing.

mod add;
mod cel;
mod copy;
mod default;
mod drop;
mod keyed_list;
mod list_to_map;
mod manual;
mod map_to_list;
mod map_values;
mod merge;
mod move_field;
mod overlap;
pub(crate) mod parse;
mod put_value;
pub mod reason;
mod retype;
mod scale;
mod set;
mod split;
mod string_values;
mod template;
mod unwrap;
mod value_change;
mod wrap;

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::input::yaml::Span;
use crate::model::FieldPath;
use crate::model::fact::Fact;
use crate::model::schema::Shape;

use super::address::{Containers, NamePath, get};
use super::generate::GoStep;
use super::lossless::Obstacle;
use super::path_through_steps::rebased;
use super::search::Wanted;
use super::shape_edit::known;
pub(crate) use manual::Manual;
pub(crate) use overlap::Overlap;
use parse::StepNode;
pub use reason::{Conflict, StepFailure, StepRefusal};

/// Parses a step. If it returns `None`, the node has at least one error, or the JSON Schema check reported it.
type Parse = fn(&mut StepNode<'_, '_>) -> Option<Op>;

/// Every kind of step with its name in manifests, except `forEach`, which only groups steps.
const KINDS: &[(&str, Parse)] = &[
    ("rename", move_field::parse),
    ("move", move_field::parse),
    ("copy", copy::parse),
    ("drop", drop::parse),
    ("add", add::parse),
    ("set", set::parse),
    ("default", default::parse),
    ("mapValues", map_values::parse),
    ("split", split::parse),
    ("merge", merge::parse),
    ("wrap", wrap::parse),
    ("unwrap", unwrap::parse),
    ("mapToList", map_to_list::parse),
    ("listToMap", list_to_map::parse),
    ("scale", scale::parse),
    ("retype", retype::parse),
    ("cel", cel::parse),
    ("manual", manual::parse),
];

/// An operation: what a step does in one direction.
pub(crate) type Op = Arc<dyn StepKind>;

/// One step of a manifest, ready to be applied.
#[derive(Debug, Clone)]
pub struct Step {
    pub(crate) op: Op,
    /// The name of the kind in the manifest.
    pub name: &'static str,
    pub conflict: Conflict,
    /// Whether values that the step loses are preserved, if the manifest preserves any.
    pub preserve: bool,
    /// The spans of the step in the manifest, and of each of its paths.
    pub span: Span,
    pub path_spans: Vec<Span>,
    pub(crate) containers: Containers,
}

impl Step {
    /// Whether another step does the same, ignoring where it is written.
    pub(crate) fn is_like(&self, other: &Step) -> bool {
        let words = |step: &Step| (step.name, step.conflict, step.preserve, format!("{:?}", step.op));
        words(self) == words(other)
    }
}

/// The source and target paths of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ends {
    pub from: FieldPath,
    pub to: FieldPath,
}

impl Ends {
    /// Whether the value changes without moving.
    fn in_place(&self) -> bool {
        self.from == self.to
    }

    /// Whether one path is inside the other.
    fn overlap(&self) -> bool {
        self.from.starts_with(&self.to) || self.to.starts_with(&self.from)
    }

    fn swapped(&self) -> Ends {
        Ends { from: self.to.clone(), to: self.from.clone() }
    }

    fn paths(&self) -> Vec<&FieldPath> {
        if self.in_place() { vec![&self.from] } else { vec![&self.from, &self.to] }
    }
}

/// The fields that an operation uses.
pub(crate) enum OperationFields<'o> {
    /// One value that moves, or changes in place.
    Value(&'o Ends),
    Several {
        /// Fields whose value is removed or changed.
        reads: Vec<&'o FieldPath>,
        /// Fields where a value appears or changes.
        writes: Vec<&'o FieldPath>,
    },
}

impl<'o> OperationFields<'o> {
    fn read(path: &'o FieldPath) -> Self {
        OperationFields::Several { reads: vec![path], writes: Vec::new() }
    }

    fn written(path: &'o FieldPath) -> Self {
        OperationFields::Several { reads: Vec::new(), writes: vec![path] }
    }
}

/// Why a step may fail, if its kind has no better explanation.
const MAY_FAIL: &str = "a step may fail";

/// The behaviour of a kind of step.
///
/// `container` is the number of path segments that lead to the container; all paths of the step start with them.
pub(crate) trait StepKind: fmt::Debug + Send + Sync {
    fn fields(&self) -> OperationFields<'_>;

    /// The operation that undoes this one on the same paths; `None` where the manifest doesn't define one.
    fn inverse(&self) -> Option<Op>;

    /// Changes one container. `inner` are the paths of [`StepKind::paths`] inside it.
    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure>;

    /// The step as Go code, or the reason why it can't be written in Go.
    fn go(&self) -> Result<GoStep, String>;

    /// Turns the schema of the objects before the step into one that accepts all objects after it, and in simple cases no others.
    /// Returns `None` if the objects after the step aren't known; the schema may then be half changed.
    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()>;

    /// Proves that the inverse restores every object of the schema, up to normal form.
    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle>;

    /// Whether the inverse, if it restores every object of the schema, restores it exactly and not just up to normal form.
    fn restores_exactly(&self, _shape: &Shape) -> bool {
        true
    }

    /// Proves that the step succeeds on every object of the schema; otherwise returns why it may fail.
    fn never_fails(&self, shape: &Shape, container: usize, conflict: Conflict) -> Result<(), String>;

    /// Whether the step leaves all objects of the schema unchanged.
    fn is_noop(&self, shape: &Shape) -> bool;

    /// Every path that the operation reads or writes, sources first. The inverse has the same paths in the same order.
    fn paths(&self) -> Vec<&FieldPath> {
        match self.fields() {
            OperationFields::Value(ends) => ends.paths(),
            OperationFields::Several { reads, writes } => reads.into_iter().chain(writes).collect(),
        }
    }

    fn reads(&self) -> Vec<&FieldPath> {
        match self.fields() {
            OperationFields::Value(ends) => vec![&ends.from],
            OperationFields::Several { reads, .. } => reads,
        }
    }

    fn writes(&self) -> Vec<&FieldPath> {
        match self.fields() {
            OperationFields::Value(ends) => vec![&ends.to],
            OperationFields::Several { writes, .. } => writes,
        }
    }

    /// The source and target paths, for operations on a single value.
    fn ends(&self) -> Option<&Ends> {
        match self.fields() {
            OperationFields::Value(ends) => Some(ends),
            OperationFields::Several { .. } => None,
        }
    }

    /// Whether the value changes without moving.
    fn in_place(&self) -> bool {
        self.ends().is_some_and(Ends::in_place)
    }

    /// Where the value at `path` was before the step, if the step moved it there.
    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        let ends = self.ends()?;
        rebased(path, &ends.to, &ends.from)
    }

    /// The fields that replace a field removed by the step.
    fn replacements(&self) -> Vec<&FieldPath> {
        self.ends().filter(|ends| !ends.in_place()).map(|ends| &ends.to).into_iter().collect()
    }

    /// The paths and values that make the step change an object.
    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        self.reads().into_iter().map(|path| (path, Wanted::Sent)).collect()
    }

    /// Whether searching for [`StepKind::triggers`] is enough to decide if the step changes objects that are valid in both
    /// versions.
    fn decided_by_triggers(&self) -> bool {
        true
    }

    /// Whether both versions declare a field that the step reads. The field has no meaning in a version that doesn't declare it.
    fn acts_on_both(&self, old: &Shape, new: &Shape) -> bool {
        self.reads().iter().any(|path| known(old, path).is_some() && known(new, path).is_some())
    }

    /// Whether the step converts the effect of a breaking change to a field.
    fn covers(&self, change: &Fact, at: &Overlap) -> bool {
        at.covers_by_default(change)
    }

    /// The step itself, if a person must do it.
    fn manual(&self) -> Option<&Manual> {
        None
    }

    /// Whether the step only moves a value.
    fn moves_value(&self) -> bool {
        false
    }

    /// Whether the step removes a field without a replacement.
    fn drops_field(&self) -> bool {
        false
    }

    /// Whether the step combines several fields into one.
    fn merges_fields(&self) -> bool {
        false
    }

    /// Whether the step only writes out or removes a default, which loses nothing.
    fn is_default(&self) -> bool {
        false
    }

    /// Whether the step writes only if the parent of its field exists.
    fn needs_parent(&self) -> bool {
        false
    }
}

/// The operation's paths inside their container.
pub(crate) fn inner_paths(op: &Op) -> Vec<NamePath> {
    Containers::of(&op.paths()).map(|containers| containers.inner).unwrap_or_default()
}

/// The values at an operation's paths inside one container.
pub(crate) fn view(container: &Value, inner: &[NamePath]) -> Vec<Option<Value>> {
    inner.iter().map(|names| get(container, names).cloned()).collect()
}

/// Formats a value for messages, shortened if it is long.
pub(crate) fn shown(value: &Value) -> String {
    crate::input::shorten(&value.to_string(), 79).into_owned()
}

/// Compares two values as JSON, where `1` equals `1.0`.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::fuzz::MADE_UP_STEPS;

    #[test]
    fn the_schema_knows_every_kind() {
        let schema: Value = serde_json::from_str(crate::find::conversion::manifest::SCHEMA).unwrap();
        let described = schema["$defs"]["step"]["properties"].as_object().unwrap().keys();
        let options = ["conflict", "preserve", "note", parse::FOR_EACH];
        let mut described: Vec<&str> = described.map(String::as_str).filter(|name| !options.contains(name)).collect();
        let mut known: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
        described.sort_unstable();
        known.sort_unstable();
        assert_eq!(described, known);
    }
    #[test]
    fn every_kind_is_tried_and_generated() {
        let generated = include_str!("../../../../testdata/generate/every-step/conversions/gadget.yaml");
        for (kind, _) in KINDS {
            let tried = MADE_UP_STEPS.iter().any(|step| step.starts_with(&format!("{kind}: ")));
            assert!(tried, "src/testing/fuzz/manifests.rs has no step of kind {kind}");
            // Go can't be generated for these.
            let written_by_hand = ["cel", "manual"].contains(kind);
            assert!(
                written_by_hand || generated.contains(&format!("- {kind}:")),
                "testdata/generate/every-step has no step of kind {kind}"
            );
        }
    }
}
