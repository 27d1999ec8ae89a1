//! Compares the documentation of a node, and keywords that no other fact has reported.

use crate::model::fact::{Affected, Aspect, Effect, Evidence, Word};
use crate::model::schema::{Keyword, deprecation_notice, is_deprecated};

use super::change_list::Changes;
use super::description_text;
use super::side_by_side::differing;
use super::value_text;
use super::walk::{ChangeWalk, NodePair};

impl ChangeWalk<'_> {
    pub(super) fn documented<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        self.described(pair, changes);
        for word in [Keyword::Title, Keyword::ExternalDocs, Keyword::Example] {
            if let Some(change) = changes.take(word) {
                let effect = presence(change.old.is_some(), change.new.is_some());
                let fact = self.keyword_fact(pair, word.aspect(), effect, change.old, change.new).key(word.name());
                self.push(fact.word(Word::Keyword, word.name()));
            }
        }
    }

    fn described<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        let Some(change) = changes.take(Keyword::Description) else { return };
        let text = |entry: Option<crate::input::yaml::Entry<'t>>| entry.and_then(|entry| entry.value.as_str()).unwrap_or_default();
        let (old, new) = (text(change.old), text(change.new));
        let (was, is) = (is_deprecated(old), is_deprecated(new));
        if was != is {
            let effect = if is { Effect::Added } else { Effect::Removed };
            let notice = value_text::cut(deprecation_notice(if is { new } else { old }).trim(), 120);
            let fact = self.keyword_fact(pair, Aspect::Deprecation, effect, change.old, change.new);
            self.push(fact.word(Word::Notice, notice).affects(&[Affected::Behaviour]));
            return;
        }
        let effect = presence(change.old.is_some(), change.new.is_some());
        let difference = description_text::difference(old, new);
        let meaning = effect == Effect::Changed && difference.as_ref().is_some_and(|difference| difference.meaning);
        let aspect = if meaning { Aspect::Meaning } else { Aspect::Description };
        let fact = self.keyword_fact(pair, aspect, effect, change.old, change.new);
        self.push(match difference {
            Some(difference) => fact.word(Word::Old, difference.old).word(Word::New, difference.new),
            None => fact.word(Word::New, "only line breaks differ"),
        });
    }

    /// Reports keywords that changed without any effect, and unknown keys.
    pub(super) fn remaining_keywords<'t>(&mut self, pair: &NodePair<'_, 't>, changes: &mut Changes<'t>) {
        for change in changes.unreported() {
            let aspect = change.word.aspect();
            // The server rejects these, so their meaning is undefined.
            let effect = if aspect == Aspect::Structure { Effect::Undecided } else { Effect::Rewritten };
            let mut fact = self
                .keyword_fact(pair, aspect, effect, change.old, change.new)
                .key(change.word.name())
                .word(Word::Keyword, change.word.name())
                .word(Word::Old, value_text::value(change.old.map(|entry| entry.value)))
                .word(Word::New, value_text::value(change.new.map(|entry| entry.value)));
            if effect == Effect::Undecided {
                let reason = format!("API servers reject a schema with `{}`", change.word.name());
                fact = fact.affects(&[Affected::Writers, Affected::Stored]).evidence(Evidence::undecided(reason));
            }
            self.push(fact);
        }
        self.unknown(pair);
    }

    fn unknown(&mut self, pair: &NodePair<'_, '_>) {
        for (old, new) in differing(pair.old.unknown(), pair.new.unknown()) {
            let name = old.or(new).map_or("", |entry| entry.name());
            let effect = presence(old.is_some(), new.is_some());
            let fact = self.keyword_fact(pair, Aspect::Keyword, effect, old, new).key(name);
            self.push(fact.word(Word::Keyword, value_text::cut(name, 60)));
        }
    }
}

pub(super) fn presence(old: bool, new: bool) -> Effect {
    match (old, new) {
        (false, true) => Effect::Added,
        (true, false) => Effect::Removed,
        _ => Effect::Changed,
    }
}
