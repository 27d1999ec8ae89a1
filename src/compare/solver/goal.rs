//! The goal of a search: how each side sees the value, and the conditions on it.

use std::rc::Rc;

use serde_json::Value;

use crate::model::PathStep;
use crate::model::number::as_sent;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;
use crate::server::key_fate::Pruning;

use super::formula::Formula;
use super::read::{ReadBy, SentKey};

/// A condition on a value.
#[derive(Debug, Clone)]
pub(crate) enum Term<'s> {
    /// Valid at a declared node.
    Node(&'s Shape),
    /// Valid in a clause of `anyOf`, `oneOf`, `allOf` or `not`.
    Clause(&'s Shape),
    Formula(Rc<Formula>),
}

/// How one side sees the value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SideView<'s> {
    pub(crate) read_by: ReadBy<'s>,
    /// Whether nothing that the client sends may be pruned on this side.
    pub(crate) faithful: bool,
}

/// A condition that must hold, or must fail, for the value as one side sees it.
#[derive(Debug, Clone)]
pub(crate) struct TermLiteral<'s> {
    pub(crate) view: usize,
    pub(crate) holds: bool,
    pub(crate) term: Term<'s>,
}

/// How the two sides must differ in what they store, besides their conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Difference {
    None,
    /// This view prunes something other than a null.
    Lost(usize),
    /// The views store different values.
    Stored,
}

/// A path that the value must have, and what must be there.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pin<'s> {
    pub(crate) steps: &'s [PathStep],
    pub(crate) target: PinTarget<'s>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum PinTarget<'s> {
    /// Exactly this value.
    Value(&'s Value),
    /// Some value other than null.
    Sent,
    Null,
    /// No such key.
    Missing,
    /// A value that satisfies this condition, as the first view sees it.
    Meets(&'s Rc<Formula>),
}

/// A value to search for.
#[derive(Debug, Clone)]
pub(crate) struct Goal<'s> {
    pub(crate) views: Vec<SideView<'s>>,
    pub(crate) literals: Vec<TermLiteral<'s>>,
    pub(crate) difference: Difference,
    pub(crate) pin: Option<Pin<'s>>,
    /// Whether this is a whole resource: apiVersion, kind and metadata exist although they aren't shown.
    pub(crate) root: bool,
}

/// Which of several solutions is preferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Preference {
    /// As little as possible.
    #[default]
    Small,
    /// With every possible field.
    Full,
}

impl<'s> Goal<'s> {
    /// A value that the shape accepts and keeps; `root` if it is a whole resource.
    pub(crate) fn of(shape: &'s Shape, root: bool) -> Self {
        let views = vec![SideView { read_by: ReadBy::shape_of(shape), faithful: true }];
        let literals = vec![TermLiteral { view: 0, holds: true, term: Term::Node(shape) }];
        Goal { views, literals, difference: Difference::None, pin: None, root }
    }

    /// A goal for a value that nobody prunes.
    pub(super) fn scalar(literals: Vec<TermLiteral<'s>>) -> Self {
        let views = vec![SideView { read_by: Pruning::Nothing, faithful: false }];
        Goal { views, literals, difference: Difference::None, pin: None, root: false }
    }
}

impl Pin<'_> {
    /// What the pin requires of the key at its end.
    pub(super) fn request(self) -> SentKey {
        match (self.steps, self.target) {
            ([], PinTarget::Missing) => SentKey::Absent,
            ([], PinTarget::Null) => SentKey::Null,
            _ => SentKey::Value,
        }
    }
}

/// Whether no value can show the difference: without a schema nothing is defaulted, and everything is kept.
pub(super) fn is_impossible(goal: &Goal<'_>) -> bool {
    match goal.difference {
        Difference::None => false,
        Difference::Lost(view) => goal.views.get(view).is_none_or(|view| matches!(view.read_by, Pruning::Nothing)),
        Difference::Stored => goal.views.iter().all(|view| view.faithful && view.read_by.shape().is_none()),
    }
}

/// The values to try, if a condition only allows finitely many.
pub(super) fn candidates(goal: &Goal<'_>) -> Option<Vec<Value>> {
    if let Some(Pin { steps: [], target: PinTarget::Value(value) }) = goal.pin {
        return Some(vec![value.clone()]);
    }
    goal.literals.iter().filter(|literal| literal.holds).find_map(|literal| match &literal.term {
        Term::Formula(formula) => match &**formula {
            Formula::Equals(value) => Some(spellings(value)),
            _ => None,
        },
        Term::Node(shape) | Term::Clause(shape) => {
            let values = shape.enum_values.as_ref()?;
            // The server compares fractions with an enum after rounding, so the enum's values are not all that it accepts.
            let fractions = values.iter().any(Value::is_number) && !matches!(shape.ty, Some(Type::Integer));
            (!fractions).then(|| values.iter().filter(|value| !value.is_null()).flat_map(spellings).collect())
        }
    })
}

/// A number in both spellings if clients can send both, a string with the integer that Go converts to it, and anything else unchanged.
fn spellings(value: &Value) -> Vec<Value> {
    let mut all = vec![value.clone()];
    match value {
        Value::Number(n) => {
            if let Some(n) = n.as_i64() {
                all.extend(Some(as_sent(n as f64)).filter(|float| float != value));
            } else if let Some(x) = n.as_f64().filter(|x| x.fract() == 0.0 && x.abs() < 9e15) {
                all.push(Value::from(x as i64));
            }
        }
        Value::String(text) => {
            let mut chars = text.chars();
            if let (Some(c), None) = (chars.next(), chars.next()) {
                all.push(Value::from(u32::from(c)));
            }
        }
        _ => {}
    }
    all
}

pub(super) fn has_pin(value: &Value, pin: Pin<'_>) -> bool {
    let Some((step, rest)) = pin.steps.split_first() else {
        return match pin.target {
            PinTarget::Value(wanted) => value == wanted,
            PinTarget::Sent | PinTarget::Meets(_) => !value.is_null(),
            PinTarget::Null => value.is_null(),
            PinTarget::Missing => false,
        };
    };
    let below = Pin { steps: rest, target: pin.target };
    match step {
        PathStep::Key(key) => match value.get(&**key) {
            Some(value) => has_pin(value, below),
            None => rest.is_empty() && matches!(pin.target, PinTarget::Missing) && value.is_object(),
        },
        PathStep::Items => value.as_array().is_some_and(|items| items.iter().any(|item| has_pin(item, below))),
        PathStep::Values => value.as_object().is_some_and(|map| map.values().any(|item| has_pin(item, below))),
    }
}
