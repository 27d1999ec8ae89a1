pub mod bump;
pub mod crd;
pub mod fact;
pub mod finding;
pub mod policy;
pub mod rule;
pub mod schema;
pub mod yaml;
