//! How Go behaves where Kubernetes shows it: URLs, base64, durations, times, mail addresses and quantities.
//!
//! Each is implemented once, here, after the Go that kube-apiserver 1.36 is built with (1.26). Validation of formats, CEL and the checks
//! of a CRD all ask these modules, so they can't disagree.

pub mod base64;
pub mod duration;
pub mod mail;
pub mod quantity;
pub mod time;
pub mod url;
