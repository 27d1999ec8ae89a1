//! Schema nodes of a CRD come in as trees; views by keyword and shapes that can be compared go out.

mod keyword;
pub mod shape;
mod view;

pub use keyword::Keyword;
pub use shape::Shape;
pub use view::{Additional, CelRule, Schema};
