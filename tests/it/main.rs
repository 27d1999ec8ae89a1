//! All integration tests in one binary: it links once.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured, and what they left out")]

mod broken;
mod cases;
mod changes;
mod containment;
mod crossing;
mod defaults;
mod formats;
mod fresh;
mod history;
mod mutations;
mod objects;
mod policies;
mod properties;
mod recorded;
mod referee;
mod repeats;
mod repository;
mod request_path;
mod rules;
mod scalars;
mod server;
mod stages;
mod storage;
mod vectors;
mod verdicts;
