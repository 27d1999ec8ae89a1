//! A report comes in; text for people and for programs goes out.

mod escape;
pub mod human;
pub mod json;
pub mod objects;
mod snippet;

pub use escape::visible;
