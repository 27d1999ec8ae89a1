//! Sets of minor versions, in the notation of users: `1.30..1.36`, `1.33`, `>=1.31`, `1.28..`.

use std::fmt;
use std::str::FromStr;

use super::Minor;

/// A set of minors that the model knows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Minors(u16);

/// Why a text isn't a range of versions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    #[error("`{0}` is not a range of Kubernetes versions; write 1.33, 1.30..1.36, 1.31.. or >=1.31")]
    Form(String),
    #[error("unknown Kubernetes version {0}; this version of crdwise supports {first} to {last}", first = Minor::OLDEST, last = Minor::NEWEST)]
    Unknown(String),
    #[error("the range {0} is empty: it ends before it begins")]
    Empty(String),
}

impl Minors {
    pub const NONE: Minors = Minors(0);
    /// Every minor version that the model knows, including pre-releases.
    pub const ALL: Minors = Minors((1 << Minor::ALL.len()) - 1);

    pub const fn only(minor: Minor) -> Minors {
        Minors(minor.bit())
    }

    pub fn between(first: Minor, last: Minor) -> Minors {
        Minor::ALL.into_iter().filter(|minor| (first..=last).contains(minor)).collect()
    }

    pub fn contains(self, minor: Minor) -> bool {
        self.0 & minor.bit() != 0
    }

    pub fn and(self, other: Minors) -> Minors {
        Minors(self.0 | other.0)
    }

    pub fn without(self, other: Minors) -> Minors {
        Minors(self.0 & !other.0)
    }

    /// The versions that are also in the other set.
    pub fn within(self, other: Minors) -> Minors {
        Minors(self.0 & other.0)
    }

    pub(super) fn bits(self) -> u16 {
        self.0
    }

    pub(super) fn of_bits(bits: u16) -> Self {
        Minors(bits)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Oldest first.
    pub fn iter(self) -> impl DoubleEndedIterator<Item = Minor> {
        Minor::ALL.into_iter().filter(move |minor| self.contains(*minor))
    }

    pub fn first(self) -> Option<Minor> {
        self.iter().next()
    }

    pub fn last(self) -> Option<Minor> {
        self.iter().next_back()
    }
}

/// The newest release.
impl Default for Minors {
    fn default() -> Self {
        Minors::only(Minor::DEFAULT)
    }
}

impl FromIterator<Minor> for Minors {
    fn from_iter<I: IntoIterator<Item = Minor>>(minors: I) -> Self {
        minors.into_iter().fold(Minors::NONE, |set, minor| set.and(Minors::only(minor)))
    }
}

impl FromStr for Minors {
    type Err = RangeError;

    /// An open end means the newest release; an unreleased version must be named.
    fn from_str(text: &str) -> Result<Self, RangeError> {
        let minor = |part: &str| {
            let digits = part.trim().trim_start_matches('v').strip_prefix("1.").unwrap_or_default();
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(RangeError::Form(text.to_owned()));
            }
            Minor::parse(part).ok_or_else(|| RangeError::Unknown(part.trim().to_owned()))
        };
        let (first, last) = match (text.trim().strip_prefix(">="), text.split_once("..")) {
            (Some(from), _) => (minor(from)?, None),
            (None, Some((from, to))) => {
                let to = to.strip_prefix('=').unwrap_or(to);
                let first = if from.trim().is_empty() { Minor::OLDEST } else { minor(from)? };
                (first, if to.trim().is_empty() { None } else { Some(minor(to)?) })
            }
            (None, None) => {
                let one = minor(text)?;
                (one, Some(one))
            }
        };
        let minors = Minors::between(first, last.unwrap_or(first.max(Minor::DEFAULT)));
        if minors.is_empty() { Err(RangeError::Empty(text.to_owned())) } else { Ok(minors) }
    }
}

/// `1.33`, `1.30–1.32`, `1.28, 1.31–1.34`.
impl fmt::Display for Minors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(Minor, Minor)> = Vec::new();
        for minor in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if last.0 + 1 == minor.0 => *last = minor,
                _ => runs.push((minor, minor)),
            }
        }
        let shown = runs.iter().map(|(first, last)| if first == last { first.to_string() } else { format!("{first}–{last}") });
        f.write_str(&shown.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Debug for Minors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl serde::Serialize for Minors {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        for (text, shown) in [
            ("1.33", "1.33"),
            ("1.30..1.36", "1.30–1.36"),
            (">=1.31", "1.31–1.36"),
            (">= 1.31", "1.31–1.36"),
            ("1.28..", "1.28–1.36"),
            ("..1.29", "1.28–1.29"),
            ("1.35..1.37", "1.35–1.37"),
            ("1.37..", "1.37"),
            ("v1.30..v1.31", "1.30–1.31"),
        ] {
            assert_eq!(text.parse::<Minors>().map(|minors| minors.to_string()), Ok(shown.to_owned()), "{text}");
        }
        for text in ["", "1", "1.x", "latest", "2.0", "1.33.2"] {
            assert!(matches!(text.parse::<Minors>(), Err(RangeError::Form(_))), "{text}");
        }
        assert!(matches!("1.27..1.30".parse::<Minors>(), Err(RangeError::Unknown(_))));
        assert!(matches!("1.33..1.31".parse::<Minors>(), Err(RangeError::Empty(_))));
    }

    #[test]
    fn gaps_are_shown() {
        let minors: Minors = [Minor(28), Minor(31), Minor(32)].into_iter().collect();
        assert_eq!(minors.to_string(), "1.28, 1.31–1.32");
    }
}
