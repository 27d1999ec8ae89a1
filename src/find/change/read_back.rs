//! Finds what clients of a version that isn't the storage version read back: the storage version may apply defaults or keep fields
//! that their own version doesn't.

use serde_json::Value;

use crate::model::fact::{Effect, Fact, Outcome};
use crate::model::schema::Shape;
use crate::model::{Crd, Version};
use crate::server::object::Compiled;

use super::crd::CrdComparison;
use super::fact_draft::FactDraft;

/// A version and the storage version of its objects.
struct Stored {
    version: Compiled,
    storage: Compiled,
}

impl Stored {
    /// Returns `None` if a webhook converts objects, or if this is the storage version.
    fn of(crd: &Crd<'_>, version: &Version<'_>) -> Option<Self> {
        let webhook = crd.conversion.is_webhook();
        let storage = crd.storage_version().filter(|storage| storage.name != version.name && !webhook)?;
        let compiled = |version: &Version<'_>| version.schema.as_ref().map(|schema| Compiled::new(&Shape::of(schema)));
        Some(Stored { version: compiled(version)?, storage: compiled(storage)? })
    }

    /// The object as read after it was created.
    fn read_back(&self, object: &Value) -> Value {
        self.version.read(self.storage.read(self.version.request(object.clone()).stored))
    }
}

impl<'t> CrdComparison<'_, 't> {
    /// Filters facts about what is stored differently down to those that clients of the version can see.
    pub(super) fn seen_by_clients(&self, facts: Vec<Fact>, before: &Version<'t>, after: &Version<'t>) -> Vec<Fact> {
        let changed = |fact: &Fact| fact.evidence.witness.as_ref().is_some_and(|witness| witness.new == Outcome::Changed);
        if !facts.iter().any(changed) {
            return facts;
        }
        let (Some(old), Some(new)) = (Stored::of(self.old, before), Stored::of(self.new, after)) else { return facts };
        let unseen = |fact: &Fact| {
            let object = fact.evidence.witness.as_ref().map(|witness| &witness.object);
            changed(fact) && object.is_some_and(|object| old.read_back(object) == new.read_back(object))
        };
        // Clients read the same, but conditions around may see a difference when they write.
        let as_seen = |fact: Fact| match fact.effect {
            Effect::Changed if unseen(&fact) => FactDraft::from(fact).widened(),
            _ if unseen(&fact) => FactDraft::from(fact).harmless(),
            _ => fact,
        };
        facts.into_iter().map(as_seen).collect()
    }
}
