//! Finds what gets lost, or is interpreted differently, between the versions of a CRD.
//!
//! Under strategy None the server only rewrites `apiVersion`. A request is pruned by the schema of its own version, then by that of
//! the storage version, and a response by the schema of the requested version. So a field survives only if every version that is
//! served or stored declares it, or preserves unknown fields there. If a dump lists the versions that objects were stored at,
//! fields of such a version are lost with the next write.

mod accepted_difference;
mod aspect;
mod field_fate;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::BTreeSet;

use crate::compare::Budget;
use crate::input::yaml::Node;
use crate::input::{list_all, list_some};
use crate::model::fact::{Affected, Aspect, Effect, Fact, Subject, Word};
use crate::model::{Crd, FactCollector, FieldPath, Version};

use field_fate::FieldFate;
use walk::VersionLossWalk;

/// A version that objects pass through, or that some may still be stored at.
#[derive(Clone, Copy)]
struct Gate<'b, 't> {
    version: &'b Version<'t>,
    name: &'t str,
    served: bool,
    storage: bool,
}

impl Gate<'_, '_> {
    /// Whether requests are pruned by its schema. A version that objects are only stored at no longer drops anything.
    fn is_passed(&self) -> bool {
        self.served || self.storage
    }
}

pub(super) fn check<'t>(collector: &mut FactCollector<'t>, budget: &Budget) {
    let crd = collector.crd.clone();
    let gates: Vec<Gate<'_, 't>> = crd
        .versions
        .iter()
        .map(|version| Gate { version, name: version.name, served: version.served, storage: version.storage })
        .filter(|gate| gate.is_passed() || crd.stored_versions.iter().any(|stored| stored.value == gate.name))
        .collect();
    // Without exactly one storage version the server refuses the CRD, so nothing can be lost.
    if gates.len() < 2 || gates.iter().filter(|gate| gate.storage).count() != 1 {
        return;
    }
    if crd.conversion.is_webhook() {
        webhook(collector, &crd, &gates, budget);
        return;
    }
    status(collector, &gates);
    if let Some(fates) = fates(&gates) {
        VersionLossWalk::new(&gates, collector, budget).run(&fates);
    }
}

/// The facts about the old CRD, limited to the versions that the new one still has and serves. Facts can't name a removed version,
/// but losses in the other versions are pre-existing.
pub(super) fn known_before(old: &Crd<'_>, new: &Crd<'_>, budget: &Budget) -> Vec<Fact> {
    let mut left = old.clone();
    left.versions.retain(|version| new.version(version.name).is_some());
    for version in &mut left.versions {
        version.served &= new.version(version.name).is_some_and(|now| now.served);
    }
    let mut collector = FactCollector::new(&left);
    check(&mut collector, budget);
    collector.into_facts()
}

/// The root of every version, unless a schema is missing or all are equal.
fn fates<'t>(gates: &[Gate<'_, 't>]) -> Option<Vec<FieldFate<'t>>> {
    let (first, rest) = gates.split_first()?;
    let first = first.version.schema.as_ref()?.node();
    let mut same = true;
    for gate in rest {
        same &= gate.version.schema.as_ref()?.node().same(first);
    }
    if same {
        return None;
    }
    gates.iter().map(|gate| Some(FieldFate::root(gate.version.schema.as_ref()?, gate.version.name_node))).collect()
}

/// Reports that only one version has the status subresource: its main endpoint ignores a status that another version's accepts.
fn status<'t>(collector: &mut FactCollector<'t>, gates: &[Gate<'_, 't>]) {
    let (with, without): (Vec<&Gate<'_, 't>>, Vec<&Gate<'_, 't>>) =
        gates.iter().filter(|gate| gate.served).partition(|gate| gate.version.status_subresource().is_some());
    let (Some(_), Some(first)) = (with.first(), without.first()) else { return };
    let fact = collector.note((Subject::Version, Aspect::StatusSubresource, Effect::Mixed), first.version.name_node);
    fact.version = Some(first.name.to_owned());
    fact.path = fact.path.key("status");
    fact.affects = fact.affects.with(Affected::Data).with(Affected::Writers);
    fact.words.insert(Word::With, list_all(with.iter().map(|gate| gate.name)));
    fact.words.insert(Word::Without, list_all(without.iter().map(|gate| gate.name)));
}

/// With a webhook the schemas still prune; whether the webhook moves a value elsewhere first isn't known.
fn webhook<'t>(collector: &mut FactCollector<'t>, crd: &Crd<'t>, gates: &[Gate<'_, 't>], budget: &Budget) {
    let Some(fates) = fates(gates) else { return };
    let mut aside = FactCollector::new(crd);
    VersionLossWalk::new(gates, &mut aside, budget).run(&fates);
    let lossy: Vec<Fact> = aside.into_facts().into_iter().filter(|fact| fact.effect == Effect::Lossy).collect();
    let paths: BTreeSet<String> = lossy.iter().map(|fact| fact.path.to_string()).collect();
    // A loss inside a lost object isn't listed separately.
    let inside = |fact: &Fact| std::iter::successors(fact.path.parent(), FieldPath::parent).any(|path| paths.contains(&path.to_string()));
    let lost: Vec<&Fact> = lossy.iter().filter(|fact| !inside(fact)).collect();
    if lost.is_empty() {
        return;
    }
    let node = crd.conversion.strategy.map_or(crd.name_node, |strategy| strategy.node);
    let fact = collector.note((Subject::Crd, Aspect::ConversionWebhook, Effect::Unclear), node);
    fact.affects = fact.affects.with(Affected::Data);
    fact.words.insert(Word::Count, lost.len().to_string());
    fact.words.insert(Word::List, list_some(lost.iter().map(|fact| format!("`{}`", fact.path)), NAMED));
}

/// How many fields a message names; the others are counted.
const NAMED: usize = 3;

/// The node to show for a version.
fn anchor<'t>(fates: &[FieldFate<'t>], index: usize) -> Option<Node<'t>> {
    fates.get(index)?.key()
}
