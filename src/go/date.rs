//! Days of the calendar. The clock itself is read at the edge, in `run`.

/// A day of the Gregorian calendar; ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: i64,
    month: u8,
    day: u8,
}

impl Date {
    /// `YYYY-MM-DD`, and a day that exists.
    pub fn parse(text: &str) -> Option<Date> {
        let mut parts = text.split('-');
        let mut number = |digits: usize| -> Option<u16> {
            let part = parts.next()?;
            (part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())).then(|| part.parse().ok())?
        };
        let (year, month, day) = (number(4)?, number(2)?, number(2)?);
        let month = u8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        let date = Date { year: year.into(), month, day: u8::try_from(day).ok()? };
        (parts.next().is_none() && date.day >= 1 && date.day <= days(date.year, month)).then_some(date)
    }

    /// The day of a moment, in UTC.
    pub fn of_epoch(seconds: i64) -> Date {
        let mut left = seconds.div_euclid(86_400);
        // 400 years have the same number of days wherever they begin.
        let mut year = 1970 + 400 * left.div_euclid(146_097);
        left = left.rem_euclid(146_097);
        while left >= year_days(year) {
            left -= year_days(year);
            year += 1;
        }
        let mut month = 1;
        while left >= i64::from(days(year, month)) {
            left -= i64::from(days(year, month));
            month += 1;
        }
        Date { year, month, day: u8::try_from(left + 1).unwrap_or(1) }
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn year_days(year: i64) -> i64 {
    if is_leap(year) { 366 } else { 365 }
}

fn days(year: i64, month: u8) -> u8 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_exist() {
        assert_eq!(Date::parse("2026-02-28").unwrap().to_string(), "2026-02-28");
        for text in ["2026-02-29", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-00", "2026-01-01-01", "tomorrow", ""] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        assert!(Date::parse("2028-02-29") > Date::parse("2026-12-31"));
    }

    #[test]
    fn days_of_moments() {
        for (seconds, day) in [(0, "1970-01-01"), (1_768_435_200, "2026-01-15"), (951_782_400, "2000-02-29"), (-1, "1969-12-31")] {
            assert_eq!(Date::of_epoch(seconds).to_string(), day);
        }
        assert_eq!(Date::of_epoch(i64::from(u32::MAX)).to_string(), "2106-02-07");
    }
}
