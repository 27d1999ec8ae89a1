//! Renders a report as text for people and programs.

mod anchor;
pub mod annotation;
pub mod brief;
pub mod changelog;
mod differing;
pub mod env;
mod escape;
mod existing_objects;
pub mod github;
pub mod gitlab;
mod how_to_pass;
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod minutes;
pub mod objects;
mod proof;
mod report_view;
#[cfg(test)]
mod sample;
pub mod sarif;
mod server_lines;
pub mod short;
mod snippet;
pub mod suite;

pub(crate) use crate::judge::overview::plural;
pub use anchor::Anchors;
pub use escape::visible;
pub use report_view::View;
