//! Kubernetes quantities: `1.5Gi`, `500m`, `2e3`.
//!
//! Parses text into the amount as `resource.Quantity` represents it. The representation is visible: only the short form can be an
//! integer, and each is converted to a double differently.

use std::cmp::Ordering;

/// An amount. Equal amounts are equal in either representation.
#[derive(Clone, Copy, Debug)]
pub enum Quantity {
    /// `value × 10^scale`.
    Short { value: i64, scale: i32 },
    /// `unscaled × 10^scale`: too long, too small or too large for the short form.
    Long { unscaled: i128, scale: i32 },
}

/// The result of parsing a text.
pub enum ParsedQuantity {
    Quantity(Quantity),
    Invalid,
    /// A number so large that the server's arithmetic isn't modelled.
    TooLarge,
}

/// Decimal digits that always fit the short form.
const SHORT_DIGITS: i32 = 18;
/// The smallest unit that is represented: a billionth.
const NANO: i32 = -9;

/// The factor of a suffix.
#[derive(Clone, Copy)]
enum Unit {
    /// A power of ten.
    Ten(i32),
    /// A power of two.
    Two(u32),
}

/// The parts of a number: digits before and after the point, the first without leading zeros.
struct Parts<'t> {
    negative: bool,
    whole: &'t str,
    fraction: &'t str,
    /// Whether there was any digit; `Mi` has none, and counts as zero.
    written: bool,
    unit: Unit,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let digits = |text: &'t str| text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let (number, rest) = digits(unsigned);
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), digits);
        let whole = number.trim_start_matches('0');
        let written = !number.is_empty() || !fraction.is_empty() || unsigned.is_empty();
        Some(Parts { negative, whole: if whole.is_empty() { "0" } else { whole }, fraction, written, unit: unit(suffix)? })
    }

    fn signed<N: std::ops::Neg<Output = N>>(&self, amount: N) -> N {
        if self.negative { -amount } else { amount }
    }

    /// The amount in the short form, if the server would represent it that way.
    fn short(&self) -> Option<Quantity> {
        let length = |text: &str| i32::try_from(text.len()).unwrap_or(i32::MAX);
        let (scale, factor, room) = match self.unit {
            Unit::Ten(exponent) => (exponent, 1, SHORT_DIGITS.saturating_sub(length(self.whole)).saturating_sub(length(self.fraction))),
            Unit::Two(_) if !self.fraction.is_empty() => return None,
            Unit::Two(exponent) => (0, 1_i64 << exponent, (14 - exponent as i32 * 3 / 10).saturating_sub(length(self.whole))),
        };
        let scale = scale.wrapping_sub(length(self.fraction));
        if room < 0 || scale < NANO {
            return None;
        }
        let digits: i64 = format!("{}{}", self.whole, self.fraction).parse().ok()?;
        Some(Quantity::Short { value: self.signed(digits.checked_mul(factor)?), scale })
    }

    /// The amount in billionths, rounded away from zero; binary units are limited to 64 bits.
    fn long(&self) -> Option<Quantity> {
        let digits = format!("{}{}", self.whole, self.fraction);
        let mut amount: i128 = digits.parse().ok()?;
        let mut scale = -i64::try_from(self.fraction.len()).ok()?;
        match self.unit {
            Unit::Ten(exponent) => scale += i64::from(exponent),
            Unit::Two(exponent) => amount = amount.checked_mul(1 << exponent)?,
        }
        if amount == 0 {
            return Some(Quantity::Long { unscaled: 0, scale: 0 });
        }
        let shift = scale - i64::from(NANO);
        let power = u32::try_from(shift.unsigned_abs()).ok().and_then(|shift| 10_i128.checked_pow(shift));
        amount = match power {
            Some(power) if shift >= 0 => amount.checked_mul(power)?,
            Some(power) => amount / power + i128::from(amount % power != 0),
            None if shift >= 0 => return None,
            None => 1,
        };
        let cap = i128::from(i64::MAX);
        if matches!(self.unit, Unit::Two(_)) && amount > cap * 1_000_000_000 {
            return Some(Quantity::Long { unscaled: self.signed(cap), scale: 0 });
        }
        Some(Quantity::Long { unscaled: self.signed(amount), scale: NANO })
    }
}

fn unit(suffix: &str) -> Option<Unit> {
    Some(match suffix {
        "" => Unit::Ten(0),
        "n" => Unit::Ten(-9),
        "u" => Unit::Ten(-6),
        "m" => Unit::Ten(-3),
        "k" => Unit::Ten(3),
        "M" => Unit::Ten(6),
        "G" => Unit::Ten(9),
        "T" => Unit::Ten(12),
        "P" => Unit::Ten(15),
        "E" => Unit::Ten(18),
        "Ki" => Unit::Two(10),
        "Mi" => Unit::Two(20),
        "Gi" => Unit::Two(30),
        "Ti" => Unit::Two(40),
        "Pi" => Unit::Two(50),
        "Ei" => Unit::Two(60),
        // Go truncates the exponent to 32 bits.
        _ => Unit::Ten(suffix.strip_prefix(['e', 'E'])?.parse::<i64>().ok()? as i32),
    })
}

impl Quantity {
    pub fn parse(text: &str) -> ParsedQuantity {
        let Some(parts) = Parts::of(text) else { return ParsedQuantity::Invalid };
        if let Some(short) = parts.short() {
            return ParsedQuantity::Quantity(short);
        }
        if !parts.written {
            return ParsedQuantity::Invalid;
        }
        parts.long().map_or(ParsedQuantity::TooLarge, ParsedQuantity::Quantity)
    }

    pub fn from_int(units: i64) -> Self {
        Quantity::Short { value: units, scale: 0 }
    }

    fn parts(self) -> (i128, i32) {
        match self {
            Quantity::Short { value, scale } => (i128::from(value), scale),
            Quantity::Long { unscaled, scale } => (unscaled, scale),
        }
    }

    pub fn sign(self) -> i64 {
        self.parts().0.signum() as i64
    }

    /// The amount as an integer, if it is in the short form, without a fraction, and fits.
    pub fn as_int(self) -> Option<i64> {
        match self {
            Quantity::Short { value: 0, scale: 0.. } => Some(0),
            Quantity::Short { value, scale } => value.checked_mul(10_i64.checked_pow(u32::try_from(scale).ok()?)?),
            Quantity::Long { .. } => None,
        }
    }

    pub fn as_double(self) -> f64 {
        match self.parts() {
            (amount, 0) => amount as f64,
            (amount, scale) => amount as f64 * power_of_ten(scale),
        }
    }

    /// Returns `None` if the result is too large to be modelled.
    pub fn checked_add(self, other: Quantity) -> Option<Quantity> {
        if let (Quantity::Short { value: a, scale: a_scale }, Quantity::Short { value: b, scale: b_scale }) = (self, other) {
            if b == 0 {
                return Some(self);
            }
            if a == 0 {
                return Some(other);
            }
            let scale = a_scale.min(b_scale);
            let at = |value: i64, own: i32| value.checked_mul(10_i64.checked_pow(own.abs_diff(scale))?);
            if let (Some(a), Some(b)) = (at(a, a_scale), at(b, b_scale))
                && let Some(value) = a.checked_add(b)
            {
                return Some(Quantity::Short { value, scale });
            }
        }
        let ((a, a_scale), (b, b_scale)) = (self.parts(), other.parts());
        let scale = a_scale.min(b_scale);
        let at = |value: i128, own: i32| value.checked_mul(10_i128.checked_pow(own.abs_diff(scale))?);
        Some(Quantity::Long { unscaled: at(a, a_scale)?.checked_add(at(b, b_scale)?)?, scale })
    }

    /// Returns `None` if the result is too large to be modelled.
    pub fn checked_sub(self, other: Quantity) -> Option<Quantity> {
        let negated = match other {
            Quantity::Short { value, scale } => match value.checked_neg() {
                Some(value) => Quantity::Short { value, scale },
                None => Quantity::Long { unscaled: -i128::from(value), scale },
            },
            Quantity::Long { unscaled, scale } => Quantity::Long { unscaled: unscaled.checked_neg()?, scale },
        };
        self.checked_add(negated)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((a, a_scale), (b, b_scale)) = (self.parts(), other.parts());
        if a.signum() != b.signum() || a == 0 {
            return a.signum().cmp(&b.signum());
        }
        // If one doesn't fit 128 bits at the other's scale, it is the larger of the two.
        let at = |value: i128, by: u32| 10_i128.checked_pow(by).and_then(|power| value.checked_mul(power));
        let larger = if a > 0 { Ordering::Greater } else { Ordering::Less };
        if a_scale >= b_scale {
            at(a, a_scale.abs_diff(b_scale)).map_or(larger, |a| a.cmp(&b))
        } else {
            at(b, a_scale.abs_diff(b_scale)).map_or(larger.reverse(), |b| a.cmp(&b))
        }
    }
}

/// Like Go's `math.Pow10`, the product of two exact powers, which isn't always the nearest double.
fn power_of_ten(exponent: i32) -> f64 {
    const STEPS: [f64; 10] = [1e0, 1e32, 1e64, 1e96, 1e128, 1e160, 1e192, 1e224, 1e256, 1e288];
    const PARTS: [f64; 11] = [1e-0, 1e-32, 1e-64, 1e-96, 1e-128, 1e-160, 1e-192, 1e-224, 1e-256, 1e-288, 1e-320];
    let size = exponent.unsigned_abs() as usize;
    let ones = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let more = [1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31];
    let low = ones.iter().chain(&more).nth(size % 32).copied().unwrap_or(1.0);
    match exponent {
        0..=308 => STEPS.get(size / 32).copied().unwrap_or(f64::INFINITY) * low,
        -323..0 => PARTS.get(size / 32).copied().unwrap_or(0.0) / low,
        309.. => f64::INFINITY,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Quantity> {
        match Quantity::parse(text) {
            ParsedQuantity::Quantity(q) => Some(q),
            _ => None,
        }
    }

    #[test]
    fn equal_amounts_are_equal() {
        assert_eq!(read("200M"), read("0.2G"));
        assert_eq!(read("1Ki"), read("1024"));
        assert_eq!(read("1.5Gi"), read("1610612736"));
        assert!(read("50M") < read("50Mi"));
        assert_eq!(read("0.0000000001"), read("1n"));
        assert_eq!(read("1e3"), read("1k"));
        assert!(read("-1e40") < read("-1e-9"));
        assert!(read("1e400") > read("1e399"));
    }

    #[test]
    fn only_the_short_form_is_an_integer() {
        for (text, units) in
            [("1k", 1_000), ("2e3", 2_000), ("1Ti", 1 << 40), ("0e400", 0), ("999999999999999999", 999_999_999_999_999_999)]
        {
            assert_eq!(read(text).and_then(Quantity::as_int), Some(units), "{text}");
        }
        for text in ["1000m", "1.0", "1.5Gi", "1Pi", "100Ti", "9223372036854775807", "1e19"] {
            assert_eq!(read(text).map(Quantity::as_int), Some(None), "{text}");
        }
    }

    #[test]
    fn binary_units_are_limited_to_64_bits() {
        assert!(read("100E") > read("10E"));
        assert_eq!(read("100Ei"), read("9223372036854775807"));
        assert!(read("10E") > read("9223372036854775807"));
    }

    #[test]
    fn doubles_are_products() {
        assert_eq!(read("0.3").map(Quantity::as_double), Some(3.0 * 0.1));
        assert_eq!(read("0.7").map(Quantity::as_double), Some(7.0 * 0.1));
        assert_eq!(read("1.5Gi").map(Quantity::as_double), Some(1_610_612_736_000_000_000.0 * 1e-9));
        assert_eq!(read("100Ei").map(Quantity::as_double), Some(9_223_372_036_854_775_807.0));
        assert_eq!(read("1e400").map(Quantity::as_double), Some(f64::INFINITY));
    }

    #[test]
    fn sums() {
        let sum = |a: &str, b: &str| read(a).zip(read(b)).and_then(|(a, b)| a.checked_add(b));
        assert_eq!(sum("1k", "1").and_then(Quantity::as_int), Some(1_001));
        assert_eq!(sum("1Pi", "1").map(Quantity::as_int), Some(None));
        assert_eq!(sum("9E", "9E"), read("18E"));
        let difference = |a: &str, b: &str| read(a).zip(read(b)).and_then(|(a, b)| a.checked_sub(b));
        assert_eq!(difference("1k", "1").and_then(Quantity::as_int), Some(999));
    }

    #[test]
    fn invalid_quantities() {
        for text in ["", "Three", "1,3G", "200K", "1 Gi", " 1", "1e", "--1", "0x1", "Pi", ".Ei", "1e99999999999999999999"] {
            assert!(read(text).is_none(), "{text}");
        }
        assert_eq!(read("-1k").map(Quantity::sign), Some(-1));
        for text in ["Mi", "-", ".", "+k"] {
            assert_eq!(read(text).map(Quantity::sign), Some(0), "{text}");
        }
    }
}
