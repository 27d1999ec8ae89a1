//! Checks Kubernetes API conventions that matter to clients.

use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Keyword, Schema};
use crate::model::{FactCollector, Priority};
use crate::server::crd::{SchemaPosition, VersionList};

use super::walk::LintWalk;

pub(super) fn node<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    if let Some(name) = position.name()
        && name.contains(['_', '-'])
        && !name.starts_with("x-")
    {
        walk.note((Aspect::Name, Effect::Unclear), position.key, position).words.insert(Word::Name, name.to_owned());
    }
    if schema.ty() == Some("array") && position.name() == Some("conditions") {
        conditions(walk, schema, position);
    }
}

/// `status.conditions` must be a map list keyed by `type`, or writers overwrite each other's conditions.
fn conditions<'t>(walk: &mut LintWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let path = position.path();
    let is_status = path.head() == Some("status") && path.steps().len() == 2;
    let keyed = schema.text(Keyword::ListType) == Some("map") && schema.names(Keyword::ListMapKeys).eq(["type"]);
    let has_type = schema.items().is_some_and(|items| items.property("type").is_some());
    if is_status && has_type && !keyed {
        walk.note((Aspect::ListType, Effect::Missing), position.key, position);
    }
}

pub(super) fn crd<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>) {
    if let Some(kind) = collector.crd.names.kind
        && !kind.value.starts_with(|c: char| c.is_ascii_uppercase())
        && !kind.value.is_empty()
    {
        collector.note((Subject::Crd, Aspect::Kind, Effect::Unclear), kind.node).words.insert(Word::Name, kind.value.to_owned());
    }
    for version in &versions.entries {
        let name = version.name;
        if !name.is_empty() && matches!(Priority::of(name), Priority::Other(_)) {
            let fact = collector.note((Subject::Version, Aspect::Name, Effect::Unclear), version.anchor());
            fact.version = Some(name.to_owned());
            fact.words.insert(Word::Name, name.to_owned());
        }
    }
}
