//! Another unit: seconds become milliseconds.

use serde_json::Value;

use super::reason::Reason;

/// What becomes of a remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Round {
    /// Towards zero.
    #[default]
    Down,
    /// Away from zero.
    Up,
    /// Half away from zero.
    Nearest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor {
    pub multiply: i64,
    /// Never zero.
    pub divide: i64,
    pub round: Round,
}

impl Factor {
    pub fn inverse(self) -> Factor {
        Factor { multiply: self.divide, divide: self.multiply, round: self.round }
    }

    pub fn apply(self, value: &Value) -> Result<Value, Reason> {
        let Value::Number(number) = value else {
            return if value.is_null() { Ok(Value::Null) } else { Err(Reason::ty("a number", value)) };
        };
        let overflow = || Reason::Overflow(value.clone());
        if let Some(whole) = number.as_i64() {
            let product = i128::from(whole) * i128::from(self.multiply);
            let divisor = i128::from(self.divide);
            let (quotient, rest) = (product / divisor, product % divisor);
            let away = if (product < 0) == (divisor < 0) { 1 } else { -1 };
            let quotient = match self.round {
                Round::Up if rest != 0 => quotient + away,
                Round::Nearest if rest.abs() * 2 >= divisor.abs() => quotient + away,
                _ => quotient,
            };
            return i64::try_from(quotient).map(Value::from).map_err(|_| overflow());
        }
        let float = number.as_f64().ok_or_else(overflow)?;
        let scaled = float * self.multiply as f64 / self.divide as f64;
        serde_json::Number::from_f64(scaled).map(Value::Number).ok_or_else(overflow)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn remainders_are_rounded_as_asked() {
        let by = |round| Factor { multiply: 1, divide: 1000, round };
        assert_eq!(by(Round::Down).apply(&json!(1999)), Ok(json!(1)));
        assert_eq!(by(Round::Up).apply(&json!(1001)), Ok(json!(2)));
        assert_eq!(by(Round::Nearest).apply(&json!(-1500)), Ok(json!(-2)));
        assert_eq!(by(Round::Down).inverse().apply(&json!(3)), Ok(json!(3000)));
        assert!(by(Round::Down).inverse().apply(&json!(i64::MAX)).is_err());
        assert_eq!(by(Round::Down).apply(&json!(1.5)), Ok(json!(0.0015)));
    }
}
