//! Go behaviour that is visible in Kubernetes: regular expressions, URLs, base64, durations, times, email addresses, quantities,
//! printed values, and the string formats of its strfmt library.
//!
//! Each is implemented once, here, after the Go version that kube-apiserver 1.36 is built with (1.26). Format validation, CEL and
//! the CRD checks all use these modules, so they can't disagree.

pub mod base64;
pub(crate) mod bounded_cache;
pub mod date;
pub mod duration;
pub mod fmt;
pub(crate) mod json_size;
pub mod mail;
pub mod quantity;
pub mod regexp;
pub mod strfmt;
pub mod time;
pub mod url;
