//! A CEL rule in a form where order, negation and spelling no longer matter.

use std::collections::{BTreeMap, BTreeSet};

use crate::cel::ast::{Comprehension, Expr, ExprKind as Kind, Literal, Quantifier};
use crate::cel::comparison::{Operator, constants, exact_number};
use crate::cel::normalise::NormalWriter;
use crate::cel::parse::read;
use crate::compare::cel_condition::Condition;
use crate::model::schema::Shape;

use super::time_bounds;

/// A rule in a form where order, negation and spelling no longer matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RuleForm {
    True,
    False,
    And(Vec<RuleForm>),
    Or(Vec<RuleForm>),
    Not(Box<RuleForm>),
    /// `has(self.a)`, by the field.
    Has(String),
    /// A comparison with a number on the right: `size(self) <= 5`.
    Bound {
        left: String,
        operator: Operator,
        than: Bits,
        /// Whether the left side is never NaN.
        ordered: bool,
    },
    /// `left < right` for two fields or constants that are never NaN.
    Below {
        left: String,
        right: String,
        or_equal: bool,
    },
    /// `left == 'a'`, `left in ['a', 'b']`.
    In {
        left: String,
        values: BTreeSet<String>,
    },
    /// `range.all(x, body)` and similar.
    Fold {
        fold: Quantifier,
        range: String,
        /// The name of the first variable in `body`.
        first: String,
        body: Box<RuleForm>,
    },
    Other(String),
}

/// What is known about a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Known {
    Absent,
    /// The parent of a new field.
    Parent,
    /// A constant, in normal form.
    Is(String),
}

impl Known {
    pub(crate) fn is(value: &serde_json::Value) -> Option<Known> {
        let literal = match value {
            serde_json::Value::Bool(b) => Literal::Bool(*b),
            serde_json::Value::String(text) => Literal::String(text.clone()),
            serde_json::Value::Number(number) => Literal::Int(number.as_i64()?),
            _ => return None,
        };
        Some(Known::Is(format!("{literal:?}")))
    }
}

/// A float with a total order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bits(pub(super) f64);

impl Bits {
    /// Whether a number compares this way with this one.
    pub(super) fn compares(self, number: f64, operator: Operator) -> bool {
        operator.holds(number.total_cmp(&self.0))
    }
}

impl Eq for Bits {}

impl PartialOrd for Bits {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bits {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl RuleForm {
    /// Parses a rule. `None` if it isn't valid CEL, or too large. The schema provides the types of fields.
    pub(super) fn parse(rule: &str, schema: &Shape) -> Option<RuleForm> {
        read(rule).ok().filter(|expr| expr.is_manageable()).map(|expr| term(&expr, &mut NormalWriter::typed(schema)))
    }

    /// Simplifies the term, given what is known about some fields, each written `self.a.b`, or `self[].a` in items.
    pub(super) fn given(&self, known: &dyn Fn(&str) -> Option<Known>) -> RuleForm {
        match self {
            RuleForm::And(list) => all(list.iter().map(|part| part.given(known))),
            RuleForm::Or(list) => any(list.iter().map(|part| part.given(known))),
            RuleForm::Not(inner) => inner.given(known).negated(),
            RuleForm::Has(field) => match known(field) {
                Some(Known::Absent) => RuleForm::False,
                Some(Known::Is(_)) => RuleForm::True,
                Some(Known::Parent) | None => self.clone(),
            },
            RuleForm::In { left, values } => match known(left) {
                Some(Known::Is(value)) if values.contains(&value) => RuleForm::True,
                Some(Known::Is(_)) => RuleForm::False,
                _ => self.clone(),
            },
            RuleForm::Fold { fold, range, first, body } if range == "self" && !first.ends_with(',') => {
                let inside = |path: &str| match path.strip_prefix(first.as_str()).and_then(|rest| rest.strip_prefix('.')) {
                    Some(field) => known(&format!("self[].{field}")),
                    None => known(path),
                };
                match (fold, body.given(&inside)) {
                    (Quantifier::All, RuleForm::True) => RuleForm::True,
                    (Quantifier::Exists | Quantifier::ExistsOne, RuleForm::False) => RuleForm::False,
                    _ => self.clone(),
                }
            }
            other => other.clone(),
        }
    }

    pub(super) fn negated(self) -> RuleForm {
        match self {
            RuleForm::True => RuleForm::False,
            RuleForm::False => RuleForm::True,
            RuleForm::Not(inner) => *inner,
            RuleForm::And(list) => any(list.into_iter().map(RuleForm::negated)),
            RuleForm::Or(list) => all(list.into_iter().map(RuleForm::negated)),
            RuleForm::Bound { left, operator, than, ordered: true } => {
                RuleForm::Bound { left, operator: operator.negated(), than, ordered: true }
            }
            RuleForm::Below { left, right, or_equal } => RuleForm::Below { left: right, right: left, or_equal: !or_equal },
            other => RuleForm::Not(Box::new(other)),
        }
    }
}

pub(super) fn all(parts: impl Iterator<Item = RuleForm>) -> RuleForm {
    joined(parts, true)
}

fn any(parts: impl Iterator<Item = RuleForm>) -> RuleForm {
    joined(parts, false)
}

/// Combines the operands of `&&` or `||`. A value in one of several sets is in their union, and a value in none of them isn't in
/// their union.
fn joined(parts: impl Iterator<Item = RuleForm>, conjunction: bool) -> RuleForm {
    let (neutral, decisive) = if conjunction { (RuleForm::True, RuleForm::False) } else { (RuleForm::False, RuleForm::True) };
    let mut list = BTreeSet::new();
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut pending: Vec<RuleForm> = parts.collect();
    while let Some(part) = pending.pop() {
        match part {
            part if part == neutral => {}
            part if part == decisive => return decisive,
            RuleForm::And(inner) if conjunction => pending.extend(inner),
            RuleForm::Or(inner) if !conjunction => pending.extend(inner),
            RuleForm::In { left, values } if !conjunction => members.entry(left).or_default().extend(values),
            RuleForm::Not(inner) if conjunction => match *inner {
                RuleForm::In { left, values } => members.entry(left).or_default().extend(values),
                other => drop(list.insert(RuleForm::Not(Box::new(other)))),
            },
            other => drop(list.insert(other)),
        }
    }
    let members = members.into_iter().map(|(left, values)| RuleForm::In { left, values });
    list.extend(members.map(|term| if conjunction { RuleForm::Not(Box::new(term)) } else { term }));
    let mut list: Vec<RuleForm> = list.into_iter().collect();
    match list.len() {
        0 => neutral,
        1 => list.pop().unwrap_or(neutral),
        _ if conjunction => RuleForm::And(list),
        _ => RuleForm::Or(list),
    }
}

pub(super) fn term(expr: &Expr, writer: &mut NormalWriter<'_>) -> RuleForm {
    let read = match Condition::read(expr) {
        Condition::Constant(true) => Some(RuleForm::True),
        Condition::Constant(false) => Some(RuleForm::False),
        Condition::Not(inner) => Some(term(inner, writer).negated()),
        Condition::And(parts) => Some(all(parts.iter().map(|part| term(part, writer)).collect::<Vec<_>>().into_iter())),
        Condition::Or(parts) => Some(any(parts.iter().map(|part| term(part, writer)).collect::<Vec<_>>().into_iter())),
        Condition::Choice { condition, yes, no } => {
            // Written so that a condition that fails with an error never becomes true, not even when negated.
            let condition = term(condition, writer);
            match (term(yes, writer), term(no, writer)) {
                (yes, no) if is_certain(&condition) => Some(choice(condition, yes, no)),
                (RuleForm::True, RuleForm::False) => Some(condition),
                (RuleForm::False, RuleForm::True) => Some(condition.negated()),
                (yes, RuleForm::True) => Some(any([all([condition.clone(), yes].into_iter()), condition.negated()].into_iter())),
                (RuleForm::True, no) => Some(any([all([condition.clone().negated(), no].into_iter()), condition].into_iter())),
                _ => None,
            }
        }
        Condition::Has(select) => Some(RuleForm::Has(format!("{}.{}", writer.write(&select.operand, false), select.field))),
        Condition::Compared { left, operator: Operator::Equal, right } => equality(left, right, writer),
        Condition::Compared { left, operator, right } => ordering(operator, left, right, writer),
        Condition::Unequal(left, right) => Some(unequal(expr, left, right, writer)),
        Condition::In { item, list } => membership(item, list, writer),
        Condition::Quantified { fold, quantifier, body } => Some(quantified(fold, quantifier, body, writer)),
        Condition::Matches { .. } | Condition::Other => None,
    };
    read.unwrap_or_else(|| RuleForm::Other(writer.write(expr, false)))
}

fn quantified(fold: &Comprehension, quantifier: Quantifier, condition: &Expr, writer: &mut NormalWriter<'_>) -> RuleForm {
    let range = writer.write(&fold.range, false);
    let (depth, body) = writer.inside(fold, |writer| term(condition, writer));
    // The variable after the accumulator; whether there is a second variable is part of the name.
    let first = format!("${}{}", depth + 1, if fold.var2.is_some() { "," } else { "" });
    RuleForm::Fold { fold: quantifier, range, first, body: Box::new(body) }
}

/// One or the other, depending on a condition that never fails.
fn choice(condition: RuleForm, yes: RuleForm, no: RuleForm) -> RuleForm {
    match (&yes, &no) {
        (RuleForm::True, _) => any([condition, no].into_iter()),
        (_, RuleForm::True) => any([condition.negated(), yes].into_iter()),
        _ => {
            let otherwise = all([condition.clone().negated(), no].into_iter());
            any([all([condition, yes].into_iter()), otherwise].into_iter())
        }
    }
}

fn equality(a: &Expr, b: &Expr, writer: &mut NormalWriter<'_>) -> Option<RuleForm> {
    let (left, right) = if a.literal().is_some() { (b, a) } else { (a, b) };
    if right.literal().is_some() && left.literal().is_none() {
        return Some(RuleForm::In { left: writer.write(left, false), values: BTreeSet::from([writer.write(right, false)]) });
    }
    if let Some(form) = time_bounds::equality(a, b, writer) {
        return Some(form);
    }
    tests(a, b, writer).map(|(a, b)| choice(a, b.clone(), b.negated()))
}

/// Two sides that only test whether fields exist, and never fail.
fn tests(a: &Expr, b: &Expr, writer: &mut NormalWriter<'_>) -> Option<(RuleForm, RuleForm)> {
    let asks = |side: &Expr| matches!(Condition::read(side), Condition::Has(_));
    let sides = (asks(a) && asks(b)).then(|| (term(a, writer), term(b, writer)))?;
    (is_certain(&sides.0) && is_certain(&sides.1)).then_some(sides)
}

fn unequal(expr: &Expr, a: &Expr, b: &Expr, writer: &mut NormalWriter<'_>) -> RuleForm {
    if let Some((a, b)) = tests(a, b, writer) {
        return choice(a, b.clone().negated(), b);
    }
    match equality(a, b, writer) {
        Some(equal) => equal.negated(),
        None => RuleForm::Not(Box::new(RuleForm::Other(writer.write(expr, true)))),
    }
}

fn membership(left: &Expr, list: &Expr, writer: &mut NormalWriter<'_>) -> Option<RuleForm> {
    let Kind::List(items) = &list.kind else { return None };
    let constant = |item: &Expr| item.literal().is_some() || constants(item).is_some();
    if !items.optional.is_empty() || !items.items.iter().all(constant) {
        return None;
    }
    let list = items;
    Some(RuleForm::In { left: writer.write(left, false), values: list.items.iter().map(|item| writer.write(item, false)).collect() })
}

fn bound(left: &Expr, operator: Operator, than: Bits, writer: &mut NormalWriter<'_>) -> RuleForm {
    RuleForm::Bound { left: writer.write(left, false), operator, than, ordered: !writer.types.may_be_nan(left) }
}

fn ordering(operator: Operator, a: &Expr, b: &Expr, writer: &mut NormalWriter<'_>) -> Option<RuleForm> {
    if let Some(form) = time_bounds::bound(operator, a, b, writer) {
        return Some(form);
    }
    let number = |side: &Expr| side.literal().and_then(exact_number).map(Bits);
    match (number(a), number(b)) {
        (None, Some(than)) => Some(bound(a, operator, than, writer)),
        (Some(than), None) => Some(bound(b, operator.swapped(), than, writer)),
        // A computed value may be NaN, which is neither below nor above.
        _ if ![a, b].iter().all(|side| matches!(side.kind, Kind::Ident(_) | Kind::Select(_))) => None,
        _ => {
            let (a, b) = (writer.write(a, false), writer.write(b, false));
            let (left, right) = if matches!(operator, Operator::Less | Operator::AtMost) { (a, b) } else { (b, a) };
            Some(RuleForm::Below { left, right, or_equal: matches!(operator, Operator::AtMost | Operator::AtLeast) })
        }
    }
}

/// Whether a term tests a field of something that always exists, so that it can't fail.
pub(super) fn is_certain(term: &RuleForm) -> bool {
    let asked = match term {
        RuleForm::Not(inner) => inner,
        other => other,
    };
    let there = |root: &str| matches!(root, "self" | "oldSelf") || root.starts_with('$');
    match asked {
        RuleForm::Has(field) => {
            field.split_once('.').is_some_and(|(root, field)| there(root) && field.chars().all(|c| c.is_alphanumeric() || c == '_'))
        }
        other => *other == RuleForm::Other("(.hasValue oldSelf)".to_owned()),
    }
}
