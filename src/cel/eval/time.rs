//! Timestamps in CEL: `getFullYear()` and similar, and time zones.

use crate::go::time::{DAY, Timestamp, civil, days_from_civil};

/// One of `getFullYear`, `getMonth`, … in a zone that is `offset` seconds east.
pub fn field(at: Timestamp, function: &str, offset: i64) -> Option<i64> {
    let seconds = at.seconds() + offset;
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
        "getMilliseconds" => at.subsecond_nanos() / 1_000_000,
        _ => return None,
    })
}

/// A time zone.
pub enum Zone {
    /// Seconds east.
    Offset(i64),
    /// Only a time zone database knows the offset.
    Named,
    Wrong,
}

/// Parses the zone of `getHours('+01:00')`: hours and minutes are any two integers, and the minutes have the sign of the hours.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let t = Timestamp::parse("2024-12-31T23:59:58.5Z").expect("a time");
        for (function, value) in
            [("getFullYear", 2024), ("getMonth", 11), ("getDate", 31), ("getDayOfYear", 365), ("getDayOfWeek", 2), ("getMilliseconds", 500)]
        {
            assert_eq!(field(t, function, 0), Some(value), "{function}");
        }
    }
}
