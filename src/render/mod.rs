//! A report comes in; text for people and for programs goes out.

mod anchor;
mod escape;
pub mod github;
mod group;
pub mod human;
pub mod json;
#[cfg(test)]
mod sample;
mod snippet;
mod view;

pub use anchor::{Anchor, Anchors};
pub use escape::visible;
pub use view::View;
