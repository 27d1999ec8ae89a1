//! Compares the server model with recorded responses of real servers.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

mod defaults;
mod objects;
mod requests;
mod servers;
mod versions;
