//! One side of a review: a bundle with its source, its version and what could not be read.

use semver::Version;

use crate::find::conversion::scaffold::ReleasedBundle;
use crate::judge::finding::Spot;
use crate::judge::report::SideSummary;
use crate::model::{Bundle, Documents, Place, Skipped, release};

/// One side of a review, read and ready to be compared.
pub struct Side<'t> {
    pub source: String,
    pub documents: &'t Documents,
    pub bundle: Bundle<'t>,
    /// What the reader of files left out.
    pub skipped: Vec<Skipped>,
    /// A version that stands outside of the CRDs: a tag, or the command line.
    pub version: Option<Version>,
    /// What could not be read: a CRD that isn't here may be there all the same.
    pub unread: Vec<Skipped>,
}

impl<'t> Side<'t> {
    pub(crate) fn released(&self) -> ReleasedBundle<'_, 't> {
        ReleasedBundle { bundle: &self.bundle, version: self.version.as_ref() }
    }

    pub fn new(source: impl Into<String>, documents: &'t Documents) -> Self {
        let bundle = Bundle::read(documents);
        let mut side = Side { source: source.into(), documents, bundle, skipped: Vec::new(), version: None, unread: Vec::new() };
        let unread = side.bundle.problems.iter().map(|problem| {
            let what = side.spot(Some(problem.place)).map(|spot| format!("{}:{}:{}", spot.file, spot.line, spot.column));
            Skipped { what: what.unwrap_or_default(), why: format!("not read: {}", problem.kind) }
        });
        side.unread = unread.collect();
        side
    }

    /// The version that annotations give in place of another one that was given.
    pub fn overruling(&self) -> Option<(Version, &Version)> {
        let given = self.version.as_ref()?;
        self.version().filter(|own| own != given).map(|own| (own, given))
    }

    /// Annotations first, then what was given; several versions in one bundle give none.
    pub(super) fn version(&self) -> Option<Version> {
        let mut annotated: Vec<&str> = self.bundle.crds.iter().filter_map(|crd| crd.bundle_version()).map(|text| text.value).collect();
        annotated.sort_unstable();
        annotated.dedup();
        match annotated.as_slice() {
            [one] => release::parse(one).or_else(|| self.version.clone()),
            [] => self.version.clone(),
            _ => None,
        }
    }

    pub fn spot(&self, place: Option<Place>) -> Option<Spot> {
        let place = place?;
        let file = self.documents.file(place.file)?;
        let at = file.place(place.span.start as usize);
        Some(Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(place) })
    }

    pub(super) fn summary(&self) -> SideSummary {
        SideSummary::of(&self.source, &self.bundle, &self.unread, &self.skipped)
    }
}
