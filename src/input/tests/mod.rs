//! Real directories and real repositories, the broken and the hostile ones among them.
// A test that skips itself says so.
#![allow(clippy::disallowed_macros)]

mod archives;
mod directories;
mod hostile;
mod kustomizations;
mod properties;
mod repositories;
mod revisions;
