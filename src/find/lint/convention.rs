//! Habits of Kubernetes APIs that a schema shows, where breaking them costs clients something.

use crate::model::Priority;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Keyword, Schema};

use super::edition::Layout;
use super::fact_collector::Ledger;
use super::route::Route;
use super::walk::Walk;

pub(super) fn node<'t>(walk: &mut Walk<'_, 't>, schema: &Schema<'t>, route: &Route<'_, 't>) {
    if let Some(name) = route.name()
        && name.contains(['_', '-'])
        && !name.starts_with("x-")
    {
        walk.note((Aspect::Name, Effect::Unclear), route.key, route).words.insert(Word::Name, name.to_owned());
    }
    if schema.ty() == Some("array") && route.name() == Some("conditions") {
        conditions(walk, schema, route);
    }
}

/// `status.conditions` is a map list keyed by `type`, or writers overwrite each other's conditions.
fn conditions<'t>(walk: &mut Walk<'_, 't>, schema: &Schema<'t>, route: &Route<'_, 't>) {
    let path = route.path();
    let is_status = path.head() == Some("status") && path.steps().len() == 2;
    let keyed = schema.text(Keyword::ListType) == Some("map") && schema.names(Keyword::ListMapKeys).eq(["type"]);
    let has_type = schema.items().is_some_and(|items| items.property("type").is_some());
    if is_status && has_type && !keyed {
        walk.note((Aspect::ListType, Effect::Missing), route.key, route);
    }
}

pub(super) fn crd<'t>(ledger: &mut Ledger<'t>, layout: &Layout<'t>) {
    if let Some(kind) = ledger.crd.names.kind
        && !kind.value.starts_with(|c: char| c.is_ascii_uppercase())
        && !kind.value.is_empty()
    {
        ledger.note((Subject::Crd, Aspect::Kind, Effect::Unclear), kind.node).words.insert(Word::Name, kind.value.to_owned());
    }
    for edition in &layout.editions {
        let name = edition.name;
        if !name.is_empty() && matches!(Priority::of(name), Priority::Other(_)) {
            let fact = ledger.note((Subject::Version, Aspect::Name, Effect::Unclear), edition.anchor());
            fact.version = Some(name.to_owned());
            fact.words.insert(Word::Name, name.to_owned());
        }
    }
}
