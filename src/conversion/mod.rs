//! Conversion manifests and objects or bundles come in; converted objects, and facts about what the manifests define, lose
//! and leave out, go out.

mod address;
pub mod canonical;
pub mod catalogue;
pub mod check;
pub mod convert;
pub mod coverage;
mod exact;
pub mod files;
mod form;
pub mod graph;
pub mod ground;
pub mod hop;
pub(crate) mod image;
mod keep;
pub mod laws;
pub mod manifest;
mod read;
pub mod scaffold;
mod search;
pub mod step;
pub(crate) mod surgery;
pub(crate) mod text;
mod trace;
mod words;

pub use canonical::{Canonical, Canonicaliser};
pub use catalogue::{Conversions, Unusable};
pub use convert::{About, ConvertError, Converter, Done, Loss, Note, Told};
pub use form::Malformed;
pub use keep::Preserve;
pub use manifest::{Direction, Endpoint, Manifest, Reverse};
pub use read::{is_manifest, read};

#[cfg(test)]
mod tests;

#[cfg(test)]
mod laws_tests;
#[cfg(test)]
mod testing;
