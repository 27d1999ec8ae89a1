//! An edited object: its text, and the part that must be parsed again to verify it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::input::Text;
use crate::input::yaml::{self, Node, YamlBudget};

use super::patch::TextEdit;
use super::{column, equal};

#[derive(Debug)]
pub(super) struct Patched {
    /// The bytes of the file that the text replaces.
    pub range: std::ops::Range<usize>,
    pub text: String,
    /// The text of the edited fields, as an object by itself. The bytes of the other fields are unchanged.
    edited: String,
    /// How many fields are unedited.
    unedited: usize,
}

impl Patched {
    /// `parts` are the offsets where the text of each field starts; `edits` must be sorted. With aliases, the meaning of one field
    /// may depend on another, so all count as edited.
    pub fn new(file: &str, range: std::ops::Range<usize>, parts: &[usize], edits: &[TextEdit], aliases: bool) -> Option<Patched> {
        let end = range.end.max(edits.last().map_or(0, |edit| edit.end));
        let ends = parts.iter().skip(1).copied().chain([end]);
        let mut rest = edits;
        let mut text = String::with_capacity(range.len() + 64);
        let mut edited = " ".repeat(column(file, range.start));
        let mut unedited = 0;
        let (mut at, mut last_edit) = (range.start, 0);
        for (index, part_end) in ends.enumerate() {
            let part_start = parts.get(index).copied()?;
            // An edit on the boundary belongs to both sides.
            let touched = aliases || last_edit >= part_start || rest.first().is_some_and(|edit| edit.start <= part_end);
            let from = text.len();
            while let Some((edit, later)) = rest.split_first().filter(|(edit, _)| edit.start < part_end || part_end == end) {
                text.push_str(file.get(at..edit.start)?);
                text.push_str(&edit.text);
                (at, last_edit) = (edit.end, edit.end);
                rest = later;
            }
            if at < part_end {
                text.push_str(file.get(at..part_end)?);
                at = part_end;
            }
            if touched {
                if index > 0 && unedited == index {
                    edited.clear();
                }
                edited.push_str(text.get(from..)?);
            } else {
                unedited += 1;
            }
        }
        Some(Patched { range: range.start..end, text, edited, unedited })
    }

    /// Whether the edited fields have exactly these values now, and no others changed.
    pub fn reads_as(&self, node: Node<'_>, target: &Map<String, Value>, fields: Option<&BTreeSet<&str>>) -> bool {
        let text: Text = self.edited.as_str().into();
        let documents = yaml::parse(&text, &YamlBudget::default());
        let [document] = documents.as_slice() else { return false };
        let Ok(tree) = &document.tree else { return false };
        let others = super::others(node, fields).count();
        let is_right = |entry: yaml::Entry<'_>| match target.get(entry.name()) {
            Some(value) => equal(entry.value, value),
            None => {
                fields.is_some_and(|fields| !fields.contains(entry.name()))
                    && node.get(entry.name()).is_some_and(|was| was.same(entry.value))
            }
        };
        tree.root().is_map() && tree.root().len() + self.unedited == target.len() + others && tree.root().entries().all(is_right)
    }
}
