//! Bundles, the facts about them and their rules, held against recorded servers, real releases and general laws.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

mod changes;
mod mutations;
mod server_verdicts;
mod version_loss;
