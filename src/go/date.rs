//! Calendar dates. The clock is read only in `cli`.

use crate::go::time::{DAY, civil, days_of_date};

/// A date of the Gregorian calendar, as days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i64);

impl Date {
    /// Parses `YYYY-MM-DD`; the date must exist.
    pub fn parse(text: &str) -> Option<Date> {
        days_of_date(text).map(Date)
    }

    /// The UTC date of a Unix time.
    pub fn of_epoch(seconds: i64) -> Date {
        Date(seconds.div_euclid(DAY))
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = civil(self.0);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_dates() {
        assert_eq!(Date::parse("2026-02-28").unwrap().to_string(), "2026-02-28");
        for text in ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-00", "2026-01-01-01", "tomorrow", ""] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        assert!(Date::parse("2028-02-29") > Date::parse("2026-12-31"));
    }

    #[test]
    fn dates_of_unix_times() {
        for (seconds, day) in [(0, "1970-01-01"), (1_768_435_200, "2026-01-15"), (951_782_400, "2000-02-29"), (-1, "1969-12-31")] {
            assert_eq!(Date::of_epoch(seconds).to_string(), day);
        }
        assert_eq!(Date::of_epoch(i64::from(u32::MAX)).to_string(), "2106-02-07");
    }
}
