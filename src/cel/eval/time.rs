//! Durations and instants, as Go reads and writes them.
//!
//! Comes in: text like `1h30m` or RFC 3339. Goes out: exact values, calendar fields, and text again.

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(i64);

/// An instant, and the zone it was written in, which shows only when it is written again.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    /// Nanoseconds since 1970.
    nanos: i128,
    /// Seconds east.
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
const DAY: i64 = 86_400;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in seconds.
const FIRST: i128 = -62_135_596_800;
const LAST: i128 = 253_402_300_799;

impl Duration {
    pub fn from_nanos(nanos: i64) -> Self {
        Duration(nanos)
    }

    pub fn nanos(self) -> i64 {
        self.0
    }

    /// Go's `time.ParseDuration`: `-1.5h30m`, `0`, units from ns to h.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, mut rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if rest == "0" {
            return Some(Duration(0));
        }
        if rest.is_empty() {
            return None;
        }
        let mut total: i128 = 0;
        while !rest.is_empty() {
            let whole = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            let (digits, after) = rest.split_at(whole);
            let (fraction, after) = match after.strip_prefix('.') {
                Some(f) => f.split_at(f.find(|c: char| !c.is_ascii_digit()).unwrap_or(f.len())),
                None => ("", after),
            };
            if digits.is_empty() && fraction.is_empty() {
                return None;
            }
            let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
            let (unit, after) = after.split_at(unit_end);
            let unit = unit_nanos(unit)?;
            let whole: i128 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
            total = total.checked_add(whole.checked_mul(unit)?)?;
            // Digits past what a nanosecond can show are cut off.
            let shown: String = fraction.chars().take(18).collect();
            if !shown.is_empty() {
                total += shown.parse::<i128>().ok()? * unit / 10_i128.pow(shown.len() as u32);
            }
            rest = after;
        }
        let total = if negative { -total } else { total };
        i64::try_from(total).ok().map(Duration)
    }

    /// As `format: duration` is read: Go's form, or numbers with a unit in words anywhere in the text (`3 weeks`).
    pub fn parse_format(text: &str) -> Option<Self> {
        if let Some(duration) = Duration::parse(text) {
            return Some(duration);
        }
        let mut total: Option<i64> = None;
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
            let from = &rest[start..];
            let digits = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
            let (number, after) = from.split_at(digits);
            let words = after.trim_start();
            let letters = words.find(|c: char| !(c.is_ascii_alphabetic() || c == 'µ')).unwrap_or(words.len());
            let (unit, after) = words.split_at(letters);
            rest = after;
            if let Some(nanos) = word_nanos(&unit.to_lowercase()) {
                // Go lets these run over.
                let part = number.parse::<i64>().ok()?.wrapping_mul(nanos as i64);
                total = Some(total.unwrap_or(0).wrapping_add(part));
            }
        }
        total.map(Duration)
    }

    /// `3600s`, `1.5s`: how CEL writes a duration.
    pub fn to_text(self) -> String {
        let seconds = self.0 as f64 / 1e9;
        if self.0 % 1_000_000_000 == 0 { format!("{}s", self.0 / 1_000_000_000) } else { format!("{seconds}s") }
    }

    pub fn checked_add(self, other: Duration) -> Option<Duration> {
        self.0.checked_add(other.0).map(Duration)
    }

    pub fn checked_sub(self, other: Duration) -> Option<Duration> {
        self.0.checked_sub(other.0).map(Duration)
    }
}

fn unit_nanos(unit: &str) -> Option<i128> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND,
        "m" => 60 * SECOND,
        "h" => 3_600 * SECOND,
        _ => return None,
    })
}

/// A unit by one of its names; the longest name may go on (`hours`).
fn word_nanos(unit: &str) -> Option<i128> {
    const UNITS: [(&[&str], i128); 8] = [
        (&["ns", "nano"], 1),
        (&["us", "µs", "micro"], 1_000),
        (&["ms", "milli"], 1_000_000),
        (&["s", "sec"], SECOND),
        (&["m", "min"], 60 * SECOND),
        (&["h", "hr", "hour"], 3_600 * SECOND),
        (&["d", "day"], 24 * 3_600 * SECOND),
        (&["w", "wk", "week"], 7 * 24 * 3_600 * SECOND),
    ];
    let named = |names: &[&str]| names.contains(&unit) || names.last().is_some_and(|last| unit.starts_with(last));
    UNITS.iter().find(|(names, _)| named(names)).map(|(_, nanos)| *nanos)
}

impl Timestamp {
    fn checked(nanos: i128, zone: i64) -> Option<Self> {
        let seconds = nanos.div_euclid(SECOND);
        (FIRST..=LAST).contains(&seconds).then_some(Timestamp { nanos, zone })
    }

    pub fn from_seconds(seconds: i64) -> Option<Self> {
        Self::checked(i128::from(seconds) * SECOND, 0)
    }

    /// The first instant there is, which Go takes for no time at all.
    pub fn is_zero(self) -> bool {
        self.nanos == FIRST * SECOND
    }

    pub fn seconds(self) -> i64 {
        self.nanos.div_euclid(SECOND) as i64
    }

    pub fn add(self, duration: Duration) -> Option<Self> {
        Self::checked(self.nanos + i128::from(duration.0), self.zone)
    }

    pub fn sub(self, duration: Duration) -> Option<Self> {
        Self::checked(self.nanos - i128::from(duration.0), self.zone)
    }

    pub fn since(self, other: Timestamp) -> Option<Duration> {
        i64::try_from(self.nanos - other.nanos).ok().map(Duration)
    }

    /// What `timestamp(…)` takes: RFC 3339 within the years 1 to 9999.
    pub fn parse(text: &str) -> Option<Self> {
        let read = Self::parse_format(text)?;
        Self::checked(read.nanos, read.zone)
    }

    /// As `format: date-time` is read: RFC 3339 with a `T`, seconds, and a zone.
    pub fn parse_format(text: &str) -> Option<Self> {
        let (date, time) = text.split_at_checked(10)?;
        let days = parse_date(date)?;
        let time = time.strip_prefix('T')?;
        // Go reads an hour of one digit, but not such a minute or second.
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

    /// `format: date`: midnight UTC of a day.
    pub fn parse_date(text: &str) -> Option<Self> {
        Some(Timestamp { nanos: i128::from(parse_date(text)? * DAY) * SECOND, zone: 0 })
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

    /// One of `getFullYear`, `getMonth`, … in a zone that is `offset` seconds east.
    pub fn field(self, function: &str, offset: i64) -> Option<i64> {
        let seconds = self.seconds() + offset;
        let days = seconds.div_euclid(DAY);
        let clock = seconds.rem_euclid(DAY);
        let (year, month, day) = civil(days);
        Some(match function {
            "getFullYear" => year,
            "getMonth" => month - 1,
            "getDate" => day,
            "getDayOfMonth" => day - 1,
            "getDayOfYear" => days - days_from_civil(year, 1, 1),
            "getDayOfWeek" => (days + 4).rem_euclid(7),
            "getHours" => clock / 3_600,
            "getMinutes" => clock / 60 % 60,
            "getSeconds" => clock % 60,
            "getMilliseconds" => (self.nanos.rem_euclid(SECOND) / 1_000_000) as i64,
            _ => return None,
        })
    }
}

/// Where a zone lies.
pub enum Zone {
    /// Seconds east.
    Offset(i64),
    /// Only a time-zone database knows.
    Named,
    Wrong,
}

/// A zone as `getHours('+01:00')` takes it: hours and minutes are any two whole numbers, the minutes go the way the hours' sign says.
pub fn zone(text: &str) -> Zone {
    if text == "UTC" || text.is_empty() {
        return Zone::Offset(0);
    }
    let Some((hours, minutes)) = text.split_once(':') else { return Zone::Named };
    let whole = |text: &str| text.parse::<i64>().ok().filter(|n| n.abs() < 10_000);
    match (whole(hours), whole(minutes)) {
        (Some(h), Some(m)) => Zone::Offset(h * 3_600 + if hours.starts_with('-') { -m } else { m } * 60),
        _ => Zone::Wrong,
    }
}

/// The zone at the end of RFC 3339.
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

/// Numbers of fixed widths with a separator between them.
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

fn parse_date(text: &str) -> Option<i64> {
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

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i64) -> (i64, i64, i64) {
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
    fn durations() {
        for (text, nanos) in
            [("1h", 3_600_000_000_000), ("1h30m", 5_400_000_000_000), ("-1.5s", -1_500_000_000), ("0", 0), ("100ms", 100_000_000)]
        {
            assert_eq!(Duration::parse(text), Some(Duration(nanos)), "{text}");
        }
        for text in ["", "1", "h", "1x", "-", "1h-", "1d"] {
            assert_eq!(Duration::parse(text), None, "{text}");
        }
        assert_eq!(Duration::parse_format("1d"), Some(Duration(86_400_000_000_000)));
        assert_eq!(Duration::parse_format("2 hours 3 minutes"), Duration::parse("2h3m"));
        assert_eq!(Duration::parse_format("soon"), None);
        assert_eq!(Duration::parse_format("3000000h"), Some(Duration(10_800_000_000_000_000_000_i128 as i64)));
        assert_eq!(Duration::parse("3000000h"), None);
    }

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
        for (function, value) in
            [("getFullYear", 2024), ("getMonth", 11), ("getDate", 31), ("getDayOfYear", 365), ("getDayOfWeek", 2), ("getMilliseconds", 500)]
        {
            assert_eq!(t.field(function, 0), Some(value), "{function}");
        }
    }
}
