//! Conversion manifests and objects or bundles come in; converted objects, and facts about what the manifests define, lose
//! and leave out, go out.

mod address;
pub mod canonical;
pub mod catalogue;
pub mod check;
pub mod convert;
pub mod coverage;
pub mod files;
pub mod graph;
mod keep;
pub mod laws;
mod lossless;
pub mod manifest;
pub mod manifest_endpoints;
pub(crate) mod output_schema;
mod path_through_steps;
mod read;
mod rename_references;
pub mod scaffold;
pub mod schema_endpoint;
mod search;
pub(crate) mod shape_edit;
pub mod step;
pub(crate) mod text;

pub use canonical::{Canonical, Canonicaliser};
pub use catalogue::{Conversions, Unusable};
pub use convert::{About, ConvertError, Converter, Done, Loss, Note, Told};
pub use keep::Preserve;
pub use manifest::{Direction, Endpoint, Manifest, Reverse};
pub use read::{is_manifest, read};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod testing;
