//! Converts the objects in a file to a version, and reports what the user should know about each of them.

mod file_run;
mod places;
mod route;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::input::Text;
use crate::input::yaml::{Node, Span, YamlBudget};
use crate::model::Bundle;
use crate::model::schema::Shape;

use super::address::ListKeys;
use super::catalogue::Conversions;
use super::graph::Graph;
use super::schema_endpoint::SchemaEndpoint;
use file_run::FileRun;

/// The version that objects are converted to.
#[derive(Debug, Clone)]
pub struct ConversionTarget {
    /// An API version, a bundle version, or `v1alpha3@1.1.0`.
    pub to: String,
    /// The version that the objects have, if their `apiVersion` doesn't say.
    pub from: Option<String>,
}

/// A message about a place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversionRemark {
    pub message: String,
    pub span: Span,
    /// The object was not converted.
    pub error: bool,
}

/// The result of converting one file.
#[derive(Debug, Default)]
pub struct ConvertedFile {
    pub text: String,
    pub remarks: Vec<ConversionRemark>,
    pub converted: usize,
    /// Objects that already have the target version.
    pub current: usize,
    /// Objects of kinds without a manifest.
    pub other_kinds: usize,
    /// Objects that had to be reformatted, without their comments.
    pub reformatted: usize,
    /// Objects that couldn't be converted, and documents that couldn't be read. They are unchanged in the text.
    pub failed: usize,
}

impl ConvertedFile {
    /// Counts an object that couldn't be converted, and names the object in each of its errors.
    fn failed(&mut self, node: Node<'_>, remarks: Vec<ConversionRemark>) {
        self.failed += 1;
        let named = places::identity(node);
        self.remarks.extend(remarks.into_iter().map(|remark| ConversionRemark {
            message: if remark.error { format!("{named}: {}", remark.message) } else { remark.message },
            ..remark
        }));
    }
}

type Key = (String, String, String);

/// Converts files of objects. It can be shared between threads.
#[derive(Debug)]
pub struct FileConverter<'m> {
    graphs: BTreeMap<(&'m str, &'m str), Graph<'m>>,
    /// Schemas to validate results against.
    endpoints: BTreeMap<Key, SchemaEndpoint>,
    /// The fields that identify list items, by group and kind.
    keys: BTreeMap<(String, String), Arc<ListKeys>>,
    target: ConversionTarget,
    budget: YamlBudget,
}

impl<'m> FileConverter<'m> {
    pub fn new(conversions: &'m Conversions, target: ConversionTarget) -> Self {
        let graphs = conversions.kinds().into_iter().map(|(group, kind)| ((group, kind), conversions.graph(group, kind))).collect();
        FileConverter { graphs, endpoints: BTreeMap::new(), keys: BTreeMap::new(), target, budget: YamlBudget::default() }
    }

    /// Also validates results against the CRDs.
    pub fn with_crds(mut self, bundle: &Bundle<'_>) -> Self {
        for crd in &bundle.crds {
            for version in &crd.versions {
                let Some(schema) = &version.schema else { continue };
                let key = (crd.group().to_owned(), crd.kind().to_owned(), version.name.to_owned());
                self.endpoints.entry(key).or_insert_with(|| SchemaEndpoint::new(Shape::of(schema), crd.group(), version.name, crd.kind()));
            }
        }
        let mut keys: BTreeMap<(String, String), ListKeys> = BTreeMap::new();
        for ((group, kind, _), endpoint) in &self.endpoints {
            keys.entry((group.clone(), kind.clone())).or_default().add_schema(&endpoint.shape);
        }
        self.keys = keys.into_iter().map(|(name, keys)| (name, Arc::new(keys))).collect();
        self
    }

    /// Whether any manifest can convert to the target.
    pub fn knows_target(&self) -> bool {
        self.graphs.values().any(|graph| !graph.named(&self.target.to).is_empty())
    }

    /// Every possible target: API versions, then bundle versions.
    pub fn targets(&self) -> Vec<String> {
        let nodes = || self.graphs.values().flat_map(|graph| &graph.nodes);
        let versions: BTreeSet<&String> = nodes().filter_map(|node| node.version.as_ref()).collect();
        let bundles: BTreeSet<_> = nodes().filter_map(|node| node.bundle.as_ref()).collect();
        versions.into_iter().cloned().chain(bundles.into_iter().map(ToString::to_string)).collect()
    }

    pub fn convert(&self, text: &Text) -> ConvertedFile {
        FileRun::new(self, text).run()
    }
}
