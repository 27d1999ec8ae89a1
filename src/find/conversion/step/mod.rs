//! Steps of a conversion, each with its inverse.
//!
//! An operation acts on one container of an object at a time: the deepest list item or map value that all of its paths share.
//! Its inverse is again an operation on the same paths, so that a manifest is read in both directions.

pub mod cel;
pub mod keyed;
pub mod parts;
mod presence;
pub mod reason;
pub mod retype;
pub mod scale;
mod single;
pub mod template;
mod transfer;
pub mod values;

use serde_json::Value;

use crate::input::yaml::Span;
use crate::model::FieldPath;
use crate::model::fact::Effect;

use super::address::{Names, Region, get, get_mut, take};
use cel::Expression;
use keyed::Keying;
use parts::Form;
pub use reason::{Conflict, Reason, Refusal};
use retype::Scalar;
use scale::Factor;
use values::Table;

pub(crate) use values::same;

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// `rename` and `move`.
    Move {
        from: FieldPath,
        to: FieldPath,
    },
    Copy {
        from: FieldPath,
        to: FieldPath,
    },
    /// Takes away what [`Op::Copy`] made.
    Uncopy {
        from: FieldPath,
        to: FieldPath,
    },
    /// `restore` is what the reverse direction puts there.
    Drop {
        path: FieldPath,
        restore: Option<Value>,
    },
    Add {
        path: FieldPath,
        value: Option<Value>,
    },
    Set {
        path: FieldPath,
        value: Value,
    },
    Unset {
        path: FieldPath,
        value: Value,
    },
    Default {
        path: FieldPath,
        value: Value,
    },
    Undefault {
        path: FieldPath,
        value: Value,
    },
    MapValues {
        from: FieldPath,
        to: FieldPath,
        table: Table,
    },
    Split {
        from: FieldPath,
        into: Vec<FieldPath>,
        form: Form,
    },
    Merge {
        parts: Vec<FieldPath>,
        to: FieldPath,
        form: Form,
    },
    Wrap {
        from: FieldPath,
        to: FieldPath,
    },
    Unwrap {
        from: FieldPath,
        to: FieldPath,
    },
    MapToList {
        from: FieldPath,
        to: FieldPath,
        keying: Keying,
    },
    ListToMap {
        from: FieldPath,
        to: FieldPath,
        keying: Keying,
    },
    Scale {
        from: FieldPath,
        to: FieldPath,
        factor: Factor,
    },
    Retype {
        from: FieldPath,
        to: FieldPath,
        was: Scalar,
        becomes: Scalar,
    },
    Cel {
        from: FieldPath,
        to: FieldPath,
        forward: Expression,
        back: Option<Expression>,
    },
    /// What no machine does: a person reads the guidance.
    Manual {
        path: FieldPath,
        effect: Effect,
        guidance: String,
    },
}

/// One step of a manifest, ready to be done.
#[derive(Debug, Clone)]
pub struct Step {
    pub op: Op,
    /// What the manifest calls it.
    pub name: &'static str,
    pub conflict: Conflict,
    /// Whether what the step loses is kept, where the manifest keeps anything.
    pub preserve: bool,
    /// The step in the manifest, and each of its paths.
    pub span: Span,
    pub path_spans: Vec<Span>,
    pub(crate) region: Region,
}

impl Op {
    /// Every path that the operation reads or writes. An operation and its inverse have the same, in the same order of roles.
    pub fn paths(&self) -> Vec<&FieldPath> {
        match self {
            Op::Move { from, to }
            | Op::Copy { from, to }
            | Op::Uncopy { from, to }
            | Op::Wrap { from, to }
            | Op::Unwrap { from, to }
            | Op::MapToList { from, to, .. }
            | Op::ListToMap { from, to, .. }
            | Op::MapValues { from, to, .. }
            | Op::Scale { from, to, .. }
            | Op::Retype { from, to, .. }
            | Op::Cel { from, to, .. } => {
                if from == to {
                    vec![from]
                } else {
                    vec![from, to]
                }
            }
            Op::Drop { path, .. }
            | Op::Add { path, .. }
            | Op::Set { path, .. }
            | Op::Unset { path, .. }
            | Op::Default { path, .. }
            | Op::Undefault { path, .. }
            | Op::Manual { path, .. } => vec![path],
            Op::Split { from, into, .. } => std::iter::once(from).chain(into).collect(),
            Op::Merge { parts, to, .. } => parts.iter().chain([to]).collect(),
        }
    }

    /// Paths whose value is taken or changed.
    pub fn reads(&self) -> Vec<&FieldPath> {
        match self {
            Op::Add { .. } | Op::Set { .. } | Op::Default { .. } => Vec::new(),
            Op::Uncopy { to, .. } => vec![to],
            Op::Split { from, .. } => vec![from],
            Op::Merge { parts, .. } => parts.iter().collect(),
            _ => self.paths().into_iter().take(1).collect(),
        }
    }

    /// Paths where a value appears or changes.
    pub fn writes(&self) -> Vec<&FieldPath> {
        match self {
            Op::Drop { .. } | Op::Uncopy { .. } | Op::Unset { .. } | Op::Undefault { .. } | Op::Manual { .. } => Vec::new(),
            Op::Split { into, .. } => into.iter().collect(),
            Op::Merge { to, .. } => vec![to],
            _ => self.paths().into_iter().next_back().into_iter().collect(),
        }
    }

    /// Where one value comes from and where it goes, for operations on a single value.
    pub fn ends(&self) -> Option<(&FieldPath, &FieldPath)> {
        match self {
            Op::Move { from, to }
            | Op::Wrap { from, to }
            | Op::Unwrap { from, to }
            | Op::MapToList { from, to, .. }
            | Op::ListToMap { from, to, .. }
            | Op::MapValues { from, to, .. }
            | Op::Scale { from, to, .. }
            | Op::Retype { from, to, .. }
            | Op::Cel { from, to, .. } => Some((from, to)),
            _ => None,
        }
    }

    /// Whether the value stays where it is and becomes another.
    pub fn in_place(&self) -> bool {
        self.ends().is_some_and(|(from, to)| from == to)
    }

    /// The operation that takes this one back; `None` where nobody wrote one.
    pub fn inverse(&self) -> Option<Op> {
        let op = self.clone();
        Some(match op {
            Op::Move { from, to } => Op::Move { from: to, to: from },
            Op::Copy { from, to } => Op::Uncopy { from, to },
            Op::Uncopy { from, to } => Op::Copy { from, to },
            Op::Drop { path, restore } => Op::Add { path, value: restore },
            Op::Add { path, value } => Op::Drop { path, restore: value },
            Op::Set { path, value } => Op::Unset { path, value },
            Op::Unset { path, value } => Op::Set { path, value },
            Op::Default { path, value } => Op::Undefault { path, value },
            Op::Undefault { path, value } => Op::Default { path, value },
            Op::MapValues { from, to, table } => Op::MapValues { from: to, to: from, table: table.inverse() },
            Op::Split { from, into, form } => Op::Merge { parts: into, to: from, form },
            Op::Merge { parts, to, form } => Op::Split { from: to, into: parts, form },
            Op::Wrap { from, to } => Op::Unwrap { from: to, to: from },
            Op::Unwrap { from, to } => Op::Wrap { from: to, to: from },
            Op::MapToList { from, to, keying } => Op::ListToMap { from: to, to: from, keying },
            Op::ListToMap { from, to, keying } => Op::MapToList { from: to, to: from, keying },
            Op::Scale { from, to, factor } => Op::Scale { from: to, to: from, factor: factor.inverse() },
            Op::Retype { from, to, was, becomes } => Op::Retype { from: to, to: from, was: becomes, becomes: was },
            Op::Cel { from, to, forward, back } => Op::Cel { from: to, to: from, forward: back?, back: Some(forward) },
            Op::Manual { .. } => op,
        })
    }

    /// Acts on one container. `inner` are the operation's own paths inside of it.
    pub(crate) fn apply(&self, container: &mut Value, inner: &[Names], conflict: Conflict) -> Result<(), Reason> {
        let (Some(first), Some(last)) = (inner.first(), inner.last()) else { return Ok(()) };
        match self {
            Op::Move { .. } => transfer::relocate(container, first, last, conflict)?,
            Op::Copy { .. } => transfer::copy(container, first, last, conflict)?,
            Op::Uncopy { .. } => transfer::uncopy(container, last),
            Op::Drop { .. } => presence::drop(container, first),
            Op::Add { value, .. } => presence::fill(container, first, value.as_ref()),
            Op::Set { value, .. } => presence::set(container, first, value),
            Op::Unset { .. } => presence::drop(container, first),
            Op::Default { value, .. } => presence::fill(container, first, Some(value)),
            Op::Undefault { value, .. } => presence::unfill(container, first, value),
            Op::MapValues { table, .. } => transform(container, first, last, conflict, |value| table.look_up(value))?,
            Op::Split { form, .. } => parts::split(container, first, inner.get(1..).unwrap_or_default(), form, conflict)?,
            Op::Merge { form, .. } => {
                let sources = inner.len().saturating_sub(1);
                parts::merge(container, inner.get(..sources).unwrap_or_default(), last, form, conflict)?;
            }
            Op::Wrap { .. } => single::wrap(container, first, last, conflict)?,
            Op::Unwrap { .. } => single::unwrap(container, first, last, conflict)?,
            Op::MapToList { keying, .. } => keyed::to_list(container, first, last, keying, conflict)?,
            Op::ListToMap { keying, .. } => keyed::to_map(container, first, last, keying, conflict)?,
            Op::Scale { factor, .. } => transform(container, first, last, conflict, |value| factor.apply(value))?,
            Op::Retype { was, becomes, .. } => transform(container, first, last, conflict, |value| retype::retype(value, *was, *becomes))?,
            Op::Cel { forward, .. } => transform(container, first, last, conflict, |value| forward.run(value))?,
            Op::Manual { effect, guidance, .. } => {
                let gone = matches!(effect, Effect::Removed | Effect::Renamed | Effect::Moved);
                if gone && get(container, first).is_some_and(|value| !value.is_null()) {
                    return Err(Reason::Manual(guidance.clone()));
                }
            }
        }
        Ok(())
    }
}

/// Changes a value, where it stands or on its way to another place. An expression that gives null takes it away.
fn transform(
    container: &mut Value,
    from: &Names,
    to: &Names,
    conflict: Conflict,
    change: impl Fn(&Value) -> Result<Value, Reason>,
) -> Result<(), Reason> {
    let Some(value) = get_mut(container, from) else { return Ok(()) };
    let was_null = value.is_null();
    let result = change(value)?;
    if from == to && (was_null || !result.is_null()) {
        *value = result;
        return Ok(());
    }
    take(container, from);
    if result.is_null() && !was_null { Ok(()) } else { transfer::place(container, to, result, conflict) }
}

/// The values at an operation's paths inside one container.
pub(crate) fn view(container: &Value, inner: &[Names]) -> Vec<Option<Value>> {
    inner.iter().map(|names| get(container, names).cloned()).collect()
}
