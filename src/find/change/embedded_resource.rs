//! Compares which objects are embedded resources: that decides what they must have, and what is kept in their metadata.

use crate::model::fact::{Affected, Aspect, Effect, Ratchet};
use crate::model::schema::Keyword;

use super::change_list::Changes;
use super::walk::{ChangeWalk, NodePair};

impl ChangeWalk<'_> {
    pub(super) fn embedded_resource<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let (old, new) = (pair.old.flag(Keyword::EmbeddedResource), pair.new.flag(Keyword::EmbeddedResource));
        if old != new
            && let Some(change) = changes.take(Keyword::EmbeddedResource)
        {
            // A node that preserves unknown fields still keeps apiVersion, kind and metadata, but no longer checks them.
            let kept = pair.old.preserves_unknown() && pair.new.preserves_unknown() && pair.new.property("metadata").is_none();
            let (aspect, effect) = match (new, kept) {
                (true, _) => (Aspect::EmbeddedResource, Effect::Added),
                (false, false) => (Aspect::EmbeddedResource, Effect::Removed),
                (false, true) => (Aspect::Accepted, Effect::Widened),
            };
            let fact = self.keyword_fact(pair, aspect, effect, change.old, change.new);
            let fact = match new {
                true => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Never),
                false if kept => fact.affects(&[Affected::Readers]),
                // Its metadata, apiVersion and kind are no longer protected from pruning.
                false => fact.affects(&[Affected::Data]),
            };
            self.push(fact);
        }
    }
}
