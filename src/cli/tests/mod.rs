//! What is shipped with the program is complete and true.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

mod rule_pages;
