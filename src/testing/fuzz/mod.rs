//! Fuzz targets: each function takes any bytes and panics if a property doesn't hold.
//!
//! `fuzz/` runs them with bytes from a fuzzer; the tests here run them with the test data, so that they keep working.

mod bytes;
mod choices;
mod comparison;
mod conversion;
mod expressions;
mod project_files;
mod rendering;
mod schemas;

pub use bytes::{archive, bundle, yaml};
pub use comparison::comparison;
pub use conversion::conversion;
pub use expressions::cel;
pub use project_files::configuration;
#[cfg(fuzzing)]
pub use rendering::Rendered;
pub use rendering::rendered;

/// Longer texts aren't worth the time.
const LARGEST: usize = 16 << 10;

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| text.len() <= LARGEST)
}

#[cfg(test)]
mod tests;
