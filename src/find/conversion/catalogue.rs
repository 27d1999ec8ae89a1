//! All conversion manifests of a run, and the errors in them.

use std::collections::BTreeMap;

use crate::input::File;
use crate::input::json_schema_check::Fault;
use crate::input::yaml;
use crate::model::{Bundle, Documents, FileId, Place};

use super::graph::Graph;
use super::manifest::Manifest;
use super::{read_manifest, version_links};

/// The number of the first manifest file; smaller numbers are files of the bundles.
pub const FIRST_FILE: FileId = 1 << 30;

/// How many steps all manifests of a run may have.
const MAX_STEPS: usize = 20_000;
/// How many manifests a run may have, and how many of one kind: crdwise looks for paths between all of its versions.
const MAX_MANIFESTS: usize = 5_000;
const MAX_OF_KIND: usize = 200;

/// An error in a manifest. Invalid manifests aren't used.
#[derive(Debug, Clone)]
pub struct InvalidManifest {
    pub message: String,
    pub place: Place,
    /// An earlier place that explains the error.
    pub related: Option<Place>,
}

/// The conversion manifests found in some documents.
#[derive(Debug, Default)]
pub struct Conversions {
    documents: Documents,
    /// Sorted by name.
    pub(crate) manifests: Vec<Manifest>,
    invalid: Vec<InvalidManifest>,
}

/// The number of manifests and steps read so far.
#[derive(Default)]
struct CatalogueSize {
    manifests: usize,
    steps: usize,
    of_kind: BTreeMap<(String, String), usize>,
}

impl CatalogueSize {
    /// Counts another manifest; returns the limit that it exceeds.
    fn exceeded_by(&mut self, manifest: &Manifest) -> Option<String> {
        self.manifests += 1;
        self.steps += manifest.steps.len();
        let of_kind = self.of_kind.entry((manifest.group.clone(), manifest.kind.clone())).or_default();
        *of_kind += 1;
        let what = match () {
            () if *of_kind > MAX_OF_KIND => format!("{MAX_OF_KIND} manifests of one kind"),
            () if self.manifests > MAX_MANIFESTS => format!("{MAX_MANIFESTS} manifests"),
            () if self.steps > MAX_STEPS => format!("{MAX_STEPS} steps in all manifests together"),
            () => return None,
        };
        Some(format!("more than {what}; this manifest and those after it aren't read"))
    }
}

impl Conversions {
    /// Reads every manifest among the documents, and ignores other documents.
    pub fn read(documents: Documents) -> Self {
        let mut manifests: Vec<Manifest> = Vec::new();
        let mut invalid = Vec::new();
        let mut size = CatalogueSize::default();
        for (file, document) in &documents.documents {
            let number = FIRST_FILE.saturating_add(*file);
            let place = |span| Place { file: number, span };
            let tree = match &document.tree {
                Ok(tree) => tree,
                Err(yaml::Error { kind, span, related }) => {
                    invalid.push(InvalidManifest { message: kind.to_string(), place: place(*span), related: related.map(place) });
                    continue;
                }
            };
            if !read_manifest::is_manifest(tree.root()) {
                continue;
            }
            let name = documents.file(*file).map_or("", |file| file.name.as_str());
            match read_manifest::read(number, name, tree.root()) {
                Ok(manifest) => match size.exceeded_by(&manifest) {
                    None => manifests.push(manifest),
                    Some(message) => {
                        invalid.push(InvalidManifest { message, place: place(tree.root().span()), related: None });
                        break;
                    }
                },
                Err(errors) => invalid.extend(errors.into_iter().map(|Fault { message, span }| InvalidManifest {
                    message,
                    place: place(span),
                    related: None,
                })),
            }
        }
        manifests.sort_by(|a, b| (&a.name, a.file, a.span).cmp(&(&b.name, b.file, b.span)));
        let mut seen: BTreeMap<&str, Place> = BTreeMap::new();
        for manifest in &manifests {
            let place = manifest.place(manifest.span);
            if let Some(first) = seen.insert(&manifest.name, place) {
                let message = format!("two manifests have the name `{}`; set `metadata.name` to distinguish them", manifest.name);
                invalid.push(InvalidManifest { message, place, related: Some(first) });
            }
        }
        Conversions { documents, manifests, invalid }
    }

    /// Reads manifests from a string.
    pub fn of_text(name: &str, text: &str) -> Self {
        Conversions::read(Documents::of_text(name, text))
    }

    /// Skips the steps of pending manifests that the old side already has, whatever release it still declares.
    pub(crate) fn leave_out_earlier_steps(&mut self, before: &Conversions) {
        for manifest in self.manifests.iter_mut().filter(|manifest| manifest.is_pending()) {
            let earlier = before.manifests.iter().find(|other| other.name == manifest.name && other.is_pending());
            if let Some(earlier) = earlier {
                manifest.leave_out(earlier);
            }
        }
    }

    /// Adds manifests without steps between versions of one release that have the same schema, so nobody has to write them.
    pub(crate) fn with_links(&self, bundle: &Bundle<'_>) -> Conversions {
        let links = version_links::links(self, bundle);
        let manifests = self.manifests.iter().cloned().chain(links).collect();
        Conversions { documents: Documents::default(), manifests, invalid: Vec::new() }
    }

    pub(crate) fn file(&self, id: FileId) -> Option<&File> {
        self.documents.file(id.checked_sub(FIRST_FILE)?)
    }

    /// The files as they were read, numbered from zero.
    pub(crate) fn documents(&self) -> &Documents {
        &self.documents
    }

    /// The errors in the manifests; a manifest with errors isn't used.
    pub fn invalid(&self) -> &[InvalidManifest] {
        &self.invalid
    }

    pub fn is_empty(&self) -> bool {
        self.manifests.is_empty()
    }

    /// Manifests of one kind.
    pub(crate) fn of_kind<'m>(&'m self, group: &str, kind: &str) -> Vec<&'m Manifest> {
        self.manifests.iter().filter(|manifest| manifest.group == group && manifest.kind == kind).collect()
    }

    /// Returns the graph of one kind: its versions and the manifests between them.
    pub(crate) fn graph<'m>(&'m self, group: &str, kind: &str) -> Graph<'m> {
        Graph::new(self.of_kind(group, kind))
    }

    /// Every group and kind that a manifest converts.
    pub(crate) fn kinds(&self) -> Vec<(&str, &str)> {
        let mut kinds: Vec<_> = self.manifests.iter().map(|manifest| (manifest.group.as_str(), manifest.kind.as_str())).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}
