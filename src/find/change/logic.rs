//! CEL rules as logic: whether two say the same, and whether one follows from the other.
//!
//! Sound and far from complete: "follows" is only said where the form of the expressions shows it.

use std::collections::{BTreeMap, BTreeSet};

use crate::cel::ast::{Comprehension, Expr, Kind, Literal, Quantifier};
use crate::cel::normal::Writer;
use crate::cel::parse::read;
use crate::model::schema::Shape;

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
    /// `left < right` of what is no number but has one: fields and constants, which are all ordered.
    Below {
        left: String,
        right: String,
        or_equal: bool,
    },
    /// `left == 'a'`, `left in ['a', 'b']`.
    In {
        left: String,
        values: BTreeSet<String>,
    },
    /// `range.all(x, body)` and its like.
    Fold {
        fold: Quantifier,
        range: String,
        /// The name of the first variable in `body`.
        first: String,
        body: Box<Term>,
    },
    Other(String),
}

/// What became of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Known {
    Absent,
    /// A constant, in normal form.
    Is(String),
}

impl Known {
    pub(super) fn is(value: &serde_json::Value) -> Option<Known> {
        let literal = match value {
            serde_json::Value::Bool(b) => Literal::Bool(*b),
            serde_json::Value::String(text) => Literal::String(text.clone()),
            serde_json::Value::Number(number) => Literal::Int(number.as_i64()?),
            _ => return None,
        };
        Some(Known::Is(format!("{literal:?}")))
    }
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
    /// `None` for what is not CEL, or too much of it. The schema tells the types of fields.
    pub(super) fn parse(rule: &str, schema: &Shape) -> Option<Term> {
        read(rule).ok().filter(|expr| expr.is_manageable()).map(|expr| term(&expr, &mut Writer::typed(schema)))
    }

    /// All of them.
    pub(super) fn together<'t>(terms: impl Iterator<Item = &'t Term>) -> Term {
        all(terms.cloned())
    }

    /// Whether every value that satisfies `self` satisfies `other`.
    pub(super) fn implies(&self, other: &Term) -> bool {
        implies(self, other, &mut STEPS.clone())
    }

    /// What is left of the term where it is known what became of some fields, each written `self.a.b`, or `self[].a` in items.
    pub(super) fn given(&self, known: &dyn Fn(&str) -> Option<Known>) -> Term {
        match self {
            Term::And(list) => all(list.iter().map(|part| part.given(known))),
            Term::Or(list) => any(list.iter().map(|part| part.given(known))),
            Term::Not(inner) => inner.given(known).negated(),
            Term::Other(_) => match tested(self).and_then(known) {
                Some(Known::Absent) => Term::False,
                Some(Known::Is(_)) => Term::True,
                None => self.clone(),
            },
            Term::In { left, values } => match known(left) {
                Some(Known::Is(value)) if values.contains(&value) => Term::True,
                Some(Known::Is(_)) => Term::False,
                _ => self.clone(),
            },
            Term::Fold { fold, range, first, body } if range == "self" && !first.ends_with(',') => {
                let inside = |path: &str| match path.strip_prefix(first.as_str()).and_then(|rest| rest.strip_prefix('.')) {
                    Some(field) => known(&format!("self[].{field}")),
                    None => known(path),
                };
                match (fold, body.given(&inside)) {
                    (Quantifier::All, Term::True) => Term::True,
                    (Quantifier::Exists | Quantifier::ExistsOne, Term::False) => Term::False,
                    _ => self.clone(),
                }
            }
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
            Term::Below { left, right, or_equal } => Term::Below { left: right, right: left, or_equal: !or_equal },
            other => Term::Not(Box::new(other)),
        }
    }
}

fn all(parts: impl Iterator<Item = Term>) -> Term {
    joined(parts, true)
}

fn any(parts: impl Iterator<Item = Term>) -> Term {
    joined(parts, false)
}

/// What `&&` or `||` make of their parts. A value that is one of these or one of those is one of all of them, and one that is neither
/// is none of them.
fn joined(parts: impl Iterator<Item = Term>, conjunction: bool) -> Term {
    let (neutral, decisive) = if conjunction { (Term::True, Term::False) } else { (Term::False, Term::True) };
    let mut list = BTreeSet::new();
    let mut members: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut pending: Vec<Term> = parts.collect();
    while let Some(part) = pending.pop() {
        match part {
            part if part == neutral => {}
            part if part == decisive => return decisive,
            Term::And(inner) if conjunction => pending.extend(inner),
            Term::Or(inner) if !conjunction => pending.extend(inner),
            Term::In { left, values } if !conjunction => members.entry(left).or_default().extend(values),
            Term::Not(inner) if conjunction => match *inner {
                Term::In { left, values } => members.entry(left).or_default().extend(values),
                other => drop(list.insert(Term::Not(Box::new(other)))),
            },
            other => drop(list.insert(other)),
        }
    }
    let members = members.into_iter().map(|(left, values)| Term::In { left, values });
    list.extend(members.map(|term| if conjunction { Term::Not(Box::new(term)) } else { term }));
    let mut list: Vec<Term> = list.into_iter().collect();
    match list.len() {
        0 => neutral,
        1 => list.pop().unwrap_or(neutral),
        _ if conjunction => Term::And(list),
        _ => Term::Or(list),
    }
}

fn term(expr: &Expr, writer: &mut Writer<'_>) -> Term {
    match &expr.kind {
        Kind::Literal(Literal::Bool(true)) => Term::True,
        Kind::Literal(Literal::Bool(false)) => Term::False,
        Kind::Comprehension(fold) => quantifier(fold, writer).unwrap_or_else(|| Term::Other(writer.write(expr, false))),
        Kind::Call(call) => match (&*call.function, call.args.as_slice()) {
            ("_&&_", args) => all(args.iter().map(|arg| term(arg, writer)).collect::<Vec<_>>().into_iter()),
            ("_||_", args) => any(args.iter().map(|arg| term(arg, writer)).collect::<Vec<_>>().into_iter()),
            ("!_", [inner]) => term(inner, writer).negated(),
            ("_?_:_", [condition, yes, no]) => {
                // Written so that a condition that fails with an error never turns into a truth, not even when negated.
                let condition = term(condition, writer);
                match (term(yes, writer), term(no, writer)) {
                    (yes, no) if is_certain(&condition) => choice(condition, yes, no),
                    (Term::True, Term::False) => condition,
                    (Term::False, Term::True) => condition.negated(),
                    (yes, Term::True) => any([all([condition.clone(), yes].into_iter()), condition.negated()].into_iter()),
                    (Term::True, no) => any([all([condition.clone().negated(), no].into_iter()), condition].into_iter()),
                    _ => Term::Other(writer.write(expr, false)),
                }
            }
            ("_==_", [a, b]) => equality(expr, a, b, writer),
            ("_!=_", [a, b]) => unequal(expr, a, b, writer),
            ("@in", [left, list]) => membership(left, list, writer).unwrap_or_else(|| Term::Other(writer.write(expr, false))),
            ("_<_" | "_<=_" | "_>_" | "_>=_", [a, b]) => {
                ordering(&call.function, a, b, writer).unwrap_or_else(|| Term::Other(writer.write(expr, false)))
            }
            _ => Term::Other(writer.write(expr, false)),
        },
        _ => Term::Other(writer.write(expr, false)),
    }
}

fn quantifier(fold: &Comprehension, writer: &mut Writer<'_>) -> Option<Term> {
    let (kind, condition) = fold.quantifier()?;
    let range = writer.write(&fold.range, false);
    let (depth, body) = writer.inside(fold, |writer| term(condition, writer));
    // Behind the accumulator; whether there is a second variable is part of the name.
    let first = format!("${}{}", depth + 1, if fold.var2.is_some() { "," } else { "" });
    Some(Term::Fold { fold: kind, range, first, body: Box::new(body) })
}

/// One or the other, by a condition that never fails.
fn choice(condition: Term, yes: Term, no: Term) -> Term {
    match (&yes, &no) {
        (Term::True, _) => any([condition, no].into_iter()),
        (_, Term::True) => any([condition.negated(), yes].into_iter()),
        _ => {
            let otherwise = all([condition.clone().negated(), no].into_iter());
            any([all([condition, yes].into_iter()), otherwise].into_iter())
        }
    }
}

fn equality(expr: &Expr, a: &Expr, b: &Expr, writer: &mut Writer<'_>) -> Term {
    let (left, right) = if a.literal().is_some() { (b, a) } else { (a, b) };
    if right.literal().is_some() && left.literal().is_none() {
        return Term::In { left: writer.write(left, false), values: BTreeSet::from([writer.write(right, false)]) };
    }
    match tests(a, b, writer) {
        Some((a, b)) => choice(a, b.clone(), b.negated()),
        None => Term::Other(writer.write(expr, false)),
    }
}

/// Two sides that ask whether fields are there, and never fail.
fn tests(a: &Expr, b: &Expr, writer: &mut Writer<'_>) -> Option<(Term, Term)> {
    let asks = |side: &Expr| matches!(&side.kind, Kind::Select(select) if select.test);
    let sides = (asks(a) && asks(b)).then(|| (term(a, writer), term(b, writer)))?;
    (is_certain(&sides.0) && is_certain(&sides.1)).then_some(sides)
}

fn unequal(expr: &Expr, a: &Expr, b: &Expr, writer: &mut Writer<'_>) -> Term {
    if let Some((a, b)) = tests(a, b, writer) {
        return choice(a, b.clone().negated(), b);
    }
    match equality(expr, a, b, writer) {
        Term::Other(_) => Term::Not(Box::new(Term::Other(writer.write(expr, true)))),
        equal => equal.negated(),
    }
}

fn membership(left: &Expr, list: &Expr, writer: &mut Writer<'_>) -> Option<Term> {
    let Kind::List(list) = &list.kind else { return None };
    let literal = list.items.iter().all(|item| item.literal().is_some()) && list.optional.is_empty();
    literal.then(|| Term::In { left: writer.write(left, false), values: list.items.iter().map(|item| writer.write(item, false)).collect() })
}

fn ordering(operator: &str, a: &Expr, b: &Expr, writer: &mut Writer<'_>) -> Option<Term> {
    let or_equal = operator.contains('=');
    let less = operator.contains('<');
    let (left, than, less) = match (number(a), number(b)) {
        (None, Some(than)) => (writer.write(a, false), than, less),
        (Some(than), None) => (writer.write(b, false), than, !less),
        // What is computed may be no number at all, which is neither below nor above.
        _ if ![a, b].iter().all(|side| matches!(side.kind, Kind::Ident(_) | Kind::Select(_))) => return None,
        _ => {
            let (a, b) = (writer.write(a, false), writer.write(b, false));
            let (left, right) = if less { (a, b) } else { (b, a) };
            return Some(Term::Below { left, right, or_equal });
        }
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

/// The field that a term asks for: `has(self.a)`.
fn tested(term: &Term) -> Option<&str> {
    let Term::Other(text) = term else { return None };
    text.strip_prefix("(has ")?.strip_suffix(')')
}

/// Whether a term asks for a field of something that is surely there, so that the answer is no error.
fn is_certain(term: &Term) -> bool {
    let asked = match term {
        Term::Not(inner) => inner,
        other => other,
    };
    let there = |root: &str| matches!(root, "self" | "oldSelf") || root.starts_with('$');
    *asked == Term::Other("(.hasValue oldSelf)".to_owned())
        || tested(asked)
            .and_then(|field| field.split_once('.'))
            .is_some_and(|(root, field)| there(root) && field.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// A normal form without what stands in its strings.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut escaped) = (false, false);
    for c in text.chars() {
        match c {
            '"' if !escaped => quoted = !quoted,
            _ if !quoted => out.push(c),
            _ => {}
        }
        escaped = quoted && c == '\\' && !escaped;
    }
    out
}

/// Whether a text has this name, and not only as a part of another one.
fn mentions(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + name.len()..).unwrap_or_default());
        !before.ends_with(|c: char| part(c) || c == '.') && !after.starts_with(part)
    })
}

/// Whether a term can only be true where this field is there, because it reads the field, and reading what is absent fails.
fn demands(term: &Term, field: &str) -> bool {
    match term {
        Term::True | Term::False => false,
        Term::And(list) => list.iter().any(|part| demands(part, field)),
        Term::Or(list) => list.iter().all(|part| demands(part, field)),
        Term::Not(inner) => !matches!(&**inner, Term::And(_) | Term::Or(_) | Term::Not(_) | Term::Fold { .. }) && demands(inner, field),
        // Something must be there for which the body is true.
        Term::Fold { fold, range, first, body } => {
            reads(range, field) || (*fold != Quantifier::All && !mentions(field, first.trim_end_matches(',')) && demands(body, field))
        }
        Term::Less { left, .. } | Term::Greater { left, .. } | Term::In { left, .. } | Term::Other(left) => reads(left, field),
        Term::Below { left, right, .. } => reads(left, field) || reads(right, field),
    }
}

/// Whether evaluating an expression always reads the field.
fn reads(text: &str, field: &str) -> bool {
    let text = unquoted(text);
    let choices = ["&&", "||", "_?_:_", "fold", "has ", "_?._", "_[?_]", "(.or", "(!"];
    mentions(&text, field) && !choices.iter().any(|choice| text.contains(choice))
}

/// Whether `b` gives what `a` gives wherever `a` gives anything: the same conditions, and besides them only that fields are there
/// which `a` reads anyway.
fn refines(a: &Term, b: &Term) -> bool {
    let parts = |term: &Term| match term {
        Term::And(list) => list.clone(),
        other => vec![other.clone()],
    };
    let (old, new) = (parts(a), parts(b));
    old.iter().all(|part| new.contains(part))
        && new.iter().filter(|part| !old.contains(part)).all(|part| tested(part).is_some_and(|field| demands(a, field)))
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
        _ if tested(b).is_some_and(|field| demands(a, field)) => true,
        (Term::Or(list), _) => list.iter().all(|part| implies(part, b, steps)),
        (Term::And(list), _) if list.iter().any(|part| implies(part, b, steps)) => true,
        (_, Term::Or(list)) if list.iter().any(|part| implies(a, part, steps)) => true,
        // Either the field is there or it isn't; where it isn't, one of the parts is true.
        (_, Term::Or(list)) => list.iter().any(|part| match part {
            Term::Not(inner) if is_certain(part) => {
                let given = all([a.clone(), (**inner).clone()].into_iter());
                let rest: Vec<Term> = list.iter().filter(|other| *other != part).cloned().collect();
                given != *a && rest.iter().any(|other| implies(&given, other, steps))
            }
            _ => false,
        }),
        (Term::Less { left: x, than: c, or_equal: p }, Term::Less { left: y, than: d, or_equal: q }) => {
            x == y && (c < d || (c == d && (*q || !p)))
        }
        (Term::Greater { left: x, than: c, or_equal: p }, Term::Greater { left: y, than: d, or_equal: q }) => {
            x == y && (c > d || (c == d && (*q || !p)))
        }
        (Term::Below { left: x, right: r, or_equal: p }, Term::Below { left: y, right: s, or_equal: q }) => x == y && r == s && (*q || !p),
        (Term::In { left: x, values: v }, Term::In { left: y, values: w }) => x == y && v.is_subset(w),
        (Term::Fold { fold: f, range: r, first: x, body: p }, Term::Fold { fold: g, range: s, first: y, body: q }) => {
            f == g && r == s && x == y && if *f == Quantifier::ExistsOne { refines(p, q) } else { implies(p, q, steps) }
        }
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

    fn parse(rule: &str) -> Term {
        let number = serde_json::json!({"type": "integer"});
        let list = serde_json::json!({"type": "array", "items": {"type": "string"}});
        let schema = serde_json::json!({"type": "object", "properties": {"i": number, "j": number, "l": list}});
        Term::parse(rule, &crate::testing::shape(&schema)).unwrap()
    }

    fn same(a: &str, b: &str) -> bool {
        parse(a) == parse(b)
    }

    fn follows(a: &str, b: &str) -> bool {
        parse(a).implies(&parse(b))
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
        assert!(same("self.i == self.j", "self.j == self.i"));
        assert!(same("self.i + self.j < 3", "self.j + self.i < 3"));
        assert!(same("self.i <= self.j", "!(self.i > self.j)"));
        assert!(same("self == oldSelf", "oldSelf == self"));
        assert!(same("self == 'a' || self == 'b'", "self in ['b', 'a']"));
        assert!(same("self != 'a' && self != 'b'", "!(self in ['b', 'a'])"));
        assert!(same("has(self.a) != has(self.b)", "has(self.a) && !has(self.b) || !has(self.a) && has(self.b)"));
        assert!(same("has(self.a) ? self.b : self.c", "!has(self.a) ? self.c : self.b"));
        assert!(same("has(self.a) ? self.a > 1 : false", "has(self.a) && self.a > 1"));
        assert!(same("oldSelf.hasValue() ? self == oldSelf.value() : true", "!oldSelf.hasValue() || self == oldSelf.value()"));
    }

    #[test]
    fn absent_fields_are_not_there() {
        let known = |path: &str| match path {
            "self.new" | "self[].new" => Some(Known::Absent),
            "self.mode" => Known::is(&"old".into()),
            _ => None,
        };
        let left = |rule: &str| parse(rule).given(&known);
        assert_eq!(left("self.mode == 'old' || !has(self.keys)"), Term::True);
        assert_eq!(left("self.mode in ['x', 'y'] || has(self.keys)"), parse("has(self.keys)"));
        assert_eq!(left("self.all(a, !has(a.new) || self.exists_one(b, has(b.new) && b.new == a.new))"), Term::True);
        assert_eq!(left("!self.exists(a, has(a.new))"), Term::True);
        assert_ne!(left("self.list.all(a, !has(a.new))"), Term::True);
        assert_eq!(left("!(has(self.new) && has(self.old))"), Term::True);
        assert_eq!(left("!has(self.new) || self.new > 3"), Term::True);
        assert_eq!(left("has(self.new) ? self.new > 3 : true"), Term::True);
        assert_eq!(left("has(self.new) || has(self.old)"), parse("has(self.old)"));
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
        assert!(!same("self.l == self.k", "self.k == self.l"));
        assert!(!same("self.i / self.j < self.k", "!(self.i / self.j >= self.k)"));
        // a condition that fails is no lie
        assert!(!same("self.a.b ? self.c : false", "self.a.b && self.c"));
    }

    #[test]
    fn one_rule_follows_from_another() {
        assert!(follows("self >= 2", "self >= 1"));
        assert!(!follows("self >= 1", "self >= 2"));
        assert!(follows("self > 1 && self < 12", "self < 13"));
        assert!(follows("self == 'a'", "self in ['a', 'b']"));
        assert!(follows("self.size() <= 2", "type(self) == string || self.size() <= 3"));
        assert!(!follows("has(self.a) || has(self.b)", "has(self.a)"));
        assert!(follows("self.all(x, x > 2)", "self.all(y, y > 1)"));
        assert!(!follows("self.all(x, x > 2)", "self.exists(y, y > 1)"));
        assert!(!follows("self.exists_one(x, x > 2)", "self.exists_one(x, x > 1)"));
    }

    #[test]
    fn a_guard_accepts_more() {
        assert!(follows("self.a > 1", "!has(self.a) || self.a > 1"));
        assert!(follows("self.a > 1", "has(self.a) && self.a > 1"));
        assert!(!follows("!has(self.a) || self.a > 1", "self.a > 1"));
        assert!(!follows("self.ab > 1", "has(self.a)"));
        assert!(!follows("self.a > 1 || self.b", "has(self.a)"));
        assert!(follows("self.kind == 'x' ? self.name != '' : true", "self.kind == 'x' && has(self.name) ? self.name != '' : true"));
        let unguarded = "self.all(a, a.t == 'x' ? self.exists_one(b, b.t == a.t && b.v == a.v) : true)";
        let guarded = "self.all(a, a.t == 'x' && has(a.v) ? self.exists_one(b, b.t == a.t && has(b.v) && b.v == a.v) : true)";
        assert!(follows(unguarded, guarded));
        assert!(!follows(guarded, unguarded));
        // a name in a string is no reading
        assert!(!follows("self.b.startsWith('self.a')", "self.b.startsWith('self.a') && has(self.a)"));
        assert!(follows("self.b.contains('x')", "has(self.a) ? self.b.contains('x') : true"));
        assert!(!follows("self.b.contains('x')", "has(self.a) ? self.b.contains('y') : true"));
        // without the reading, the guard leaves out what counted before
        assert!(!follows("self.exists_one(b, b.t == 'x')", "self.exists_one(b, has(b.v) && b.t == 'x')"));
    }
}
