//! Compares the scale subresource of a version: it reads fields, and refuses objects in which they don't fit.

use std::sync::Arc;

use crate::compare::{Budget, Cause, Sample, What};
use crate::input::yaml::Entry;
use crate::model::fact::{Affected, Aspect, Effect, Evidence, Fact, Ratchet, Word};
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::{FieldPath, PathStep, Version};
use crate::server::object::Scale;

use super::crd::CrdComparison;
use super::evidence::scaled;
use super::side_by_side::entries;
use super::value_text::{names, value};
use super::walk::ChangeWalk;
use crate::compare::is_oversized;

const PATHS: &[&str] = &["specReplicasPath", "statusReplicasPath", "labelSelectorPath"];

impl<'t> CrdComparison<'_, 't> {
    pub(super) fn scale(&mut self, both: (&Version<'t>, &Version<'t>)) {
        let (old, new) = (both.0.scale_subresource(), both.1.scale_subresource());
        if old.is_some() == new.is_some() {
            for (before, after) in entries(old, new, &[]) {
                self.scale_path(both, before, after);
            }
            return;
        }
        let at = (old.or(both.0.subresources), new.or(both.1.subresources));
        let fact = |effect: Effect| self.version_fact(both, Aspect::ScaleSubresource, effect, at.0, at.1);
        let fact = match new {
            Some(_) => self.refused(both, None).into_iter().fold(fact(Effect::Added), |fact, refused| refused.add_to(fact)),
            None => fact(Effect::Removed).affects(&[Affected::Writers, Affected::Readers]),
        };
        self.push_endpoint_fact(both, fact);
    }

    fn scale_path(&mut self, both: (&Version<'t>, &Version<'t>), before: Option<Entry<'t>>, after: Option<Entry<'t>>) {
        let name = before.or(after).map_or("", |entry| entry.name());
        // An empty path is treated like a missing one.
        let given = |entry: &Entry<'t>| !PATHS.contains(&name) || entry.value.as_str() != Some("");
        let (before, after) = (before.filter(given), after.filter(given));
        if !PATHS.contains(&name) {
            return self.keyword(both, before, after);
        }
        let refused = self.refused(both, after.and_then(|entry| entry.value.as_str()));
        // If nothing was read before, no client could rely on it.
        let effect = if before.is_some() { Effect::Changed } else { Effect::Added };
        let shown = |entry: Option<Entry<'t>>| entry.map(|entry| entry.value);
        let fact = self.version_fact(both, Aspect::ScaleSubresource, effect, shown(before), shown(after)).key(name);
        let fact = fact.word(Word::Name, name).word(Word::Old, value(shown(before))).word(Word::New, value(shown(after)));
        let fact = if effect == Effect::Changed { fact.affects(&[Affected::Behaviour]) } else { fact };
        let fact = refused.into_iter().fold(fact, |fact, refused| refused.add_to(fact));
        self.push_endpoint_fact(both, fact);
    }

    /// Fields that the subresource didn't read before (or the one at a path) for which it refuses values that both schemas accept.
    fn refused(&self, both: (&Version<'t>, &Version<'t>), only: Option<&str>) -> Option<Refused> {
        let (old, new) = (both.0.schema.as_ref()?, both.1.schema.as_ref()?);
        let scales = (Scale::of(both.0), Scale::of(both.1));
        let read = scales.1.paths_not_in(&scales.0).filter(|path| only.is_none_or(|only| only.trim_start_matches('.') == path.to_string()));
        let read: Vec<FieldPath> = read.cloned().collect();
        if read.is_empty() {
            return None;
        }
        if is_oversized(old.node()) || is_oversized(new.node()) {
            return Some(Refused { fields: read, evidence: Evidence::undecided("a list that is too long to be tried") });
        }
        // Values that the new schema itself rejects or prunes are reported at their field.
        let (mut before, now) = (scaled(old, &scales.0), Shape::of(new));
        for path in &read {
            if let (Some(was), Some(is)) = (before.at_mut(path.steps()), now.at(path.steps())) {
                was.nullable &= is.nullable;
                was.all_of.push(is.clone());
            } else {
                declare(&mut before, &now, path);
            }
        }
        let mut after = before.clone();
        scales.1.narrow(&mut after);
        let witnesses = self.resource(both.1).witnesses(&before, &after, &Budget::of_each());
        let null = Sample::Sent(serde_json::Value::Null);
        let mut refused = Refused { fields: Vec::new(), evidence: Evidence::proved() };
        for path in read {
            let shown = witnesses.show(&path, What::Sent, Cause::Here(Aspect::ScaleSubresource));
            match shown.or_else(|| witnesses.show(&path, What::Sample(&null), Cause::Here(Aspect::ScaleSubresource))) {
                Search::Found(mut witness) => {
                    witness.because = scales.1.complaint(&witness.object).unwrap_or(witness.because);
                    refused.evidence.witness = refused.evidence.witness.or(Some(witness));
                }
                // Finding none proves something only if at least one object is known to be valid.
                Search::Impossible if witnesses.is_inhabited() => continue,
                Search::Impossible => refused.evidence = Evidence::undecided("no object of the old schema was found"),
                Search::Undecided(reason) => refused.evidence = Evidence::undecided(reason.to_string()),
            }
            refused.fields.push(path);
        }
        (!refused.fields.is_empty()).then_some(refused)
    }
}

/// Adds the field at a path as `now` declares it, if `before` kept it without declaring it.
fn declare(before: &mut Shape, now: &Shape, path: &FieldPath) {
    let missing = (1..=path.steps().len()).find(|&length| before.at(&path.steps()[..length]).is_none());
    let Some((PathStep::Key(name), around)) = missing.and_then(|length| path.steps()[..length].split_last()) else { return };
    let (Some(parent), Some(child)) = (before.at_mut(around), now.at(&path.steps()[..=around.len()])) else { return };
    if parent.preserve_unknown {
        parent.properties.insert(name.to_string(), Arc::new(child.clone()));
    }
}

/// Fields whose values the subresource can't read.
struct Refused {
    fields: Vec<FieldPath>,
    evidence: Evidence,
}

impl Refused {
    fn add_to(self, fact: Fact) -> Fact {
        let fields: Vec<String> = self.fields.iter().map(FieldPath::to_string).collect();
        fact.word(Word::Fields, names(&fields))
            .affects(&[Affected::Writers, Affected::Stored])
            .ratchet(Ratchet::Never)
            .evidence(self.evidence)
    }
}

impl ChangeWalk<'_> {
    /// What the scale subresource requires of the current node, if it already did before.
    pub(super) fn demanded_by_scale(&self) -> Option<Shape> {
        let (old, new) = self.scope.scales;
        let demands = (old.demand(&self.old_path)?, new.demand(&self.new_path)?);
        (demands.0 == demands.1).then_some(demands.0)
    }

    /// Whether the scale subresource reads the current node, before and after.
    pub(super) fn read_by_scale(&self) -> (bool, bool) {
        let (old, new) = self.scope.scales;
        (old.reads(&self.old_path), new.reads(&self.new_path))
    }
}
