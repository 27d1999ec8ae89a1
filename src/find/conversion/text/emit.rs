//! Writes values as YAML or JSON, with the keys in the order of the source.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::input::yaml::{Data, Node};

use super::Renames;

/// The key order of the source. It is computed when the first mapping is written, because most conversions don't need it.
#[derive(Debug, Default)]
pub(crate) struct Order<'n> {
    source: Option<(Node<'n>, &'n Renames)>,
    names: OnceCell<NameOrder>,
}

#[derive(Debug, Default)]
struct NameOrder {
    /// The position where each name first occurs.
    ranks: BTreeMap<String, usize>,
    /// The key order of each mapping, by its sorted keys.
    mappings: BTreeMap<Vec<String>, Vec<String>>,
}

impl<'n> Order<'n> {
    /// The conventional order of an object's top-level fields.
    pub fn usual() -> Order<'static> {
        Order::default()
    }

    pub fn of(node: Node<'n>, renames: &'n Renames) -> Order<'n> {
        Order { source: Some((node, renames)), names: OnceCell::new() }
    }

    /// Orders entries like a mapping of the source with the same names, or the one that shares the most; new names come last.
    pub fn entries<'v>(&self, map: &'v Map<String, Value>) -> Vec<(&'v String, &'v Value)> {
        let mut entries: Vec<_> = map.iter().collect();
        if entries.len() < 2 {
            return entries;
        }
        let names = self.names.get_or_init(|| NameOrder::new(self.source));
        let model = names.model(map);
        let places: HashMap<&str, usize> = model.into_iter().flatten().enumerate().map(|(place, name)| (name.as_str(), place)).collect();
        let place = |name: &String| places.get(name.as_str()).copied().unwrap_or(usize::MAX);
        let rank = |name: &String| names.ranks.get(name).copied().unwrap_or(usize::MAX);
        let known = entries.iter().all(|(name, _)| place(name) != usize::MAX);
        entries.sort_by_cached_key(|(name, _)| if known { place(name) } else { rank(name) });
        entries
    }
}

impl NameOrder {
    fn new(source: Option<(Node<'_>, &Renames)>) -> NameOrder {
        let mut order = NameOrder::default();
        for name in ["apiVersion", "kind", "metadata", "spec", "status"] {
            order.see(name);
        }
        let Some((node, renames)) = source else { return order };
        order.collect(node);
        for (old, new) in renames {
            if let Some(rank) = order.ranks.get(old).copied() {
                order.ranks.entry(new.clone()).or_insert(rank);
            }
        }
        order
    }

    fn see(&mut self, name: &str) {
        if !self.ranks.contains_key(name) {
            self.ranks.insert(name.to_owned(), self.ranks.len());
        }
    }

    fn collect(&mut self, node: Node<'_>) {
        match node.data() {
            Data::Map => {
                let names: Vec<String> = node.entries().map(|entry| entry.name().to_owned()).collect();
                let mut sorted = names.clone();
                sorted.sort();
                self.mappings.entry(sorted).or_insert(names);
                node.entries().for_each(|entry| {
                    self.see(entry.name());
                    self.collect(entry.value);
                });
            }
            Data::Seq => node.items().for_each(|item| self.collect(item)),
            _ => {}
        }
    }

    /// The mapping of the source that has all these names and the fewest others.
    fn model(&self, map: &Map<String, Value>) -> Option<&Vec<String>> {
        let sorted: Vec<String> = map.keys().cloned().collect();
        self.mappings.get(&sorted).or_else(|| {
            let all = |known: &&Vec<String>| sorted.iter().all(|name| known.binary_search(name).is_ok());
            let models = self.mappings.iter().filter(|(known, _)| known.len() >= sorted.len() && all(known));
            models.map(|(_, names)| names).min_by_key(|names| names.len())
        })
    }
}

/// Writes a value in block style; every line starts with the indent, and the last one ends with a line break.
pub(super) fn block(value: &Value, order: &Order<'_>, indent: usize) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (name, child) in order.entries(map) {
                let _ = write!(out, "{}{}:", " ".repeat(indent), key(name));
                out.push_str(&after_key(child, order, indent));
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let text = block(item, order, indent + 2);
                let _ = writeln!(out, "{}- {}", " ".repeat(indent), text.trim_start().trim_end_matches('\n'));
            }
        }
        scalar => {
            let _ = writeln!(out, "{}{}", " ".repeat(indent), inline(scalar, order));
        }
    }
    out
}

/// Writes what follows `key:` in a mapping with this indent, up to the end of its last line.
pub(super) fn after_key(value: &Value, order: &Order<'_>, indent: usize) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => format!("\n{}", block(value, order, indent + 2)),
        Value::Array(items) if !items.is_empty() => format!("\n{}", block(value, order, indent)),
        Value::String(text) if is_block(text) => {
            let mut out = String::from(if text.ends_with('\n') { " |\n" } else { " |-\n" });
            for line in text.trim_end_matches('\n').split('\n') {
                let _ = writeln!(out, "{}{line}", if line.is_empty() { String::new() } else { " ".repeat(indent + 2) });
            }
            out
        }
        scalar => format!(" {}\n", inline(scalar, order)),
    }
}

/// Whether a multi-line string can be written as a block scalar without changes.
fn is_block(text: &str) -> bool {
    let body = text.trim_end_matches('\n');
    body.contains('\n')
        && text.len() - body.len() <= 1
        && !body.starts_with([' ', '\n'])
        && body.split('\n').all(|line| !line.ends_with(' ') && line.chars().all(|c| !c.is_control()))
}

/// Writes a value on one line.
pub(super) fn inline(value: &Value, order: &Order<'_>) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(|item| inline(item, order)).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entry = |(name, value): (&String, &Value)| format!("{}: {}", key(name), inline(value, order));
            let entries: Vec<String> = order.entries(map).into_iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

pub(super) fn key(name: &str) -> String {
    string(name)
}

/// Writes a plain scalar if every version of YAML reads it as this string, and a quoted one otherwise.
fn string(text: &str) -> String {
    const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/' | '-');
    let begins = text.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    if begins && !word && text.chars().all(plain) { text.to_owned() } else { Value::String(text.to_owned()).to_string() }
}

/// Writes multi-line JSON; lines after the first start with the indent.
pub(super) fn json(value: &Value, order: &Order<'_>, indent: usize) -> String {
    let pad = " ".repeat(indent + 2);
    let close = " ".repeat(indent);
    match value {
        Value::Object(map) if !map.is_empty() => {
            let entry =
                |(name, child): (&String, &Value)| format!("{pad}{}: {}", Value::String(name.clone()), json(child, order, indent + 2));
            let entries: Vec<String> = order.entries(map).into_iter().map(entry).collect();
            format!("{{\n{}\n{close}}}", entries.join(",\n"))
        }
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<String> = items.iter().map(|item| format!("{pad}{}", json(item, order, indent + 2))).collect();
            format!("[\n{}\n{close}]", items.join(",\n"))
        }
        scalar => scalar.to_string(),
    }
}
