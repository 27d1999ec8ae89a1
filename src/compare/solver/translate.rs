//! Translates a CEL rule to the formula under which it holds, if a formula can express it.
//!
//! An expression can be true, false or an error, and a rule holds only if it is true. So each part has two conditions: when it is
//! true, and when it is false.

use std::rc::Rc;

use serde_json::Value;

use crate::cel::ast::{Call, Comprehension, Expr, ExprKind as Node, List, Literal, Quantifier, Select};
use crate::cel::comparison::{Operator, constants, exact_number};
use crate::cel::name::unescape;
use crate::cel::parse::read;
use crate::compare::cel_condition::{Condition, size_of};
use crate::go::regexp::Pattern;
use crate::model::schema::shape::{CelRule, Extra, Shape, Type};

use super::formula::Formula;
use super::linear::{MAX_CONSTANT, linear};
use super::{Kind, Kinds};

/// How many cases one expression may be split into.
const MAX_CASES: usize = 64;

pub(super) fn translate(rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
    let expr = read(&rule.rule).ok().filter(|expr| expr.is_manageable())?;
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
    List(Option<&'s Shape>),
    Map(Option<&'s Shape>),
    Object(&'s Shape),
}

/// When an expression is true, and when it is false; otherwise it is an error.
pub(super) struct Truth {
    pub(super) holds: Rc<Formula>,
    pub(super) fails: Rc<Formula>,
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
            Type::Array => Some(Ty::List(shape.items.as_deref().filter(|items| !items.nullable))),
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
            // A rule fails on an integer written as `2.0`. Nobody writes it that way, and otherwise every rule would be a break.
            Ty::Int | Ty::Double => Kinds::of(&[Kind::Int, Kind::Float]),
            Ty::Bool => Kinds::of(&[Kind::Bool]),
            Ty::Text => Kinds::of(&[Kind::String]),
            Ty::IntOrText => Kinds::of(&[Kind::Int, Kind::Float, Kind::String]),
            Ty::List(_) => Kinds::of(&[Kind::Array]),
            Ty::Map(_) | Ty::Object(_) => Kinds::of(&[Kind::Object]),
        }
    }
}

pub(super) fn constant(b: bool) -> Rc<Formula> {
    Rc::new(Formula::Const(b))
}

impl Truth {
    pub(super) fn constant(b: bool) -> Truth {
        Truth { holds: constant(b), fails: constant(!b) }
    }

    /// True or false, for values of these kinds at this path.
    pub(super) fn at(path: &[Rc<str>], kinds: Kinds, atom: Formula) -> Truth {
        let atom = Rc::new(atom);
        let guard = Rc::new(Formula::Is(kinds));
        Truth {
            holds: at(path, Formula::all([Rc::clone(&guard), Rc::clone(&atom)])),
            fails: at(path, Formula::all([guard, atom.negated()])),
        }
    }

    pub(super) fn not(self) -> Truth {
        Truth { holds: self.fails, fails: self.holds }
    }

    pub(super) fn and(self, other: Truth) -> Truth {
        Truth { holds: Formula::all([self.holds, other.holds]), fails: Formula::any([self.fails, other.fails]) }
    }

    pub(super) fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    pub(super) fn choice(condition: &Truth, yes: Truth, no: Truth) -> Truth {
        let join = |a, b| {
            let yes = Formula::all([Rc::clone(&condition.holds), a]);
            Formula::any([yes, Formula::all([Rc::clone(&condition.fails), b])])
        };
        Truth { holds: join(yes.holds, no.holds), fails: join(yes.fails, no.fails) }
    }

    fn same(self, other: Truth) -> Truth {
        let both = |a: &Rc<Formula>, b: &Rc<Formula>| Formula::all([Rc::clone(a), Rc::clone(b)]);
        Truth {
            holds: Formula::any([both(&self.holds, &other.holds), both(&self.fails, &other.fails)]),
            fails: Formula::any([both(&self.holds, &other.fails), both(&self.fails, &other.holds)]),
        }
    }
}

/// A condition on the value at a path; the expression is an error if the path ends early.
pub(super) fn at(path: &[Rc<str>], formula: Rc<Formula>) -> Rc<Formula> {
    path.iter()
        .rev()
        .fold(formula, |inner, key| Formula::all([Rc::new(Formula::Has(Rc::clone(key))), Rc::new(Formula::Field(Rc::clone(key), inner))]))
}

/// How two constants of one type compare.
fn known(a: &Literal, b: &Literal, operator: Operator) -> Option<bool> {
    match (a, b) {
        (Literal::Int(a), Literal::Int(b)) => Some(operator.holds(a.cmp(b))),
        (Literal::String(a), Literal::String(b)) => Some(operator.holds(a.cmp(b))),
        _ => None,
    }
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
                let name = unescape(&select.field)?;
                shape.property(&name)?;
                let has = Rc::new(Formula::Has(name.into()));
                Some(Truth { holds: at(&path, Rc::clone(&has)), fails: at(&path, has.negated()) })
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
        shape.property(&name)?;
        let has = Rc::new(Formula::Has(name.as_str().into()));
        let select = Select { operand: Box::new(operand.clone()), field: crate::cel::name::escape(&name)?, test: false };
        let value = Expr { kind: Node::Select(select), ..expr.clone() };
        Some((at(&path, Rc::clone(&has)), at(&path, has.negated()), value))
    }

    /// When a condition holds for none, one, two, … of the items in a list literal.
    fn tally(&self, fold: &Comprehension, condition: &Expr) -> Option<Vec<Rc<Formula>>> {
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
    fn each_case(&self, expr: &Expr, truth: impl Fn(&Expr) -> Option<Truth>) -> Option<Truth> {
        let (mut holds, mut fails) = (Vec::new(), Vec::new());
        for (when, case) in self.cases(expr)? {
            let truth = truth(&case)?;
            holds.push(Formula::all([Rc::clone(&when), truth.holds]));
            fails.push(Formula::all([when, truth.fails]));
        }
        Some(Truth { holds: Formula::any(holds), fails: Formula::any(fails) })
    }

    fn compared(&self, a: &Expr, b: &Expr, operator: Operator) -> Option<Truth> {
        let by_case = self.each_case(a, |a| self.each_case(b, |b| self.case_compared(a, b, operator)));
        match operator {
            Operator::Equal => by_case.or_else(|| Some(self.truth(a)?.same(self.truth(b)?))),
            _ => by_case,
        }
    }

    fn case_compared(&self, a: &Expr, b: &Expr, operator: Operator) -> Option<Truth> {
        if let (Some(a), Some(b)) = (a.literal(), b.literal()) {
            return known(a, b, operator).map(Truth::constant);
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

    fn member(&self, item: &Expr, list: &Expr) -> Option<Truth> {
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
            Ty::List(items) => (Subject { name, value_in: None, ty: Ty::of(items?)? }, Formula::Each),
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

/// Substitutes a value for a variable; `None` if a macro inside has a variable with the same name.
fn bound(expr: &Expr, variable: &str, value: &Expr) -> Option<Expr> {
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
