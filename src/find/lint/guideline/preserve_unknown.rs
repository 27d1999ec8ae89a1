//! Checks `x-kubernetes-preserve-unknown-fields`: at the root of every version, as the guidelines require, and below it, where
//! needed.

use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Additional, Schema, is_meta};
use crate::model::{Crd, FieldPath, PathStep, Version};

/// How many objects a message names; the others are counted.
const NAMED: usize = 3;

pub(super) fn check(collector: &mut FactCollector<'_>) {
    let crd = collector.crd.clone();
    for version in &crd.versions {
        let Some(schema) = &version.schema else { continue };
        let at = key(version);
        if !schema.preserves_unknown() {
            let fact = collector.note((Subject::Version, Aspect::PreserveUnknown, Effect::Missing), at);
            fact.version = Some(version.name.to_owned());
            continue;
        }
        let mut closed = Vec::new();
        below(schema, false, &mut FieldPath::root(), &mut closed);
        if closed.is_empty() {
            continue;
        }
        let more = closed.len().saturating_sub(NAMED);
        let named: Vec<String> = closed.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
        let list = if more > 0 { format!("{} and {more} more", named.join(", ")) } else { named.join(", ") };
        let fact = collector.note((Subject::Version, Aspect::PreserveUnknown, Effect::Shallow), at);
        fact.version = Some(version.name.to_owned());
        fact.words.insert(Word::Count, closed.len().to_string());
        fact.words.insert(Word::List, list);
    }
}

/// The key of the version's schema.
fn key<'t>(version: &Version<'t>) -> Node<'t> {
    version.node.get("schema").and_then(|stanza| stanza.entry("openAPIV3Schema")).map_or(version.name_node, |entry| entry.key)
}

/// Collects objects that drop undeclared fields. `kept` is true under a list that preserves unknown fields.
fn below(schema: &Schema<'_>, kept: bool, path: &mut FieldPath, closed: &mut Vec<FieldPath>) {
    let keeps = kept || schema.preserves_unknown();
    let additional = schema.additional();
    if schema.ty() == Some("object") && !keeps && matches!(additional, Additional::Absent) {
        closed.push(path.clone());
    }
    for (entry, child) in schema.properties() {
        if path.is_root() && is_meta(entry.name()) {
            continue;
        }
        path.push(PathStep::Key(entry.name().into()));
        below(&child, false, path, closed);
        path.pop();
    }
    if let Some(items) = schema.items() {
        path.push(PathStep::Items);
        below(&items, keeps, path, closed);
        path.pop();
    }
    if let Additional::Schema(values) = additional {
        path.push(PathStep::Values);
        below(&values, false, path, closed);
        path.pop();
    }
}

/// Reports conversion by webhook, which the guidelines forbid.
pub(super) fn webhook(collector: &mut FactCollector<'_>) {
    let Some(strategy) = collector.crd.conversion.strategy.filter(|_| collector.crd.conversion.is_webhook()) else { return };
    collector.note((Subject::Crd, Aspect::ConversionStrategy, Effect::Unsafe), strategy.node);
}

/// Whether a version of the new CRD is missing in the old one.
pub(super) fn is_new(old: Option<&Crd<'_>>, version: &str) -> bool {
    old.is_none_or(|old| old.version(version).is_none())
}
