//! How Go behaves where Kubernetes shows it: regular expressions, formats, dates.

pub(crate) mod bounded_cache;
pub mod date;
pub mod regexp;
pub mod strfmt;
