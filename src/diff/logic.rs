//! CEL rules as logic: whether two say the same, and whether one follows from the other.
//!
//! Sound and far from complete: "follows" is only said where the form of the expressions shows it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::cel::ast::{Expr, Kind, Literal};
use crate::cel::parse::parse;

/// Steps that one question may take. Rules of real CRDs need a few dozen.
const STEPS: u32 = 20_000;

/// A rule in a form where order, negation and spelling no longer matter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Term {
    True,
    False,
    And(Vec<Term>),
    Or(Vec<Term>),
    Not(Box<Term>),
    /// A number on the left of an ordering: `size(self) <= 5`.
    Less {
        left: String,
        than: Bits,
        or_equal: bool,
    },
    Greater {
        left: String,
        than: Bits,
        or_equal: bool,
    },
    /// `left == 'a'`, `left in ['a', 'b']`.
    In {
        left: String,
        values: BTreeSet<String>,
    },
    Other(String),
}

/// A float with a total order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bits(f64);

impl Eq for Bits {}

impl PartialOrd for Bits {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Bits {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Term {
    /// `None` for what is not CEL.
    pub(super) fn parse(rule: &str) -> Option<Term> {
        parse(rule).ok().map(|expr| term(&expr))
    }

    /// Whether every value that satisfies `self` satisfies `other`.
    pub(super) fn implies(&self, other: &Term) -> bool {
        implies(self, other, &mut STEPS.clone())
    }

    /// What is left of the term where none of the fields is there that `absent` takes, each written `self.a.b`.
    pub(super) fn without(&self, absent: &impl Fn(&str) -> bool) -> Term {
        match self {
            Term::And(list) => all(list.iter().map(|part| part.without(absent))),
            Term::Or(list) => any(list.iter().map(|part| part.without(absent))),
            Term::Not(inner) => inner.without(absent).negated(),
            Term::Other(text) if text.strip_suffix('?').is_some_and(absent) => Term::False,
            other => other.clone(),
        }
    }

    fn negated(self) -> Term {
        match self {
            Term::True => Term::False,
            Term::False => Term::True,
            Term::Not(inner) => *inner,
            Term::And(list) => any(list.into_iter().map(Term::negated)),
            Term::Or(list) => all(list.into_iter().map(Term::negated)),
            Term::Less { left, than, or_equal } => Term::Greater { left, than, or_equal: !or_equal },
            Term::Greater { left, than, or_equal } => Term::Less { left, than, or_equal: !or_equal },
            other => Term::Not(Box::new(other)),
        }
    }
}

fn all(parts: impl Iterator<Item = Term>) -> Term {
    let mut list = BTreeSet::new();
    for part in parts {
        match part {
            Term::True => {}
            Term::False => return Term::False,
            Term::And(inner) => list.extend(inner),
            other => {
                list.insert(other);
            }
        }
    }
    collected(list, Term::True, Term::And)
}

fn any(parts: impl Iterator<Item = Term>) -> Term {
    let mut list = BTreeSet::new();
    for part in parts {
        match part {
            Term::False => {}
            Term::True => return Term::True,
            Term::Or(inner) => list.extend(inner),
            other => {
                list.insert(other);
            }
        }
    }
    collected(list, Term::False, Term::Or)
}

fn collected(list: BTreeSet<Term>, none: Term, several: fn(Vec<Term>) -> Term) -> Term {
    let mut list: Vec<Term> = list.into_iter().collect();
    match list.len() {
        0 => none,
        1 => list.pop().unwrap_or(none),
        _ => several(list),
    }
}

fn term(expr: &Expr) -> Term {
    match &expr.kind {
        Kind::Literal(Literal::Bool(true)) => Term::True,
        Kind::Literal(Literal::Bool(false)) => Term::False,
        Kind::Call(call) => match (call.function.as_str(), call.args.as_slice()) {
            ("_&&_", args) => all(args.iter().map(term)),
            ("_||_", args) => any(args.iter().map(term)),
            ("!_", [inner]) => term(inner).negated(),
            ("_?_:_", [condition, yes, no]) => {
                // Written so that a condition that fails with an error never turns into a truth, not even when negated.
                let condition = term(condition);
                match (term(yes), term(no)) {
                    (Term::True, Term::False) => condition,
                    (Term::False, Term::True) => condition.negated(),
                    (yes, Term::True) => any([all([condition.clone(), yes].into_iter()), condition.negated()].into_iter()),
                    (Term::True, no) => any([all([condition.clone().negated(), no].into_iter()), condition].into_iter()),
                    _ => Term::Other(text(expr)),
                }
            }
            ("_==_", [a, b]) => equality(a, b),
            ("_!=_", [a, b]) => equality(a, b).negated(),
            ("@in", [left, list]) => membership(left, list).unwrap_or_else(|| Term::Other(text(expr))),
            ("_<_" | "_<=_" | "_>_" | "_>=_", [a, b]) => ordering(&call.function, a, b).unwrap_or_else(|| Term::Other(text(expr))),
            _ => Term::Other(text(expr)),
        },
        _ => Term::Other(text(expr)),
    }
}

fn equality(a: &Expr, b: &Expr) -> Term {
    let (left, right) = if a.literal().is_some() { (b, a) } else { (a, b) };
    if right.literal().is_some() && left.literal().is_none() {
        return Term::In { left: text(left), values: BTreeSet::from([text(right)]) };
    }
    let mut sides = [text(a), text(b)];
    sides.sort();
    Term::Other(sides.join(" == "))
}

fn membership(left: &Expr, list: &Expr) -> Option<Term> {
    let Kind::List(list) = &list.kind else { return None };
    let literal = list.items.iter().all(|item| item.literal().is_some()) && list.optional.is_empty();
    literal.then(|| Term::In { left: text(left), values: list.items.iter().map(text).collect() })
}

fn ordering(operator: &str, a: &Expr, b: &Expr) -> Option<Term> {
    let or_equal = operator.contains('=');
    let less = operator.contains('<');
    let (left, than, less) = match (number(a), number(b)) {
        (None, Some(than)) => (text(a), than, less),
        (Some(than), None) => (text(b), than, !less),
        _ => return None,
    };
    let than = Bits(than);
    Some(if less { Term::Less { left, than, or_equal } } else { Term::Greater { left, than, or_equal } })
}

fn number(expr: &Expr) -> Option<f64> {
    match expr.literal()? {
        // Beyond 2^53 floats no longer tell neighbours apart.
        Literal::Int(int) => Some(*int as f64).filter(|value| value.abs() < 9.0e15),
        Literal::Double(double) => Some(*double),
        _ => None,
    }
}

/// One text for all spellings of an expression.
fn text(expr: &Expr) -> String {
    let mut out = String::new();
    write(expr, &mut out);
    out
}

fn write_list(parts: &[Expr], out: &mut String) {
    for part in parts {
        write(part, out);
        out.push(',');
    }
}

fn write(expr: &Expr, out: &mut String) {
    match &expr.kind {
        Kind::Ident(name) => out.push_str(name),
        Kind::Literal(literal) => {
            let _ = write!(out, "{literal:?}");
        }
        Kind::Select(select) => {
            write(&select.operand, out);
            let _ = write!(out, ".{}{}", select.field, if select.test { "?" } else { "" });
        }
        // logic inside an argument is brought into the same form as outside
        Kind::Call(_) if is_logic(expr) => {
            let _ = write!(out, "{:?}", term(expr));
        }
        Kind::Call(call) => match (call.function.as_str(), &call.target, call.args.as_slice()) {
            ("size", None, [of]) => {
                write(of, out);
                out.push_str(",size()");
            }
            (name, target, args) => {
                if let Some(target) = target {
                    write(target, out);
                    out.push(',');
                }
                let _ = write!(out, "{name}(");
                write_list(args, out);
                out.push(')');
            }
        },
        Kind::List(list) => {
            let _ = write!(out, "[{:?}:", list.optional);
            write_list(&list.items, out);
            out.push(']');
        }
        Kind::Map(entries) => {
            out.push('{');
            for entry in entries {
                write(&entry.key, out);
                out.push_str(if entry.optional { "?:" } else { ":" });
                write(&entry.value, out);
                out.push(',');
            }
            out.push('}');
        }
        Kind::Struct(made) => {
            // no rule can make one; the place keeps two of them apart
            let _ = write!(out, "{}@{}{{", made.type_name, expr.at);
            write_list(&made.values, out);
            out.push('}');
        }
        Kind::Comprehension(fold) => {
            let _ = write!(out, "fold({},{:?},{},", fold.var, fold.var2, fold.accu);
            for part in [&fold.range, &fold.init, &fold.condition, &fold.step, &fold.result] {
                write(part, out);
                out.push(';');
            }
            out.push(')');
        }
    }
}

/// Whether [`term`] turns the expression into logic; what it leaves as text must be written out.
fn is_logic(expr: &Expr) -> bool {
    let Kind::Call(call) = &expr.kind else { return false };
    match (call.function.as_str(), call.args.as_slice()) {
        ("_&&_" | "_||_" | "!_" | "_==_" | "_!=_", _) => true,
        // what a condition chooses need not be a truth value here
        ("_?_:_", _) => false,
        ("@in", [left, list]) => membership(left, list).is_some(),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [a, b]) => ordering(&call.function, a, b).is_some(),
        _ => false,
    }
}

fn implies(a: &Term, b: &Term, steps: &mut u32) -> bool {
    *steps = match steps.checked_sub(1) {
        Some(left) => left,
        None => return false,
    };
    if a == b {
        return true;
    }
    match (a, b) {
        (Term::False, _) | (_, Term::True) => true,
        (_, Term::And(list)) => list.iter().all(|part| implies(a, part, steps)),
        (Term::Or(list), _) => list.iter().all(|part| implies(part, b, steps)),
        (Term::And(list), _) if list.iter().any(|part| implies(part, b, steps)) => true,
        (_, Term::Or(list)) => list.iter().any(|part| implies(a, part, steps)),
        (Term::Less { left: x, than: c, or_equal: p }, Term::Less { left: y, than: d, or_equal: q }) => {
            x == y && (c < d || (c == d && (*q || !p)))
        }
        (Term::Greater { left: x, than: c, or_equal: p }, Term::Greater { left: y, than: d, or_equal: q }) => {
            x == y && (c > d || (c == d && (*q || !p)))
        }
        (Term::In { left: x, values: v }, Term::In { left: y, values: w }) => x == y && v.is_subset(w),
        (Term::Not(p), Term::Not(q)) => match (&**p, &**q) {
            // both sides read the same expression, so neither can fail where the other holds
            (Term::In { left: x, values: v }, Term::In { left: y, values: w }) => x == y && w.is_subset(v),
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(a: &str, b: &str) -> bool {
        Term::parse(a).unwrap() == Term::parse(b).unwrap()
    }

    fn follows(a: &str, b: &str) -> bool {
        Term::parse(a).unwrap().implies(&Term::parse(b).unwrap())
    }

    #[test]
    fn spelling_does_not_matter() {
        assert!(same("self % 2 == 0", "  self%2==0 "));
        assert!(same("self >= 2", "(self >= 2) && true"));
        assert!(same("self != 1.5", "!(!(self != 1.5))"));
        assert!(same("self <= 2.5", "(self <= 2.5) ? true : false"));
        assert!(same("!has(self.a) || has(self.b)", "has(self.b) || !has(self.a)"));
        assert!(same("size(self) < 5", "5 > self.size()"));
        assert!(same("self.all(x, x > 1 && x < 5)", "self.all(x, x<5 && 1 < x)"));
        assert!(same("self == 'a'", "\"a\" == self"));
    }

    #[test]
    fn absent_fields_are_not_there() {
        let left = |rule: &str| Term::parse(rule).unwrap().without(&|path: &str| path == "self.new");
        assert_eq!(left("!(has(self.new) && has(self.old))"), Term::True);
        assert_eq!(left("!has(self.new) || self.new > 3"), Term::True);
        assert_eq!(left("has(self.new) ? self.new > 3 : true"), Term::True);
        assert_eq!(left("has(self.new) || has(self.old)"), Term::parse("has(self.old)").unwrap());
        assert_ne!(left("self.news > 3"), Term::True);
    }

    #[test]
    fn what_differs_differs() {
        assert!(!same("self.a < self.b", "self.b < self.a"));
        assert!(!same("has(self.a)", "has(self.b)"));
        assert!(!same("self.a - self.b == 0", "self.b - self.a == 0"));
        assert!(!same("self == oldSelf", "self != oldSelf"));
        assert!(!same("self.all(x, x > 1)", "self.exists(x, x > 1)"));
        assert!(!same("self == '1'", "self == 1"));
        assert!(!same("(self.a ? 1 : 2) == 1", "(self.a ? 2 : 1) == 1"));
    }

    #[test]
    fn one_rule_follows_from_another() {
        assert!(follows("self >= 2", "self >= 1"));
        assert!(!follows("self >= 1", "self >= 2"));
        assert!(follows("self > 1 && self < 12", "self < 13"));
        assert!(follows("self == 'a'", "self in ['a', 'b']"));
        assert!(follows("self.size() <= 2", "type(self) == string || self.size() <= 3"));
        assert!(!follows("has(self.a) || has(self.b)", "has(self.a)"));
    }
}
