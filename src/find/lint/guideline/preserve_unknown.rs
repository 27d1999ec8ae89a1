//! Checks `x-kubernetes-preserve-unknown-fields`: at the root of every version, as the guidelines require, and below it, where
//! needed.

use crate::input::list_some;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Keyword, Schema, is_meta};
use crate::model::{Crd, FieldPath, PathStep};

/// How many objects a message names; the others are counted.
const NAMED: usize = 3;

pub(super) fn check(collector: &mut FactCollector<'_>) {
    let crd = collector.crd.clone();
    for version in &crd.versions {
        let Some(schema) = &version.schema else { continue };
        let at = version.schema_key();
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
        let fact = collector.note((Subject::Version, Aspect::PreserveUnknown, Effect::Shallow), at);
        fact.version = Some(version.name.to_owned());
        fact.words.insert(Word::Count, closed.len().to_string());
        fact.words.insert(Word::List, list_some(closed.iter().map(|path| format!("`{path}`")), NAMED));
    }
}

/// Collects objects that drop undeclared fields. `kept` is true under a list that preserves unknown fields.
fn below(schema: &Schema<'_>, kept: bool, path: &mut FieldPath, closed: &mut Vec<FieldPath>) {
    let keeps = kept || schema.preserves_unknown();
    if schema.ty() == Some("object") && !keeps && !schema.has(Keyword::AdditionalProperties) {
        closed.push(path.clone());
    }
    for (step, _, child) in schema.children() {
        if path.is_root() && matches!(step, PathStep::Key(name) if is_meta(name)) {
            continue;
        }
        path.push(step.into());
        below(&child, keeps && step == PathStep::Items, path, closed);
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
