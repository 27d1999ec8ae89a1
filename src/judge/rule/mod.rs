//! Rule files come in; a book that says which rule judges a fact, and in which words, goes out.

mod book;
mod condition;
#[cfg(test)]
pub(crate) mod example;
pub(crate) mod front_matter;
mod mistake;
mod page;
mod template;

pub(crate) use crate::input::json_schema_check::nearest;
pub use book::{Book, Taken};
pub(crate) use condition::{FactView, WhenCondition};
pub use page::{Family, Kind, Need, PageError, Rule};

/// The form of a rule's front matter.
pub const SCHEMA: &str = include_str!("rule.schema.json");

/// A Markdown file of `rules/`.
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

/// Every page that is compiled in, by folder and name.
pub static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));
