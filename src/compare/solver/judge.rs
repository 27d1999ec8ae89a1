//! Whether a value, as it stands after defaulting, satisfies a shape or a formula: yes, no, or not known (a CEL rule that is
//! not understood, a pattern that is not analysed).

use serde_json::Value;

use crate::model::schema::is_meta;
use crate::model::schema::shape::{Extra, Shape};
use crate::server::object::{enum_lists, has_duplicates, list_type_holds, names_its_type};

use super::formula::{self, Formula};
use super::kind::{self, Kind};
use super::numbers;
use super::read::Pair;
use super::words;
use super::{Rules, Term};

/// Three values: `None` is not known.
type Verdict = Option<bool>;

pub(crate) struct Judge<'j, 's> {
    /// Nodes that are compared without their children.
    pub(crate) pair: Option<Pair<'s>>,
    pub(crate) rules: &'j Rules,
}

/// Stops at the first "no".
#[derive(Default)]
struct All(bool);

impl All {
    /// Takes one more part in; `None` stops the evaluation.
    fn and(&mut self, part: Verdict) -> Result<(), No> {
        match part {
            Some(true) => Ok(()),
            Some(false) => Err(No),
            None => {
                self.0 = true;
                Ok(())
            }
        }
    }

    fn verdict(self) -> Verdict {
        if self.0 { None } else { Some(true) }
    }
}

struct No;

fn finish(all: Result<Verdict, No>) -> Verdict {
    all.unwrap_or(Some(false))
}

impl Judge<'_, '_> {
    pub(crate) fn term(&self, term: &Term<'_>, value: &Value) -> Verdict {
        match term {
            Term::Node(shape) => self.shape(shape, value, true),
            Term::Clause(shape) => self.shape(shape, value, false),
            Term::Formula(formula) => self.formula(formula, value),
        }
    }

    /// `spine`: a declared node, where list types, embedded resources and CEL rules count.
    pub(crate) fn shape(&self, shape: &Shape, value: &Value, spine: bool) -> Verdict {
        finish(self.try_shape(shape, value, spine))
    }

    fn try_shape(&self, shape: &Shape, value: &Value, spine: bool) -> Result<Verdict, No> {
        let mut all = All::default();
        let format = words::format(shape.format.as_deref());
        let kind = Kind::of(value);
        let pair = self.pair.filter(|pair| spine && pair.has(shape));
        all.and(Some(kind::kinds(shape, format.is_some()).has(kind)))?;
        if let Some(values) = &shape.enum_values {
            all.and(Some(values.iter().any(|one| enum_lists(value, one))))?;
        }
        if kind == Kind::Null {
            // Nothing else is looked at, junctors and rules included.
            return Ok(all.verdict());
        }
        match value {
            Value::Number(_) => {
                for domain in numbers::domains(shape) {
                    all.and(Some(numbers::accepts(&domain, value)))?;
                }
            }
            Value::String(text) => {
                let length = formula::size(value).unwrap_or(0);
                all.and(Some(length >= shape.length.min && shape.length.max.is_none_or(|max| length <= max)))?;
                if let Some(pattern) = &shape.pattern {
                    all.and(words::matches(pattern, text))?;
                }
                if let Some(format) = format {
                    all.and(Some(format.is_valid(text)))?;
                }
            }
            Value::Array(items) => {
                let length = formula::size(value).unwrap_or(0);
                all.and(Some(length >= shape.item_count.min && shape.item_count.max.is_none_or(|max| length <= max)))?;
                if let Some(child) = shape.items.as_deref().map(|own| pair.and_then(Pair::items).unwrap_or(own)) {
                    for item in items {
                        all.and(self.shape(child, item, spine))?;
                    }
                }
                if shape.unique_items {
                    all.and(Some(!has_duplicates(items)))?;
                }
                if spine {
                    all.and(Some(list_type_holds(shape.list_type, &shape.map_keys, items)))?;
                }
            }
            Value::Object(map) => {
                let count = formula::size(value).unwrap_or(0);
                all.and(Some(count >= shape.property_count.min && shape.property_count.max.is_none_or(|max| count <= max)))?;
                all.and(Some(shape.required.iter().all(|key| map.contains_key(key))))?;
                for (key, value) in map {
                    let child = pair.map_or_else(|| shape.property(key), |pair| pair.child(shape, key));
                    match (child, &shape.extra) {
                        (Some(child), _) => all.and(self.shape(child, value, spine))?,
                        (None, Extra::Refused) => all.and(Some(spine && shape.embedded && is_meta(key)))?,
                        (None, Extra::Values(own)) => {
                            let values = pair.map_or(&**own, |pair| pair.values(own));
                            all.and(self.shape(values, value, spine))?;
                        }
                        (None, Extra::Any | Extra::Closed) => {}
                    }
                }
                if spine && shape.embedded {
                    all.and(embedded_holds(map))?;
                }
            }
            _ => {}
        }
        self.junctors(shape, value, &mut all)?;
        if spine {
            for rule in &shape.rules {
                // What can be run need not be understood.
                let understood = || self.formula(&*self.rules.formula(rule, shape)?, value);
                all.and(self.rules.verdict(rule, shape, value).or_else(understood))?;
            }
        }
        Ok(all.verdict())
    }

    fn junctors(&self, shape: &Shape, value: &Value, all: &mut All) -> Result<(), No> {
        for clause in &shape.all_of {
            all.and(self.shape(clause, value, false))?;
        }
        if !shape.any_of.is_empty() {
            let verdicts = shape.any_of.iter().map(|clause| self.shape(clause, value, false));
            all.and(any(verdicts))?;
        }
        if !shape.one_of.is_empty() {
            let (mut yes, mut open) = (0, false);
            for clause in &shape.one_of {
                match self.shape(clause, value, false) {
                    Some(true) => yes += 1,
                    Some(false) => {}
                    None => open = true,
                }
            }
            all.and(if yes > 1 || (yes == 0 && !open) {
                Some(false)
            } else if open {
                None
            } else {
                Some(true)
            })?;
        }
        if let Some(not) = &shape.not {
            all.and(self.shape(not, value, false).map(|holds| !holds))?;
        }
        Ok(())
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
                Value::String(text) => words::matches(pattern, text),
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

/// An embedded resource names its apiVersion and kind. Its metadata is not judged here.
fn embedded_holds(map: &serde_json::Map<String, Value>) -> Verdict {
    if !names_its_type(map) {
        return Some(false);
    }
    match map.get("metadata") {
        None => Some(true),
        Some(Value::Object(meta)) if meta.is_empty() => Some(true),
        Some(_) => None,
    }
}
