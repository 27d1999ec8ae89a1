//! The kinds of conversion steps, one file each: parsing, applying, inverse, output schema and proofs.
//!
//! A step acts on one container of an object at a time: the deepest list item or map value that all of its paths share.
//! Its inverse is again a step on the same paths, so that a manifest can be read in both directions.
//!
//! To add a kind: write its file with a `parse` function and an implementation of [`StepKind`], name it in [`KINDS`], and
//! describe it in `manifest.schema.json`. The compiler and a test name what is missing.

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

use super::address::{Containers, Names, get};
use super::generate::GoStep;
use super::lossless::Obstacle;
use super::path_through_steps::rebased;
use super::search::Wanted;
use super::shape_edit::declared;
pub(crate) use manual::Manual;
pub(crate) use overlap::Overlap;
use parse::StepNode;
pub use reason::{Conflict, Reason, Refusal};

/// Reads a step. Errors go into the node; without an operation there is at least one, or the schema has reported it.
type Parse = fn(&mut StepNode<'_, '_>) -> Option<Op>;

/// Every kind of step by the name that manifests give it, apart from `forEach`, which only groups steps.
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
    /// What the manifest calls it.
    pub name: &'static str,
    pub conflict: Conflict,
    /// Whether the values that the step loses are preserved, where the manifest preserves any.
    pub preserve: bool,
    /// The step in the manifest, and each of its paths.
    pub span: Span,
    pub path_spans: Vec<Span>,
    pub(crate) containers: Containers,
}

impl Step {
    /// Whether another manifest says the same, wherever it says it.
    pub(crate) fn is_like(&self, other: &Step) -> bool {
        let words = |step: &Step| (step.name, step.conflict, step.preserve, format!("{:?}", step.op));
        words(self) == words(other)
    }
}

/// Where one value comes from and where it goes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ends {
    pub from: FieldPath,
    pub to: FieldPath,
}

impl Ends {
    /// Whether the value stays where it is and becomes another.
    fn in_place(&self) -> bool {
        self.from == self.to
    }

    fn swapped(&self) -> Ends {
        Ends { from: self.to.clone(), to: self.from.clone() }
    }

    fn paths(&self) -> Vec<&FieldPath> {
        if self.in_place() { vec![&self.from] } else { vec![&self.from, &self.to] }
    }
}

/// The fields that an operation is about.
pub(crate) enum Fields<'o> {
    /// One value, which goes to another place or changes where it is.
    Value(&'o Ends),
    Several {
        /// Fields whose value is taken or changed.
        reads: Vec<&'o FieldPath>,
        /// Fields where a value appears or changes.
        writes: Vec<&'o FieldPath>,
    },
}

impl<'o> Fields<'o> {
    fn read(path: &'o FieldPath) -> Self {
        Fields::Several { reads: vec![path], writes: Vec::new() }
    }

    fn written(path: &'o FieldPath) -> Self {
        Fields::Several { reads: Vec::new(), writes: vec![path] }
    }
}

/// Why a step may fail, where a kind can't say anything more helpful.
const MAY_FAIL: &str = "a step may fail";

/// What conversions need to know about a kind of step.
///
/// `container` is the length of the path that leads to the container, which all paths of the step begin with.
pub(crate) trait StepKind: fmt::Debug + Send + Sync {
    fn fields(&self) -> Fields<'_>;

    /// The operation that undoes this one on the same paths; `None` where the manifest doesn't define one.
    fn inverse(&self) -> Option<Op>;

    /// Changes one container. `inner` are the paths of [`StepKind::paths`] inside it.
    fn apply(&self, container: &mut Value, inner: &[Names], conflict: Conflict) -> Result<(), Reason>;

    /// The same in Go; else the reason why there is none.
    fn go(&self) -> Result<GoStep, String>;

    /// Turns the schema of the objects before the step into one that accepts all objects after it, and in simple cases no
    /// others. `None` where there is nothing to act on, so that nothing changes.
    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()>;

    /// Shows that the inverse restores every object of the schema, up to normal form.
    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle>;

    /// Shows that the step succeeds on every object of the schema; else the reason why it may not.
    fn never_fails(&self, shape: &Shape, container: usize, conflict: Conflict) -> Result<(), String>;

    /// Whether the step changes no object of the schema.
    fn is_noop(&self, shape: &Shape) -> bool;

    /// Every path that the operation reads or writes, sources first. The inverse has the same paths.
    fn paths(&self) -> Vec<&FieldPath> {
        match self.fields() {
            Fields::Value(ends) => ends.paths(),
            Fields::Several { reads, writes } => reads.into_iter().chain(writes).collect(),
        }
    }

    fn reads(&self) -> Vec<&FieldPath> {
        match self.fields() {
            Fields::Value(ends) => vec![&ends.from],
            Fields::Several { reads, .. } => reads,
        }
    }

    fn writes(&self) -> Vec<&FieldPath> {
        match self.fields() {
            Fields::Value(ends) => vec![&ends.to],
            Fields::Several { writes, .. } => writes,
        }
    }

    /// Where one value comes from and where it goes, for operations on a single value.
    fn ends(&self) -> Option<&Ends> {
        match self.fields() {
            Fields::Value(ends) => Some(ends),
            Fields::Several { .. } => None,
        }
    }

    /// Whether the value stays where it is and becomes another.
    fn in_place(&self) -> bool {
        self.ends().is_some_and(Ends::in_place)
    }

    /// Where the value at `path` was before the step, if the step put it there.
    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        let ends = self.ends()?;
        rebased(path, &ends.to, &ends.from)
    }

    /// The fields that replace one that the step removes.
    fn replacements(&self) -> Vec<&FieldPath> {
        self.ends().filter(|ends| !ends.in_place()).map(|ends| &ends.to).into_iter().collect()
    }

    /// Places and values on which the step changes an object.
    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        self.reads().into_iter().map(|path| (path, Wanted::Sent)).collect()
    }

    /// Whether searching for [`StepKind::triggers`] settles if the step changes objects that are valid in both versions.
    fn decided_by_triggers(&self) -> bool {
        true
    }

    /// Whether both versions declare a field that the step reads. In a version that doesn't declare it, it has no meaning.
    fn acts_on_both(&self, old: &Shape, new: &Shape) -> bool {
        self.reads().iter().any(|path| declared(old, path).is_some() && declared(new, path).is_some())
    }

    /// Whether the step converts what a breaking change did to a field.
    fn covers(&self, change: &Fact, at: &Overlap) -> bool {
        at.covers_by_default(change)
    }

    /// The step, if a person must do it.
    fn manual(&self) -> Option<&Manual> {
        None
    }

    /// Whether the step gives a value another place and does nothing else.
    fn moves_value(&self) -> bool {
        false
    }

    /// Whether the step removes a field without a replacement.
    fn drops_field(&self) -> bool {
        false
    }

    /// Whether the step makes one field of several.
    fn merges_fields(&self) -> bool {
        false
    }

    /// Whether the step writes out or removes a default, by which nothing is lost.
    fn is_default(&self) -> bool {
        false
    }

    /// Whether the step writes only where the parent of its field exists.
    fn needs_parent(&self) -> bool {
        false
    }
}

/// The operation's paths inside their container.
pub(crate) fn inner_paths(op: &Op) -> Vec<Names> {
    Containers::of(&op.paths()).map(|containers| containers.inner).unwrap_or_default()
}

/// The values at an operation's paths inside one container.
pub(crate) fn view(container: &Value, inner: &[Names]) -> Vec<Option<Value>> {
    inner.iter().map(|names| get(container, names).cloned()).collect()
}

/// A value as messages show it, cut if it is long.
pub(crate) fn shown(value: &Value) -> String {
    crate::input::shorten(&value.to_string(), 79).into_owned()
}

/// Equal as JSON, `1` and `1.0` included.
pub(crate) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
