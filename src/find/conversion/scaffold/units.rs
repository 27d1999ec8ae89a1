//! Recognises units at the end of field names: `timeoutSeconds` and `timeoutMilliseconds` hold different numbers.

/// Name endings, each with its size in the smallest unit of its quantity, longest first.
const UNITS: [&[(&str, u64)]; 2] = [
    &[
        ("nanoseconds", 1),
        ("microseconds", 1_000),
        ("milliseconds", 1_000_000),
        ("seconds", 1_000_000_000),
        ("minutes", 60_000_000_000),
        ("hours", 3_600_000_000_000),
        ("days", 86_400_000_000_000),
        ("nanos", 1),
        ("micros", 1_000),
        ("millis", 1_000_000),
        ("secs", 1_000_000_000),
        ("ms", 1_000_000),
    ],
    &[
        ("kibibytes", 1 << 10),
        ("mebibytes", 1 << 20),
        ("gibibytes", 1 << 30),
        ("kilobytes", 1_000),
        ("megabytes", 1_000_000),
        ("gigabytes", 1_000_000_000),
        ("bytes", 1),
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
    ],
];

/// `multiply: 1000` or `divide: 60`, if two names end with different units of one quantity.
pub(super) fn factor(from: &str, to: &str) -> Option<String> {
    let (from, to) = (from.to_ascii_lowercase(), to.to_ascii_lowercase());
    let size = |units: &[(&str, u64)], name: &str| units.iter().find(|(unit, _)| name.ends_with(unit)).map(|(_, size)| *size);
    let (was, is) = UNITS.iter().find_map(|units| Some((size(units, &from)?, size(units, &to)?)))?;
    match (was, is) {
        _ if was == is => None,
        _ if was % is == 0 => Some(format!("multiply: {}", was / is)),
        _ if is % was == 0 => Some(format!("divide: {}", is / was)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_one_quantity_have_a_factor() {
        assert_eq!(factor("timeoutSeconds", "timeoutMilliseconds").as_deref(), Some("multiply: 1000"));
        assert_eq!(factor("timeoutSeconds", "timeoutMinutes").as_deref(), Some("divide: 60"));
        assert_eq!(factor("sizeMiB", "sizeBytes").as_deref(), Some("multiply: 1048576"));
        assert_eq!(factor("timeoutSeconds", "sizeBytes"), None);
        assert_eq!(factor("seconds", "timeoutSeconds"), None);
    }
}
