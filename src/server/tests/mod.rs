//! What the model of a server says, held against what servers said.
#![allow(clippy::disallowed_macros, reason = "tests say what they measured")]

mod defaults;
mod objects;
mod requests;
mod servers;
mod versions;
