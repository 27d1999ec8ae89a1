//! Comparisons held against recorded servers, and against a validator that is not ours.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

mod made_up_schemas;
mod recorded_pairs;
mod scalars;
mod work;
