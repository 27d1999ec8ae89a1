//! Numeric keywords of a node as the server applies them.
//!
//! `type: integer` with a fractional bound beside it rejects everything. `type: number`, and a clause, which has no type, compare a value written as an integer
//! with the bound cut to an integer, so its integers and its fractions are two sets with bounds of their own.

use super::relation::Relation;

/// A bound, exact where it is written as an integer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        }
    }

    /// Whether a float no longer tells it from its neighbours.
    pub(super) fn is_beyond_floats(self) -> bool {
        matches!(self, Number::Int(int) if int.unsigned_abs() > 1 << 53)
    }

    fn truncated(self) -> i128 {
        self.rounded(f64::trunc)
    }

    fn rounded(self, round: fn(f64) -> f64) -> i128 {
        match self {
            Number::Int(int) => i128::from(int),
            // ok: the cast saturates, and a bound beyond it bounds nothing
            Number::Float(float) => round(float) as i128,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub value: Number,
    pub exclusive: bool,
}

impl Bound {
    /// Whether an integer that equals the bound is refused.
    fn is_strict(self) -> bool {
        self.exclusive && self.value.float().fract() == 0.0
    }
}

/// Every numeric condition of a node: its own and those of the clauses that hold with it.
#[derive(Debug, Clone, Default)]
pub(super) struct Numbers {
    pub lower: Vec<Bound>,
    pub upper: Vec<Bound>,
    pub multiples: Vec<f64>,
}

impl Numbers {
    fn least(&self) -> Option<i128> {
        self.lower.iter().map(|bound| bound.value.truncated() + i128::from(bound.exclusive)).max()
    }

    fn greatest(&self) -> Option<i128> {
        self.upper.iter().map(|bound| bound.value.truncated() - i128::from(bound.exclusive)).min()
    }

    /// The least integer written as a fraction (`2.0`), which meets the bound itself.
    fn least_written(&self) -> Option<i128> {
        self.lower.iter().map(|bound| bound.value.rounded(f64::ceil) + i128::from(bound.is_strict())).max()
    }

    fn greatest_written(&self) -> Option<i128> {
        self.upper.iter().map(|bound| bound.value.rounded(f64::floor) - i128::from(bound.is_strict())).min()
    }

    /// The strongest lower bound on fractions; an exclusive one is stronger.
    fn floor(&self) -> Option<(f64, bool)> {
        self.lower.iter().map(|bound| (bound.value.float(), bound.exclusive)).max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
    }

    fn ceiling(&self) -> Option<(f64, bool)> {
        self.upper.iter().map(|bound| (bound.value.float(), bound.exclusive)).min_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))
    }
}

/// Which numbers a node of some type can hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held {
    pub integers: bool,
    pub fractions: bool,
}

impl Held {
    fn only_integers(self) -> bool {
        self.integers && !self.fractions
    }
}

pub(super) fn lower(old: &Numbers, new: &Numbers, held: Held) -> Relation {
    let integers = bound(held.integers, old.least(), new.least(), |a, b| a.cmp(b));
    let written = bound(held.only_integers(), old.least_written(), new.least_written(), |a, b| a.cmp(b));
    let fractions = bound(held.fractions, old.floor(), new.floor(), |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    integers.and(written).and(fractions)
}

pub(super) fn upper(old: &Numbers, new: &Numbers, held: Held) -> Relation {
    let integers = bound(held.integers, old.greatest(), new.greatest(), |a, b| b.cmp(a));
    let written = bound(held.only_integers(), old.greatest_written(), new.greatest_written(), |a, b| b.cmp(a));
    let fractions = bound(held.fractions, old.ceiling(), new.ceiling(), |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    integers.and(written).and(fractions)
}

/// `strength` orders bounds from the weaker to the stronger; none is the weakest.
fn bound<T>(held: bool, old: Option<T>, new: Option<T>, strength: impl Fn(&T, &T) -> std::cmp::Ordering) -> Relation {
    use std::cmp::Ordering;
    let order = match (&old, &new) {
        _ if !held => Ordering::Equal,
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Less,
        (Some(_), None) => Ordering::Greater,
        (Some(old), Some(new)) => strength(old, new),
    };
    Relation::of(order == Ordering::Less, order == Ordering::Greater)
}

pub(super) fn multiples(old: &Numbers, new: &Numbers, held: Held) -> Relation {
    if !held.integers && !held.fractions {
        return Relation::Equal;
    }
    // A multiple of 1 binds no integer; a fraction of a multiple holds wherever the multiple does.
    let binds = |multiple: f64| held.fractions || multiple != 1.0;
    // What is no factor at all is met by nothing.
    let implied = |by: &[f64], one: f64| {
        by.iter()
            .any(|&other| one == other || other <= 0.0 || (one > 0.0 && one.fract() == 0.0 && other.fract() == 0.0 && other % one == 0.0))
    };
    let unmet = |from: &[f64], by: &[f64]| from.iter().any(|&one| binds(one) && !implied(by, one));
    Relation::of(unmet(&new.multiples, &old.multiples), unmet(&old.multiples, &new.multiples))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn min(value: Number, exclusive: bool) -> Numbers {
        Numbers { lower: vec![Bound { value, exclusive }], ..Numbers::default() }
    }

    fn max(value: Number, exclusive: bool) -> Numbers {
        Numbers { upper: vec![Bound { value, exclusive }], ..Numbers::default() }
    }

    const INTEGER: Held = Held { integers: true, fractions: false };
    const NUMBER: Held = Held { integers: true, fractions: true };

    #[test]
    fn exclusive_bounds_of_integers_are_inclusive_ones_in_disguise() {
        assert_eq!(lower(&min(Number::Int(9), true), &min(Number::Int(10), false), INTEGER), Relation::Equal);
        assert_eq!(upper(&max(Number::Int(10), false), &max(Number::Int(11), true), INTEGER), Relation::Equal);
        assert_eq!(lower(&min(Number::Int(9), true), &min(Number::Int(10), false), NUMBER), Relation::Narrowed);
    }

    #[test]
    fn integers_meet_the_bound_cut_to_an_integer() {
        // 2 was refused by the exclusive 2.5 and is taken now; 2.2 was taken and is refused
        assert_eq!(upper(&max(Number::Float(2.5), true), &max(Number::Int(2), false), NUMBER), Relation::Changed);
        assert_eq!(lower(&min(Number::Float(0.5), false), &min(Number::Int(0), false), NUMBER), Relation::Widened);
    }

    #[test]
    fn bounds_come_and_go() {
        let none = Numbers::default();
        assert_eq!(upper(&none, &max(Number::Int(5), false), INTEGER), Relation::Narrowed);
        assert_eq!(upper(&max(Number::Int(5), false), &none, INTEGER), Relation::Widened);
        assert_eq!(upper(&max(Number::Int(i64::MAX), false), &max(Number::Int(i64::MAX - 1), false), INTEGER), Relation::Narrowed);
    }

    #[test]
    fn multiples_divide() {
        let of = |list: &[f64]| Numbers { multiples: list.to_vec(), ..Numbers::default() };
        assert_eq!(multiples(&of(&[4.0]), &of(&[2.0]), INTEGER), Relation::Widened);
        assert_eq!(multiples(&of(&[]), &of(&[1.0]), INTEGER), Relation::Equal);
        assert_eq!(multiples(&of(&[4.0]), &of(&[6.0]), INTEGER), Relation::Changed);
        assert_eq!(multiples(&of(&[]), &of(&[1.0]), NUMBER), Relation::Narrowed);
    }
}
