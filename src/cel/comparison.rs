//! Comparisons in CEL expressions: the operator, and the constants that are compared.

use std::cmp::Ordering;

use super::ast::{Expr, ExprKind, Literal};

/// Integers up to this can be represented as floats without loss.
const MAX_EXACT: u64 = 1 << 53;

/// An operator that compares two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Operator {
    Equal,
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Operator {
    /// The operator for a function name. Callers handle `!=`, as the negation of `==`.
    pub(crate) fn of(function: &str) -> Option<Operator> {
        Some(match function {
            "_==_" => Operator::Equal,
            "_<_" => Operator::Less,
            "_<=_" => Operator::AtMost,
            "_>_" => Operator::More,
            "_>=_" => Operator::AtLeast,
            _ => return None,
        })
    }

    /// The operator of the same comparison with swapped sides.
    pub(crate) fn swapped(self) -> Operator {
        match self {
            Operator::Equal => Operator::Equal,
            Operator::Less => Operator::More,
            Operator::AtMost => Operator::AtLeast,
            Operator::More => Operator::Less,
            Operator::AtLeast => Operator::AtMost,
        }
    }

    /// The ordering that holds if this one fails, for ordered values; `==` has none and is returned unchanged.
    pub(crate) fn negated(self) -> Operator {
        match self {
            Operator::Equal => Operator::Equal,
            Operator::Less => Operator::AtLeast,
            Operator::AtMost => Operator::More,
            Operator::More => Operator::AtMost,
            Operator::AtLeast => Operator::Less,
        }
    }

    /// Whether it holds for two values with this ordering.
    pub(crate) fn holds(self, order: Ordering) -> bool {
        match self {
            Operator::Equal => order.is_eq(),
            Operator::Less => order.is_lt(),
            Operator::AtMost => order.is_le(),
            Operator::More => order.is_gt(),
            Operator::AtLeast => order.is_ge(),
        }
    }

    /// Whether it holds for two constants of one type.
    pub(crate) fn of_constants(self, a: &Literal, b: &Literal) -> Option<bool> {
        match (a, b) {
            (Literal::Int(a), Literal::Int(b)) => Some(self.holds(a.cmp(b))),
            (Literal::String(a), Literal::String(b)) => Some(self.holds(a.cmp(b))),
            (Literal::Bool(a), Literal::Bool(b)) if self == Operator::Equal => Some(a == b),
            _ => None,
        }
    }
}

/// The constants of a list literal that contains nothing else.
pub(crate) fn constants(list: &Expr) -> Option<Vec<&Literal>> {
    let ExprKind::List(list) = &list.kind else { return None };
    list.items.iter().map(Expr::literal).collect::<Option<_>>().filter(|_| list.optional.is_empty())
}

/// A number that a float can represent without loss.
pub(crate) fn exact_number(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Int(int) => (int.unsigned_abs() <= MAX_EXACT).then_some(*int as f64),
        Literal::Double(double) => Some(*double).filter(|double| double.is_finite()),
        _ => None,
    }
}
