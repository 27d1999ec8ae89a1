//! Strings close to one in a rule: durations, times, addresses, networks, quantities and versions that CEL functions distinguish
//! from it.

use std::net::IpAddr;

use crate::go::duration::Duration;
use crate::go::time::Timestamp;

const SECOND: i64 = 1_000_000_000;
const DAY: i64 = 86_400 * SECOND;

pub(super) fn neighbours(text: &str) -> Vec<String> {
    let mut found = durations(text);
    found.extend(times(text));
    found.extend(addresses(text));
    found.extend(networks(text));
    found.extend(quantities(text));
    found.extend(versions(text));
    found.retain(|one| one != text);
    found
}

fn durations(text: &str) -> Vec<String> {
    let Some(duration) = Duration::parse(text) else { return Vec::new() };
    let nanos = duration.nanos();
    let sums = [1, -1, 1_000_000, -1_000_000, SECOND, -SECOND, 59 * SECOND].into_iter().map(|by| nanos.saturating_add(by));
    let others = [0, nanos / 2, nanos.saturating_mul(2), nanos.saturating_mul(60), nanos / 60, nanos.saturating_neg()];
    sums.chain(others).map(|nanos| Duration::from_nanos(nanos).to_text()).collect()
}

fn times(text: &str) -> Vec<String> {
    let Some(time) = Timestamp::parse(text) else { return Vec::new() };
    let steps = [SECOND, -SECOND, DAY, -DAY, 366 * DAY, -366 * DAY, 3_600 * SECOND];
    let moved = steps.into_iter().filter_map(|by| time.checked_add(Duration::from_nanos(by)));
    [time].into_iter().chain(moved).map(Timestamp::to_text).collect()
}

/// The address this far from another one of the same family.
fn moved(address: IpAddr, by: i128) -> IpAddr {
    match address {
        IpAddr::V4(v4) => IpAddr::V4(u32::from(v4).wrapping_add(by as u32).into()),
        IpAddr::V6(v6) => IpAddr::V6(u128::from(v6).wrapping_add(by as u128).into()),
    }
}

fn addresses(text: &str) -> Vec<String> {
    let Ok(address) = text.parse::<IpAddr>() else { return Vec::new() };
    [1, -1, 256, 1 << 16].into_iter().map(|by| moved(address, by).to_string()).collect()
}

fn networks(text: &str) -> Vec<String> {
    let Some((address, prefix)) = text.split_once('/') else { return Vec::new() };
    let (Ok(address), Ok(prefix)) = (address.parse::<IpAddr>(), prefix.parse::<u32>()) else { return Vec::new() };
    let bits = if address.is_ipv4() { 32 } else { 128 };
    if prefix > bits {
        return Vec::new();
    }
    let size = 1_i128.checked_shl(bits - prefix).filter(|size| *size > 0).unwrap_or(i128::MAX);
    let ends = [0, 1, size - 1, size, -1, size / 2].map(|by| moved(address, by));
    let mut found: Vec<String> = ends.iter().map(ToString::to_string).collect();
    for (at, prefix) in [(0, prefix + 1), (size / 2, prefix + 1), (0, prefix.saturating_sub(1)), (0, bits), (1, prefix), (size, prefix)] {
        if prefix <= bits {
            found.push(format!("{}/{prefix}", moved(address, at)));
        }
    }
    found
}

fn quantities(text: &str) -> Vec<String> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (Some(digits), Some(unit)) = (text.get(..end), text.get(end..)) else { return Vec::new() };
    let Ok(n) = digits.parse::<u32>() else { return Vec::new() };
    if !unit.chars().all(|c| c.is_ascii_alphabetic()) || unit.len() > 2 {
        return Vec::new();
    }
    let units = [unit, "", "k", "Ki", "M", "Mi", "m"];
    let counts = [n.saturating_add(1), n.saturating_sub(1), n.saturating_mul(2)].map(|n| format!("{n}{unit}"));
    counts.into_iter().chain(units.map(|unit| format!("{n}{unit}"))).collect()
}

fn versions(text: &str) -> Vec<String> {
    let Ok(version) = semver::Version::parse(text.trim_start_matches('v')) else { return Vec::new() };
    let (x, y, z) = (version.major, version.minor, version.patch);
    let mut found = vec![format!("{x}.{y}.{z}-rc.1"), format!("v{x}.{y}.{z}")];
    for (x, y, z) in [
        (x, y, z.saturating_add(1)),
        (x, y, z.saturating_sub(1)),
        (x, y.saturating_add(1), 0),
        (x, y.saturating_sub(1), z),
        (x.saturating_add(1), 0, 0),
        (x.saturating_sub(1), y, z),
    ] {
        found.push(format!("{x}.{y}.{z}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_neighbours() {
        for (text, beside) in [
            ("60s", "59s"),
            ("2020-01-01T00:00:00Z", "2019-12-31T23:59:59Z"),
            ("10.0.0.0/9", "10.127.255.255"),
            ("10.0.0.0/9", "10.128.0.0"),
            ("10.0.0.0/9", "10.64.0.0/10"),
            ("::1", "::2"),
            ("1Gi", "2Gi"),
            ("1.2.3", "1.2.4"),
        ] {
            assert!(neighbours(text).iter().any(|one| one == beside), "{text}: {:?}", neighbours(text));
        }
        assert!(neighbours("abc").is_empty());
        neighbours("::/0");
        neighbours("0.0.0.0/0");
    }
}
