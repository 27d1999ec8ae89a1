//! Checks the guidelines: facts about preserving, publishing and retiring, each with the clause on its rule's page.

mod preserve_unknown;
mod publish;
mod retire;

use std::collections::{BTreeSet, HashSet};

use rayon::prelude::*;

use crate::find::review_context::{ReviewContext, Stability};
use crate::model::fact::{Aspect, Effect, Fact, Word};
use crate::model::{Api, Bundle, Crd, FactCollector};

use super::predecessor;

/// Facts about a bundle by itself.
pub fn guidelines(bundle: &Bundle<'_>, context: &ReviewContext<'_>) -> Vec<Fact> {
    Stability::new(None, bundle, context).complete(current(bundle, context))
}

/// Like [`guidelines`], but skips v1beta1 CRDs.
fn current(bundle: &Bundle<'_>, context: &ReviewContext<'_>) -> Vec<Fact> {
    found(bundle, context, |crd| if crd.api == Api::V1 { one(crd, context, true) } else { Vec::new() })
}

fn found(bundle: &Bundle<'_>, context: &ReviewContext<'_>, one: impl Fn(&Crd<'_>) -> Vec<Fact> + Sync + Send) -> Vec<Fact> {
    let mut facts: Vec<Fact> = bundle.crds.par_iter().flat_map_iter(one).collect();
    facts.extend(publish::annotations(bundle, context));
    facts.extend(publish::misplaced(bundle, context));
    facts
}

/// Facts about the new bundle, given the old one. `broken` lists the CRDs in which the change breaks something: what their
/// conversion needs is required now, whether or not it was already missing.
pub fn guidelines_review(old: &Bundle<'_>, new: &Bundle<'_>, context: &ReviewContext<'_>, broken: &BTreeSet<String>) -> Vec<Fact> {
    let mut facts = current(new, context);
    let retiring = facts.iter().any(retire::is_retirement);
    // Facts that the new CRD shares with a v1beta1 CRD are pre-existing, too.
    let before = if facts.is_empty() { Vec::new() } else { found(old, context, |crd| one(crd, context, retiring)) };
    let known: HashSet<_> = before.iter().map(Fact::identity).collect();
    let had: Vec<bool> = facts.iter().map(|fact| known.contains(&fact.identity())).collect();
    for (fact, had) in facts.iter_mut().zip(had) {
        fact.pre_existing = had;
        expose(fact, old, new, context, broken);
    }
    for crd in new.crds.iter().filter(|crd| crd.api == Api::V1) {
        if let Some(before) = predecessor(old, crd) {
            let mut collector = FactCollector::new(crd);
            retire::steps(&mut collector, before);
            facts.extend(collector.into_facts());
        }
    }
    facts.extend(publish::early(old, new));
    Stability::new(Some(old), new, context).complete(facts)
}

/// `retiring`: whether to look for deprecated fields and versions, which requires reading every description.
fn one(crd: &Crd<'_>, context: &ReviewContext<'_>, retiring: bool) -> Vec<Fact> {
    let mut collector = FactCollector::new(crd);
    preserve_unknown::check(&mut collector);
    preserve_unknown::webhook(&mut collector);
    if retiring {
        retire::check(&mut collector, context);
    }
    collector.into_facts()
}

/// A new version, or one whose CRD breaks something in this change, must preserve unknown fields now.
fn expose(fact: &mut Fact, old: &Bundle<'_>, new: &Bundle<'_>, context: &ReviewContext<'_>, broken: &BTreeSet<String>) {
    let owed = fact.aspect == Aspect::PreserveUnknown && matches!(fact.effect, Effect::Missing | Effect::Shallow);
    let (true, Some(version)) = (owed, fact.version.clone()) else { return };
    let Some(crd) = new.named(&fact.crd).iter().find(|crd| crd.channel() == fact.channel.as_deref()) else {
        return;
    };
    let before = predecessor(old, crd);
    if before.is_none() && context.old_incomplete {
        return;
    }
    let reason = if preserve_unknown::is_new(before, &version) {
        "the version is new"
    } else if broken.contains(&fact.crd) {
        "a break needs a conversion"
    } else {
        return;
    };
    fact.pre_existing = false;
    fact.words.insert(Word::Exposed, reason.to_owned());
}
