//! Tests that everything shipped with the program is complete and correct.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

mod rule_pages;
