//! Guesses for rules without a formula: conditions made from the literals and fields of a rule, which make a value worth trying.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value;

use crate::cel::ast::{Expr, Literal};
use crate::cel::name::unescape;
use crate::compare::cel_condition::field_of;
use crate::compare::limits::analysed;
use crate::model::number::as_sent;
use crate::model::schema::shape::{CelRule, Shape};

use super::formula::Formula;

/// How many guesses are made for one rule.
const MAX_PROBES: usize = 48;
/// For how many fields all combinations are tried.
const MAX_COMBINED: usize = 4;

/// Conditions to try one after the other.
pub(crate) fn probes(rule: &CelRule, shape: &Shape) -> Vec<Rc<Formula>> {
    let Some(expr) = analysed(&rule.rule) else { return Vec::new() };
    let values = literals(&expr);
    let mut probes = Vec::new();
    let fields = fields(&expr, shape);
    // Which of the fields exist.
    let combined: Vec<&String> = fields.iter().take(MAX_COMBINED).collect();
    for mask in 0..1_usize << combined.len() {
        let parts = combined.iter().enumerate().map(|(index, field)| {
            let has = Rc::new(Formula::Has(field.as_str().into()));
            if mask >> index & 1 == 1 { has } else { has.negated() }
        });
        if !combined.is_empty() {
            probes.push(Formula::all(parts));
        }
    }
    for value in values.iter().take(12) {
        let is = Rc::new(Formula::Equals(value.clone()));
        for field in fields.iter().take(6) {
            let field: Rc<str> = field.as_str().into();
            probes.push(Formula::all([Rc::new(Formula::Has(Rc::clone(&field))), Rc::new(Formula::Field(field, Rc::clone(&is)))]));
        }
        probes.push(Rc::clone(&is));
        probes.push(is.negated());
        if let Some(size) = value.as_u64().filter(|size| *size <= 64) {
            probes.push(Rc::new(Formula::MinSize(size)));
            probes.push(Rc::new(Formula::MaxSize(size)));
        }
        // A list or map that contains this.
        probes.push(Rc::new(Formula::Each(Rc::clone(&is).negated())).negated());
    }
    for size in 1..4 {
        probes.push(Rc::new(Formula::MinSize(size)));
    }
    probes.push(Rc::new(Formula::Matches("[A-Z]".into())));
    probes.push(Rc::new(Formula::Matches("^[^a-z0-9]".into())));
    probes.push(Rc::new(Formula::AtLeast { bound: 1000.0, strict: false }));
    probes.push(Rc::new(Formula::AtMost { bound: -1.0, strict: false }));
    probes.truncate(MAX_PROBES);
    probes
}

/// The literals of an expression and their neighbours.
fn literals(expr: &Expr) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    let mut push = |value: Value| {
        if !values.contains(&value) {
            values.push(value);
        }
    };
    for part in expr.descendants() {
        match part.literal() {
            Some(Literal::Int(n)) => [0, 1, -1].into_iter().filter_map(|d| n.checked_add(d)).for_each(|n| push(n.into())),
            Some(Literal::Double(x)) => [0.0, 0.5, -0.5].into_iter().for_each(|d| push(as_sent(x + d))),
            Some(Literal::String(text)) => {
                push(text.as_str().into());
                push(format!("{text}x").into());
                push(format!("x{text}").into());
            }
            _ => {}
        }
    }
    values
}

/// Fields of the node that an expression mentions.
fn fields(expr: &Expr, shape: &Shape) -> Vec<String> {
    let named: BTreeSet<String> = expr
        .descendants()
        .into_iter()
        .filter_map(|part| unescape(&field_of(part, &["self"])?.field))
        .filter(|name| shape.properties.contains_key(name))
        .collect();
    named.into_iter().collect()
}
