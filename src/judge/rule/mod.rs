//! Rules: parses rule files, and finds which rule judges a fact and with which texts.

mod book;
#[cfg(test)]
pub(crate) mod example;
pub(crate) mod front_matter;
mod mistake;
mod page;
mod template;
mod when_condition;

use std::io::Read;
use std::sync::{Arc, OnceLock};

pub(crate) use crate::input::json_schema_check::nearest;
pub use book::{Book, MatchingRule};
pub use page::{Family, Kind, Need, Rule};
pub(crate) use when_condition::{FactView, WhenCondition};

/// The JSON Schema of a rule's front matter.
pub const SCHEMA: &str = include_str!("rule.schema.json");

/// A Markdown file in `rules/`.
#[derive(Debug)]
pub struct Page {
    pub folder: &'static str,
    pub stem: &'static str,
    /// Former ids of the rule, oldest first.
    pub aliases: &'static [&'static str],
    /// The front matter, as JSON.
    pub head: &'static str,
    /// Where the page is in the texts of all pages.
    pub bytes: std::ops::Range<usize>,
    /// Subjects, aspects and effects of the facts that a rule judges, as its front matter names them.
    pub matches: [&'static [&'static str]; 3],
}

/// Every built-in page, by folder and name.
pub static PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

impl Page {
    /// The whole page. The texts of all pages are unpacked on first use.
    pub fn text(&self) -> &'static str {
        static TEXTS: OnceLock<String> = OnceLock::new();
        let texts = TEXTS.get_or_init(|| {
            let mut texts = String::new();
            let packed: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pages.deflate"));
            // The build packed them; a test unpacks them.
            let _ = flate2::read::DeflateDecoder::new(packed).read_to_string(&mut texts);
            texts
        });
        texts.get(self.bytes.clone()).unwrap_or_default()
    }
}

/// The page below the front matter.
#[derive(Debug, Clone)]
pub enum PageBody {
    /// The body of a custom page.
    Own(Arc<str>),
    BuiltIn(&'static Page),
}

impl Default for PageBody {
    fn default() -> Self {
        PageBody::Own("".into())
    }
}

impl PageBody {
    pub fn text(&self) -> &str {
        match self {
            PageBody::Own(text) => text,
            PageBody::BuiltIn(page) => front_matter::split(page.text()).map_or("", |(_, body)| body),
        }
    }
}
