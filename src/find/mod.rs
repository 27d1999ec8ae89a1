//! The three finders of facts: changes between two bundles, problems in one, and conversions.

pub mod change;
pub mod conversion;
pub mod facts_by_server;
pub mod lint;
mod maturity_marker;
pub mod review_context;
