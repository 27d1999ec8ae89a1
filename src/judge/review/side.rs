//! One side of a review: a bundle with its source, its version, and what couldn't be read.

use semver::Version;

use crate::find::conversion::scaffold::ReleasedBundle;
use crate::judge::finding::Spot;
use crate::judge::report::SideSummary;
use crate::model::{Bundle, Documents, Place, Skipped, semantic_version};

/// A version of a bundle that isn't stated in its CRDs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatedVersion {
    /// From the command line; takes precedence over annotations.
    Flag(Version),
    /// From the name of a tag; used if the annotations state none.
    Tag(Version),
    /// From the `ClusterServiceVersion` of an OLM bundle; used like that of a tag.
    Csv(Version),
}

impl StatedVersion {
    pub fn version(&self) -> &Version {
        match self {
            StatedVersion::Flag(version) | StatedVersion::Tag(version) | StatedVersion::Csv(version) => version,
        }
    }
}

/// One side of a review, read and ready to be compared.
pub struct Side<'t> {
    pub source: String,
    pub documents: &'t Documents,
    pub bundle: Bundle<'t>,
    /// What was skipped while reading files.
    pub skipped: Vec<Skipped>,
    /// A version that isn't stated in the CRDs.
    pub version: Option<StatedVersion>,
    /// Whether the side is a release, so that its version can't be declared again.
    pub is_release: bool,
    /// What couldn't be read; a CRD that is missing may be in there.
    pub unread: Vec<Skipped>,
}

impl<'t> Side<'t> {
    pub(crate) fn released(&self) -> ReleasedBundle<'_, 't> {
        ReleasedBundle { bundle: &self.bundle, version: self.version.as_ref().map(StatedVersion::version), is_too_low: false }
    }

    pub fn new(source: impl Into<String>, documents: &'t Documents) -> Self {
        let bundle = Bundle::read(documents);
        let mut side =
            Side { source: source.into(), documents, bundle, skipped: Vec::new(), version: None, is_release: false, unread: Vec::new() };
        let unread = side.bundle.problems.iter().map(|problem| {
            let what = side.spot(Some(problem.place)).map(|spot| format!("{}:{}:{}", spot.file, spot.line, spot.column));
            Skipped { what: what.unwrap_or_default(), why: format!("not read: {}", problem.kind) }
        });
        side.unread = unread.collect();
        side
    }

    /// The version from the annotations and the other one, if they differ.
    pub fn contradiction(&self) -> Option<(Version, &StatedVersion)> {
        let stated = self.version.as_ref()?;
        self.annotated().filter(|own| own != stated.version()).map(|own| (own, stated))
    }

    /// The version that the annotations agree on.
    fn annotated(&self) -> Option<Version> {
        semantic_version::parse(self.annotations().next()?).filter(|_| self.annotations().count() == 1)
    }

    /// The different bundle versions in annotations.
    fn annotations(&self) -> impl Iterator<Item = &str> {
        let texts: std::collections::BTreeSet<&str> = self.bundle.crds.iter().filter_map(|crd| Some(crd.bundle_version()?.value)).collect();
        texts.into_iter()
    }

    /// The version of the bundle, if it has one; annotations that disagree count as none.
    pub(super) fn version(&self) -> Option<Version> {
        match &self.version {
            Some(StatedVersion::Flag(version)) => Some(version.clone()),
            Some(StatedVersion::Tag(version) | StatedVersion::Csv(version)) if self.annotations().count() < 2 => {
                Some(self.annotated().unwrap_or_else(|| version.clone()))
            }
            _ => self.annotated(),
        }
    }

    pub fn spot(&self, place: Option<Place>) -> Option<Spot> {
        let place = place?;
        let (name, at) = self.documents.shown_place(place)?;
        Some(Spot { file: name.to_owned(), line: at.line, column: at.column, place: Some(place) })
    }

    pub(super) fn summary(&self) -> SideSummary {
        SideSummary::of(&self.source, &self.bundle, &self.unread, &self.skipped)
    }
}
