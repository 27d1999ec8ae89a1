//! Translates a CEL rule to the formula under which it holds, if a formula can express it.
//!
//! An expression can be true, false or an error, and a rule holds only if it is true. So each part has two conditions: when it is
//! true, and when it is false.

mod branches;
mod comparison;
mod uniqueness;

use std::rc::Rc;

use crate::cel::ast::{Comprehension, Expr, ExprKind as Node, Literal, Quantifier};
use crate::cel::comparison::Operator;
use crate::cel::name::unescape;
use crate::compare::cel_condition::Condition;
use crate::compare::limits::analysed;
use crate::go::regexp::Pattern;
use crate::model::schema::shape::{CelRule, Extra, Shape, Type};
use crate::server::object::lets_lists_pass;

use super::formula::Formula;
use super::truth::{Truth, at, constant};
use super::{Kind, Kinds};
use branches::{MAX_CASES, bound};

pub(super) fn translate(rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
    let expr = analysed(&rule.rule).filter(|expr| expr.is_manageable())?;
    if expr.reads_old_self() {
        // A transition rule doesn't run without an old object.
        return (rule.optional_old_self != Some(true)).then(|| constant(true));
    }
    Some(Subject::new(shape)?.truth(&expr)?.holds)
}

/// The type of a value in CEL.
#[derive(Clone, Copy)]
pub(super) enum Ty<'s> {
    Int,
    Double,
    Bool,
    Text,
    IntOrText,
    List(&'s Shape),
    Map(Option<&'s Shape>),
    Object(&'s Shape),
}

/// The value that an expression refers to.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    name: &'s str,
    /// The map whose value under the key `name` is meant, rather than the key itself.
    value_in: Option<&'s Expr>,
    ty: Ty<'s>,
}

/// What a quantifier iterates over: the items of a list, or the keys or values of a map.
pub(super) struct Quantified<'s> {
    path: Vec<Rc<str>>,
    ty: Ty<'s>,
    item: Subject<'s>,
    each: fn(Rc<Formula>) -> Formula,
}

impl<'s> Quantified<'s> {
    /// Translates `all` or `exists`, given the condition on one item.
    pub(super) fn quantified(&self, all: bool, said: impl Fn(&Subject<'s>) -> Option<Truth>) -> Option<Truth> {
        let inner = said(&self.item)?;
        let inner = if all { inner } else { inner.not() };
        let kinds = self.ty.kinds();
        let each = self.each;
        let guarded = |formula: Rc<Formula>| at(&self.path, Formula::all([Rc::new(Formula::Is(kinds)), formula]));
        let truth = Truth { holds: guarded(Rc::new(each(inner.holds))), fails: guarded(Rc::new(each(inner.fails.negated())).negated()) };
        Some(if all { truth } else { truth.not() })
    }
}

impl<'s> Ty<'s> {
    fn of(shape: &'s Shape) -> Option<Ty<'s>> {
        if shape.int_or_string {
            return Some(Ty::IntOrText);
        }
        match shape.ty? {
            Type::Integer => Some(Ty::Int),
            Type::Number => Some(Ty::Double),
            Type::Boolean => Some(Ty::Bool),
            // In CEL these are bytes, timestamps and durations.
            Type::String if matches!(shape.format.as_deref(), Some("byte" | "date" | "date-time" | "duration")) => None,
            Type::String => Some(Ty::Text),
            Type::Array => Some(Ty::List(shape)),
            Type::Object => match &shape.extra {
                Extra::Values(values) => Some(Ty::Map(Some(&**values).filter(|values| !values.nullable))),
                Extra::Closed => Some(Ty::Object(shape)),
                Extra::Any | Extra::Refused => None,
            },
        }
    }

    /// The kinds of values that an expression of this type accepts without an error.
    pub(super) fn kinds(self) -> Kinds {
        match self {
            // A rule fails on an integer written as `2.0`, but no client sends it that way.
            Ty::Int | Ty::Double => Kinds::of(&[Kind::Int, Kind::Float]),
            Ty::Bool => Kinds::of(&[Kind::Bool]),
            Ty::Text => Kinds::of(&[Kind::String]),
            Ty::IntOrText => Kinds::of(&[Kind::Int, Kind::Float, Kind::String]),
            Ty::List(_) => Kinds::of(&[Kind::Array]),
            Ty::Map(_) | Ty::Object(_) => Kinds::of(&[Kind::Object]),
        }
    }
}

/// When a field has a value, and when it has none. A format lets lists pass where the type is string, and asking for one fails.
fn present(path: &[Rc<str>], shape: &Shape, name: &str) -> Option<Truth> {
    let child = shape.property(name)?;
    let has = Rc::new(Formula::Has(name.into()));
    let seen = match lets_lists_pass(child) {
        true => Formula::all([Rc::clone(&has), at(&[name.into()], Rc::new(Formula::Is(Kinds::of(&[Kind::String, Kind::Null]))))]),
        false => Rc::clone(&has),
    };
    Some(Truth { holds: at(path, seen), fails: at(path, has.negated()) })
}

impl<'s> Subject<'s> {
    pub(super) fn new(shape: &'s Shape) -> Option<Self> {
        Some(Subject { name: "self", value_in: None, ty: Ty::of(shape)? })
    }

    pub(super) fn truth(&self, expr: &Expr) -> Option<Truth> {
        match Condition::read(expr) {
            Condition::Constant(b) => Some(Truth::constant(b)),
            Condition::Not(inner) => Some(self.truth(inner)?.not()),
            Condition::And([a, b]) => Some(self.truth(a)?.and(self.truth(b)?)),
            Condition::Or([a, b]) => Some(self.truth(a)?.or(self.truth(b)?)),
            Condition::Choice { condition, yes, no } => Some(Truth::choice(&self.truth(condition)?, self.truth(yes)?, self.truth(no)?)),
            Condition::Has(select) => {
                let (path, Ty::Object(shape)) = self.path(&select.operand)? else { return None };
                present(&path, shape, &unescape(&select.field)?)
            }
            Condition::Compared { left, operator, right } => self.compared(left, right, operator),
            Condition::Unequal(left, right) => self.compared(left, right, Operator::Equal).map(Truth::not),
            Condition::In { item, list } => self.member(item, list),
            Condition::Matches { target, pattern } => self.each_case(target, |target| match target.literal() {
                Some(Literal::String(text)) => Some(Truth::constant(Pattern::new(&pattern).ok()?.is_match(text))),
                _ => match self.path(target)? {
                    (path, ty @ Ty::Text) => Some(Truth::at(&path, ty.kinds(), Formula::Matches(pattern.as_str().into()))),
                    _ => None,
                },
            }),
            Condition::Quantified { fold, quantifier, body } => self.quantifier(fold, quantifier, body),
            Condition::And(_) | Condition::Or(_) => None,
            Condition::Other => match self.path(expr)? {
                (path, ty @ Ty::Bool) => Some(Truth::at(&path, ty.kinds(), Formula::Equals(true.into()))),
                _ => None,
            },
        }
    }

    /// `self.a.b` as keys, with the type of the value there. CEL doesn't see a key that is null.
    pub(super) fn path(&self, expr: &Expr) -> Option<(Vec<Rc<str>>, Ty<'s>)> {
        match &expr.kind {
            Node::Ident(name) if *name == self.name && self.value_in.is_none() => Some((Vec::new(), self.ty)),
            Node::Call(call) if call.function == "_[_]" => {
                let ([map, key], Some(range)) = (call.args.as_slice(), self.value_in) else { return None };
                let same = map.qualified_name().is_some() && map.qualified_name() == range.qualified_name();
                (same && key.head() == Some(self.name) && matches!(key.kind, Node::Ident(_))).then_some((Vec::new(), self.ty))
            }
            Node::Select(select) if !select.test => {
                let (mut path, Ty::Object(shape)) = self.path(&select.operand)? else { return None };
                let name = unescape(&select.field)?;
                let child = shape.property(&name)?;
                path.push(name.into());
                Some((path, Ty::of(child)?))
            }
            _ => None,
        }
    }

    /// `all` and `exists`, and `exists_one` for a list literal.
    fn quantifier(&self, fold: &Comprehension, quantifier: Quantifier, body: &Expr) -> Option<Truth> {
        if let Some(counts) = self.tally(fold, body) {
            let most = counts.len() - 1;
            let counted = |count: usize| match quantifier {
                Quantifier::All => count == most,
                Quantifier::Exists => count > 0,
                Quantifier::ExistsOne => count == 1,
            };
            let (holds, fails): (Vec<_>, Vec<_>) = counts.into_iter().enumerate().partition(|(count, _)| counted(*count));
            let any = |counts: Vec<(usize, Rc<Formula>)>| Formula::any(counts.into_iter().map(|(_, when)| when));
            return Some(Truth { holds: any(holds), fails: any(fails) });
        }
        if let Node::List(list) = &fold.range.kind
            && list.optional.is_empty()
            && list.items.len() <= MAX_CASES
            && fold.var2.is_none()
            && list.items.iter().all(|item| item.literal().is_some())
        {
            let mut truths = list.items.iter().map(|item| self.truth(&bound(body, &fold.var, item)?));
            return match quantifier {
                Quantifier::All => truths.try_fold(Truth::constant(true), |all, truth| Some(all.and(truth?))),
                Quantifier::Exists => truths.try_fold(Truth::constant(false), |any, truth| Some(any.or(truth?))),
                Quantifier::ExistsOne => None,
            };
        }
        match quantifier {
            Quantifier::ExistsOne => None,
            Quantifier::All if self.is_unique(fold, body) => {
                let (path, ty) = self.path(&fold.range)?;
                Some(Truth { holds: at(&path, Rc::new(Formula::Is(ty.kinds()))), fails: constant(false) })
            }
            Quantifier::All | Quantifier::Exists => {
                self.ranged(fold, body)?.quantified(quantifier == Quantifier::All, |item| item.truth(body))
            }
        }
    }

    /// What the condition of a quantifier refers to.
    pub(super) fn ranged<'f>(&self, fold: &'f Comprehension, body: &Expr) -> Option<Quantified<'f>>
    where
        's: 'f,
    {
        let (path, ty) = self.path(&fold.range)?;
        let reads = |name: &str| body.descendants().into_iter().any(|part| matches!(&part.kind, Node::Ident(read) if read == name));
        let name: &'f str = match &fold.var2 {
            // With two variables, the first is an index or a key.
            Some(second) if reads(&fold.var) => {
                let key = Subject { name: &fold.var, value_in: None, ty: Ty::Text };
                return (matches!(ty, Ty::Map(_)) && !reads(second)).then_some(Quantified { path, ty, item: key, each: Formula::Keys });
            }
            Some(second) => second,
            None => &fold.var,
        };
        let (item, each): (Subject<'f>, fn(Rc<Formula>) -> Formula) = match ty {
            Ty::List(list) => {
                let items = list.items.as_deref().filter(|items| !items.nullable)?;
                (Subject { name, value_in: None, ty: Ty::of(items)? }, Formula::Each)
            }
            Ty::Map(values) if fold.var2.is_some() => (Subject { name, value_in: None, ty: Ty::of(values?)? }, Formula::Each),
            Ty::Map(values) => {
                let value = values.and_then(Ty::of).map(|ty| Subject { name, value_in: Some(&fold.range), ty });
                match value.filter(|value| value.is_only_read(body)) {
                    Some(value) => (value, Formula::Each),
                    None => (Subject { name, value_in: None, ty: Ty::Text }, Formula::Keys),
                }
            }
            _ => return None,
        };
        Some(Quantified { path, ty, item, each })
    }

    /// Whether an expression uses the key of a map only to read its value.
    fn is_only_read(&self, expr: &Expr) -> bool {
        if matches!(&expr.kind, Node::Call(call) if call.function == "_[_]") && self.path(expr).is_some() {
            return true;
        }
        !matches!(&expr.kind, Node::Ident(name) if *name == self.name) && expr.children().into_iter().all(|child| self.is_only_read(child))
    }
}
