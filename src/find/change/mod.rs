//! Compares two bundles, and emits facts about every change between them in a fixed order.
//!
//! CRDs are paired by name, channel and file, versions by name, schema nodes by path. Nothing is judged here.

mod accepted_values;
mod ancestors;
mod cel_rules;
mod change_list;
mod columns;
mod conditions;
mod crd;
mod default;
mod description_text;
mod documentation;
mod embedded_resource;
mod evidence;
mod fact_draft;
mod implicit;
mod json_types;
mod merge;
mod metadata;
mod node_comparison;
mod null;
mod presence;
mod read_back;
mod rename;
mod scale_subresource;
mod side_by_side;
mod storage;
mod undeclared_keys;
mod upgrade;
mod value_text;
mod version;
mod version_attributes;
mod walk;

pub use upgrade::upgrade;
#[cfg(test)]
pub(crate) use walk::ABOUT_NO_OBJECT;

use crate::compare::{Budget, divide};
use crate::find::facts_by_server::facts_for;
use crate::find::review_context::{ReviewContext, Stability};
use crate::model::fact::Fact;
use crate::model::kubernetes::Server;
use crate::model::{Bundle, Crd};

#[derive(Debug, Clone, Copy)]
pub struct ChangeOptions<'a> {
    /// How similar, in percent, a removed and an added property must be to count as one renamed property.
    pub rename_threshold: u32,
    /// Whether to search for an object that shows each break, and to drop breaks that no object can show.
    pub witnesses: bool,
    /// Leaves out facts about fields that are unrelated to all of these.
    pub near: Option<&'a [&'a Fact]>,
    pub context: ReviewContext<'a>,
}

impl Default for ChangeOptions<'_> {
    fn default() -> Self {
        ChangeOptions { rename_threshold: 60, witnesses: true, near: None, context: ReviewContext::NONE }
    }
}

/// A CRD on one or both sides.
#[derive(Clone, Copy)]
struct Sides<'b, 't> {
    old: Option<&'b Crd<'t>>,
    new: Option<&'b Crd<'t>>,
    /// The CRD of another channel that the new one was already compared with.
    beside: Option<&'b Crd<'t>>,
}

impl Sides<'_, '_> {
    /// The facts for one server.
    fn facts_on(&self, server: Server, options: &ChangeOptions<'_>, budget: &Budget) -> Vec<Fact> {
        let sides = [self.old, self.new, self.beside];
        if sides.into_iter().flatten().all(|crd| crd.kubernetes.is(server)) {
            return self.facts(options, budget);
        }
        let [old, new, beside] = sides.map(|crd| crd.map(|crd| crd.on(server)));
        Sides { old: old.as_ref(), new: new.as_ref(), beside: beside.as_ref() }.facts(options, budget)
    }

    fn facts(&self, options: &ChangeOptions<'_>, budget: &Budget) -> Vec<Fact> {
        let mut facts = match (self.old, self.new) {
            (Some(old), Some(new)) => {
                let told = self.beside.map_or_else(Vec::new, |beside| crd::changed(beside, new, options, &budget.part(2)));
                let mut facts = crd::changed(old, new, options, budget);
                facts.retain(|fact| !told.iter().any(|told| says_the_same(told, fact)));
                facts
            }
            (Some(old), None) => vec![crd::removed(old)],
            (None, Some(new)) => vec![crd::added(new)],
            (None, None) => Vec::new(),
        };
        let variant = self.new.or(self.old).and_then(Crd::variant);
        facts.iter_mut().for_each(|fact| fact.variant = variant.map(str::to_owned));
        facts
    }
}

/// Finds every change from `old` to `new`. The result doesn't depend on the number of threads, nor on the order of files or keys.
pub fn diff(old: &Bundle<'_>, new: &Bundle<'_>, options: &ChangeOptions<'_>) -> Vec<Fact> {
    let stability = Stability::new(Some(old), new, &options.context);
    let facts = divide(&pairs(old, new), |sides, budget| {
        stability.complete(facts_for(options.context.kubernetes, |server| sides.facts_on(server, options, budget)))
    });
    facts.into_iter().flatten().collect()
}

/// Finds the version that clients of a removed version move to, and all differences between the two.
pub fn successor<'t>(old: &Crd<'t>, new: &Crd<'t>, gone: &str, options: &ChangeOptions<'_>) -> Option<(String, Vec<Fact>)> {
    let before = old.version(gone)?;
    let after = version::successor(new, before)?;
    let budget = Budget::shared();
    let mut review = crd::CrdComparison { old, new, options, facts: Vec::new(), compared: Vec::new(), budget: &budget };
    review.successor(before, after);
    Some((after.name.to_owned(), review.facts))
}

/// Pairs CRDs by name and channel; those left over with the same name are paired in the order of their channels.
fn pairs<'b, 't>(old: &'b Bundle<'t>, new: &'b Bundle<'t>) -> Vec<Sides<'b, 't>> {
    let mut pairs = Vec::new();
    let (mut left, mut right) = (old.crds.as_slice(), new.crds.as_slice());
    while let Some(name) = [left.first(), right.first()].into_iter().flatten().map(|crd| crd.name).min() {
        let before = take(&mut left, name);
        let after = take(&mut right, name);
        pair_channels(before, after, &mut pairs);
    }
    pairs
}

/// Takes the CRDs with one name off the front; bundles are sorted by name and channel.
fn take<'b, 't>(crds: &mut &'b [Crd<'t>], name: &str) -> &'b [Crd<'t>] {
    let count = crds.iter().take_while(|crd| crd.name == name).count();
    let (run, rest) = crds.split_at_checked(count).unwrap_or((crds, &[]));
    *crds = rest;
    run
}

/// Pairs the CRDs of one name: each new one with its counterpart, copies in one channel with the one in the most similar file.
fn pair_channels<'b, 't>(old: &'b [Crd<'t>], new: &'b [Crd<'t>], pairs: &mut Vec<Sides<'b, 't>>) {
    let sides = |old, new| Sides { old, new, beside: None };
    let mut left: Vec<&'b Crd<'t>> = old.iter().collect();
    let mut lone = Vec::new();
    for after in new {
        // A copy that is new or became different also replaces what clusters have.
        match after.counterpart(left.iter().copied()).or_else(|| after.counterpart(old)) {
            Some(before) => {
                left.retain(|other| !std::ptr::eq(*other, before));
                pairs.push(sides(Some(before), Some(after)));
            }
            None => lone.push(after),
        }
    }
    // A bundle without channels corresponds to the standard channel.
    left.sort_by_key(|crd| std::cmp::Reverse(crd.track()));
    lone.sort_by_key(|crd| std::cmp::Reverse(crd.track()));
    let mut lone = lone.into_iter();
    for before in left {
        let copy = before.counterpart(new).is_some();
        let pair = if copy { None } else { lone.next().map(|after| sides(Some(before), Some(after))) };
        let pair = pair.or_else(|| moved(before, old, new)).unwrap_or(sides(Some(before), None));
        pairs.push(pair);
    }
    pairs.extend(lone.map(|after| sides(None, Some(after))));
}

/// Pairs a CRD whose channel or file was removed: its clusters get another one, and keep their objects.
fn moved<'b, 't>(before: &'b Crd<'t>, old: &'b [Crd<'t>], new: &'b [Crd<'t>]) -> Option<Sides<'b, 't>> {
    let others = new.iter().filter(|after| after.track().feature_set == before.track().feature_set);
    let after = before.counterpart(new).or_else(|| others.max_by_key(|after| after.track()))?;
    let beside = after.counterpart(old).filter(|beside| !std::ptr::eq(*beside, before));
    Some(Sides { old: Some(before), new: Some(after), beside })
}

fn says_the_same(a: &Fact, b: &Fact) -> bool {
    let what = |fact: &Fact| (fact.subject, fact.aspect, fact.effect);
    what(a) == what(b) && (&a.version, &a.path, &a.key, &a.to) == (&b.version, &b.path, &b.key, &b.to)
}
