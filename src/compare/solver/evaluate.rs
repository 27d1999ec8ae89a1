//! Evaluates whether a value, after defaulting, satisfies a term: yes, no, or unknown (a pattern or CEL rule that can't be run
//! here).
//!
//! Shapes are checked by the server's own validator; only formulas are evaluated here.

use serde_json::Value;

use crate::go::regexp::Pattern;
use crate::server::object::{clause_accepts, declared_accepts};

use super::formula::{self, Formula};
use super::numbers;
use super::read::{Pair, Reader};
use super::{Kind, RuleCache, Term};

/// Three values: `None` means unknown.
type Verdict = Option<bool>;

pub(crate) struct Evaluator<'j, 's> {
    /// Nodes that are compared without their children.
    pub(crate) pair: Option<Pair<'s>>,
    pub(crate) rules: &'j RuleCache<'s>,
}

impl<'s> Evaluator<'_, 's> {
    pub(crate) fn term(&self, term: &Term<'s>, value: &Value) -> Verdict {
        match term {
            Term::Node(shape) => {
                let pair = self.pair.filter(|pair| pair.has(shape));
                declared_accepts(value, &Reader::Node { shape, pair }, |node, value| self.rules_hold(*node, value))
            }
            Term::Clause(shape) => clause_accepts(value, &Reader::of(shape)),
            Term::Formula(formula) => self.formula(formula, value),
        }
    }

    fn rules_hold(&self, node: Reader<'s>, value: &Value) -> Verdict {
        let shape = node.own();
        every(shape.rules.iter().map(|rule| {
            // A rule that can be run needn't be translated.
            let understood = || self.formula(&*self.rules.formula(rule, shape)?, value);
            self.rules.verdict(rule, shape, value).or_else(understood)
        }))
    }

    pub(crate) fn formula(&self, formula: &Formula, value: &Value) -> Verdict {
        match formula {
            Formula::Const(b) => Some(*b),
            Formula::All(parts) => every(parts.iter().map(|part| self.formula(part, value))),
            Formula::Any(parts) => any(parts.iter().map(|part| self.formula(part, value))),
            Formula::Not(part) => self.formula(part, value).map(|holds| !holds),
            Formula::Is(kinds) => Some(kinds.has(Kind::of(value))),
            Formula::Equals(other) => Some(formula::equal(value, other)),
            Formula::AtLeast { bound, strict } => Some(numbers::accepts(&numbers::at_least(Kind::of(value), *bound, *strict), value)),
            Formula::AtMost { bound, strict } => Some(numbers::accepts(&numbers::at_most(Kind::of(value), *bound, *strict), value)),
            Formula::Divisible(by) => Some(formula::divisible(value, *by)),
            Formula::MinSize(n) => Some(formula::size(value).is_some_and(|size| size >= *n)),
            Formula::MaxSize(n) => Some(formula::size(value).is_some_and(|size| size <= *n)),
            Formula::Matches(pattern) => match value {
                Value::String(text) => Pattern::new(pattern).ok().map(|pattern| pattern.is_match(text)),
                _ => Some(false),
            },
            Formula::Has(key) => Some(value.get(&**key).is_some_and(|value| !value.is_null())),
            Formula::Key(key) => Some(value.get(&**key).is_some()),
            Formula::Field(key, part) => match value.get(&**key) {
                Some(value) if !value.is_null() => self.formula(part, value),
                _ => Some(value.is_object()),
            },
            Formula::Each(part) => match value {
                Value::Array(items) => every(items.iter().map(|item| self.formula(part, item))),
                Value::Object(map) => every(map.values().map(|item| self.formula(part, item))),
                _ => Some(false),
            },
            Formula::Keys(part) => match value {
                Value::Object(map) => every(map.keys().map(|key| self.formula(part, &Value::from(key.as_str())))),
                _ => Some(false),
            },
        }
    }
}

fn every(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let mut open = false;
    for verdict in verdicts {
        match verdict {
            Some(false) => return Some(false),
            Some(true) => {}
            None => open = true,
        }
    }
    if open { None } else { Some(true) }
}

fn any(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    every(verdicts.map(|verdict| verdict.map(|holds| !holds))).map(|none| !none)
}
