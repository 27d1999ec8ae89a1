//! The three finders of facts: what changed between two bundles, what is wrong with one, and what conversions do.

pub mod change;
pub mod conversion;
pub mod lint;
mod maturity_marker;
pub mod review_context;
pub mod servers;
pub mod vocabulary;
