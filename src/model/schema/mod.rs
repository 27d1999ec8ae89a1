//! Schema nodes of a CRD: views by keyword, and normalised shapes that can be compared.

mod description;
mod keyword;
mod properties;
pub mod shape;
mod view;

pub(crate) use description::{deprecation_notice, is_deprecated};
pub use keyword::Keyword;
pub use shape::Shape;
pub use view::{Schema, ValidationRule};

/// Whether every resource has a field with this name, declared or not.
pub fn is_meta(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}
