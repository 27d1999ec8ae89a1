//! Evaluates expressions of constants, and finds the choices that an expression makes.

use crate::cel::ast::{Call, Comprehension, Expr, ExprKind as Kind, Literal, Quantifier, Select};
use crate::cel::comparison::constants;
use crate::compare::cel_condition::{Condition, size_of};
use crate::go::regexp::Pattern;

/// The condition of the first conditional that is always evaluated, and the expression in either case.
pub(super) fn lift(expr: &Expr) -> Option<[Expr; 3]> {
    let with = |kind: Kind| Expr { kind, ..expr.clone() };
    match &expr.kind {
        Kind::Call(call) if call.function == "_?_:_" => match call.args.as_slice() {
            [condition, yes, no] => Some([condition.clone(), yes.clone(), no.clone()]),
            _ => None,
        },
        Kind::Call(call) if matches!(&*call.function, "_&&_" | "_||_") => None,
        Kind::Call(call) => {
            if let Some([condition, yes, no]) = call.target.as_deref().and_then(lift) {
                let with = |target: Expr| with(Kind::Call(Call { target: Some(Box::new(target)), ..call.clone() }));
                return Some([condition, with(yes), with(no)]);
            }
            let (index, [condition, yes, no]) = call.args.iter().enumerate().find_map(|(index, arg)| Some((index, lift(arg)?)))?;
            let with = |arg: Expr| {
                let mut call = call.clone();
                if let Some(slot) = call.args.get_mut(index) {
                    *slot = arg;
                }
                with(Kind::Call(call))
            };
            Some([condition, with(yes), with(no)])
        }
        Kind::Select(select) if !select.test => {
            let [condition, yes, no] = lift(&select.operand)?;
            let with = |operand: Expr| with(Kind::Select(Select { operand: Box::new(operand), ..select.clone() }));
            Some([condition, with(yes), with(no)])
        }
        Kind::Comprehension(fold) => {
            let [condition, yes, no] = lift(&fold.range)?;
            let with = |range: Expr| with(Kind::Comprehension(Box::new(Comprehension { range, ..(**fold).clone() })));
            Some([condition, with(yes), with(no)])
        }
        _ => None,
    }
}

/// The value of a constant boolean expression.
pub(super) fn constant(expr: &Expr) -> Option<bool> {
    match Condition::read(expr) {
        Condition::Matches { target, pattern } => match target.literal()? {
            Literal::String(text) => Some(Pattern::new(&pattern).ok()?.is_match(text)),
            _ => None,
        },
        Condition::Quantified { fold, quantifier, .. } => match &fold.range.kind {
            Kind::List(list) if list.items.is_empty() => Some(quantifier == Quantifier::All),
            _ => None,
        },
        Condition::Compared { left, operator, right } => operator.of_constants(&count(left)?, &count(right)?),
        Condition::In { item, list } => {
            let Literal::String(item) = item.literal()? else { return None };
            let items = constants(list)?;
            Some(items.into_iter().any(|other| matches!(other, Literal::String(text) if text == item)))
        }
        _ => None,
    }
}

/// A constant, or the size of one.
fn count(expr: &Expr) -> Option<Literal> {
    if let Some(literal) = expr.literal() {
        return Some(literal.clone());
    }
    let sized = match &size_of(expr)?.kind {
        Kind::List(list) if list.optional.is_empty() => Some(list.items.len()),
        Kind::Map(entries) if entries.is_empty() => Some(0),
        _ => None,
    };
    sized.and_then(|count| i64::try_from(count).ok()).map(Literal::Int)
}
