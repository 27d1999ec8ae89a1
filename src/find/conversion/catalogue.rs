//! All manifests of a run: files come in, manifests and what is wrong with them go out.

use std::collections::BTreeMap;

use crate::input::File;
use crate::input::json_schema_check::Fault;
use crate::input::yaml;
use crate::model::{Documents, FileId, Place};

use super::graph::Graph;
use super::manifest::Manifest;
use super::read;

/// Files of manifests are numbered from here, apart from those of the bundles.
pub const FIRST_FILE: FileId = 1 << 30;

/// A manifest that can't be used.
#[derive(Debug, Clone)]
pub struct Unusable {
    pub message: String,
    pub place: Place,
    /// An earlier place that explains it.
    pub related: Option<Place>,
}

#[derive(Debug, Default)]
pub struct Conversions {
    documents: Documents,
    /// By name.
    pub manifests: Vec<Manifest>,
    pub unusable: Vec<Unusable>,
}

impl Conversions {
    /// Takes every manifest among the documents; anything else there is not one's business.
    pub fn read(documents: Documents) -> Self {
        let mut manifests: Vec<Manifest> = Vec::new();
        let mut unusable = Vec::new();
        for (file, document) in &documents.documents {
            let number = FIRST_FILE.saturating_add(*file);
            let place = |span| Place { file: number, span };
            let tree = match &document.tree {
                Ok(tree) => tree,
                Err(yaml::Error { kind, span, related }) => {
                    unusable.push(Unusable { message: kind.to_string(), place: place(*span), related: related.map(place) });
                    continue;
                }
            };
            if !read::is_manifest(tree.root()) {
                continue;
            }
            let name = documents.file(*file).map_or("", |file| file.name.as_str());
            match read::read(number, name, tree.root()) {
                Ok(manifest) => manifests.push(manifest),
                Err(errors) => unusable.extend(errors.into_iter().map(|Fault { message, span }| Unusable {
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
                let message = format!("there are two manifests `{}`; name them with `metadata.name`", manifest.name);
                unusable.push(Unusable { message, place, related: Some(first) });
            }
        }
        Conversions { documents, manifests, unusable }
    }

    /// Manifests of a text: examples, tests, callers of the library.
    pub fn of_text(name: &str, text: &str) -> Self {
        Conversions::read(Documents::of_text(name, text))
    }

    pub fn file(&self, id: FileId) -> Option<&File> {
        self.documents.file(id.checked_sub(FIRST_FILE)?)
    }

    /// The files as they were read, numbered from zero.
    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    pub fn is_empty(&self) -> bool {
        self.manifests.is_empty()
    }

    /// Manifests of one kind.
    pub fn of_kind<'m>(&'m self, group: &str, kind: &str) -> Vec<&'m Manifest> {
        self.manifests.iter().filter(|manifest| manifest.group == group && manifest.kind == kind).collect()
    }

    /// How the versions of one kind hang together.
    pub fn graph<'m>(&'m self, group: &str, kind: &str) -> Graph<'m> {
        Graph::new(self.of_kind(group, kind))
    }

    /// Every kind that a manifest speaks of.
    pub fn kinds(&self) -> Vec<(&str, &str)> {
        let mut kinds: Vec<_> = self.manifests.iter().map(|manifest| (manifest.group.as_str(), manifest.kind.as_str())).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }
}
