//! Checks how the document is written: for a removed API version, or with text that parsers and deployment tools interpret
//! differently.

use std::collections::HashSet;

use crate::input::yaml::{Data, Node, NodeId};
use crate::model::FactCollector;
use crate::model::fact::{Affected, Affects, Aspect, Effect, Subject, Word};

use super::apply_size;

/// Reports a CRD written for `apiextensions.k8s.io/v1beta1`.
pub(super) fn outdated(collector: &mut FactCollector<'_>) {
    let at = collector.crd.node.get("apiVersion").unwrap_or(collector.crd.name_node);
    collector.note((Subject::Crd, Aspect::Api, Effect::Lapsed), at).affects = Affects::of(&[Affected::Refused]);
}

/// Checks how other tools may change the document on its way to the server.
pub(super) fn check(collector: &mut FactCollector<'_>) {
    ambiguous(collector);
    substituted(collector);
    apply_size::check(collector);
}

/// Finds `${` in a schema, which Flux's post-build substitution replaces. Its users escape it as `$${`.
fn substituted(collector: &mut FactCollector<'_>) {
    let crd = collector.crd.clone();
    if memchr::memmem::find(crd.node.source().as_bytes(), b"${").is_none() {
        return;
    }
    let mut found = Variables { first: None, count: 0 };
    for version in &crd.versions {
        if let Some(schema) = &version.schema {
            found.search(schema.node(), &mut format!("{}.schema.openAPIV3Schema", version.name));
        }
    }
    let Some((node, at, text)) = found.first else { return };
    let fact = collector.note((Subject::Crd, Aspect::Document, Effect::Unsafe), node);
    fact.words.insert(Word::Value, text);
    fact.words.insert(Word::First, at);
    fact.words.insert(Word::Count, found.count.to_string());
}

/// The variables of a document, in file order.
struct Variables<'t> {
    /// The value with the first variable, its place, and the variable itself.
    first: Option<(Node<'t>, String, String)>,
    count: usize,
}

impl<'t> Variables<'t> {
    fn search(&mut self, node: Node<'t>, at: &mut String) {
        for text in node.as_str().into_iter().flat_map(variables) {
            self.count += 1;
            self.first.get_or_insert_with(|| (node, at.clone(), text.to_owned()));
        }
        let length = at.len();
        for entry in node.entries() {
            at.push('.');
            at.push_str(entry.name());
            self.search(entry.value, at);
            at.truncate(length);
        }
        for (index, item) in node.items().enumerate() {
            at.push_str(&format!("[{index}]"));
            self.search(item, at);
            at.truncate(length);
        }
    }
}

/// Each unescaped `${…}` in a text.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("${").filter(|&(start, _)| !text[..start].ends_with('$'));
    starts.map(|(start, _)| text[start..].find('}').map_or("${", |end| &text[start..=start + end]))
}

/// Finds `on`, `0777`, `1_000` as a value or key. An unquoted `yes` for a boolean means what it seems to mean.
fn ambiguous(collector: &mut FactCollector<'_>) {
    let span = collector.crd.node.span();
    let inside = |node: &Node<'_>| span.start <= node.span().start && node.span().end <= span.end;
    let ids: HashSet<NodeId> = collector.crd.node.tree().ambiguous().filter(inside).map(Node::id).collect();
    if !ids.is_empty() {
        find(collector, collector.crd.node, &ids, "", &mut String::new());
    }
}

fn find<'t>(collector: &mut FactCollector<'t>, node: Node<'t>, ids: &HashSet<NodeId>, keyword: &str, at: &mut String) {
    if ids.contains(&node.id()) && !(matches!(node.data(), Data::Bool(_)) && is_flag(keyword)) {
        say(collector, node, at, "value");
    }
    let length = at.len();
    for entry in node.entries() {
        if ids.contains(&entry.key.id()) {
            say(collector, entry.key, at, "key");
        }
        at.push('.');
        at.push_str(entry.name());
        find(collector, entry.value, ids, entry.name(), at);
        at.truncate(length);
    }
    for (index, item) in node.items().enumerate() {
        at.push_str(&format!("[{index}]"));
        find(collector, item, ids, keyword, at);
        at.truncate(length);
    }
}

fn say<'t>(collector: &mut FactCollector<'t>, node: Node<'t>, at: &str, part: &str) {
    let fact = collector.note((Subject::Crd, Aspect::Document, Effect::Unclear), node);
    fact.key = Some(at.trim_start_matches('.').to_owned());
    fact.words.insert(Word::Value, node.source().to_owned());
    fact.words.insert(Word::Read, if part == "key" { node.key_text().to_owned() } else { node.to_json().to_string() });
    fact.words.insert(Word::Part, part.to_owned());
}

fn is_flag(keyword: &str) -> bool {
    matches!(
        keyword,
        "nullable"
            | "exclusiveMinimum"
            | "exclusiveMaximum"
            | "uniqueItems"
            | "additionalProperties"
            | "served"
            | "storage"
            | "deprecated"
            | "preserveUnknownFields"
            | "optionalOldSelf"
    ) || keyword.starts_with("x-kubernetes-")
}

#[cfg(test)]
mod tests {
    use super::variables;

    #[test]
    fn variables_are_found_unless_they_are_escaped() {
        let found = |text| variables(text).collect::<Vec<_>>();
        assert_eq!(found("a ${NAME} and ${OTHER:=x}"), ["${NAME}", "${OTHER:=x}"]);
        assert_eq!(found("$${NAME} $NAME {NAME} ^a$"), [] as [&str; 0]);
        assert_eq!(found("^\u{e9}${ open"), ["${"]);
    }
}
