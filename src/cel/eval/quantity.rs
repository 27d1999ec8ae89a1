//! Kubernetes quantities: `1.5Gi`, `500m`, `2e3`.
//!
//! Comes in: text. Goes out: an exact number of billionths, as `resource.ParseQuantity` rounds it.

/// A quantity in billionths; parts smaller than that are rounded away from zero when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    nanos: i128,
}

/// What a text is.
pub enum Parsed {
    Quantity(Quantity),
    Invalid,
    /// A number so large that the server's arithmetic on it isn't followed here.
    TooLarge,
}

const NANOS: i128 = 1_000_000_000;
/// The server caps a quantity at this many units.
const CAP: i128 = i64::MAX as i128 * NANOS;

impl Quantity {
    pub fn parse(text: &str) -> Parsed {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let whole = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
        let (digits, rest) = unsigned.split_at(whole);
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(f) => f.split_at(f.find(|c: char| !c.is_ascii_digit()).unwrap_or(f.len())),
            None => ("", rest),
        };
        if digits.is_empty() && fraction.is_empty() {
            return Parsed::Invalid;
        }
        let Some((base, exponent)) = scale(suffix) else { return Parsed::Invalid };
        if digits.len() > 30 || fraction.len() > 30 || exponent.unsigned_abs() > 60 {
            return Parsed::TooLarge;
        }
        let negative = text.starts_with('-');
        match nanos(digits, fraction, base, exponent) {
            Some(nanos) => Parsed::Quantity(Quantity { nanos: if negative { -nanos } else { nanos } }),
            None => Parsed::TooLarge,
        }
    }

    pub fn from_int(units: i64) -> Self {
        Quantity { nanos: i128::from(units) * NANOS }
    }

    pub fn sign(self) -> i64 {
        self.nanos.signum() as i64
    }

    /// The number of units, if it is one without a fraction that fits.
    pub fn as_int(self) -> Option<i64> {
        if self.nanos % NANOS != 0 {
            return None;
        }
        i64::try_from(self.nanos / NANOS).ok()
    }

    pub fn as_double(self) -> f64 {
        (self.nanos / NANOS) as f64 + (self.nanos % NANOS) as f64 / 1e9
    }

    pub fn add(self, other: Quantity) -> Quantity {
        Quantity { nanos: self.nanos + other.nanos }
    }

    pub fn sub(self, other: Quantity) -> Quantity {
        Quantity { nanos: self.nanos - other.nanos }
    }
}

/// Base and exponent that a suffix multiplies by.
fn scale(suffix: &str) -> Option<(i128, i32)> {
    Some(match suffix {
        "" => (10, 0),
        "n" => (10, -9),
        "u" => (10, -6),
        "m" => (10, -3),
        "k" => (10, 3),
        "M" => (10, 6),
        "G" => (10, 9),
        "T" => (10, 12),
        "P" => (10, 15),
        "E" => (10, 18),
        "Ki" => (1024, 1),
        "Mi" => (1024, 2),
        "Gi" => (1024, 3),
        "Ti" => (1024, 4),
        "Pi" => (1024, 5),
        "Ei" => (1024, 6),
        _ => {
            let exponent = suffix.strip_prefix(['e', 'E'])?;
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            (10, exponent.parse().unwrap_or(i32::MAX))
        }
    })
}

fn nanos(digits: &str, fraction: &str, base: i128, exponent: i32) -> Option<i128> {
    let mantissa: i128 = format!("0{digits}{fraction}").parse().ok()?;
    let mut power = 9 - i32::try_from(fraction.len()).ok()?;
    let mut value = mantissa;
    if base == 10 {
        power += exponent;
    } else {
        value = value.checked_mul(base.checked_pow(u32::try_from(exponent).ok()?)?)?;
    }
    let value = if power >= 0 {
        value.checked_mul(10_i128.checked_pow(power.unsigned_abs())?)?
    } else {
        let divisor = 10_i128.checked_pow(power.unsigned_abs())?;
        value / divisor + i128::from(value % divisor != 0)
    };
    Some(value.min(CAP))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Quantity> {
        match Quantity::parse(text) {
            Parsed::Quantity(q) => Some(q),
            _ => None,
        }
    }

    #[test]
    fn equal_amounts_are_equal() {
        assert_eq!(read("200M"), read("0.2G"));
        assert_eq!(read("1Ki"), read("1024"));
        assert_eq!(read("1.5Gi").and_then(Quantity::as_int), Some(1_610_612_736));
        assert_eq!(read("2e3").and_then(Quantity::as_int), Some(2_000));
        assert_eq!(read("100m").and_then(Quantity::as_int), None);
        assert!(read("50M") < read("50Mi"));
        assert_eq!(read("0.0000000001"), read("1n"));
    }

    #[test]
    fn what_is_no_quantity() {
        for text in ["", "Mi", "Three", "1,3G", "200K", "1 Gi", " 1", "1e", "--1", "0x1"] {
            assert!(read(text).is_none(), "{text}");
        }
        assert_eq!(read("-1k").map(Quantity::sign), Some(-1));
    }
}
