//! Compares keywords that decide how server-side apply merges lists and maps.

use crate::model::fact::{Affected, Aspect, Effect, Mark, Ratchet, Word};
use crate::model::schema::{Keyword, Schema};

use super::change_list::Changes;
use super::value_text;
use super::walk::{ChangeWalk, NodePair};

impl ChangeWalk<'_> {
    /// Compares keywords that decide how server-side apply merges, and what embedded objects must be.
    pub(super) fn merge_keywords<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let list_type = |schema: &Schema<'t>| schema.text(Keyword::ListType).unwrap_or("atomic");
        let map_type = |schema: &Schema<'t>| schema.text(Keyword::MapType).unwrap_or("granular");
        let (old, new) = (list_type(&pair.old), list_type(&pair.new));
        if old != new {
            let change = changes.first(&[Keyword::ListType, Keyword::ListMapKeys]);
            changes.report_all(&[Keyword::ListType, Keyword::ListMapKeys]);
            let mut fact = self
                .keyword_fact(pair, Aspect::ListType, Effect::Changed, change.and_then(|c| c.old), change.and_then(|c| c.new))
                .word(Word::Old, old)
                .word(Word::New, new)
                .affects(&[Affected::Merge]);
            if new != "atomic" {
                fact = fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Always);
            }
            self.push(fact);
        }
        if let Some(change) = changes.take(Keyword::ListMapKeys) {
            let sorted = |schema: &Schema<'t>| {
                let mut keys: Vec<&str> = schema.names(Keyword::ListMapKeys).collect();
                keys.sort_unstable();
                keys
            };
            let (old, new) = (sorted(&pair.old), sorted(&pair.new));
            let keyed = list_type(&pair.new) == "map";
            let effect = if old == new || !keyed { Effect::Rewritten } else { Effect::Changed };
            let mut fact = self
                .keyword_fact(pair, Aspect::MapKeys, effect, change.old, change.new)
                .word(Word::Old, value_text::names(&old))
                .word(Word::New, value_text::names(&new));
            if effect == Effect::Changed {
                fact = fact.affects(&[Affected::Merge]);
            }
            // With fewer keys, more items are duplicates.
            if effect == Effect::Changed && !old.iter().all(|key| new.contains(key)) {
                fact = fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Always).mark(Mark::Fewer);
            }
            self.push(fact);
        }
        let (old, new) = (map_type(&pair.old), map_type(&pair.new));
        if old != new
            && let Some(change) = changes.take(Keyword::MapType)
        {
            let fact = self.keyword_fact(pair, Aspect::MapType, Effect::Changed, change.old, change.new);
            self.push(fact.word(Word::Old, old).word(Word::New, new).affects(&[Affected::Merge]));
        }
    }
}
