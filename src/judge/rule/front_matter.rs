//! The YAML at the top of a rule or policy page.
//!
//! serde_yaml parses it into typed values. It keeps no positions and reads scalars as in YAML 1.2, so `input::yaml` is used for two
//! things: the spans of errors in a page, and CRDs themselves, whose scalars are typed like the API server does and whose size is
//! limited while reading.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::input::Text;
use crate::input::json_schema_check::{Fault, FileSchema};
use crate::input::yaml::{self, Node, Span, YamlBudget};

const OPEN: &str = "---\n";
const CLOSE: &str = "\n---\n";

/// The first characters of a file, where it should begin with `---`.
fn start(file: &str) -> Span {
    let ends = file.char_indices().map(|(at, c)| at + c.len_utf8());
    Span::new(0, ends.take_while(|end| *end <= 3).last().unwrap_or(0))
}

/// Splits a page into front matter and body.
pub(crate) fn split(file: &str) -> Result<(&str, &str), Fault> {
    let start = start(file);
    let rest = file.strip_prefix(OPEN).ok_or_else(|| Fault::new("a rule file begins with `---` and its front matter", start))?;
    rest.split_once(CLOSE).ok_or_else(|| Fault::new("the front matter is not closed by `---`", start))
}

/// Parses front matter into a typed value.
pub(crate) fn read<T: DeserializeOwned>(head: &str) -> Result<T, Fault> {
    serde_yaml::from_str(head).map_err(|error| {
        let at = OPEN.len() + error.location().map_or(0, |location| location.index().min(head.len()));
        Fault::new(error.to_string(), Span::new(at, at))
    })
}

/// Parses front matter with positions relative to the start of the file.
pub(crate) fn tree(file: &str) -> Result<Arc<yaml::Tree>, Fault> {
    let (head, _) = split(file)?;
    let head: Text = file.get(..OPEN.len() + head.len() + 1).unwrap_or_default().into();
    let empty = || Fault::new("the front matter is empty", start(file));
    let document = yaml::parse(&head, &YamlBudget::default()).into_iter().next().ok_or_else(empty)?;
    document.tree.map_err(|error| Fault::new(error.kind.to_string(), error.span))
}

/// Returns everything wrong with a page: by its JSON Schema, by further checks, or at least what keeps it from being parsed.
pub(crate) fn faults<T>(
    file: &str,
    schema: &FileSchema,
    further: impl FnOnce(Node<'_>) -> Vec<Fault>,
    parse: fn(&str) -> Result<T, Fault>,
) -> Vec<Fault> {
    let tree = match tree(file) {
        Ok(tree) => tree,
        Err(fault) => return vec![fault],
    };
    let mut faults = schema.check(tree.root());
    faults.extend(further(tree.root()));
    if faults.is_empty() {
        faults.extend(parse(file).err());
    }
    faults.sort_by_key(|fault| fault.span);
    faults
}

/// A list that may be written as a single item.
#[derive(Debug, Clone)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T> std::ops::Deref for OneOrMany<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        OneOrMany(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Form<T> {
            One(T),
            Many(Vec<T>),
        }
        Ok(OneOrMany(match Form::deserialize(deserializer)? {
            Form::One(one) => vec![one],
            Form::Many(many) => many,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_at_whole_characters() {
        for text in ["", "d", "d \u{4ff}", "  \u{a502}", "---\n\n---\n"] {
            assert!(text.get(start(text).range()).is_some(), "{text:?}");
        }
    }
}
