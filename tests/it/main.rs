//! All integration tests in one binary, which links only once.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured, and what they left out")]

mod broken;
mod cases;
mod conversion_loop;
mod counts;
mod disagreements;
mod existing_objects;
mod formats;
mod fresh;
mod gate;
mod history;
mod interruptions;
mod policies;
mod properties;
mod published;
#[path = "../../src/testing/recorded.rs"]
mod recorded;
mod rendered;
mod repeats;
mod repository;
mod stages;
mod suites;
mod untrusted;
mod updates;
mod verdicts;
