//! Instants as Go's `time` parses and formats them, and calendar arithmetic.

use super::duration::Duration;

/// An instant, with the time zone it was written in, which matters only for formatting.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Nanoseconds since 1970.
    nanos: i128,
    /// Seconds east of UTC.
    zone: i64,
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

const SECOND: i128 = 1_000_000_000;
/// Seconds per day.
pub const DAY: i64 = 86_400;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds.
const FIRST: i128 = -62_135_596_800;
const LAST: i128 = 253_402_300_799;

impl Timestamp {
    fn checked(nanos: i128, zone: i64) -> Option<Self> {
        let seconds = nanos.div_euclid(SECOND);
        (FIRST..=LAST).contains(&seconds).then_some(Timestamp { nanos, zone })
    }

    pub fn from_seconds(seconds: i64) -> Option<Self> {
        Self::checked(i128::from(seconds) * SECOND, 0)
    }

    /// Whether this is the first instant of year 1, Go's zero time.
    pub fn is_zero(self) -> bool {
        self.nanos == FIRST * SECOND
    }

    /// Nanoseconds within the second.
    pub fn subsecond_nanos(self) -> i64 {
        self.nanos.rem_euclid(SECOND) as i64
    }

    pub fn seconds(self) -> i64 {
        self.nanos.div_euclid(SECOND) as i64
    }

    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        Self::checked(self.nanos + i128::from(duration.nanos()), self.zone)
    }

    pub fn checked_sub(self, duration: Duration) -> Option<Self> {
        Self::checked(self.nanos - i128::from(duration.nanos()), self.zone)
    }

    pub fn since(self, other: Timestamp) -> Option<Duration> {
        i64::try_from(self.nanos - other.nanos).ok().map(Duration::from_nanos)
    }

    /// Parses the argument of `timestamp(…)`: RFC 3339 within the years 1 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        let read = Self::parse_format(text)?;
        Self::checked(read.nanos, read.zone)
    }

    /// Parses `format: date-time`: RFC 3339 with a `T`, seconds, and a time zone.
    pub fn parse_format(text: &str) -> Option<Self> {
        let (date, time) = text.split_at_checked(10)?;
        let days = days_of_date(date)?;
        let time = time.strip_prefix('T')?;
        // Go accepts a one-digit hour, but not a one-digit minute or second.
        let hour_digits = time.find(':').filter(|at| (1..=2).contains(at))?;
        let (clock, rest) = time.split_at_checked(hour_digits + 6)?;
        let [h, m, s] = fields(clock, ':', [hour_digits, 2, 2])?;
        if h > 23 || m > 59 || s > 59 {
            return None;
        }
        let (fraction, zone) = match rest.strip_prefix(['.', ',']) {
            Some(rest) => rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())),
            None => ("", rest),
        };
        if fraction.is_empty() != rest.strip_prefix(['.', ',']).is_none() {
            return None;
        }
        let offset = offset(zone)?;
        let nanos: String = fraction.chars().chain("000000000".chars()).take(9).collect();
        let seconds = days * DAY + h * 3_600 + m * 60 + s - offset;
        Some(Timestamp { nanos: i128::from(seconds) * SECOND + nanos.parse::<i128>().ok()?, zone: offset })
    }

    /// Parses `format: date` as midnight UTC.
    pub fn parse_date(text: &str) -> Option<Self> {
        Some(Timestamp { nanos: i128::from(days_of_date(text)? * DAY) * SECOND, zone: 0 })
    }

    pub fn to_text(self) -> String {
        let local = self.seconds() + self.zone;
        let (year, month, day) = civil(local.div_euclid(DAY));
        let clock = local.rem_euclid(DAY);
        let nanos = self.nanos.rem_euclid(SECOND);
        let fraction = match nanos {
            0 => String::new(),
            n => format!(".{n:09}").trim_end_matches('0').to_string(),
        };
        let (h, m, s) = (clock / 3_600, clock / 60 % 60, clock % 60);
        let zone = match self.zone {
            0 => "Z".to_string(),
            z => format!("{}{:02}:{:02}", if z < 0 { '-' } else { '+' }, z.abs() / 3_600, z.abs() / 60 % 60),
        };
        format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}{fraction}{zone}")
    }
}

/// Parses the time zone at the end of RFC 3339.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let [h, m] = fields(&zone[1..], ':', [2, 2])?;
    (h <= 24 && m <= 60).then_some(sign * (h * 3_600 + m * 60))
}

/// Parses numbers of fixed widths with a separator between them.
fn fields<const N: usize>(text: &str, separator: char, widths: [usize; N]) -> Option<[i64; N]> {
    let mut out = [0; N];
    let mut parts = text.split(separator);
    for (slot, width) in out.iter_mut().zip(widths) {
        let part = parts.next()?;
        if part.len() != width || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *slot = part.parse().ok()?;
    }
    parts.next().is_none().then_some(out)
}

/// Days since 1970-01-01 for an existing date, written `YYYY-MM-DD`.
pub fn days_of_date(text: &str) -> Option<i64> {
    let [year, month, day] = fields(text, '-', [4, 2, 2])?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=longest).contains(&day).then(|| days_from_civil(year, month, day))
}

/// Days since 1970-01-01 for a date of the proleptic Gregorian calendar.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day for a number of days since 1970-01-01.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps() {
        let at = |text| Timestamp::parse(text);
        assert_eq!(at("1970-01-01T00:00:01Z").map(Timestamp::seconds), Some(1));
        assert_eq!(at("2020-02-29T12:00:00+02:00"), at("2020-02-29T10:00:00Z"));
        assert_eq!(at("2021-02-29T12:00:00Z"), None);
        assert_eq!(at("0000-01-01T00:00:00Z"), None);
        assert!(Timestamp::parse_format("0000-01-01T00:00:00Z").is_some() && Timestamp::parse_date("0000-01-01").is_some());
        assert_eq!(at("2020-01-01 00:00:00Z"), None);
        assert_eq!(at("2020-01-01T1:00:00Z"), at("2020-01-01T01:00:00Z"));
        assert_eq!(at("2011-08-18T19:03:37.010+01:00").map(Timestamp::to_text).as_deref(), Some("2011-08-18T19:03:37.01+01:00"));
        assert_eq!(at("2011-08-18T19:03:37+00:00").map(Timestamp::to_text).as_deref(), Some("2011-08-18T19:03:37Z"));
        let t = at("2024-12-31T23:59:58.5Z").expect("a time");
        assert_eq!(t.to_text(), "2024-12-31T23:59:58.5Z");
    }
}
