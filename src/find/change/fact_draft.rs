//! A fact before it is known which objects show it.

use crate::compare::Sample;
use crate::model::fact::{Affected, Affects, Aspect, Certainty, Effect, Evidence, Fact, Mark, Word};

/// A fact that isn't emitted yet, with what the comparison found at its node.
///
/// A draft becomes a fact once: unchanged, with the object that shows it, or as [`FactDraft::harmless`].
pub(super) struct FactDraft {
    pub fact: Fact,
    pub lost: Option<Sample>,
    /// For a fact about a rule, its current text; for a removed rule, the old one.
    pub rule: Option<String>,
    /// The old text of a changed rule.
    pub old_rule: Option<String>,
}

impl FactDraft {
    /// A fact that affects nobody, because it is proved that no object is affected.
    pub(super) fn harmless(self) -> Fact {
        let mut fact = self.fact;
        fact.affects = Affects::NONE;
        fact.ratchet = None;
        fact.evidence = Evidence::proved();
        fact.words.remove(&Word::Writers);
        fact.words.remove(&Word::Readers);
        if fact.aspect == Aspect::Presence {
            fact.marks.remove(&Mark::Demanded);
        } else {
            fact.effect = Effect::Rewritten;
            fact.words.entry(Word::Keyword).or_insert_with(|| fact.aspect.name().to_owned());
        }
        fact
    }

    /// A fact about a field that no old object could have: the new schema can only accept more there.
    pub(super) fn widened(self) -> Fact {
        let aspect = self.fact.aspect;
        let mut fact = self.harmless().affects(&[Affected::Readers]);
        if aspect == Aspect::CelRule {
            fact.effect = Effect::Widened;
            return fact;
        }
        fact = fact.key(aspect.name());
        (fact.aspect, fact.effect) = (Aspect::Accepted, Effect::Widened);
        fact
    }

    /// A fact that affects no request, as far as many random objects show; `loosened` if some pass that were refused before.
    pub(super) fn tested(self, loosened: bool) -> Fact {
        let rule = matches!(self.fact.aspect, Aspect::CelRule | Aspect::CelTransition);
        let mut fact = self.harmless();
        if loosened && rule && fact.words.contains_key(&Word::New) {
            fact = fact.affects(&[Affected::Readers]);
            fact.effect = Effect::Widened;
        }
        fact.evidence.certainty = Certainty::Tested;
        fact.evidence.reason = Some("random objects show no difference".to_owned());
        fact
    }

    /// A fact for which no object was found: a break of requests, stored objects or data is then undecided, never proved.
    pub(super) fn unshown(mut fact: Fact, reason: impl Into<String>) -> Fact {
        if fact.affects.needs_object() || fact.affects.contains(Affected::Behaviour) {
            fact.evidence.certainty = Certainty::Undecided;
        }
        fact.evidence.reason = fact.evidence.reason.or_else(|| Some(reason.into()));
        fact
    }
}

impl From<Fact> for FactDraft {
    fn from(fact: Fact) -> Self {
        FactDraft { fact, lost: None, rule: None, old_rule: None }
    }
}
