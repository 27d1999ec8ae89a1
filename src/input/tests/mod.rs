//! Tests with real directories and repositories, including broken and hostile ones.
// A test that skips itself prints that it does.
#![allow(clippy::disallowed_macros)]

mod archives;
mod directories;
mod hostile;
mod kustomizations;
mod properties;
mod repositories;
mod revisions;
