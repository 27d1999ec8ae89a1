//! Rules: parses rule files, and finds which rule judges a fact and with which texts.

mod book;
#[cfg(test)]
pub(crate) mod example;
pub(crate) mod front_matter;
mod mistake;
mod page;
mod template;
mod when_condition;

pub(crate) use crate::input::json_schema_check::nearest;
pub use book::{Book, MatchingRule};
pub use page::{Family, Kind, Need, PageError, Rule};
pub(crate) use when_condition::{FactView, WhenCondition};

/// The JSON Schema of a rule's front matter.
pub const SCHEMA: &str = include_str!("rule.schema.json");

/// A Markdown file in `rules/`.
#[derive(Debug, Clone, Copy)]
pub struct Page {
    pub folder: &'static str,
    pub stem: &'static str,
    /// Former ids of the rule, oldest first.
    pub aliases: &'static [&'static str],
    pub text: &'static str,
    /// Subjects, aspects and effects of the facts that a rule judges, as its front matter names them.
    pub matches: [&'static [&'static str]; 3],
}

/// Every built-in page, by folder and name.
pub static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));
