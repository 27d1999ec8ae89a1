//! Durations as Go's `time.ParseDuration` and Kubernetes' `strfmt.ParseDuration` parse them.

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration(i64);

const SECOND: i128 = 1_000_000_000;

impl Duration {
    pub fn from_nanos(nanos: i64) -> Self {
        Duration(nanos)
    }

    pub fn nanos(self) -> i64 {
        self.0
    }

    /// Parses like Go's `time.ParseDuration`: `-1.5h30m`, `0`, units from ns to h.
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
            // Digits smaller than a nanosecond are cut off.
            let shown: String = fraction.chars().take(18).collect();
            if !shown.is_empty() {
                total += shown.parse::<i128>().ok()? * unit / 10_i128.pow(shown.len() as u32);
            }
            rest = after;
        }
        let total = if negative { -total } else { total };
        i64::try_from(total).ok().map(Duration)
    }

    /// Parses like `strfmt.ParseDuration`, for `format: duration`: Go's form, or numbers followed by a unit in words anywhere in
    /// the text (`3 weeks`). Each number followed by letters must fit 64 bits, and one of those words must be a unit.
    pub fn parse_format(text: &str) -> Option<Self> {
        if let Some(duration) = Duration::parse(text) {
            return Some(duration);
        }
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
        let is_space = |c: char| matches!(c, '\t' | '\n' | '\x0c' | '\r' | ' ');
        let mut total: Option<i64> = None;
        let mut rest = text;
        while let Some((_, from)) = rest.find(|c: char| c.is_ascii_digit()).and_then(|start| rest.split_at_checked(start)) {
            let digits = from.bytes().take_while(u8::is_ascii_digit).count();
            let (number, behind) = from.split_at(digits);
            rest = behind;
            let word = behind.trim_start_matches(is_space);
            let (unit, after) = word.split_at(word.find(|c| !is_letter(c)).unwrap_or(word.len()));
            if unit.is_empty() {
                continue;
            }
            let number: i64 = number.parse().ok()?;
            if let Some(nanos) = word_nanos(&unit.to_lowercase()) {
                // These overflow in Go, too.
                total = Some(total.unwrap_or(0).wrapping_add(number.wrapping_mul(nanos as i64)));
            }
            rest = after;
        }
        total.map(Duration)
    }

    /// Formats a duration like CEL: `3600s`, `1.5s`.
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

/// The length of a unit by one of its names; the longest name may be a prefix (`hours`).
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
        for text in ["soon", "99999999999999999999 apples 1s", "1 s\u{a0}", "5 6 7"] {
            assert_eq!(Duration::parse_format(text).is_some(), text.starts_with("1 s"), "{text}");
        }
        assert_eq!(Duration::parse_format("3000000h"), Some(Duration(10_800_000_000_000_000_000_i128 as i64)));
        assert_eq!(Duration::parse("3000000h"), None);
    }
}
