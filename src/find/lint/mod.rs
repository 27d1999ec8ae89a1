//! Lints a bundle: emits facts about what an API server refuses in it, and about hazards that it accepts.
//!
//! [`inspect`] looks at a bundle by itself, as if every CRD were created. [`review`] looks at a bundle that replaces another one.

mod apply_size;
mod convention;
mod defaults;
mod guideline;
mod hazard;
mod history;
mod subresource_paths;
mod version_loss;
mod walk;
mod writing;

#[cfg(test)]
mod tests;

pub use guideline::{guidelines, guidelines_review};
pub use history::{Release, history};

use std::collections::HashSet;

use crate::compare::{Budget, divide};
use crate::find::facts_by_server::{facts_for, read_by};
use crate::find::review_context::{ReviewContext, Stability};
use crate::input::yaml::Node;
use crate::model::fact::{Fact, Mark};
use crate::model::{Api, Bundle, Crd, FactCollector, Repeat};
use crate::server::crd::{self, Admission, VersionList};

use walk::LintWalk;

/// Facts about each CRD by itself, in the order of the bundle.
pub fn inspect(bundle: &Bundle<'_>, context: &ReviewContext<'_>) -> Vec<Fact> {
    let stability = Stability::new(None, bundle, context);
    let facts = divide(&bundle.crds, |crd, budget| {
        let of_server = |server| read_by(crd, server, |crd| facts(crd, crd::create, budget));
        stability.complete(facts_for(context.kubernetes, of_server))
    });
    facts.into_iter().flatten().collect()
}

/// Facts about the new bundle, given the old one.
///
/// A fact that the old bundle already had is `pre_existing`, including refusals: even if the server would still refuse the update
/// ([`Mark::RefusedAgain`]), the change didn't cause it.
pub fn review(old: &Bundle<'_>, new: &Bundle<'_>, context: &ReviewContext<'_>) -> Vec<Fact> {
    let stability = Stability::new(Some(old), new, context);
    let facts = divide(&new.crds, |crd, budget| {
        let before = predecessor(old, crd);
        let of_server = |server| {
            read_by(crd, server, |crd| match before {
                Some(before) => read_by(before, server, |before| compare(Some(before), crd, budget)),
                None => compare(None, crd, budget),
            })
        };
        stability.complete(facts_for(context.kubernetes, of_server))
    });
    facts.into_iter().flatten().collect()
}

/// The CRD with the same name, in the same channel and file if there are several.
fn predecessor<'b, 't>(old: &'b Bundle<'t>, crd: &Crd<'_>) -> Option<&'b Crd<'t>> {
    let named = old.named(crd.name);
    crd.counterpart(named).or(named.first())
}

fn compare(old: Option<&Crd<'_>>, new: &Crd<'_>, budget: &Budget) -> Vec<Fact> {
    let Some(old) = old else { return facts(new, crd::create, budget) };
    let mut facts = facts(new, |new| crd::update(old, new), budget);
    if facts.iter().any(|fact| fact.is_refusal() && !fact.pre_existing) {
        excuse_old_refusals(&mut facts, old, new, budget);
    }
    if facts.iter().any(|fact| !fact.is_refusal()) {
        let same = old.node.same(new.node) && old.conversion.patched == new.conversion.patched;
        let before = if same { Vec::new() } else { accepted_before(old, new, budget) };
        let known: HashSet<_> = before.iter().map(Fact::identity).collect();
        let had: Vec<bool> = facts.iter().map(|fact| same || known.contains(&fact.identity())).collect();
        for (fact, had) in facts.iter_mut().zip(had).filter(|(fact, _)| !fact.is_refusal()) {
            fact.pre_existing = had;
        }
    }
    facts
}

/// Marks refusals that also apply to the old CRD, at the same place or where a renamed field was.
fn excuse_old_refusals(facts: &mut [Fact], old: &Crd<'_>, new: &Crd<'_>, budget: &Budget) {
    let before = if old.api == Api::V1 { crd::create(old).facts } else { self::facts(old, crd::create, budget) };
    let known: HashSet<_> = before.iter().map(Fact::identity).collect();
    let gone: Vec<&Fact> = before.iter().filter(|other| is_gone(other, new)).collect();
    let mut pairs = MAX_PAIRS;
    let mut moved = |fact: &Fact| {
        pairs = pairs.saturating_sub(gone.len());
        pairs > 0 && gone.iter().any(|other| is_moved(fact, other, old, new))
    };
    for fact in facts.iter_mut().filter(|fact| fact.is_refusal() && !fact.pre_existing) {
        if known.contains(&fact.identity()) || moved(fact) {
            fact.pre_existing = true;
            fact.marks.insert(Mark::RefusedAgain);
        }
    }
}

/// How many pairs of old and new refusals are compared. Further refusals count as new.
const MAX_PAIRS: usize = 2_000_000;

/// Whether the field of an old refusal no longer exists.
fn is_gone(other: &Fact, new: &Crd<'_>) -> bool {
    let version = other.version.as_deref().and_then(|version| new.version(version));
    version.and_then(|version| version.schema.as_ref()).is_some_and(|after| after.at(&other.path).is_none())
}

/// Whether a refusal concerns a field that was only renamed or moved: the old field is gone, and the new one has the same text.
fn is_moved(fact: &Fact, other: &Fact, old: &Crd<'_>, new: &Crd<'_>) -> bool {
    let same_kind = (fact.subject, fact.aspect, fact.effect) == (other.subject, other.aspect, other.effect);
    if !same_kind || fact.version != other.version || fact.key != other.key || fact.path == other.path {
        return false;
    }
    let Some(version) = fact.version.as_deref() else { return false };
    let (Some(before), Some(after)) = (old.version(version), new.version(version)) else { return false };
    let (Some(before), Some(after)) = (&before.schema, &after.schema) else { return false };
    let (Some(was), Some(is)) = (before.at(&other.path), after.at(&fact.path)) else { return false };
    after.at(&other.path).is_none() && before.at(&fact.path).is_none() && was.node().same(is.node())
}

/// The server's response to a CRD, and lint facts about what it accepts.
fn facts<'t>(crd: &Crd<'t>, admit: impl Fn(&Crd<'t>) -> Admission, budget: &Budget) -> Vec<Fact> {
    let mut collector = FactCollector::new(crd);
    if crd.api == Api::V1Beta1 {
        writing::outdated(&mut collector);
        return collector.into_facts();
    }
    let admission = admit(crd);
    writing::check(&mut collector);
    // If the document can't be decoded, the rest would be guesses.
    if admission.decoded {
        lint(&mut collector, |version| admission.is_structural(version), budget);
    }
    let mut facts = admission.facts;
    facts.extend(collector.into_facts());
    facts
}

/// The facts about what the server accepted in the old CRD. A CRD of the old API excuses no facts about the new one, unless it kept
/// unknown fields: then hardly any fact about its schema applied.
fn accepted_before(old: &Crd<'_>, new: &Crd<'_>, budget: &Budget) -> Vec<Fact> {
    let mut collector = FactCollector::new(old);
    if old.api == Api::V1Beta1 && old.preserves_unknown() {
        writing::outdated(&mut collector);
        return collector.into_facts();
    }
    let (mut facts, decoded) = if old.api == Api::V1 { crd::decode(old) } else { (Vec::new(), true) };
    writing::check(&mut collector);
    if decoded {
        lint(&mut collector, |_| true, budget);
        facts.extend(version_loss::known_before(old, new, budget));
    }
    facts.extend(collector.into_facts());
    facts
}

/// Emits facts about what the server accepts but shouldn't be there. `structural` returns whether the schema of a version, by its
/// index, is structural.
fn lint<'t>(collector: &mut FactCollector<'t>, structural: impl Fn(usize) -> bool, budget: &Budget) {
    let versions = VersionList::of(&collector.crd);
    let mut linted: Vec<((Node<'t>, Node<'t>), std::ops::Range<usize>)> = Vec::new();
    for version in &versions.entries {
        let Some(schema) = &version.schema else { continue };
        let (place, start) = ((schema.node(), version.schema_key()), collector.count());
        // Versions often share their schema.
        if let Some((from, facts)) = linted.iter().find(|((known, _), _)| known.same_text(schema.node())) {
            collector.repeat(facts.clone(), version.name, Repeat { from: *from, to: place });
            continue;
        }
        LintWalk { collector: &mut *collector, version: version.name, structural: structural(version.index) }.root(schema, place.1);
        linted.push((place, start..collector.count()));
    }
    subresource_paths::check(collector, &versions);
    version_loss::check(collector, budget);
    convention::crd(collector, &versions);
}
