//! Checks comparisons against recorded servers, and against an independent validator.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

mod made_up_schemas;
mod recorded_pairs;
mod scalars;
mod work;
