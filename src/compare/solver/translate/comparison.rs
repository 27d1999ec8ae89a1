//! Translates comparisons of a part of a value with constants: bounds, sizes, remainders, types and membership.

use std::rc::Rc;

use serde_json::Value;

use crate::cel::ast::{Expr, ExprKind as Node, Literal};
use crate::cel::comparison::{Operator, constants, exact_number};
use crate::compare::cel_condition::size_of;
use crate::compare::solver::formula::Formula;
use crate::compare::solver::linear::{MAX_CONSTANT, linear};
use crate::compare::solver::truth::Truth;
use crate::compare::solver::{Kind, Kinds};

use super::{Subject, Ty};

/// One side of a comparison.
enum Operand<'s> {
    /// A part of the subject.
    Path(Vec<Rc<str>>, Ty<'s>),
    Size(Vec<Rc<str>>, Ty<'s>),
    Remainder(Vec<Rc<str>>, i64),
    TypeOf(Vec<Rc<str>>),
    Lowered(Vec<Rc<str>>),
    /// The index of a constant in a string.
    Found(Vec<Rc<str>>, String),
    /// The first character.
    First(Vec<Rc<str>>),
    /// `path * factor + sum`
    Linear(Vec<Rc<str>>, i64, i64),
    Literal(Value),
    TypeName(Kind),
    List(Vec<Value>),
}

impl<'s> Subject<'s> {
    pub(super) fn compared(&self, a: &Expr, b: &Expr, operator: Operator) -> Option<Truth> {
        let by_case = self.each_case(a, |a| self.each_case(b, |b| self.case_compared(a, b, operator)));
        match operator {
            Operator::Equal => by_case.or_else(|| Some(self.truth(a)?.same(self.truth(b)?))),
            _ => by_case,
        }
    }

    fn case_compared(&self, a: &Expr, b: &Expr, operator: Operator) -> Option<Truth> {
        if let (Some(a), Some(b)) = (a.literal(), b.literal()) {
            return operator.of_constants(a, b).map(Truth::constant);
        }
        match (self.operand(a)?, self.operand(b)?) {
            (Operand::Found(path, text), Operand::Literal(at)) => found(&path, &text, operator, at.as_i64()?),
            (Operand::Literal(at), Operand::Found(path, text)) => found(&path, &text, operator.swapped(), at.as_i64()?),
            (Operand::First(path), Operand::Literal(Value::String(text)))
            | (Operand::Literal(Value::String(text)), Operand::First(path))
                if operator == Operator::Equal && text.chars().count() == 1 =>
            {
                Some(Truth::at(&path, Ty::Text.kinds(), Formula::Matches(format!("^{}", regex_syntax::escape(&text)).into())))
            }
            (Operand::Path(a, Ty::Text), Operand::Lowered(b)) | (Operand::Lowered(b), Operand::Path(a, Ty::Text))
                if a == b && operator == Operator::Equal =>
            {
                Some(Truth::at(&a, Ty::Text.kinds(), Formula::Not(Rc::new(Formula::Matches("[A-Z]".into())))))
            }
            (operand, Operand::Literal(literal)) => compare(operand, operator, literal),
            (Operand::Literal(literal), operand) => compare(operand, operator.swapped(), literal),
            (Operand::TypeOf(path), Operand::TypeName(kind)) | (Operand::TypeName(kind), Operand::TypeOf(path))
                if operator == Operator::Equal =>
            {
                Some(Truth::at(&path, Ty::IntOrText.kinds(), Formula::Is(Kinds::of(&[kind]))))
            }
            _ => None,
        }
    }

    fn operand(&self, expr: &Expr) -> Option<Operand<'s>> {
        if let Some(literal) = expr.literal() {
            return json(literal).map(Operand::Literal);
        }
        if let Some(counted) = size_of(expr) {
            let (path, ty) = self.path(counted)?;
            return matches!(ty, Ty::Text | Ty::List(_) | Ty::Map(_)).then_some(Operand::Size(path, ty));
        }
        match &expr.kind {
            Node::Ident(name) if name == "string" => Some(Operand::TypeName(Kind::String)),
            Node::Ident(name) if name == "int" => Some(Operand::TypeName(Kind::Int)),
            Node::Ident(_) | Node::Select(_) => self.path(expr).map(|(path, ty)| Operand::Path(path, ty)),
            Node::Call(call) if call.function == "_[_]" => self.path(expr).map(|(path, ty)| Operand::Path(path, ty)),
            Node::List(_) => constants(expr)?.into_iter().map(json).collect::<Option<_>>().map(Operand::List),
            Node::Call(call) => match (&*call.function, call.target.as_deref(), call.args.as_slice()) {
                ("type", None, [target]) => match self.path(target)? {
                    (path, Ty::IntOrText) => Some(Operand::TypeOf(path)),
                    _ => None,
                },
                ("lowerAscii", Some(target), []) => match self.path(target)? {
                    (path, Ty::Text) => Some(Operand::Lowered(path)),
                    _ => None,
                },
                ("indexOf", Some(target), [text]) => match (self.path(target)?, text.literal()?) {
                    ((path, Ty::Text), Literal::String(text)) if !text.is_empty() => Some(Operand::Found(path, text.clone())),
                    _ => None,
                },
                ("charAt", Some(target), [index]) => match (self.path(target)?, index.literal()?) {
                    ((path, Ty::Text), Literal::Int(0)) => Some(Operand::First(path)),
                    _ => None,
                },
                ("_+_" | "_-_" | "_*_", None, [a, b]) => self.linear(&call.function, a, b),
                ("_%_", None, [target, divisor]) => match (self.path(target)?, divisor.literal()?) {
                    ((path, Ty::Int), Literal::Int(divisor)) if *divisor > 0 => Some(Operand::Remainder(path, *divisor)),
                    _ => None,
                },
                ("-_", None, [inner]) => match inner.literal()? {
                    Literal::Int(n) => n.checked_neg().map(|n| Operand::Literal(n.into())),
                    Literal::Double(x) => Some(Operand::Literal((-x).into())),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// A sum or product of an integer and constants.
    fn linear(&self, function: &str, a: &Expr, b: &Expr) -> Option<Operand<'s>> {
        let parts = |expr: &Expr| match self.operand(expr)? {
            Operand::Path(path, Ty::Int) => Some((path, 1, 0)),
            Operand::Linear(path, factor, sum) => Some((path, factor, sum)),
            _ => None,
        };
        let constant = |expr: &Expr| match self.operand(expr)? {
            Operand::Literal(value) => value.as_i64().filter(|n| n.unsigned_abs() < MAX_CONSTANT),
            _ => None,
        };
        // Only one operation, because each of several can overflow by itself.
        let ((path, 1, 0), n, swapped) = (match (constant(a), constant(b)) {
            (None, Some(n)) => (parts(a)?, n, false),
            (Some(n), None) => (parts(b)?, n, true),
            _ => return None,
        }) else {
            return None;
        };
        match (function, swapped) {
            ("_+_", _) => Some(Operand::Linear(path, 1, n)),
            ("_-_", false) => Some(Operand::Linear(path, 1, n.checked_neg()?)),
            ("_-_", true) => Some(Operand::Linear(path, -1, n)),
            ("_*_", _) if n != 0 => Some(Operand::Linear(path, n, 0)),
            _ => None,
        }
    }

    pub(super) fn member(&self, item: &Expr, list: &Expr) -> Option<Truth> {
        match (self.operand(item)?, self.operand(list)?) {
            (Operand::Path(path, ty @ (Ty::Text | Ty::Int | Ty::IntOrText)), Operand::List(values)) => {
                let values = values.into_iter().map(|value| Rc::new(Formula::Equals(value)));
                Some(Truth::at(&path, ty.kinds(), Formula::Any(values.collect())))
            }
            (Operand::Size(path, ty), Operand::List(values)) => {
                let sizes: Option<Vec<_>> = values.iter().map(|value| Some(Rc::new(sized(Operator::Equal, value.as_i64()?)))).collect();
                Some(Truth::at(&path, ty.kinds(), Formula::Any(sizes?)))
            }
            (Operand::Literal(value), Operand::Path(path, ty @ Ty::List(_))) => {
                let other = Rc::new(Formula::Equals(value)).negated();
                Some(Truth::at(&path, ty.kinds(), Formula::Each(other)).not())
            }
            (Operand::Literal(Value::String(key)), Operand::Path(path, ty @ Ty::Map(_))) => {
                Some(Truth::at(&path, ty.kinds(), Formula::Key(key.into())))
            }
            _ => None,
        }
    }
}

fn json(literal: &Literal) -> Option<Value> {
    match literal {
        Literal::Bool(b) => Some((*b).into()),
        Literal::Int(n) => exact_number(literal).map(|_| (*n).into()),
        Literal::Double(_) => exact_number(literal).map(Value::from),
        Literal::String(text) => Some(text.as_str().into()),
        _ => None,
    }
}

fn compare(operand: Operand<'_>, operator: Operator, literal: Value) -> Option<Truth> {
    match operand {
        Operand::Path(path, ty @ (Ty::Int | Ty::Double)) if literal.is_number() => {
            Some(Truth::at(&path, ty.kinds(), numeric(operator, literal)?))
        }
        Operand::Path(path, ty @ Ty::IntOrText) => match operator {
            Operator::Equal => Some(Truth::at(&path, ty.kinds(), Formula::Equals(literal))),
            _ if literal.is_number() => Some(Truth::at(&path, Ty::Int.kinds(), numeric(operator, literal)?)),
            _ => None,
        },
        Operand::Path(path, ty @ Ty::Text) if literal.is_string() && operator == Operator::Equal => {
            Some(Truth::at(&path, ty.kinds(), Formula::Equals(literal)))
        }
        Operand::Path(path, ty @ Ty::Bool) if literal.is_boolean() && operator == Operator::Equal => {
            Some(Truth::at(&path, ty.kinds(), Formula::Equals(literal)))
        }
        Operand::Size(path, ty) => Some(Truth::at(&path, ty.kinds(), sized(operator, literal.as_i64()?))),
        Operand::Path(path, ty @ Ty::Text) if literal == "" => match operator {
            Operator::More => Some(Truth::at(&path, ty.kinds(), Formula::MinSize(1))),
            Operator::AtMost => Some(Truth::at(&path, ty.kinds(), Formula::MaxSize(0))),
            Operator::AtLeast => Some(Truth::at(&path, ty.kinds(), Formula::Const(true))),
            Operator::Less => Some(Truth::at(&path, ty.kinds(), Formula::Const(false))),
            Operator::Equal => None,
        },
        Operand::Linear(path, factor, sum) => linear(&path, (factor, sum), operator, literal.as_i64()?),
        Operand::Remainder(path, divisor) if operator == Operator::Equal && literal.as_i64() == Some(0) => {
            Some(Truth::at(&path, Ty::Int.kinds(), Formula::Divisible(divisor)))
        }
        _ => None,
    }
}

/// The index of a constant in a string: missing (-1), at the start, or elsewhere.
fn found(path: &[Rc<str>], text: &str, operator: Operator, index: i64) -> Option<Truth> {
    let literal = regex_syntax::escape(text);
    let truth = |pattern: String| Truth::at(path, Ty::Text.kinds(), Formula::Matches(pattern.into()));
    match (operator, index) {
        (Operator::Equal, 0) => Some(truth(format!("^{literal}"))),
        (Operator::Equal | Operator::AtMost, -1) | (Operator::Less, 0) => Some(truth(literal).not()),
        (Operator::More, -1) | (Operator::AtLeast, 0) => Some(truth(literal)),
        _ => None,
    }
}

fn numeric(operator: Operator, literal: Value) -> Option<Formula> {
    let bound = literal.as_f64()?;
    Some(match operator {
        Operator::Equal => Formula::Equals(literal),
        Operator::Less => Formula::AtMost { bound, strict: true },
        Operator::AtMost => Formula::AtMost { bound, strict: false },
        Operator::More => Formula::AtLeast { bound, strict: true },
        Operator::AtLeast => Formula::AtLeast { bound, strict: false },
    })
}

fn sized(operator: Operator, count: i64) -> Formula {
    let least = |count: i64| u64::try_from(count).map_or(Formula::Const(true), Formula::MinSize);
    let most = |count: i64| u64::try_from(count).map_or(Formula::Const(false), Formula::MaxSize);
    match operator {
        Operator::Equal => Formula::All(vec![Rc::new(least(count)), Rc::new(most(count))]),
        Operator::Less => most(count.saturating_sub(1)),
        Operator::AtMost => most(count),
        Operator::More => least(count.saturating_add(1)),
        Operator::AtLeast => least(count),
    }
}
