//! Semantic versions of a bundle, as stated in annotations, tags and manifests.

use semver::Version;

use crate::model::fact::vocabulary;

vocabulary! {
    /// The part of a semantic version that must be raised.
    Bump {
        None = "none",
        Patch = "patch",
        Minor = "minor",
        Major = "major",
    }
}

/// Parses `v1.2.3`, `1.2.3-rc.1` or `v1.2`. Returns `None` for placeholders such as `v0.0.0-dev`, which mean that there is no
/// version yet.
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

/// The smallest version that announces a change of this size.
///
/// Below 1.0.0 a minor release may break (semver, clause 4), so a major change only needs a minor release there. A pre-release is
/// followed by its own release, if that is high enough.
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
    fn common_spellings_of_versions_are_parsed() {
        assert_eq!(parse("v1.2").unwrap().to_string(), "1.2.0");
        assert_eq!(parse("v0.0.0-dev"), None);
        assert_eq!(parse("latest"), None);
    }
}
