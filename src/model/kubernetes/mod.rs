//! Kubernetes versions: the minor versions that the server model knows, ranges of them, and their features.

mod features;
mod queried_features;
mod range;

use std::fmt;

pub use features::Feature;
#[cfg(test)]
pub use features::{FeatureScope, TABLE};
pub use queried_features::{QueriedFeatures, Server};
pub use range::{Minors, RangeError};

/// The size in bytes of the largest request that the server accepts.
pub const MAX_REQUEST: usize = 3 * 1024 * 1024;

/// A minor version, which means its last patch release with default settings.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(u8);

impl Minor {
    pub const OLDEST: Minor = Minor(28);
    /// Not released yet; see [`Minor::is_prerelease`].
    pub const NEWEST: Minor = Minor(37);
    /// The newest release, and the default of a run.
    pub const DEFAULT: Minor = Minor(36);
    pub const ALL: [Minor; 10] =
        [Minor(28), Minor(29), Minor(30), Minor(31), Minor(32), Minor(33), Minor(34), Minor(35), Minor(36), Minor(37)];

    /// Whether the model was recorded from a release candidate.
    pub fn is_prerelease(self) -> bool {
        self > Minor::DEFAULT
    }

    /// A server of this version, without recording what is queried.
    pub fn server(self) -> Server {
        self.into()
    }

    fn knows(self, feature: Feature, new: bool) -> bool {
        let row = feature.row();
        let own = if new && row.scope == features::FeatureScope::Expressions { self.0 - 1 } else { self.0 };
        own >= row.since.0
    }

    /// The first minor version whose servers have a feature in new expressions.
    pub fn first_with(feature: Feature) -> Minor {
        Minor::ALL.into_iter().find(|minor| minor.knows(feature, true)).unwrap_or(Minor::NEWEST)
    }

    fn parse(text: &str) -> Option<Minor> {
        let number = text.trim().trim_start_matches('v').strip_prefix("1.")?.parse::<u8>().ok()?;
        Minor::ALL.into_iter().find(|minor| minor.0 == number)
    }

    /// The minor version of a server that reports this version (`v1.33.4-eks-1a2b3c`), or the nearest one that the model knows.
    pub fn of_server(version: &str) -> Option<StatedMinor> {
        let rest = version.trim().strip_prefix('v').unwrap_or(version).strip_prefix("1.")?;
        let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
        let number = digits.parse::<u32>().ok()?;
        let nearest = number.clamp(Minor::OLDEST.0.into(), Minor::NEWEST.0.into());
        let minor = Minor::ALL.into_iter().find(|minor| u32::from(minor.0) == nearest)?;
        Some(if number == nearest { StatedMinor::Known(minor) } else { StatedMinor::Nearest(minor) })
    }

    const fn bit(self) -> u16 {
        1 << (self.0 - Minor::OLDEST.0)
    }
}

/// The minor of a running server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatedMinor {
    Known(Minor),
    /// The server is older or newer than the model knows; this is the nearest version.
    Nearest(Minor),
}

impl Default for Minor {
    fn default() -> Self {
        Minor::DEFAULT
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

impl fmt::Debug for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

impl serde::Serialize for Minor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The libraries that an expression is compiled with: those of a minor version, or for new expressions of the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Environment {
    server: Server,
    new: bool,
}

impl Environment {
    /// The same environment of another server.
    pub fn on(self, server: Server) -> Environment {
        Environment { server, ..self }
    }

    pub fn server(self) -> Server {
        self.server
    }

    pub fn has(self, feature: Feature) -> bool {
        self.server.answers(feature, self.new)
    }
}

/// The newest environment, for expressions that no server compiles.
impl Default for Environment {
    fn default() -> Self {
        Server::default().stored_expressions()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_servers_are_read() {
        assert_eq!(Minor::of_server("v1.33.4-eks-1a2b3c"), Some(StatedMinor::Known(Minor(33))));
        assert_eq!(Minor::of_server("v1.36.0-rc.1+k3s1"), Some(StatedMinor::Known(Minor(36))));
        assert_eq!(Minor::of_server("v1.21.14"), Some(StatedMinor::Nearest(Minor::OLDEST)));
        assert_eq!(Minor::of_server("v1.99.0"), Some(StatedMinor::Nearest(Minor::NEWEST)));
        assert_eq!(Minor::of_server("v2.0.0"), None);
        assert_eq!(Minor::of_server(""), None);
    }

    #[test]
    fn new_expressions_lag_behind() {
        let (older, newer) = (Minor(30).server(), Minor(31).server());
        assert!(older.stored_expressions().has(Feature::NetworkAddresses));
        assert!(!older.new_expressions().has(Feature::NetworkAddresses));
        assert!(newer.new_expressions().has(Feature::NetworkAddresses));
        // Features of the server itself don't lag behind.
        assert!(Minor(33).server().new_expressions().has(Feature::OptionalListFunctions));
        assert_eq!(Minor::first_with(Feature::NetworkAddresses), newer.minor());
    }
}
