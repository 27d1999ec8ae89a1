//! Finds numbers written as floats that satisfy a goal.
//!
//! Clients write a whole number without a fraction as long as it fits 64 bits ([`is_sent_as_integer`]), so `2.0` is never found.
//! Bounds are compared like the server does. Multiples are computed in decimal arithmetic (`0.3` is a multiple of `0.1`). The
//! server accepts no multiple whose quotient exceeds 2^53; this limits the search but isn't counted as a difference between
//! factors, or else `multipleOf: 0.25` would accept fewer values than `0.5`, namely floats of sixteen digits. Every result is
//! checked with the server's arithmetic.

use super::goal::NumberGoal;
use super::integer::lcm;
use super::{END, MAX_SAFE, NumberDomain, NumberFormat, NumberKind, Value, is_sent_as_integer};
use crate::model::relation::{Search, UndecidedReason};

/// How many multiples are tried in one interval before the search gives up.
const MAX_TRIES: usize = 2_000;
/// How many decimal places factors may have.
const MAX_PLACES: u32 = 18;
/// The largest float that the format `float` accepts.
const MAX_FLOAT32: f64 = 3.402_823_567_797_336_6e38;

/// A domain restricted to floats: an interval with or without its ends, and a factor.
struct Rule {
    low: (f64, bool),
    high: (f64, bool),
    factor: Option<f64>,
    whole: bool,
}

fn rule(domain: &NumberDomain) -> Option<Rule> {
    if domain.format == Some(NumberFormat::Text) {
        return None;
    }
    let bounds = [domain.minimum, domain.maximum, domain.multiple_of];
    if bounds.into_iter().flatten().any(|bound| !domain.represents(bound)) {
        return None;
    }
    let whole = domain.kind == NumberKind::Integer;
    let (mut low, mut high) = match (domain.kind, domain.format) {
        (NumberKind::Integer, Some(NumberFormat::Int32)) => (i32::MIN.into(), i32::MAX.into()),
        (NumberKind::Integer, _) => (-MAX_SAFE, MAX_SAFE),
        (_, Some(NumberFormat::Float)) => (-MAX_FLOAT32, MAX_FLOAT32),
        _ => (f64::MIN, f64::MAX),
    };
    let (mut open_low, mut open_high) = (false, false);
    if let Some(min) = domain.minimum
        && min >= low
    {
        (low, open_low) = (min, domain.exclusive_minimum);
    }
    if let Some(max) = domain.maximum
        && max <= high
    {
        (high, open_high) = (max, domain.exclusive_maximum);
    }
    let factor = domain.multiple_of;
    (factor.is_none_or(|factor| factor > 0.0)).then_some(Rule { low: (low, open_low), high: (high, open_high), factor, whole })
}

impl Rule {
    fn spans(&self, at: f64) -> bool {
        let above = at > self.low.0 || at == self.low.0 && !self.low.1;
        let below = at < self.high.0 || at == self.high.0 && !self.high.1;
        above && below
    }

    /// Excludes multiples that the server's arithmetic can't represent.
    fn limit(&mut self) {
        if let Some(factor) = self.factor {
            let reach = MAX_SAFE * factor;
            if self.low.0 < -reach {
                self.low = (-reach, false);
            }
            if self.high.0 > reach {
                self.high = (reach, false);
            }
        }
    }

    fn factors(&self) -> impl Iterator<Item = f64> {
        self.factor.into_iter().chain(self.whole.then_some(1.0))
    }
}

pub(super) fn find(goal: &NumberGoal) -> Search<f64> {
    let within: Option<Vec<Rule>> = goal.within.iter().map(|domain| rule(domain)).collect();
    let Some(mut within) = within else {
        return Search::Impossible;
    };
    // A float that passes for an integer is a whole number.
    if within.iter().any(|rule| rule.whole) {
        return Search::Impossible;
    }
    for rule in &mut within {
        rule.limit();
    }
    let outside: Vec<Rule> = goal.outside.iter().filter_map(|domain| rule(domain)).collect();
    let Some(grid) = Grid::new(&within, &outside) else {
        return Search::Undecided("multipleOf has too many decimal places".into());
    };
    let mut edges = vec![f64::MIN, -END, -MAX_SAFE, 0.0, MAX_SAFE, END, f64::MAX];
    for rule in within.iter().chain(&outside) {
        edges.extend([rule.low.0, rule.high.0]);
    }
    for member in goal.members() {
        match member {
            // A float is truncated to an integer before it is compared with one.
            Value::Int(int) => edges.extend([int as f64 - 1.0, int as f64, int as f64 + 1.0]),
            Value::Float(float) => edges.push(float),
        }
    }
    edges.retain(|edge| edge.is_finite());
    edges.sort_by(f64::total_cmp);
    edges.dedup();

    let mut best: Option<f64> = None;
    let mut open = false;
    let points = edges.iter().map(|&edge| (edge, edge));
    let gaps = edges.windows(2).filter_map(|pair| match *pair {
        [low, high] => Some((low.next_up(), high.next_down())),
        _ => None,
    });
    // Beyond 2^53 there are only whole numbers, which are worse examples than any fraction.
    let is_far = |(low, high): &(f64, f64)| low.abs().min(high.abs()) >= MAX_SAFE;
    let (far, near): (Vec<_>, Vec<_>) = points.chain(gaps).partition(is_far);
    let far = far.into_iter().filter(|&(low, high)| !fits_64_bits(low, high));
    for (low, high) in near.into_iter().chain(far) {
        if is_far(&(low, high)) && best.is_some() {
            break;
        }
        if low > high || !within.iter().all(|rule| rule.spans(low)) || !goal.admits(Value::Float(low)) {
            continue;
        }
        let avoid: Vec<&Rule> = outside.iter().filter(|rule| rule.spans(low)).collect();
        match grid.search(goal, low, high, &avoid) {
            Search::Found(float) => {
                if best.is_none_or(|best| simple(float) < simple(best)) {
                    best = Some(float);
                }
            }
            Search::Impossible => {}
            Search::Undecided(_) => open = true,
        }
    }
    match best {
        Some(float) => Search::Found(float),
        None if open => Search::Undecided("no fraction was found or ruled out".into()),
        None => Search::Impossible,
    }
}

/// Whether all whole numbers between the two are sent as integers.
fn fits_64_bits(low: f64, high: f64) -> bool {
    low >= -END && high < END
}

/// Prefers real fractions, then halves, then few digits.
fn simple(float: f64) -> (bool, bool, usize, bool, u64) {
    let magnitude = float.abs();
    (float.fract() == 0.0, (float * 2.0).fract() != 0.0, magnitude.to_string().len(), float < 0.0, magnitude.to_bits())
}

/// The relevant multiples, as integers over a common power of ten.
struct Grid {
    places: u32,
    /// All results must be multiples of this.
    by: Option<i128>,
}

impl Grid {
    fn new(within: &[Rule], outside: &[Rule]) -> Option<Grid> {
        let factors = within.iter().chain(outside).flat_map(Rule::factors);
        let mut places = 0;
        for factor in factors {
            places = places.max(decimals(factor)?.1);
        }
        let mut by = None;
        for factor in within.iter().flat_map(Rule::factors) {
            let factor = scaled(factor, places)?;
            by = Some(by.map_or(factor, |by| lcm(by, factor)));
        }
        Some(Grid { places, by })
    }

    /// Finds a value in the interval that is a multiple of the required factors and not of the excluded ones.
    fn search(&self, goal: &NumberGoal, low: f64, high: f64, avoid: &[&Rule]) -> Search<f64> {
        let mut hopeless = self.by.is_some_and(|by| by % 10i128.pow(self.places) == 0) && fits_64_bits(low, high);
        for rule in avoid {
            let factors: Option<Vec<i128>> = rule.factors().map(|factor| scaled(factor, self.places)).collect();
            let Some(factors) = factors else {
                return Search::Undecided(UndecidedReason::Budget);
            };
            // A value is outside the rule if it isn't a multiple of one of its factors, which is impossible if all of them divide
            // the required one.
            hopeless |= match self.by {
                Some(by) => factors.iter().all(|factor| by % factor == 0),
                None => factors.is_empty(),
            };
        }
        if hopeless {
            return Search::Impossible;
        }
        let fits = |float: &f64| (low..=high).contains(float) && !is_sent_as_integer(*float) && goal.accepts(Value::Float(*float));
        if low == high {
            return if fits(&low) { Search::Found(low) } else { Search::Impossible };
        }
        match self.by {
            Some(by) => self.multiples(by, low, high, &fits),
            None => {
                let candidates = fractions(low, high).filter(fits);
                let best = candidates.min_by(|a, b| simple(*a).cmp(&simple(*b)));
                best.map_or(Search::Undecided(UndecidedReason::Budget), Search::Found)
            }
        }
    }

    fn multiples(&self, by: i128, low: f64, high: f64, fits: &dyn Fn(&f64) -> bool) -> Search<f64> {
        let unit = 10f64.powi(self.places as i32);
        let near = if low >= 0.0 { low } else { high };
        let step: i128 = if low >= 0.0 { 1 } else { -1 };
        let quotient = near * unit / by as f64;
        if quotient.abs() > MAX_SAFE {
            return Search::Undecided(UndecidedReason::Budget);
        }
        // Start one step early, because the quotient is rounded.
        let first = quotient as i128 - step;
        for count in 0..MAX_TRIES as i128 {
            let Some(scaled) = (first + step * count).checked_mul(by) else {
                return Search::Undecided(UndecidedReason::Budget);
            };
            let float = decimal(scaled, self.places);
            if fits(&float) {
                return Search::Found(float);
            }
            if step > 0 && float > high || step < 0 && float < low {
                return Search::Impossible;
            }
        }
        Search::Undecided(UndecidedReason::Budget)
    }
}

/// Numbers with few digits in the interval, near the end closest to zero; then any others.
fn fractions(low: f64, high: f64) -> impl Iterator<Item = f64> {
    let near = if low >= 0.0 { low } else { high };
    let direction = if low >= 0.0 { 1.0 } else { -1.0 };
    let steps = [0.5, 0.25, 0.1, 0.01, 0.125, 0.001, 1e-6, 1.0];
    let round = steps.into_iter().flat_map(move |step: f64| {
        (0..8).map(move |count| {
            let at = (near / step).trunc() + direction * f64::from(count);
            // Dividing by the inverse prevents 0.3 from becoming 0.30000000000000004.
            at / (1.0 / step).round()
        })
    });
    let middle = low + (high - low) / 2.0;
    round.chain([middle, low, high, low.next_up(), high.next_down()])
}

/// The shortest decimal digits of a float, and how many of them come after the point.
fn decimals(float: f64) -> Option<(i128, u32)> {
    let text = float.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let places = fraction.len() as u32;
    let digits = format!("{whole}{fraction}").parse().ok()?;
    (places <= MAX_PLACES).then_some((digits, places))
}

fn scaled(float: f64, places: u32) -> Option<i128> {
    let (digits, own) = decimals(float)?;
    digits.checked_mul(10i128.checked_pow(places.checked_sub(own)?)?)
}

fn decimal(digits: i128, places: u32) -> f64 {
    // Format and parse, to get the float nearest to the decimal.
    format!("{digits}e-{places}").parse().unwrap_or(f64::NAN)
}
