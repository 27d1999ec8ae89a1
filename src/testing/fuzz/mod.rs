//! Fuzz targets: each function takes any bytes and panics if a property doesn't hold.
//!
//! `fuzz/` runs them with bytes from a fuzzer; the tests here run them with the test data, so that they keep working.

mod bytes;
mod choices;
mod comparison;
mod conversion;
mod expressions;
mod manifests;
mod project_files;
mod rendering;
mod schemas;

use std::sync::LazyLock;

use crate::judge::policy::Policy;

pub use bytes::{archive, bundle, yaml};
pub use comparison::comparison;
pub use conversion::conversion;
pub use expressions::cel;
#[cfg(test)]
pub use manifests::STEPS as MADE_UP_STEPS;
pub use project_files::configuration;
#[cfg(fuzzing)]
pub use rendering::Rendered;
pub use rendering::rendered;

/// The policy, read once for all runs.
fn recommended() -> &'static Policy {
    static POLICY: LazyLock<Policy> = LazyLock::new(|| Policy::find("recommended").expect("a built-in policy"));
    &POLICY
}

/// Longer texts aren't worth the time.
const LARGEST: usize = 16 << 10;

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LARGEST)
}

#[cfg(test)]
mod tests;
