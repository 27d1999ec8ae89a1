//! Goes through the cases: whether each field exists, and whether each condition is true, false or fails.

use crate::compare::cel_implication::implies::implies;
use crate::compare::cel_implication::rule_form::RuleForm;

use super::{Atom, Cases, Logic, Truth};

/// How many cases one question may consider.
const MAX_CASES: u32 = 20_000;

pub(super) struct Search<'c, 's> {
    cases: &'c Cases<'s>,
    present: Vec<Option<bool>>,
    truth: Vec<Option<Truth>>,
    left: u32,
}

impl<'c, 's> Search<'c, 's> {
    /// `present` returns which fields exist in every case, or in none.
    pub(super) fn new(cases: &'c Cases<'s>, present: &dyn Fn(&str) -> Option<bool>) -> Self {
        let mut known = vec![None; cases.fields.len()];
        for (name, &field) in &cases.fields {
            if let Some(slot) = known.get_mut(field) {
                *slot = present(name);
            }
        }
        Search { cases, present: known, truth: vec![None; cases.atoms.len()], left: MAX_CASES }
    }

    /// Whether the second is true in every case in which the first is.
    pub(super) fn holds(&mut self, given: &Logic, rule: &Logic) -> bool {
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
    let said = |atom: &Atom, truth: Truth| match truth {
        Truth::True => Some(atom.term.clone()),
        Truth::False => Some(atom.term.clone().negated()),
        Truth::Fails => None,
    };
    let fails = |known: RuleForm, failing: &Atom| match (&known, &failing.term) {
        // Both fail only if their left side does.
        (RuleForm::Bound { left: x, .. }, RuleForm::Bound { left: y, .. })
        | (RuleForm::In { left: x, .. }, RuleForm::In { left: y, .. })
            if x == y =>
        {
            false
        }
        // What follows from something true doesn't fail.
        (known, other) => !implies(known, other) && !implies(known, &other.clone().negated()),
    };
    match (said(a, x), said(b, y)) {
        (Some(known), None) => return !fails(known, b),
        (None, Some(known)) => return !fails(known, a),
        _ => {}
    }
    let (Some(first), Some(second)) = (said(a, x), said(b, y)) else { return false };
    if implies(&first, &second.clone().negated()) || implies(&second, &first.clone().negated()) || is_disjoint(&first, &second) {
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
