//! How Go behaves where Kubernetes shows it: regular expressions, URLs, base64, durations, times, mail addresses,
//! quantities, and the string formats of its strfmt library.
//!
//! Each is implemented once, here, after the Go that kube-apiserver 1.36 is built with (1.26). Validation of formats, CEL and the checks
//! of a CRD all ask these modules, so they can't disagree.

pub mod base64;
pub(crate) mod bounded_cache;
pub mod date;
pub mod duration;
pub mod mail;
pub mod quantity;
pub mod regexp;
pub mod strfmt;
pub mod time;
pub mod url;
