//! Decides whether one condition follows from another, by their forms.

use crate::cel::ast::Quantifier;
use crate::cel::comparison::Operator;

use super::rule_form::{RuleForm, all, is_certain};

/// How many steps one question may take. Rules of real CRDs need a few dozen.
const MAX_STEPS: u32 = 20_000;

/// A normal form without the contents of its strings.
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

/// Whether a text contains this name as a whole.
fn mentions(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '@');
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text.get(..at).unwrap_or_default(), text.get(at + name.len()..).unwrap_or_default());
        !before.ends_with(|c: char| part(c) || c == '.') && !after.starts_with(part)
    })
}

/// Whether a term can only be true if this field exists, because it reads the field, and reading an absent field fails.
fn demands(term: &RuleForm, field: &str) -> bool {
    match term {
        RuleForm::True | RuleForm::False | RuleForm::Has(_) => false,
        RuleForm::And(list) => list.iter().any(|part| demands(part, field)),
        RuleForm::Or(list) => list.iter().all(|part| demands(part, field)),
        RuleForm::Not(inner) => {
            !matches!(&**inner, RuleForm::And(_) | RuleForm::Or(_) | RuleForm::Not(_) | RuleForm::Fold { .. }) && demands(inner, field)
        }
        // There must be an element for which the body is true.
        RuleForm::Fold { fold, range, first, body } => {
            reads(range, field) || (*fold != Quantifier::All && !mentions(field, first.trim_end_matches(',')) && demands(body, field))
        }
        RuleForm::Bound { left, .. } | RuleForm::In { left, .. } | RuleForm::Other(left) => reads(left, field),
        RuleForm::Below { left, right, .. } => reads(left, field) || reads(right, field),
    }
}

/// Whether evaluating an expression always reads the field.
fn reads(text: &str, field: &str) -> bool {
    let text = unquoted(text);
    let choices = ["&&", "||", "_?_:_", "fold", "has ", "_?._", "_[?_]", "(.or", "(!"];
    mentions(&text, field) && !choices.iter().any(|choice| text.contains(choice))
}

/// Whether `b` has the same result as `a` wherever `a` has one: the same conditions, plus only tests for fields that `a` reads
/// anyway.
fn refines(a: &RuleForm, b: &RuleForm) -> bool {
    let parts = |term: &RuleForm| match term {
        RuleForm::And(list) => list.clone(),
        other => vec![other.clone()],
    };
    let (old, new) = (parts(a), parts(b));
    old.iter().all(|part| new.contains(part))
        && new.iter().filter(|part| !old.contains(part)).all(|part| matches!(part, RuleForm::Has(field) if demands(a, field)))
}

/// Whether every value that satisfies `a` satisfies `b`. Sound but far from complete: true only if the form shows it.
pub(super) fn implies(a: &RuleForm, b: &RuleForm) -> bool {
    follows(a, b, &mut MAX_STEPS.clone())
}

fn follows(a: &RuleForm, b: &RuleForm, steps: &mut u32) -> bool {
    *steps = match steps.checked_sub(1) {
        Some(left) => left,
        None => return false,
    };
    if a == b {
        return true;
    }
    match (a, b) {
        (RuleForm::False, _) | (_, RuleForm::True) => true,
        (_, RuleForm::And(list)) => list.iter().all(|part| follows(a, part, steps)),
        (_, RuleForm::Has(field)) if demands(a, field) => true,
        (RuleForm::Or(list), _) => list.iter().all(|part| follows(part, b, steps)),
        (RuleForm::And(list), _) if list.iter().any(|part| follows(part, b, steps)) => true,
        (_, RuleForm::Or(list)) if list.iter().any(|part| follows(a, part, steps)) => true,
        // Either the field exists or it doesn't; if it doesn't, one of the parts is true.
        (_, RuleForm::Or(list)) => list.iter().any(|part| match part {
            RuleForm::Not(inner) if is_certain(part) => {
                let given = all([a.clone(), (**inner).clone()].into_iter());
                let rest: Vec<RuleForm> = list.iter().filter(|other| *other != part).cloned().collect();
                given != *a && rest.iter().any(|other| follows(&given, other, steps))
            }
            _ => false,
        }),
        (RuleForm::Bound { left: x, operator: p, than: c, .. }, RuleForm::Bound { left: y, operator: q, than: d, .. }) => {
            x == y
                && match (p, q) {
                    (Operator::Less, Operator::Less | Operator::AtMost) | (Operator::AtMost, Operator::AtMost) => c <= d,
                    (Operator::AtMost, Operator::Less) => c < d,
                    (Operator::More, Operator::More | Operator::AtLeast) | (Operator::AtLeast, Operator::AtLeast) => c >= d,
                    (Operator::AtLeast, Operator::More) => c > d,
                    _ => false,
                }
        }
        (RuleForm::Below { left: x, right: r, or_equal: p }, RuleForm::Below { left: y, right: s, or_equal: q }) => {
            x == y && r == s && (*q || !p)
        }
        (RuleForm::In { left: x, values: v }, RuleForm::In { left: y, values: w }) => x == y && v.is_subset(w),
        (RuleForm::In { left: x, values }, RuleForm::Bound { left: y, operator, than, .. }) => {
            let number = |value: &String| value.strip_prefix("Int(")?.strip_suffix(')')?.parse::<i32>().ok();
            x == y && values.iter().all(|value| number(value).is_some_and(|n| than.compares(f64::from(n), *operator)))
        }
        (RuleForm::Fold { fold: f, range: r, first: x, body: p }, RuleForm::Fold { fold: g, range: s, first: y, body: q }) => {
            f == g && r == s && x == y && if *f == Quantifier::ExistsOne { refines(p, q) } else { follows(p, q, steps) }
        }
        (RuleForm::Not(p), RuleForm::Not(q)) => match (&**p, &**q) {
            // Both sides read the same expression, so neither can fail if the other holds.
            (RuleForm::In { left: x, values: v }, RuleForm::In { left: y, values: w }) => x == y && w.is_subset(v),
            _ => false,
        },
        _ => false,
    }
}
