//! Compares the printer columns and selectable fields of a version.

use std::collections::BTreeMap;

use crate::input::yaml::Node;
use crate::model::Version;
use crate::model::fact::{Affected, Aspect, Effect, Word};

use super::crd::CrdComparison;
use super::side_by_side::entries;
use super::value_text::{cut, names, value};

/// The items of a list by the member that names them; duplicates are numbered.
fn named<'t>(list: Option<Node<'t>>, member: &str) -> BTreeMap<(&'t str, usize), Node<'t>> {
    let mut found = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for item in list.into_iter().flat_map(Node::items) {
        let name = item.text(member).unwrap_or_default();
        let count = counts.entry(name).or_default();
        found.insert((name, *count), item);
        *count += 1;
    }
    found
}

impl<'t> CrdComparison<'_, 't> {
    pub(super) fn columns(&mut self, both: (&Version<'t>, &Version<'t>)) {
        let (old, new) = (named(both.0.columns, "name"), named(both.1.columns, "name"));
        let path = |column: Node<'t>| column.get("jsonPath").or_else(|| column.get("JSONPath"));
        for (key, column) in old.iter().filter(|(key, _)| !new.contains_key(*key)) {
            let fact = self.version_fact(both, Aspect::PrinterColumn, Effect::Removed, Some(*column), both.1.columns);
            self.facts.push(fact.key(key.0).word(Word::Name, cut(key.0, 60)));
        }
        for (key, column) in &new {
            let Some(before) = old.get(key) else {
                let fact = self.version_fact(both, Aspect::PrinterColumn, Effect::Added, both.0.columns, Some(*column));
                self.facts.push(fact.key(key.0).word(Word::Name, cut(key.0, 60)));
                continue;
            };
            // v1beta1 spells the path `JSONPath`.
            let mut members: Vec<&str> = entries(Some(*before), Some(*column), &["jsonPath", "JSONPath"])
                .filter_map(|(old, new)| old.or(new).map(|entry| entry.name()))
                .collect();
            if path(*before).and_then(Node::as_str) != path(*column).and_then(Node::as_str) {
                members.push("jsonPath");
            }
            if !members.is_empty() {
                let fact = self.version_fact(both, Aspect::PrinterColumn, Effect::Changed, Some(*before), Some(*column));
                self.facts.push(fact.key(key.0).word(Word::Name, cut(key.0, 60)).word(Word::Members, names(&members)));
            }
        }
        let order = |list: Option<Node<'t>>, other: &BTreeMap<(&str, usize), Node<'t>>| -> Vec<&'t str> {
            let names = list.into_iter().flat_map(Node::items).filter_map(|item| item.text("name"));
            names.filter(|name| other.contains_key(&(*name, 0))).collect()
        };
        let (before, after) = (order(both.0.columns, &new), order(both.1.columns, &old));
        if before != after && before.len() == after.len() {
            let fact = self.version_fact(both, Aspect::PrinterColumn, Effect::Moved, both.0.columns, both.1.columns);
            self.facts.push(fact.word(Word::Old, names(&before)).word(Word::New, names(&after)));
        }
    }

    pub(super) fn selectable_fields(&mut self, both: (&Version<'t>, &Version<'t>)) {
        let (old, new) = (named(both.0.selectable_fields, "jsonPath"), named(both.1.selectable_fields, "jsonPath"));
        for (key, field) in old.iter().filter(|(key, _)| !new.contains_key(*key)) {
            let fact = self.version_fact(both, Aspect::SelectableField, Effect::Removed, Some(*field), both.1.selectable_fields);
            self.push_endpoint_fact(both, fact.key(key.0).word(Word::Name, cut(key.0, 100)).affects(&[Affected::Readers]));
        }
        for (key, field) in &new {
            let fact = match old.get(key) {
                None => {
                    let fact = self.version_fact(both, Aspect::SelectableField, Effect::Added, both.0.selectable_fields, Some(*field));
                    self.push_endpoint_fact(both, fact.key(key.0).word(Word::Name, cut(key.0, 100)));
                    continue;
                }
                Some(before) if !before.same(*field) => {
                    let members: Vec<&str> =
                        entries(Some(*before), Some(*field), &[]).filter_map(|(old, new)| Some(old.or(new)?.name())).collect();
                    self.version_fact(both, Aspect::Keyword, Effect::Changed, Some(*before), Some(*field))
                        .word(Word::Name, names(&members))
                        .word(Word::New, value(Some(*field)))
                }
                Some(_) => continue,
            };
            self.facts.push(fact.key(key.0));
        }
    }
}
