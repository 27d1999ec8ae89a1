//! Trees come in; CRDs with their versions, each attribute with its place, go out.

mod bundle;
mod model;
mod path;
mod read;
#[cfg(test)]
pub(crate) mod testing;

pub use bundle::{Bundle, Documents, FileId, Place, Problem, ProblemKind, Repeat, Skipped};
pub use model::{Api, Conversion, Crd, Keys, Maturity, Names, Priority, Scope, Text, Version};
pub use path::{FieldPath, Step};
