pub mod crd;
pub mod fact;
pub mod schema;
pub mod yaml;
