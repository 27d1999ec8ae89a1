//! Schema nodes of a CRD come in as trees; views by keyword and normalised shapes that can be compared go out.

mod keyword;
mod view;

pub use keyword::Keyword;
pub use view::{Additional, CelRule, Schema};
