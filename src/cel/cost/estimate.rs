//! Ranges of sizes and costs with saturating arithmetic.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub min: u64,
    pub max: u64,
}

impl Estimate {
    pub const ZERO: Estimate = Estimate { min: 0, max: 0 };
    pub const UNKNOWN: Estimate = Estimate { min: 0, max: u64::MAX };
    /// The start of a union: every range contains it.
    pub const NONE: Estimate = Estimate { min: u64::MAX, max: 0 };

    pub fn fixed(n: u64) -> Estimate {
        Estimate { min: n, max: n }
    }

    pub fn add(self, other: Estimate) -> Estimate {
        Estimate { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub fn multiply(self, other: Estimate) -> Estimate {
        Estimate { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    /// Multiplied by a factor and rounded up.
    pub fn scale(self, factor: f64) -> Estimate {
        Estimate { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    pub fn union(self, other: Estimate) -> Estimate {
        Estimate { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

fn scale(n: u64, factor: f64) -> u64 {
    // The conversion to u64 saturates, like in cel-go.
    (n as f64 * factor).ceil() as u64
}
