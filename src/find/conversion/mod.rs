//! Conversion manifests and objects or bundles come in; converted objects, and facts about what the manifests define, lose
//! and leave out, go out.

mod address;
pub mod canonical;
pub mod catalogue;
pub mod check;
pub mod convert;
pub mod convert_files;
pub mod coverage;
mod directed_step;
pub mod graph;
pub mod laws;
mod lossless;
pub mod manifest;
pub mod manifest_endpoints;
pub(crate) mod output_schema;
mod path_through_steps;
mod preserve;
mod read;
mod rename_references;
pub mod scaffold;
pub mod schema_endpoint;
mod search;
pub(crate) mod shape_edit;
pub mod step;
pub(crate) mod text;

pub use canonical::{Canonical, Canonicaliser};
pub use catalogue::{Conversions, InvalidManifest};
pub use convert::{About, AppliedStep, ConversionLog, ConvertError, Converter, Loss, Note};
pub use manifest::{Direction, Endpoint, Manifest, Reverse};
pub use preserve::Preserve;
pub use read::{is_manifest, read};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod testing;
