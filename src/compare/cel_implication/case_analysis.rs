//! Decides whether a rule follows from others by case analysis: each of their conditions is true, false or fails, and each field
//! that they read exists or doesn't.
//!
//! Conditions are only compared as atoms, whatever functions they call; what is known is which fields they read, whether they can
//! fail, and which exclude each other. What holds in all remaining cases holds for every object.

use std::collections::BTreeMap;

use crate::cel::ast::{Expr, ExprKind as Kind, Literal, Quantifier};
use crate::cel::comparison::Operator;
use crate::cel::name::unescape;
use crate::cel::normalise::NormalWriter;
use crate::cel::parse::read;
use crate::compare::cel_condition::{Condition, size_of};
use crate::go::regexp::Pattern;
use crate::model::schema::shape::{Extra, Type};
use crate::model::schema::{Shape, is_meta};

use super::implies::implies;
use super::rule_form::{RuleForm, term};

/// How many cases one question may consider.
const MAX_CASES: u32 = 20_000;
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
    let mut search =
        Search { cases: &cases, present: vec![None; cases.fields.len()], truth: vec![None; cases.atoms.len()], left: MAX_CASES };
    for (name, &field) in &cases.fields {
        search.set_present(field, present(name));
    }
    search.holds(&Logic::And(given), &rule)
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
                if !shape.required.contains(&name) {
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

/// The condition of the first conditional that is always evaluated, and the expression in either case.
fn lift(expr: &Expr) -> Option<[Expr; 3]> {
    let with = |kind: Kind| Expr { kind, ..expr.clone() };
    match &expr.kind {
        Kind::Call(call) if call.function == "_?_:_" => match call.args.as_slice() {
            [condition, yes, no] => Some([condition.clone(), yes.clone(), no.clone()]),
            _ => None,
        },
        Kind::Call(call) if matches!(&*call.function, "_&&_" | "_||_") => None,
        Kind::Call(call) => {
            if let Some([condition, yes, no]) = call.target.as_deref().and_then(lift) {
                let with = |target: Expr| with(Kind::Call(crate::cel::ast::Call { target: Some(Box::new(target)), ..call.clone() }));
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
            let with = |operand: Expr| with(Kind::Select(crate::cel::ast::Select { operand: Box::new(operand), ..select.clone() }));
            Some([condition, with(yes), with(no)])
        }
        Kind::Comprehension(fold) => {
            let [condition, yes, no] = lift(&fold.range)?;
            let with = |range: Expr| with(Kind::Comprehension(Box::new(crate::cel::ast::Comprehension { range, ..(**fold).clone() })));
            Some([condition, with(yes), with(no)])
        }
        _ => None,
    }
}

/// The value of a constant boolean expression.
fn constant(expr: &Expr) -> Option<bool> {
    match Condition::read(expr) {
        Condition::Matches { target, pattern } => match target.literal()? {
            Literal::String(text) => Some(Pattern::new(&pattern).ok()?.is_match(text)),
            _ => None,
        },
        Condition::Quantified { fold, quantifier, .. } => match &fold.range.kind {
            Kind::List(list) if list.items.is_empty() => Some(quantifier == Quantifier::All),
            _ => None,
        },
        Condition::Compared { left, operator, right } => {
            let (left, right) = (count(left), count(right));
            match (left?, right?) {
                (Literal::Int(a), Literal::Int(b)) => Some(operator.holds(a.cmp(&b))),
                (Literal::String(a), Literal::String(b)) => Some(operator.holds(a.cmp(&b))),
                (Literal::Bool(a), Literal::Bool(b)) if operator == Operator::Equal => Some(a == b),
                _ => None,
            }
        }
        Condition::In { item, list } => {
            let Literal::String(item) = item.literal()? else { return None };
            let items = crate::cel::comparison::constants(list)?;
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

struct Search<'c, 's> {
    cases: &'c Cases<'s>,
    present: Vec<Option<bool>>,
    truth: Vec<Option<Truth>>,
    left: u32,
}

impl Search<'_, '_> {
    /// Whether the second is true in every case in which the first is.
    fn holds(&mut self, given: &Logic, rule: &Logic) -> bool {
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None => return false,
        };
        let (before, after) = (self.value(given), self.value(rule));
        if before.is_some_and(|truth| truth != Truth::True) || after == Some(Truth::True) {
            return true;
        }
        if let Some(field) = self.present.iter().position(Option::is_none) {
            for present in [true, false] {
                self.set_present(field, Some(present));
                let holds = self.holds(given, rule);
                self.set_present(field, None);
                if !holds {
                    return false;
                }
            }
            return true;
        }
        let Some(atom) = self.truth.iter().position(Option::is_none) else { return false };
        for truth in self.possible(atom) {
            self.set_truth(atom, Some(truth));
            let holds = !self.is_consistent(atom, truth) || self.holds(given, rule);
            self.set_truth(atom, None);
            if !holds {
                return false;
            }
        }
        true
    }

    fn set_present(&mut self, field: usize, present: Option<bool>) {
        if let Some(slot) = self.present.get_mut(field) {
            *slot = present;
        }
    }

    fn set_truth(&mut self, atom: usize, truth: Option<Truth>) {
        if let Some(slot) = self.truth.get_mut(atom) {
            *slot = truth;
        }
    }

    fn is_present(&self, field: usize) -> Option<bool> {
        self.present.get(field).copied().flatten()
    }

    /// The possible values of a condition, given which fields exist.
    fn possible(&self, atom: usize) -> Vec<Truth> {
        match self.cases.atoms.get(atom) {
            Some(atom) if atom.reads.iter().any(|&field| self.is_present(field) == Some(false)) => vec![Truth::Fails],
            Some(atom) if atom.pure => vec![Truth::True, Truth::False],
            _ => vec![Truth::True, Truth::False, Truth::Fails],
        }
    }

    /// Whether a condition can have this value, given those already decided.
    fn is_consistent(&self, index: usize, truth: Truth) -> bool {
        let Some(atom) = self.cases.atoms.get(index) else { return true };
        let others = self.cases.atoms.iter().zip(&self.truth).enumerate();
        others.filter(|(other, _)| *other != index).all(|(_, (other, known))| match known {
            None => true,
            Some(known) => !excludes((atom, truth), (other, *known)),
        }) && self.agrees(atom, truth)
    }

    /// If both objects are equal, they have the same fields.
    fn agrees(&self, atom: &Atom, truth: Truth) -> bool {
        let Some((a, b)) = atom.equal.as_ref().filter(|_| truth == Truth::True) else { return true };
        self.cases.fields.iter().all(|(name, &field)| {
            let Some(twin) = below(name, a).map(|rest| format!("{b}{rest}")) else { return true };
            match self.cases.fields.get(&twin) {
                Some(&other) => self.is_present(field) == self.is_present(other),
                None => true,
            }
        })
    }

    fn value(&self, logic: &Logic) -> Option<Truth> {
        match logic {
            Logic::Const(value) => Some(if *value { Truth::True } else { Truth::False }),
            Logic::Atom(atom) => self.truth.get(*atom).copied().flatten(),
            Logic::Has(parents, own) => {
                for &parent in parents {
                    if !self.is_present(parent)? {
                        return Some(Truth::Fails);
                    }
                }
                let present = own.map_or(Some(true), |own| self.is_present(own));
                present.map(|present| if present { Truth::True } else { Truth::False })
            }
            Logic::Not(inner) => self.value(inner).map(negated),
            Logic::And(parts) => self.joined(parts, Truth::False),
            Logic::Or(parts) => self.joined(parts, Truth::True),
            Logic::Choice(parts) => {
                let [condition, yes, no] = &**parts;
                match self.value(condition)? {
                    Truth::True => self.value(yes),
                    Truth::False => self.value(no),
                    Truth::Fails => Some(Truth::Fails),
                }
            }
            Logic::Same(sides) => {
                let [a, b] = &**sides;
                match (self.value(a)?, self.value(b)?) {
                    (Truth::Fails, _) | (_, Truth::Fails) => Some(Truth::Fails),
                    (a, b) => Some(if a == b { Truth::True } else { Truth::False }),
                }
            }
        }
    }

    /// One decisive part decides the result, whatever else fails.
    fn joined(&self, parts: &[Logic], decisive: Truth) -> Option<Truth> {
        let (mut open, mut fails) = (false, false);
        for part in parts {
            match self.value(part) {
                Some(truth) if truth == decisive => return Some(decisive),
                Some(Truth::Fails) => fails = true,
                Some(_) => {}
                None => open = true,
            }
        }
        match () {
            () if open => None,
            () if fails => Some(Truth::Fails),
            () => Some(negated(decisive)),
        }
    }
}

fn negated(truth: Truth) -> Truth {
    match truth {
        Truth::True => Truth::False,
        Truth::False => Truth::True,
        Truth::Fails => Truth::Fails,
    }
}

/// Whether two conditions can't have these values at once.
fn excludes((a, x): (&Atom, Truth), (b, y): (&Atom, Truth)) -> bool {
    let failing = matches!((x, y), (Truth::Fails, Truth::True | Truth::False) | (Truth::True | Truth::False, Truth::Fails));
    if failing {
        // Both fail only if their left side does.
        return match (&a.term, &b.term) {
            (RuleForm::Bound { left: x, .. }, RuleForm::Bound { left: y, .. })
            | (RuleForm::In { left: x, .. }, RuleForm::In { left: y, .. }) => x == y,
            _ => false,
        };
    }
    let said = |atom: &Atom, truth: Truth| match truth {
        Truth::True => Some(atom.term.clone()),
        Truth::False => Some(atom.term.clone().negated()),
        Truth::Fails => None,
    };
    let (Some(first), Some(second)) = (said(a, x), said(b, y)) else { return false };
    if implies(&first, &second.clone().negated()) || is_disjoint(&first, &second) {
        return true;
    }
    let equal = |one: &Atom, truth: Truth, other: &Atom, known: Truth| match (&one.equal, &other.equal) {
        (Some((p, q)), Some((r, s))) if truth == Truth::True && known == Truth::False => {
            let same =
                |from: &str, to: &str, left: &str, right: &str| below(left, from).is_some_and(|rest| format!("{to}{rest}") == *right);
            same(p, q, r, s) || same(q, p, r, s)
        }
        _ => false,
    };
    equal(a, x, b, y) || equal(b, y, a, x)
}

/// Whether two sets of strings have nothing in common.
fn is_disjoint(a: &RuleForm, b: &RuleForm) -> bool {
    match (a, b) {
        (RuleForm::In { left: x, values: v }, RuleForm::In { left: y, values: w }) => {
            let strings = |values: &std::collections::BTreeSet<String>| values.iter().all(|value| value.starts_with("String("));
            x == y && strings(v) && strings(w) && v.is_disjoint(w)
        }
        _ => false,
    }
}

/// The rest of a path after another one, if it is the same or below it.
fn below<'n>(name: &'n str, path: &str) -> Option<&'n str> {
    name.strip_prefix(path).filter(|rest| rest.is_empty() || rest.starts_with('.'))
}
