//! Findings and versions come in; the version that should come next goes out.

use semver::Version;
use serde::Serialize;

use crate::judge::finding::Bump;

/// What the changes ask of the next version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recommendation {
    pub required: Bump,
    pub from: Option<Version>,
    pub recommended: Option<Version>,
    pub declared: Option<Version>,
    /// Whether the declared version is at least the recommended one; null where either is unknown.
    pub sufficient: Option<bool>,
}

impl Recommendation {
    pub fn new(required: Bump, from: Option<Version>, declared: Option<Version>) -> Self {
        let recommended = from.as_ref().map(|from| next(from, required));
        let sufficient = match (&recommended, &declared) {
            // The same version again tells nobody that something changed, even where it is on its way to one that is large enough.
            (Some(_), declared) if *declared == from && required != Bump::None => Some(false),
            (Some(recommended), Some(declared)) => Some(at_least(declared, recommended)),
            _ => None,
        };
        Recommendation { required, from, recommended, declared, sufficient }
    }
}

/// A pre-release of the recommended version is on its way there.
fn at_least(declared: &Version, recommended: &Version) -> bool {
    let core = Version::new(declared.major, declared.minor, declared.patch);
    core >= Version { pre: semver::Prerelease::EMPTY, build: semver::BuildMetadata::EMPTY, ..recommended.clone() }
}

/// `v1.2.3`, `1.2.3-rc.1`, `v1.2`; `v0.0.0-dev` and the like say that there is no version yet.
pub fn parse(text: &str) -> Option<Version> {
    let text = text.trim();
    let text = text.strip_prefix('v').unwrap_or(text);
    let parsed = Version::parse(text).ok().or_else(|| {
        let dots = text.matches('.').count();
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        if digits && dots < 2 { Version::parse(&format!("{text}{}", ".0".repeat(2 - dots))).ok() } else { None }
    })?;
    let placeholder = (parsed.major, parsed.minor, parsed.patch) == (0, 0, 0) && !parsed.pre.is_empty();
    (!placeholder).then_some(parsed)
}

/// The smallest version that tells of a change of this size.
///
/// Below 1.0.0 a minor release may break (semver, clause 4), so that is what a major change asks for there. A pre-release
/// is followed by its own release, if that is large enough.
pub fn next(from: &Version, bump: Bump) -> Version {
    let Version { major, minor, patch, .. } = *from;
    let pre = !from.pre.is_empty();
    let bump = if major == 0 && bump == Bump::Major { Bump::Minor } else { bump };
    match bump {
        Bump::None => from.clone(),
        Bump::Patch if pre => Version::new(major, minor, patch),
        Bump::Patch => Version::new(major, minor, patch.saturating_add(1)),
        Bump::Minor if pre && patch == 0 => Version::new(major, minor, 0),
        Bump::Minor => Version::new(major, minor.saturating_add(1), 0),
        Bump::Major if pre && minor == 0 && patch == 0 => Version::new(major, 0, 0),
        Bump::Major => Version::new(major.saturating_add(1), 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(from: &str, bump: Bump) -> String {
        next(&parse(from).unwrap(), bump).to_string()
    }

    #[test]
    fn the_next_version() {
        assert_eq!(after("v1.2.3", Bump::Patch), "1.2.4");
        assert_eq!(after("1.2.3", Bump::Minor), "1.3.0");
        assert_eq!(after("1.2.3", Bump::Major), "2.0.0");
        assert_eq!(after("0.4.1", Bump::Major), "0.5.0");
        assert_eq!(after("1.3.0-rc.1", Bump::Minor), "1.3.0");
        assert_eq!(after("1.3.1-rc.1", Bump::Minor), "1.4.0");
        assert_eq!(after("2.0.0-rc.1", Bump::Major), "2.0.0");
        assert_eq!(after("1.2.3", Bump::None), "1.2.3");
    }

    #[test]
    fn versions_are_read_as_people_write_them() {
        assert_eq!(parse("v1.2").unwrap().to_string(), "1.2.0");
        assert_eq!(parse("v0.0.0-dev"), None);
        assert_eq!(parse("latest"), None);
    }

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
