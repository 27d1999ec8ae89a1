//! How the document is written: for an API that servers no longer have, or with scalars that YAML parsers read differently.

use std::collections::HashSet;

use crate::input::yaml::{Data, Node, NodeId};
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};

/// The CRD is written for `apiextensions.k8s.io/v1beta1`.
pub(super) fn outdated(collector: &mut FactCollector<'_>) {
    let at = collector.crd.node.get("apiVersion").unwrap_or(collector.crd.name_node);
    collector.note((Subject::Crd, Aspect::Api, Effect::Lapsed), at);
}

/// Finds `on`, `0777`, `1_000` as a value or as a key. A plain `yes` for a boolean means what it seems to mean.
pub(super) fn ambiguous(collector: &mut FactCollector<'_>) {
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
