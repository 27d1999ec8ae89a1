//! Schema nodes of a CRD come in as trees; views by keyword, shapes that can be compared, and the exact domains of
//! their strings and numbers go out.

pub mod find;
pub mod format;
mod keyword;
pub mod number;
pub mod pattern;
pub mod shape;
pub mod text;
mod view;

pub use keyword::Keyword;
pub use shape::Shape;
pub use view::{Additional, CelRule, Schema};

/// Whether every resource has a field of this name, declared or not.
pub fn is_meta(name: &str) -> bool {
    matches!(name, "apiVersion" | "kind" | "metadata")
}
