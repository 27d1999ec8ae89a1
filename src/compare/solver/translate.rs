//! Translates a CEL rule to the formula under which it holds, if a formula can express it.
//!
//! An expression can be true, false or an error, and a rule holds only if it is true. So each part has two conditions:
//! when it is true, and when it is false.

use std::rc::Rc;

use serde_json::Value;

use crate::cel::ast::{Comprehension, Expr, ExprKind as Node, Literal, Quantifier};
use crate::cel::comparison::{Operator, constants, exact_number};
use crate::cel::name::unescape;
use crate::cel::parse::read;
use crate::compare::cel_condition::{Condition, size_of};
use crate::go::regexp::Pattern;
use crate::model::schema::shape::{CelRule, Extra, Shape, Type};

use super::formula::Formula;
use super::{Kind, Kinds};

/// The most cases that one expression is split into.
const MAX_CASES: usize = 64;

pub(super) fn translate(rule: &CelRule, shape: &Shape) -> Option<Rc<Formula>> {
    let expr = read(&rule.rule).ok().filter(|expr| expr.is_manageable())?;
    if expr.reads_old_self() {
        // What compares with the object before doesn't run when there is none.
        return (rule.optional_old_self != Some(true)).then(|| constant(true));
    }
    let subject = Subject { name: "self", ty: Ty::of(shape)? };
    Some(subject.truth(&expr)?.holds)
}

/// What CEL takes a value for.
#[derive(Clone, Copy)]
enum Ty<'s> {
    Int,
    Double,
    Bool,
    Text,
    IntOrText,
    List(Option<&'s Shape>),
    Map,
    Object(&'s Shape),
}

/// When an expression is true, and when it is false; in all other cases it is an error.
struct Truth {
    holds: Rc<Formula>,
    fails: Rc<Formula>,
}

/// The value that an expression speaks of.
struct Subject<'s> {
    name: &'s str,
    ty: Ty<'s>,
}

/// Something that is compared.
enum Operand<'s> {
    /// A part of the subject.
    Path(Vec<Rc<str>>, Ty<'s>),
    Size(Vec<Rc<str>>, Ty<'s>),
    Remainder(Vec<Rc<str>>, i64),
    TypeOf(Vec<Rc<str>>),
    Lowered(Vec<Rc<str>>),
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
            // These are bytes, timestamps and durations for CEL.
            Type::String if matches!(shape.format.as_deref(), Some("byte" | "date" | "date-time" | "duration")) => None,
            Type::String => Some(Ty::Text),
            Type::Array => Some(Ty::List(shape.items.as_deref().filter(|items| !items.nullable))),
            Type::Object => match &shape.extra {
                Extra::Values(_) => Some(Ty::Map),
                Extra::Closed => Some(Ty::Object(shape)),
                Extra::Any | Extra::Refused => None,
            },
        }
    }

    /// The kinds of values that an expression about this type takes without an error.
    fn kinds(self) -> Kinds {
        match self {
            // A rule fails on an integer that is written as `2.0`. Nobody writes it so, and every rule would be a break.
            Ty::Int | Ty::Double => Kinds::of(&[Kind::Int, Kind::Float]),
            Ty::Bool => Kinds::of(&[Kind::Bool]),
            Ty::Text => Kinds::of(&[Kind::String]),
            Ty::IntOrText => Kinds::of(&[Kind::Int, Kind::Float, Kind::String]),
            Ty::List(_) => Kinds::of(&[Kind::Array]),
            Ty::Map | Ty::Object(_) => Kinds::of(&[Kind::Object]),
        }
    }
}

fn constant(b: bool) -> Rc<Formula> {
    Rc::new(Formula::Const(b))
}

impl Truth {
    fn constant(b: bool) -> Truth {
        Truth { holds: constant(b), fails: constant(!b) }
    }

    /// True or false, for values of these kinds at this path.
    fn at(path: &[Rc<str>], kinds: Kinds, atom: Formula) -> Truth {
        let atom = Rc::new(atom);
        let guard = Rc::new(Formula::Is(kinds));
        Truth {
            holds: at(path, Formula::all([Rc::clone(&guard), Rc::clone(&atom)])),
            fails: at(path, Formula::all([guard, atom.negated()])),
        }
    }

    fn not(self) -> Truth {
        Truth { holds: self.fails, fails: self.holds }
    }

    fn and(self, other: Truth) -> Truth {
        Truth { holds: Formula::all([self.holds, other.holds]), fails: Formula::any([self.fails, other.fails]) }
    }

    fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
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
fn at(path: &[Rc<str>], formula: Rc<Formula>) -> Rc<Formula> {
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
    fn truth(&self, expr: &Expr) -> Option<Truth> {
        match Condition::read(expr) {
            Condition::Constant(b) => Some(Truth::constant(b)),
            Condition::Not(inner) => Some(self.truth(inner)?.not()),
            Condition::And([a, b]) => Some(self.truth(a)?.and(self.truth(b)?)),
            Condition::Or([a, b]) => Some(self.truth(a)?.or(self.truth(b)?)),
            Condition::Choice { condition, yes, no } => {
                let (condition, a, b) = (self.truth(condition)?, self.truth(yes)?, self.truth(no)?);
                let join = |a, b| {
                    let yes = Formula::all([Rc::clone(&condition.holds), a]);
                    Formula::any([yes, Formula::all([Rc::clone(&condition.fails), b])])
                };
                Some(Truth { holds: join(a.holds, b.holds), fails: join(a.fails, b.fails) })
            }
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

    /// What an expression can be, and when: the branches of conditions, and sums of constants that they choose.
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
            _ => {
                let Some(Node::Comprehension(fold)) = size_of(expr).map(|list| &list.kind) else { return plain() };
                let Some(counts) = fold.filter().and_then(|condition| self.tally(fold, condition)) else { return plain() };
                let number = |count: usize| Expr { kind: Node::Literal(Literal::Int(count as i64)), ..expr.clone() };
                counts.into_iter().enumerate().map(|(count, when)| (when, number(count))).collect()
            }
        };
        (cases.len() <= MAX_CASES).then_some(cases)
    }

    /// When a condition holds for none, one, two, … of the items that are written in a list.
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

    /// A condition on a variable that is bound to something true or false.
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

    /// When something is true of an expression, by what is true of it in each of its cases.
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
            return matches!(ty, Ty::Text | Ty::List(_) | Ty::Map).then_some(Operand::Size(path, ty));
        }
        match &expr.kind {
            Node::Ident(name) if name == "string" => Some(Operand::TypeName(Kind::String)),
            Node::Ident(name) if name == "int" => Some(Operand::TypeName(Kind::Int)),
            Node::Ident(_) | Node::Select(_) => self.path(expr).map(|(path, ty)| Operand::Path(path, ty)),
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

    /// `self.a.b` as keys, and the type of the value there. CEL doesn't see a key that is null.
    fn path(&self, expr: &Expr) -> Option<(Vec<Rc<str>>, Ty<'s>)> {
        match &expr.kind {
            Node::Ident(name) if *name == self.name => Some((Vec::new(), self.ty)),
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
            (Operand::Literal(value), Operand::Path(path, ty @ Ty::List(_))) => {
                let other = Rc::new(Formula::Equals(value)).negated();
                Some(Truth::at(&path, ty.kinds(), Formula::Each(other)).not())
            }
            (Operand::Literal(Value::String(key)), Operand::Path(path, ty @ Ty::Map)) => {
                Some(Truth::at(&path, ty.kinds(), Formula::Key(key.into())))
            }
            _ => None,
        }
    }

    /// `all` and `exists`, and `exists_one` of what is written in a list.
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
        if quantifier == Quantifier::ExistsOne || fold.var2.is_some() {
            return None;
        }
        let all = quantifier == Quantifier::All;
        let (path, ty) = self.path(&fold.range)?;
        let (inner, each): (Ty<'_>, fn(Rc<Formula>) -> Formula) = match ty {
            Ty::List(items) => (Ty::of(items?)?, Formula::Each),
            Ty::Map => (Ty::Text, Formula::Keys),
            _ => return None,
        };
        let inner = Subject { name: &fold.var, ty: inner }.truth(body)?;
        let inner = if all { inner } else { inner.not() };
        let kinds = ty.kinds();
        let guarded = |formula: Rc<Formula>| at(&path, Formula::all([Rc::new(Formula::Is(kinds)), formula]));
        let truth = Truth { holds: guarded(Rc::new(each(inner.holds))), fails: guarded(Rc::new(each(inner.fails.negated())).negated()) };
        Some(if all { truth } else { truth.not() })
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
        Operand::Remainder(path, divisor) if operator == Operator::Equal && literal.as_i64() == Some(0) => {
            Some(Truth::at(&path, Ty::Int.kinds(), Formula::Divisible(divisor)))
        }
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
