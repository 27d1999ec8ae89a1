//! Strings and numbers: all conditions together are solved exactly, by the string search and by number domains.

use serde_json::{Number, Value};

use crate::compare::strings::TextGoal;
use crate::go::regexp::Pattern;
use crate::model::number::NumberGoal;

use super::branch::Atom;
use super::part::Part;
use super::{Kind, Search, Solver, UndecidedReason};

impl<'s> Solver<'s> {
    pub(super) fn string(&mut self, atoms: &[Atom<'s>]) -> Search<Value> {
        let mut patterns: Vec<(bool, Pattern)> = Vec::new();
        for atom in atoms {
            if let Part::Pattern(text) = &atom.part {
                match Pattern::new(text).ok() {
                    Some(pattern) => patterns.push((atom.holds, pattern)),
                    None => return Search::Undecided(UndecidedReason::Text(format!("the pattern {text:?} is not analysed"))),
                }
            }
        }
        let of = |wanted: bool| patterns.iter().filter(move |(holds, _)| *holds == wanted).map(|(_, pattern)| pattern).collect();
        let mut goal = TextGoal { matches: of(true), avoids: of(false), ..TextGoal::default() };
        for atom in atoms {
            match (&atom.part, atom.holds) {
                (Part::MinSize(n), true) => goal.min_length = goal.min_length.max(*n),
                (Part::MinSize(n), false) => lower(&mut goal.max_length, n.saturating_sub(1)),
                (Part::MaxSize(n), true) => lower(&mut goal.max_length, *n),
                (Part::MaxSize(n), false) => goal.min_length = goal.min_length.max(n.saturating_add(1)),
                (Part::Format(format), true) => goal.formats.push(*format),
                (Part::Format(format), false) => goal.not_formats.push(*format),
                (Part::Is(value), true) => allow(&mut goal.allowed, value.as_str().into_iter()),
                (Part::Is(value), false) => goal.excluded.extend(value.as_str()),
                (Part::Enum(values), true) => allow(&mut goal.allowed, values.iter().filter_map(Value::as_str)),
                (Part::Enum(values), false) => goal.excluded.extend(values.iter().filter_map(Value::as_str)),
                _ => {}
            }
        }
        goal.find(&self.budget).map(Value::from)
    }

    pub(super) fn number(&mut self, kind: Kind, atoms: &[Atom<'s>]) -> Search<Value> {
        let enums: Vec<(bool, Vec<Number>)> = atoms
            .iter()
            .filter_map(|atom| match &atom.part {
                Part::Enum(values) => Some((atom.holds, values.iter().filter_map(|value| member(kind, value)).collect())),
                _ => None,
            })
            .collect();
        let domains = atoms.iter().filter_map(|atom| match &atom.part {
            Part::Number(domain) => Some((atom.holds, domain)),
            _ => None,
        });
        let mut goal = NumberGoal::default();
        for (holds, domain) in domains {
            if holds { &mut goal.within } else { &mut goal.outside }.push(domain);
        }
        for (holds, values) in &enums {
            if *holds { &mut goal.allowed } else { &mut goal.excluded }.push(values);
        }
        let found = match kind {
            Kind::Int => goal.find_integer().map(Number::from),
            _ => goal.find_float(),
        };
        match found {
            Search::Undecided(_) => Search::Undecided(UndecidedReason::Budget),
            found => found.map(Value::from),
        }
    }
}

fn lower(max: &mut Option<u64>, to: u64) {
    *max = Some(max.map_or(to, |old| old.min(to)));
}

fn allow<'a>(allowed: &mut Option<Vec<&'a str>>, values: impl Iterator<Item = &'a str>) {
    let values: Vec<&str> = values.collect();
    match allowed {
        Some(allowed) => allowed.retain(|text| values.contains(text)),
        None => *allowed = Some(values),
    }
}

/// The number that the server matches with an enum value: Go converts an integer to the string with that character.
fn member(kind: Kind, value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) if kind == Kind::Int => {
            let mut chars = text.chars();
            let c = chars.next().filter(|_| chars.next().is_none())?;
            Some(u32::from(c).into())
        }
        _ => None,
    }
}
