//! Recommends the next version from the findings and the declared versions.

use semver::Version;
use serde::Serialize;

use crate::model::semantic_version::{Bump, next};

/// The version bump that the changes require.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    pub required: Bump,
    pub from: Option<Version>,
    pub recommended: Option<Version>,
    pub declared: Option<Version>,
    /// Whether the declared version is at least the recommended one; null if either is unknown.
    pub sufficient: Option<bool>,
}

impl Recommendation {
    pub fn new(required: Bump, from: Option<Version>, declared: Option<Version>) -> Self {
        let recommended = from.as_ref().map(|from| next(from, required));
        let sufficient = match (&recommended, &declared) {
            // An unchanged version doesn't announce the change, even if it is a pre-release of one that is high enough.
            (Some(_), declared) if *declared == from && required != Bump::None => Some(false),
            (Some(recommended), Some(declared)) => Some(at_least(declared, recommended)),
            _ => None,
        };
        Recommendation { required, from, recommended, declared, sufficient }
    }
}

/// The next version in words, the same in every format: `1.3.0 or later (minor; 1.2.0 before)`.
impl std::fmt::Display for Recommendation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let required = self.required;
        match (&self.from, &self.recommended) {
            _ if required == Bump::None => return write!(f, "none needed"),
            (Some(from), Some(next)) => write!(f, "{next} or later ({required}; {from} before)")?,
            _ => return write!(f, "a {required} release (to get its number, pass --old-version)"),
        }
        match (&self.declared, self.sufficient) {
            (Some(declared), Some(true)) => write!(f, "; {declared} is declared, which is enough"),
            (Some(declared), Some(false)) if self.declared == self.from => write!(f, "; {declared} is still declared"),
            (Some(declared), Some(false)) => write!(f, "; {declared} is declared, which is too low"),
            _ => Ok(()),
        }
    }
}

/// A pre-release of the recommended version counts as that version.
fn at_least(declared: &Version, recommended: &Version) -> bool {
    let core = Version::new(declared.major, declared.minor, declared.patch);
    core >= Version { pre: semver::Prerelease::EMPTY, build: semver::BuildMetadata::EMPTY, ..recommended.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::semantic_version::parse;

    #[test]
    fn a_pre_release_of_the_next_version_is_enough() {
        let enough = |declared: &str| Recommendation::new(Bump::Minor, parse("1.2.0"), parse(declared)).sufficient;
        assert_eq!(enough("1.3.0-rc.1"), Some(true));
        assert_eq!(enough("1.2.9"), Some(false));
        assert_eq!(enough("2.0.0"), Some(true));
        assert_eq!(Recommendation::new(Bump::Minor, parse("1.2.0"), None).sufficient, None);
        let again = |bump| Recommendation::new(bump, parse("1.3.0-rc.1"), parse("1.3.0-rc.1")).sufficient;
        assert_eq!((again(Bump::None), again(Bump::Minor)), (Some(true), Some(false)));
    }
}
