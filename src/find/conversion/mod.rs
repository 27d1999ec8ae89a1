//! Conversion manifests: converting objects with them, and facts about what they cover, lose and leave undefined.

mod address;
pub(crate) mod canonical;
pub(crate) mod catalogue;
pub(crate) mod check;
pub(crate) mod conversion_coverage;
pub(crate) mod convert;
pub(crate) mod convert_files;
mod directed_step;
pub(crate) mod generate;
pub(crate) mod graph;
pub(crate) mod laws;
mod lossless;
pub(crate) mod manifest;
pub(crate) mod manifest_endpoints;
mod object_route;
pub(crate) mod output_schema;
mod path_through_steps;
pub(crate) mod plan;
mod preserve;
mod read_manifest;
pub(crate) mod readability;
pub(crate) mod release;
mod rename_references;
pub(crate) mod scaffold;
pub(crate) mod schema_endpoint;
mod search;
pub(crate) mod shape_edit;
pub(crate) mod step;
pub(crate) mod text;
mod version_links;
pub(crate) mod webhook_laws;

pub use canonical::{Canonical, Canonicaliser};
pub use catalogue::{Conversions, InvalidManifest};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod testing;
