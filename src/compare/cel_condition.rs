//! Parses the parts of a CEL condition, for both ways to compare rules: by form (`cel_implication`) and by search (`solver`).

use crate::cel::ast::{Comprehension, Expr, ExprKind, Literal, Quantifier, Select};
use crate::cel::comparison::Operator;

/// A boolean expression, by its outermost operator.
pub(super) enum Condition<'e> {
    Constant(bool),
    Not(&'e Expr),
    And(&'e [Expr]),
    Or(&'e [Expr]),
    /// `condition ? yes : no`
    Choice {
        condition: &'e Expr,
        yes: &'e Expr,
        no: &'e Expr,
    },
    /// `has(operand.field)`
    Has(&'e Select),
    /// `left == right`, `left < right` and the like; `!=` is [`Condition::Unequal`].
    Compared {
        left: &'e Expr,
        operator: Operator,
        right: &'e Expr,
    },
    Unequal(&'e Expr, &'e Expr),
    /// `item in list`
    In {
        item: &'e Expr,
        list: &'e Expr,
    },
    /// `target.matches('…')`, or `startsWith`, `endsWith` and `contains` with a constant, as a regular expression.
    Matches {
        target: &'e Expr,
        pattern: String,
    },
    /// `all`, `exists` and `exists_one`, with the condition on the items.
    Quantified {
        fold: &'e Comprehension,
        quantifier: Quantifier,
        body: &'e Expr,
    },
    Other,
}

impl<'e> Condition<'e> {
    pub(super) fn read(expr: &'e Expr) -> Self {
        match &expr.kind {
            ExprKind::Literal(Literal::Bool(value)) => Condition::Constant(*value),
            ExprKind::Select(select) if select.test => Condition::Has(select),
            ExprKind::Comprehension(fold) => match fold.quantifier() {
                Some((quantifier, body)) => Condition::Quantified { fold, quantifier, body },
                None => Condition::Other,
            },
            ExprKind::Call(call) => match (&*call.function, call.target.as_deref(), call.args.as_slice()) {
                ("!_", None, [inner]) => Condition::Not(inner),
                ("_&&_", None, parts) => Condition::And(parts),
                ("_||_", None, parts) => Condition::Or(parts),
                ("_?_:_", None, [condition, yes, no]) => Condition::Choice { condition, yes, no },
                ("_!=_", None, [left, right]) => Condition::Unequal(left, right),
                ("@in", None, [item, list]) => Condition::In { item, list },
                (function, None, [left, right]) => match Operator::of(function) {
                    Some(operator) => Condition::Compared { left, operator, right },
                    None => Condition::Other,
                },
                (function, Some(target), [argument]) => match pattern(function, argument) {
                    Some(pattern) => Condition::Matches { target, pattern },
                    None => Condition::Other,
                },
                _ => Condition::Other,
            },
            _ => Condition::Other,
        }
    }
}

/// The regular expression that is equivalent to a string test with a constant.
fn pattern(function: &str, argument: &Expr) -> Option<String> {
    let Some(Literal::String(text)) = argument.literal() else { return None };
    match function {
        "matches" => Some(text.clone()),
        "contains" => Some(regex_syntax::escape(text)),
        "startsWith" => Some(format!("^{}", regex_syntax::escape(text))),
        "endsWith" => Some(format!("{}$", regex_syntax::escape(text))),
        _ => None,
    }
}

/// The argument of `size(…)` or `….size()`.
pub(super) fn size_of(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    match (&*call.function, call.target.as_deref(), call.args.as_slice()) {
        ("size", Some(counted), []) | ("size", None, [counted]) => Some(counted),
        _ => None,
    }
}

/// The selection of a field of one of these variables: `self.a` for `self`.
pub(super) fn field_of<'e>(expr: &'e Expr, variables: &[&str]) -> Option<&'e Select> {
    match &expr.kind {
        ExprKind::Select(select) if matches!(&select.operand.kind, ExprKind::Ident(name) if variables.contains(&name.as_str())) => {
            Some(select)
        }
        _ => None,
    }
}
