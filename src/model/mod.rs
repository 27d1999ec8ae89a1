//! The data model: bundles, CRDs, versions, schemas, field paths, and the vocabulary for facts about them.

mod bundle;
mod core_type;
mod crd;
pub mod fact;
mod fact_collector;
mod field_path;
pub(crate) mod hash;
pub mod kubernetes;
pub mod number;
mod read_bundle;
mod read_crd;
pub mod relation;
pub mod schema;
pub mod semantic_version;

pub use bundle::{Bundle, Documents, FileId, Place, ProblemKind, Repeat, Skipped};
pub use core_type::core_type;
pub use crd::{Api, Crd, Keys, Maturity, Priority, Scope, StringNode, Version};
pub use fact_collector::FactCollector;
pub use field_path::{FieldPath, PathStep};
