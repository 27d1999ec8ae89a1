//! Decides whether a rule follows from others by case analysis: each of their conditions is true, false or fails, and each field
//! that they read exists or doesn't.
//!
//! Conditions are only compared as atoms, whatever functions they call; what is known is which fields they read, whether they can
//! fail, and which exclude each other. What holds in all remaining cases holds for every object.

mod constants;
mod search;

use std::collections::BTreeMap;

use crate::cel::ast::{Expr, ExprKind as Kind, Literal, Quantifier};
use crate::cel::comparison::Operator;
use crate::cel::name::unescape;
use crate::cel::normalise::NormalWriter;
use crate::cel::parse::read;
use crate::compare::cel_condition::{Condition, size_of};
use crate::model::schema::shape::{Extra, Type};
use crate::model::schema::{Shape, is_meta};
use crate::server::object::lets_lists_pass;

use super::rule_form::{RuleForm, term};
use constants::{constant, lift};
use search::Search;

/// How many parts rules may have when every conditional is written out.
const MAX_PARTS: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Truth {
    True,
    False,
    Fails,
}

/// How conditions are combined.
enum Logic {
    Const(bool),
    /// A condition, by its index.
    Atom(usize),
    /// Whether a field exists: its parents, and the field itself if it may be absent.
    Has(Vec<usize>, Option<usize>),
    Not(Box<Logic>),
    And(Vec<Logic>),
    Or(Vec<Logic>),
    Choice(Box<[Logic; 3]>),
    /// Both are true or both are false.
    Same(Box<[Logic; 2]>),
}

struct Atom {
    term: RuleForm,
    /// Fields without which it fails.
    reads: Vec<usize>,
    /// Whether it is never an error if these fields exist.
    pure: bool,
    /// The paths that it requires to be equal.
    equal: Option<(String, String)>,
}

/// The conditions and fields of some rules.
struct Cases<'s> {
    shape: &'s Shape,
    atoms: Vec<Atom>,
    /// Fields that may be absent, by path.
    fields: BTreeMap<String, usize>,
    parts: usize,
}

/// Whether an object that satisfies all of `given` satisfies `rule`. The object satisfies the schema; `present` returns which of
/// its fields (`self.a.b`) exist in every object, or in none.
pub(super) fn implied(given: &[&str], rule: &str, shape: &Shape, present: &dyn Fn(&str) -> Option<bool>) -> bool {
    let mut cases = Cases { shape, atoms: Vec::new(), fields: BTreeMap::new(), parts: 0 };
    let mut logic = |text: &str| cases.logic(read(text).ok()?.as_ref());
    let Some(given) = given.iter().map(|text| logic(text)).collect::<Option<Vec<_>>>() else { return false };
    let Some(rule) = logic(rule) else { return false };
    Search::new(&cases, present).holds(&Logic::And(given), &rule)
}

impl<'s> Cases<'s> {
    fn logic(&mut self, expr: &Expr) -> Option<Logic> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return None;
        }
        let both = |cases: &mut Self, a: &Expr, b: &Expr| Some(Logic::Same(Box::new([cases.logic(a)?, cases.logic(b)?])));
        Some(match Condition::read(expr) {
            Condition::Constant(value) => Logic::Const(value),
            Condition::Not(inner) => Logic::Not(Box::new(self.logic(inner)?)),
            Condition::And(parts) => Logic::And(parts.iter().map(|part| self.logic(part)).collect::<Option<_>>()?),
            Condition::Or(parts) => Logic::Or(parts.iter().map(|part| self.logic(part)).collect::<Option<_>>()?),
            Condition::Choice { condition, yes, no } => {
                Logic::Choice(Box::new([self.logic(condition)?, self.logic(yes)?, self.logic(no)?]))
            }
            Condition::Compared { left, operator: Operator::Equal, right } if self.is_truth(left) && self.is_truth(right) => {
                both(self, left, right)?
            }
            Condition::Unequal(left, right) if self.is_truth(left) && self.is_truth(right) => {
                Logic::Not(Box::new(both(self, left, right)?))
            }
            Condition::Has(select) => match (self.path(&select.operand), self.path(expr)) {
                (Some(parents), Some(path)) => {
                    let own = path.last().copied().filter(|_| path.len() > parents.len());
                    Logic::Has(parents, own)
                }
                _ => {
                    let Some(reads) = self.map(&select.operand) else { return self.atom(expr) };
                    let key = format!("{:?}", Literal::String(unescape(&select.field).unwrap_or_else(|| select.field.clone())));
                    self.member(key, &select.operand, reads)
                }
            },
            Condition::In { item, list } if item.literal().is_some_and(|item| matches!(item, Literal::String(_))) => match self.map(list) {
                Some(reads) => {
                    let key = item.literal().map(|item| format!("{item:?}"))?;
                    self.member(key, list, reads)
                }
                None => match constant(expr) {
                    Some(value) => Logic::Const(value),
                    None => self.atom(expr)?,
                },
            },
            Condition::Unequal(left, right) => {
                // Equality is the condition; this is its negation.
                let Kind::Call(call) = &expr.kind else { return None };
                let equal = crate::cel::ast::Call { function: "_==_".into(), args: vec![left.clone(), right.clone()], ..call.clone() };
                Logic::Not(Box::new(self.logic(&Expr { kind: Kind::Call(equal), ..expr.clone() })?))
            }
            _ => match lift(expr) {
                Some([condition, yes, no]) => Logic::Choice(Box::new([self.logic(&condition)?, self.logic(&yes)?, self.logic(&no)?])),
                None => match constant(expr) {
                    Some(value) => Logic::Const(value),
                    None => self.atom(expr)?,
                },
            },
        })
    }

    fn atom(&mut self, expr: &Expr) -> Option<Logic> {
        let mut reads = Vec::new();
        let mut known = Vec::new();
        self.strict(expr, &mut reads, &mut known);
        let pure = self.is_pure(expr, &mut Vec::new(), &known);
        let mut writer = NormalWriter::typed(self.shape);
        let equal = match Condition::read(expr) {
            Condition::Compared { left, operator: Operator::Equal, right } => {
                let name = |side: &Expr| side.qualified_name().filter(|_| matches!(side.head(), Some("self" | "oldSelf")));
                name(left).zip(name(right))
            }
            _ => None,
        };
        let term = term(expr, &mut writer);
        Some(match term {
            RuleForm::True => Logic::Const(true),
            RuleForm::False => Logic::Const(false),
            // `exists` is the negation of `all` with the opposite condition.
            RuleForm::Fold { fold: Quantifier::Exists, range, first, body } => {
                let body = Box::new(body.negated());
                Logic::Not(Box::new(self.named(Atom {
                    term: RuleForm::Fold { fold: Quantifier::All, range, first, body },
                    reads,
                    pure,
                    equal,
                })))
            }
            RuleForm::Not(inner) => Logic::Not(Box::new(self.named(Atom { term: *inner, reads, pure, equal }))),
            term => self.named(Atom { term, reads, pure, equal }),
        })
    }

    fn member(&mut self, key: String, map: &Expr, reads: Vec<usize>) -> Logic {
        let map = NormalWriter::typed(self.shape).write(map, false);
        self.named(Atom { term: RuleForm::Other(format!("{key} in {map}")), reads, pure: true, equal: None })
    }

    fn named(&mut self, atom: Atom) -> Logic {
        match self.atoms.iter().position(|known| known.term == atom.term) {
            Some(index) => Logic::Atom(index),
            None => {
                self.atoms.push(atom);
                Logic::Atom(self.atoms.len() - 1)
            }
        }
    }

    /// The fields that may be absent on the path to a field of the object, or of the old object; `None` if the schema doesn't know.
    fn path(&mut self, expr: &Expr) -> Option<Vec<usize>> {
        let (path, _) = self.resolve(expr)?;
        Some(
            path.into_iter()
                .map(|name| {
                    let next = self.fields.len();
                    *self.fields.entry(name).or_insert(next)
                })
                .collect(),
        )
    }

    /// The paths that may be absent on the way to an expression, and its schema.
    fn resolve(&self, expr: &Expr) -> Option<(Vec<String>, &'s Shape)> {
        match &expr.kind {
            Kind::Ident(name) if name == "self" || name == "oldSelf" => Some((Vec::new(), self.shape)),
            Kind::Select(select) => {
                let (mut path, shape) = self.resolve(&select.operand)?;
                let name = unescape(&select.field).unwrap_or_else(|| select.field.clone());
                // The server knows more about these than the schema.
                if is_meta(&name) || shape.embedded || shape.int_or_string {
                    return None;
                }
                let child = shape.property(&name).filter(|child| !child.nullable)?;
                // Reading a list where the type is string fails, as reading an absent field does.
                if !shape.required.contains(&name) || lets_lists_pass(child) {
                    path.push(format!("{}.{}", select.operand.qualified_name()?, select.field));
                }
                Some((path, child))
            }
            _ => None,
        }
    }

    /// The fields that may be absent on the way to a map.
    fn map(&mut self, expr: &Expr) -> Option<Vec<usize>> {
        let (_, shape) = self.resolve(expr)?;
        (matches!(shape.extra, Extra::Values(_)) && shape.properties.is_empty()).then(|| self.path(expr)).flatten()
    }

    /// The fields that an expression always reads.
    fn strict(&mut self, expr: &Expr, reads: &mut Vec<usize>, known: &mut Vec<String>) {
        match &expr.kind {
            Kind::Select(select) if select.test => {}
            Kind::Select(select) => match self.resolve(expr) {
                Some((names, _)) => {
                    reads.extend(self.path(expr).into_iter().flatten());
                    known.extend(names);
                }
                None => self.strict(&select.operand, reads, known),
            },
            Kind::Call(call) if matches!(&*call.function, "_&&_" | "_||_" | "_?_:_") || call.function.contains('?') => {}
            Kind::Call(call) if call.function.starts_with("or") => {}
            Kind::Call(_) | Kind::List(_) => expr.children().into_iter().for_each(|child| self.strict(child, reads, known)),
            Kind::Comprehension(fold) => self.strict(&fold.range, reads, known),
            _ => {}
        }
    }

    /// Whether an expression can't fail if the fields exist. `bound` are the variables in scope, with their schemas.
    fn is_pure(&self, expr: &Expr, bound: &mut Vec<(String, Option<&'s Shape>)>, known: &[String]) -> bool {
        let all = |cases: &Self, bound: &mut Vec<(String, Option<&'s Shape>)>| {
            expr.children().into_iter().all(|child| cases.is_pure(child, bound, known))
        };
        match &expr.kind {
            Kind::Literal(_) => true,
            Kind::Ident(name) => bound.iter().any(|(known, _)| known == name) || name == "self" || name == "oldSelf",
            Kind::Select(select) => match self.resolve(expr) {
                Some((path, _)) => {
                    let parents = self.resolve(&select.operand).map(|(path, _)| path).unwrap_or_default();
                    let path = if select.test { parents } else { path };
                    path.iter().all(|name| known.contains(name)) && bound.iter().all(|(bound, _)| Some(&**bound) != expr.head())
                }
                None => {
                    let Kind::Ident(variable) = &select.operand.kind else { return false };
                    let Some((_, Some(shape))) = bound.iter().rev().find(|(bound, _)| bound == variable) else { return false };
                    let name = unescape(&select.field).unwrap_or_else(|| select.field.clone());
                    let child = shape.property(&name).filter(|child| !child.nullable && !shape.embedded);
                    child.is_some() && (select.test || shape.required.contains(&name))
                }
            },
            Kind::Call(call) => match &*call.function {
                "_==_" | "_!=_" | "_&&_" | "_||_" | "!_" | "_?_:_" | "size" | "@in" => all(self, bound),
                "_<_" | "_<=_" | "_>_" | "_>=_" => all(self, bound) && call.args.iter().any(|arg| self.is_ordered(arg, bound)),
                "startsWith" | "endsWith" | "contains" | "matches" | "lowerAscii" | "upperAscii" | "trim" | "isIP" | "isCIDR" | "isURL"
                | "isQuantity" | "isSemver" => {
                    let mut subjects = call.target.as_deref().into_iter().chain(&call.args);
                    all(self, bound) && subjects.all(|subject| self.is_ordered(subject, bound))
                }
                _ => false,
            },
            Kind::List(list) => list.optional.is_empty() && all(self, bound),
            Kind::Comprehension(fold) => {
                let Some((_, body)) = fold.quantifier() else { return false };
                if fold.var2.is_some() || !self.is_pure(&fold.range, bound, known) {
                    return false;
                }
                let items = match self.resolve(&fold.range) {
                    Some((_, shape)) if shape.ty == Some(Type::Array) => shape.items.as_deref().filter(|items| !items.nullable),
                    _ => None,
                };
                bound.push((fold.var.clone(), items));
                let pure = self.is_pure(body, bound, known);
                bound.pop();
                pure
            }
            Kind::Map(_) | Kind::Struct(_) => false,
        }
    }

    /// Whether an expression is a boolean, by its form or by the schema.
    fn is_truth(&self, expr: &Expr) -> bool {
        match Condition::read(expr) {
            Condition::Other => self.resolve(expr).is_some_and(|(_, shape)| shape.ty == Some(Type::Boolean)),
            Condition::Choice { .. } => false,
            _ => true,
        }
    }

    /// Whether an expression has a known scalar type, so that comparing it doesn't fail.
    fn is_ordered(&self, expr: &Expr, bound: &[(String, Option<&'s Shape>)]) -> bool {
        let scalar = |shape: &Shape| {
            !shape.int_or_string && shape.format.is_none() && matches!(shape.ty, Some(Type::Integer | Type::Number | Type::String))
        };
        if size_of(expr).is_some() || expr.literal().is_some() {
            return true;
        }
        match (&expr.kind, self.resolve(expr)) {
            (_, Some((_, shape))) => scalar(shape),
            (Kind::Ident(name), None) => {
                bound.iter().rev().find(|(bound, _)| bound == name).is_some_and(|(_, shape)| shape.is_some_and(scalar))
            }
            (Kind::Select(select), None) => {
                let Kind::Ident(variable) = &select.operand.kind else { return false };
                let shape = bound.iter().rev().find(|(bound, _)| bound == variable).and_then(|(_, shape)| *shape);
                shape.and_then(|shape| shape.property(&select.field)).is_some_and(scalar)
            }
            _ => false,
        }
    }
}
