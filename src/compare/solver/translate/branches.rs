//! Splits an expression into the values it can have, and when: the branches of choices, optional fields, and counts of what a list has.

use std::rc::Rc;

use crate::cel::ast::{Call, Comprehension, Expr, ExprKind as Node, List, Literal, Select};
use crate::cel::comparison::Operator;
use crate::cel::name::unescape;
use crate::compare::cel_condition::{Condition, size_of};
use crate::compare::solver::formula::Formula;
use crate::compare::solver::truth::{Truth, constant};

use super::{Subject, Ty, present};

/// How many cases one expression may be split into.
pub(super) const MAX_CASES: usize = 64;

impl Subject<'_> {
    /// The possible values of an expression, and when it has them: the branches of conditionals, and sums of constants that they
    /// choose.
    fn cases(&self, expr: &Expr) -> Option<Vec<(Rc<Formula>, Expr)>> {
        let plain = || Some(vec![(constant(true), expr.clone())]);
        let Node::Call(call) = &expr.kind else { return plain() };
        let cases = match (&*call.function, call.args.as_slice()) {
            ("_?_:_", [condition, a, b]) => {
                let condition = self.truth(condition)?;
                let under = |condition: &Rc<Formula>, cases: Vec<(Rc<Formula>, Expr)>| {
                    let when = |(when, expr)| (Formula::all([Rc::clone(condition), when]), expr);
                    cases.into_iter().map(when).collect::<Vec<_>>()
                };
                let (mut yes, no) = (under(&condition.holds, self.cases(a)?), under(&condition.fails, self.cases(b)?));
                yes.extend(no);
                yes
            }
            ("_+_", [a, b]) => {
                let (left, right) = (self.cases(a)?, self.cases(b)?);
                if left.len().saturating_mul(right.len()) > MAX_CASES {
                    return None;
                }
                let mut sums: Vec<(Rc<Formula>, Expr)> = Vec::new();
                for (when, a) in &left {
                    for (also, b) in &right {
                        let (Some(Literal::Int(x)), Some(Literal::Int(y))) = (a.literal(), b.literal()) else { return plain() };
                        let sum = Expr { kind: Node::Literal(Literal::Int(x.checked_add(*y)?)), ..a.clone() };
                        sums.push((Formula::all([Rc::clone(when), Rc::clone(also)]), sum));
                    }
                }
                sums
            }
            ("orValue", [otherwise]) => match call.target.as_deref().and_then(|target| self.optional(target)) {
                Some((there, missing, value)) => {
                    let mut cases = vec![(there, value)];
                    cases.extend(self.cases(otherwise)?.into_iter().map(|(when, expr)| (Formula::all([Rc::clone(&missing), when]), expr)));
                    cases
                }
                None => return plain(),
            },
            _ => {
                let Some(Node::Comprehension(fold)) = size_of(expr).map(|list| &list.kind) else { return plain() };
                let Some(counts) = fold.filter().and_then(|condition| self.tally(fold, condition)) else { return plain() };
                let number = |count: usize| Expr { kind: Node::Literal(Literal::Int(count as i64)), ..expr.clone() };
                counts.into_iter().enumerate().map(|(count, when)| (when, number(count))).collect()
            }
        };
        (cases.len() <= MAX_CASES).then_some(cases)
    }

    /// `self.?field`: when it has a value, when it has none, and the value.
    fn optional(&self, expr: &Expr) -> Option<(Rc<Formula>, Rc<Formula>, Expr)> {
        let Node::Call(call) = &expr.kind else { return None };
        let ("_?._", [operand, field]) = (&*call.function, call.args.as_slice()) else { return None };
        let Some(Literal::String(name)) = field.literal() else { return None };
        let (path, Ty::Object(shape)) = self.path(operand)? else { return None };
        let name = unescape(name)?;
        let present = present(&path, shape, &name)?;
        let select = Select { operand: Box::new(operand.clone()), field: crate::cel::name::escape(&name)?, test: false };
        let value = Expr { kind: Node::Select(select), ..expr.clone() };
        Some((present.holds, present.fails, value))
    }

    /// When a condition holds for none, one, two, … of the items in a list literal.
    pub(super) fn tally(&self, fold: &Comprehension, condition: &Expr) -> Option<Vec<Rc<Formula>>> {
        let Node::List(list) = &fold.range.kind else { return None };
        if list.items.len() >= MAX_CASES || !list.optional.is_empty() || fold.var2.is_some() {
            return None;
        }
        let mut counts = vec![constant(true)];
        for item in &list.items {
            let truth = self.of_item(condition, &fold.var, item)?;
            let with = |when: Option<&Rc<Formula>>, truth: &Rc<Formula>| when.map(|when| Formula::all([Rc::clone(when), Rc::clone(truth)]));
            counts = (0..=counts.len())
                .map(|count| {
                    let one_less = count.checked_sub(1).and_then(|less| counts.get(less));
                    Formula::any(with(counts.get(count), &truth.fails).into_iter().chain(with(one_less, &truth.holds)))
                })
                .collect();
        }
        Some(counts)
    }

    /// A condition on a variable that is bound to a boolean.
    fn of_item(&self, condition: &Expr, variable: &str, item: &Expr) -> Option<Truth> {
        match Condition::read(condition) {
            Condition::Not(inner) => Some(self.of_item(inner, variable, item)?.not()),
            Condition::Compared { left, operator: Operator::Equal, right } => {
                let (inner, wanted) = match (left.literal(), right.literal()) {
                    (_, Some(Literal::Bool(wanted))) => (left, wanted),
                    (Some(Literal::Bool(wanted)), _) => (right, wanted),
                    _ => return None,
                };
                let truth = self.of_item(inner, variable, item)?;
                Some(if *wanted { truth } else { truth.not() })
            }
            _ if matches!(&condition.kind, Node::Ident(name) if name == variable) => self.truth(item),
            _ => None,
        }
    }

    /// When something is true of an expression, combined from each of its cases.
    pub(super) fn each_case(&self, expr: &Expr, truth: impl Fn(&Expr) -> Option<Truth>) -> Option<Truth> {
        let (mut holds, mut fails) = (Vec::new(), Vec::new());
        for (when, case) in self.cases(expr)? {
            let truth = truth(&case)?;
            holds.push(Formula::all([Rc::clone(&when), truth.holds]));
            fails.push(Formula::all([when, truth.fails]));
        }
        Some(Truth { holds: Formula::any(holds), fails: Formula::any(fails) })
    }
}

/// Substitutes a value for a variable; `None` if a macro inside has a variable with the same name.
pub(super) fn bound(expr: &Expr, variable: &str, value: &Expr) -> Option<Expr> {
    let put = |part: &Expr| bound(part, variable, value);
    let all = |parts: &[Expr]| parts.iter().map(put).collect::<Option<Vec<_>>>();
    let kind = match &expr.kind {
        Node::Ident(name) if name == variable => return Some(value.clone()),
        Node::Literal(_) | Node::Ident(_) => return Some(expr.clone()),
        Node::Select(select) => Node::Select(Select { operand: Box::new(put(&select.operand)?), ..select.clone() }),
        Node::Call(call) => {
            let target = match call.target.as_deref() {
                Some(target) => Some(Box::new(put(target)?)),
                None => None,
            };
            Node::Call(Call { function: call.function.clone(), target, args: all(&call.args)? })
        }
        Node::List(list) => Node::List(List { items: all(&list.items)?, optional: list.optional.clone() }),
        _ => return None,
    };
    Some(Expr { kind, ..expr.clone() })
}
