//! Necessary and sufficient conditions of CEL rules that can't be translated exactly.
//!
//! An unsupported expression may be true or false, but neither if it reads a missing field, or converts a string that can't be
//! converted. This is often enough to show that a keyword adds nothing to a rule: `isIP(self.s)` is false for the empty string, and
//! an error without `s`. And `self.b >= 0 || isIP(self.s)` is certainly true where `b` is at least 0.

use std::rc::Rc;

use crate::cel::ast::{Expr, ExprKind as Node, Quantifier};
use crate::cel::name::unescape;
use crate::compare::cel_condition::{Condition, field_of};
use crate::compare::limits::analysed;
use crate::model::schema::is_meta;
use crate::model::schema::shape::{CelRule, Shape};

use super::formula::Formula;
use super::translate::{Subject, Ty};
use super::truth::{Truth, at, constant};

/// The maximum size of a useful formula.
const MAX_PARTS: usize = 120;

/// Functions that are true only for strings like these.
const TRUE_OF: &[(&str, &str)] = &[
    ("isIP", "^[0-9a-fA-F:.]{2,45}$"),
    ("ip.isCanonical", "^[0-9a-f:.]{2,39}$"),
    ("isCIDR", "^[0-9a-fA-F:.]{2,45}/[0-9]{1,3}$"),
    ("isURL", "(?s)."),
    ("isQuantity", "^[-+0-9.eEinumkKMGTP]+$"),
    ("isSemver", "[0-9]"),
];

/// Conversions that fail for strings other than these.
const CONVERTS: &[(&str, &str)] = &[
    ("ip", "^[0-9a-fA-F:.]{2,45}$"),
    ("cidr", "^[0-9a-fA-F:.]{2,45}/[0-9]{1,3}$"),
    ("url", "(?s)."),
    ("quantity", "^[-+0-9.eEinumkKMGTP]+$"),
    ("semver", "[0-9]"),
    ("duration", "^[-+0-9.nuµμmsh]+$"),
    ("timestamp", "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]"),
    ("int", "^[-+]?[0-9]+$"),
];

/// A condition that holds wherever the rule holds; `None` if none is known.
pub(super) fn necessary(rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
    bound(rule, shape, Bound::Necessary).filter(|formula| **formula != Formula::Const(true))
}

/// A condition that holds only where the rule holds; `None` if none is known.
pub(super) fn sufficient(rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
    // The server knows more about these fields than the schema, so what the schema says about them is not enough.
    let reads_meta =
        |expr: &Expr| expr.descendants().into_iter().any(|part| field_of(part, &["self"]).is_some_and(|field| is_meta(&field.field)));
    if analysed(&rule.rule).is_some_and(|expr| reads_meta(&expr)) {
        return None;
    }
    bound(rule, shape, Bound::Sufficient).filter(|formula| **formula != Formula::Const(false))
}

/// Which of the possible results of an unsupported part count.
#[derive(Clone, Copy, PartialEq)]
enum Bound {
    /// All that are possible.
    Necessary,
    /// Those that are certain, which is none.
    Sufficient,
}

fn bound(rule: &CelRule, shape: &Shape, bound: Bound) -> Option<Rc<Formula>> {
    let expr = analysed(&rule.rule).filter(|expr| expr.is_manageable() && !expr.reads_old_self())?;
    let formula = Subject::new(shape)?.bounded(&expr, bound).holds;
    (parts(&formula) <= MAX_PARTS).then_some(formula)
}

fn parts(formula: &Formula) -> usize {
    match formula {
        Formula::All(list) | Formula::Any(list) => 1 + list.iter().map(|part| parts(part)).sum::<usize>(),
        Formula::Not(part) | Formula::Field(_, part) | Formula::Each(part) | Formula::Keys(part) => 1 + parts(part),
        _ => 1,
    }
}

impl<'s> Subject<'s> {
    /// When an expression may be true or false, or when it certainly is.
    fn bounded(&self, expr: &Expr, bound: Bound) -> Truth {
        if let Some(truth) = self.truth(expr) {
            return truth;
        }
        let read = |part: &Expr| self.bounded(part, bound);
        match Condition::read(expr) {
            Condition::Not(inner) => read(inner).not(),
            Condition::And(list) => list.iter().map(read).fold(Truth::constant(true), Truth::and),
            Condition::Or(list) => list.iter().map(read).fold(Truth::constant(false), Truth::or),
            Condition::Choice { condition, yes, no } => Truth::choice(&read(condition), read(yes), read(no)),
            Condition::Quantified { fold, quantifier: quantifier @ (Quantifier::All | Quantifier::Exists), body } => {
                match self.ranged(fold, body) {
                    Some(range) => range.quantified(quantifier == Quantifier::All, |subject| Some(subject.bounded(body, bound))),
                    None => None,
                }
                .unwrap_or_else(|| self.unknown(expr, bound))
            }
            _ => self.unknown(expr, bound),
        }
    }

    /// An unsupported part, of which only the requirements for having a value at all are known.
    fn unknown(&self, expr: &Expr, bound: Bound) -> Truth {
        if bound == Bound::Sufficient {
            return Truth { holds: constant(false), fails: constant(false) };
        }
        let needs = self.needs(expr);
        let mut holds = Rc::clone(&needs);
        if let Node::Call(call) = &expr.kind
            && let (None, [argument, ..]) = (call.target.as_deref(), call.args.as_slice())
        {
            holds = Formula::all([holds, self.like(TRUE_OF, &call.function, argument)]);
        }
        Truth { holds, fails: needs }
    }

    /// What must exist, and be convertible, for an expression to have a value.
    fn needs(&self, expr: &Expr) -> Rc<Formula> {
        match &expr.kind {
            Node::Select(select) => match self.keys(expr) {
                Some(keys) if !select.test => at(&keys, constant(true)),
                _ => self.needs(&select.operand),
            },
            Node::Call(call) => match &*call.function {
                // These have a value although one side has none.
                "_&&_" | "_||_" => constant(true),
                "_?_:_" => call.args.first().map_or_else(|| constant(true), |condition| self.needs(condition)),
                // The argument is only evaluated if there is no value.
                "or" | "orValue" => call.target.as_deref().map_or_else(|| constant(true), |target| self.needs(target)),
                function => {
                    let parts = call.target.as_deref().into_iter().chain(&call.args).map(|part| self.needs(part));
                    let argument = call.args.first().filter(|_| call.target.is_none());
                    Formula::all(parts.chain(argument.map(|argument| self.like(CONVERTS, function, argument))))
                }
            },
            Node::List(list) if list.optional.is_empty() => Formula::all(list.items.iter().map(|item| self.needs(item))),
            Node::Comprehension(fold) => self.needs(&fold.range),
            _ => constant(true),
        }
    }

    /// The condition that a string is one that a function accepts.
    fn like(&self, table: &[(&str, &str)], function: &str, argument: &Expr) -> Rc<Formula> {
        let Some((_, pattern)) = table.iter().find(|(name, _)| *name == function) else { return constant(true) };
        match self.path(argument) {
            Some((path, ty @ Ty::Text)) => Truth::at(&path, ty.kinds(), Formula::Matches((*pattern).into())).holds,
            _ => constant(true),
        }
    }

    /// The keys of a chain of selections, whatever is at its end.
    fn keys(&self, expr: &Expr) -> Option<Vec<Rc<str>>> {
        let Node::Select(select) = &expr.kind else { return None };
        let (mut path, Ty::Object(shape)) = self.path(&select.operand)? else { return None };
        let name = unescape(&select.field)?;
        shape.property(&name)?;
        path.push(name.into());
        Some(path)
    }
}
