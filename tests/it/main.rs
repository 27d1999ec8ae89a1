//! All integration tests in one binary: it links once.

mod rules;
mod stages;
