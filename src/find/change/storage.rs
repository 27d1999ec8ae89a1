//! Compares the storage version, and how objects are converted between versions.

use foldhash::HashSet;

use crate::input::yaml::Node;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Mark, Subject, Word};
use crate::model::{Crd, FieldPath, Version};
use crate::server::object::Scale;

use super::crd::CrdComparison;
use super::documentation::presence;
use super::evidence::attach;
use super::fact_draft::FactDraft;
use super::side_by_side::entries;
use super::value_text::{names, value};
use super::walk::{ChangeWalk, FactScope};

impl<'t> CrdComparison<'_, 't> {
    pub(super) fn storage(&mut self) {
        let stored = |crd: &Crd<'t>| crd.versions.iter().filter(|version| version.storage).count();
        match (self.old.storage_version(), self.new.storage_version()) {
            (Some(before), Some(after)) if stored(self.old) == 1 && stored(self.new) == 1 => {
                if before.name != after.name {
                    self.storage_moved(before, after);
                }
            }
            _ => self.storage_flags(),
        }
        let name = |version: Option<&Version<'t>>| version.map_or("none", |version| version.name).to_owned();
        let (old, new) = (self.old.preferred_version(), self.new.preferred_version());
        if name(old) != name(new) {
            let node = |version: Option<&Version<'t>>| version.map(|version| version.name_node);
            let fact = self.crd_fact(Aspect::Preferred, Effect::Changed, node(old), node(new));
            self.facts.push(fact.word(Word::Old, name(old)).word(Word::New, name(new)).affects(&[Affected::Readers]));
        }
    }

    /// At least one side doesn't have exactly one storage version, which servers reject: report each flag that changed.
    fn storage_flags(&mut self) {
        for after in &self.new.versions {
            if let Some(before) = self.before(after).filter(|before| before.storage != after.storage) {
                let effect = if after.storage { Effect::Added } else { Effect::Removed };
                let flag = |version: &Version<'t>| version.node.get("storage");
                let fact = self.version_fact((before, after), Aspect::Storage, effect, flag(before), flag(after));
                let reason = "servers refuse a CRD without exactly one storage version";
                self.facts.push(fact.affects(&[Affected::Stored]).evidence(Evidence::undecided(reason)));
            }
        }
    }

    fn storage_moved(&mut self, before: &Version<'t>, after: &Version<'t>) {
        let fact = |review: &Self, effect: Effect| {
            let flag = |version: &Version<'t>| version.node.get("storage").unwrap_or(version.name_node);
            review
                .fact(Subject::Version, Aspect::Storage, effect)
                .version(after.name)
                .before(review.old_place(flag(before)))
                .after(review.new_place(flag(after)))
                .against(before.name)
                .word(Word::Old, before.name)
                .word(Word::New, after.name)
        };
        // A webhook may preserve what the schemas alone would prune.
        let lost = if self.new.conversion.is_webhook() { Vec::new() } else { self.lost(before, after) };
        let moved = match lost.as_slice() {
            [] if self.new.version(before.name).is_none() => fact(self, Effect::Moved).mark(Mark::Gone),
            [] => fact(self, Effect::Moved),
            lost => {
                let mut paths: Vec<String> = lost.iter().map(|fact| fact.path.to_string()).collect();
                paths.sort();
                paths.dedup();
                let fact = fact(self, Effect::Lossy).word(Word::Lost, names(&paths)).affects(&[Affected::Data, Affected::Stored]);
                fact.evidence(strongest(lost))
            }
        };
        self.facts.push(moved);
        if self.old.version(after.name).is_none() {
            // After a rollback to the old bundle, there would be objects that it can't read.
            let hazard = fact(self, Effect::Unsafe).affects(&[Affected::Stored]);
            self.facts.push(hazard);
        }
    }

    /// The differences between the former storage version and the new one that lose values which the old CRD kept.
    fn lost(&self, before: &Version<'t>, after: &Version<'t>) -> Vec<Fact> {
        // Changes of a version that still exists are reported there.
        let (crd, now) = match self.new.version(before.name) {
            Some(stays) => (self.new, stays),
            None => (self.old, before),
        };
        let mut drafts = self.drafts_between((crd, now), (self.new, after), &(Scale::of(now), Scale::of(after)));
        // Others are already reported for clients that move from one version to the other.
        let reported: HashSet<_> = self.facts.iter().filter(|fact| fact.subject == Subject::Field).map(place_of).collect();
        drafts.retain(|draft| is_lossy(&draft.fact) && !reported.contains(&place_of(&draft.fact)));
        let facts: Vec<Fact> = match (&before.schema, &after.schema) {
            (Some(was), Some(is)) if self.options.witnesses => {
                attach(drafts, (was, &Scale::of(before)), (is, &Scale::of(after)), self.resource(after), self.budget)
            }
            _ => drafts.into_iter().map(|draft| draft.fact).collect(),
        };
        // A field that no object can have is lost to nobody.
        facts.into_iter().filter(|fact| is_lossy(fact) && !fact.affects.is_empty()).collect()
    }

    /// How the schema of one version differs from another's.
    fn drafts_between(
        &self,
        (old, before): (&Crd<'t>, &Version<'t>),
        (new, after): (&Crd<'t>, &Version<'t>),
        scales: &(Scale, Scale),
    ) -> Vec<FactDraft> {
        let (Some(from), Some(to)) = (&before.schema, &after.schema) else { return Vec::new() };
        let scope = FactScope {
            crd: self.new.name,
            channel: None,
            version: after.name,
            old_file: old.file,
            new_file: new.file,
            kubernetes: new.kubernetes,
            subject: Subject::Field,
            against: Some(before.name),
            scales,
            options: self.options,
            budget: self.budget,
        };
        ChangeWalk::new(scope).drafts((from, before.name_node), (to, after.name_node))
    }

    pub(super) fn conversion(&mut self) {
        let (old, new) = (self.old.conversion.strategy(), self.new.conversion.strategy());
        let nodes = |crd: &Crd<'t>| crd.conversion.strategy.map(|strategy| strategy.node);
        if old != new {
            let (effect, affects): (Effect, &[Affected]) = match (old, new) {
                (_, "Webhook") => (Effect::Added, &[Affected::Behaviour]),
                ("Webhook", _) if self.versions_agree() => (Effect::Rewritten, &[]),
                ("Webhook", _) => (Effect::Removed, &[Affected::Data, Affected::Behaviour]),
                _ => (Effect::Changed, &[Affected::Behaviour]),
            };
            let fact = self.crd_fact(Aspect::ConversionStrategy, effect, nodes(self.old), nodes(self.new));
            let fact = fact.word(Word::Old, old).word(Word::New, new).word(Word::Keyword, "conversion.strategy").affects(affects);
            self.facts.push(match fact.affects.needs_object() {
                true => fact.evidence(Evidence::undecided("what the webhook kept isn't known")),
                false => fact,
            });
        } else if nodes(self.old).is_some() != nodes(self.new).is_some() {
            let fact = self.crd_fact(Aspect::ConversionStrategy, Effect::Rewritten, nodes(self.old), nodes(self.new));
            self.facts.push(fact.word(Word::Keyword, "conversion.strategy").word(Word::Old, old).word(Word::New, new));
        }
        if old == "Webhook" || new == "Webhook" || old == new {
            self.webhook(old == new);
        }
    }

    /// Compares where the webhook is, and which review versions it supports.
    fn webhook(&mut self, stays: bool) {
        // The whole stanza is added or removed with the strategy.
        if !stays {
            return;
        }
        let parts = |crd: &Crd<'t>| {
            let stanza = crd.conversion.node;
            // v1 nests what v1beta1 has next to the strategy.
            let inner = stanza.and_then(|node| node.get("webhook")).or(stanza);
            let client =
                inner.and_then(|node| node.get("clientConfig")).or_else(|| stanza.and_then(|node| node.get("webhookClientConfig")));
            (client, inner.and_then(|node| node.get("conversionReviewVersions")))
        };
        let ((old_client, old_versions), (new_client, new_versions)) = (parts(self.old), parts(self.new));
        for (before, after) in entries(old_client, new_client, &[]) {
            let name = before.or(after).map_or("", |entry| entry.name());
            let effect = presence(before.is_some(), after.is_some());
            let node = |entry: Option<crate::input::yaml::Entry<'t>>| entry.map(|entry| entry.value);
            let fact = self.crd_fact(Aspect::ConversionWebhook, effect, node(before), node(after)).key(name).word(Word::Name, name);
            self.facts.push(fact.word(Word::Old, value(node(before))).word(Word::New, value(node(after))));
        }
        let differ = match (old_versions, new_versions) {
            (Some(old), Some(new)) => !old.same(new),
            (None, None) => false,
            _ => true,
        };
        if differ {
            let effect = presence(old_versions.is_some(), new_versions.is_some());
            let fact = self.crd_fact(Aspect::ReviewVersions, effect, old_versions, new_versions);
            self.facts.push(fact.word(Word::Old, value(old_versions)).word(Word::New, value(new_versions)));
        }
        let known = ["strategy", "webhook", "webhookClientConfig", "conversionReviewVersions", "clientConfig"];
        let stanza = |crd: &Crd<'t>| crd.conversion.node;
        let webhook = |crd: &Crd<'t>| crd.conversion.node.and_then(|node: Node<'t>| node.get("webhook"));
        for (before, after) in [(stanza(self.old), stanza(self.new)), (webhook(self.old), webhook(self.new))]
            .into_iter()
            .flat_map(|(old, new)| entries(old, new, &known))
        {
            let name = before.or(after).map_or("", |entry| entry.name());
            let effect = presence(before.is_some(), after.is_some());
            let fact = self.crd_fact(Aspect::Keyword, effect, before.map(|entry| entry.value), after.map(|entry| entry.value));
            self.facts.push(fact.key(name).word(Word::Name, name));
        }
    }

    /// Whether all versions of the new CRD accept and keep the same objects.
    fn versions_agree(&self) -> bool {
        let Some((first, rest)) = self.new.versions.split_first() else { return true };
        let differs = |version: &Version<'t>| {
            let scales = (Scale::of(first), Scale::of(version));
            !self.drafts_between((self.new, first), (self.new, version), &scales).is_empty()
        };
        !rest.iter().any(differs)
    }
}

/// The best proof among several facts: an object, if there is one.
fn strongest(facts: &[Fact]) -> Evidence {
    let shown = facts.iter().find(|fact| fact.evidence.witness.is_some());
    let strongest = shown.or_else(|| facts.iter().min_by_key(|fact| fact.evidence.certainty));
    strongest.map_or_else(Evidence::proved, |fact| fact.evidence.clone())
}

/// Whether a difference between storage versions loses or changes stored values.
fn is_lossy(fact: &Fact) -> bool {
    loses(fact) || alters(fact)
}

/// Whether stored objects differ at the storage version, whichever version reads them: an absent or null value becomes another, or
/// a field is added where unknown keys are kept and may not fit.
fn alters(fact: &Fact) -> bool {
    let hurts = |affected| fact.affects.contains(affected);
    match fact.aspect {
        Aspect::Default | Aspect::Nullable => hurts(Affected::Data) || hurts(Affected::Behaviour),
        Aspect::Presence => fact.effect == Effect::Added && hurts(Affected::Data),
        _ => false,
    }
}

/// Whether a difference drops or retypes an existing value.
fn loses(fact: &Fact) -> bool {
    match fact.aspect {
        // Under a parent that preserves unknown fields, the key stays, undeclared.
        Aspect::Presence => matches!(fact.effect, Effect::Removed | Effect::Renamed) && !fact.is(Mark::Kept),
        Aspect::Type | Aspect::IntOrString | Aspect::PreserveUnknown | Aspect::AdditionalProperties => {
            !matches!(fact.effect, Effect::Widened | Effect::Rewritten)
        }
        Aspect::EmbeddedResource => fact.effect == Effect::Removed,
        _ => false,
    }
}

/// What a fact is about, apart from its effect.
fn place_of(fact: &Fact) -> (Aspect, &FieldPath, Option<&str>, Option<&str>) {
    (fact.aspect, &fact.path, fact.version.as_deref(), fact.against.as_deref())
}
