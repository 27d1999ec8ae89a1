//! crdwise lints CRDs and reviews changes to them.
pub mod bump;
pub mod cel;
pub mod cli;
pub mod crd;
pub mod diff;
pub mod fact;
pub mod finding;
pub mod inspect;
pub mod policy;
pub mod render;
pub mod report;
pub mod review;
pub mod rule;
pub mod run;
pub mod schema;
pub mod source;
pub mod yaml;
