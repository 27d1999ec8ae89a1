//! One bundle comes in; facts about what an API server would refuse, and about what it takes and shouldn't be there, go out.
//!
//! [`inspect`] looks at a bundle by itself, as if every CRD were created. [`update`] looks at a bundle that replaces another one:
//! what the server refuses then, and what it tolerates because the old CRD had it already.

mod convention;
mod conversion;
mod decode;
mod defaults;
mod edition;
mod fact_collector;
mod fieldpath;
mod form;
mod guideline;
mod hazard;
mod history;
mod identity;
mod lists;
mod node;
mod pattern;
mod resolve_paths;
mod route;
mod rules;
mod same;
mod server_checks;
mod structural;
mod subresources;
mod update;
mod version_loss;
mod versions;
mod walk;
mod writing;

#[cfg(test)]
mod tests;

pub use guideline::{Assigned, Outlook, guidelines, guidelines_review, settle};
pub use history::{Release, history};

use std::collections::HashSet;

use rayon::prelude::*;

use crate::input::yaml::Node;
use crate::model::fact::{Affected, Fact};
use crate::model::schema::{Keyword, Schema};
use crate::model::{Api, Bundle, Crd, Repeat};

use edition::Layout;
use fact_collector::Ledger;
use server_checks::Demands;
use walk::Walk;

/// Facts about each CRD by itself, in the order of the bundle.
pub fn inspect(bundle: &Bundle<'_>) -> Vec<Fact> {
    bundle.crds.par_iter().flat_map_iter(|crd| judge(crd, &Demands::on_create())).collect()
}

/// Facts about the new bundle in the light of the old one.
///
/// A fact that the old bundle had already is `pre_existing`. For what a server refuses the server decides: it is `pre_existing`
/// exactly where the update passes all the same, because the old CRD broke the same rule.
pub fn review(old: &Bundle<'_>, new: &Bundle<'_>) -> Vec<Fact> {
    new.crds.par_iter().flat_map_iter(|crd| compare(predecessor(old, crd), crd)).collect()
}

/// What stops the update from the old bundle to the new one.
pub fn update(old: &Bundle<'_>, new: &Bundle<'_>) -> Vec<Fact> {
    review(old, new).into_iter().filter(|fact| update::is_refusal(fact) && !fact.pre_existing).collect()
}

/// The CRD of the same name, in the same channel if it is in several.
fn predecessor<'b, 't>(old: &'b Bundle<'t>, crd: &Crd<'_>) -> Option<&'b Crd<'t>> {
    let named = old.named(crd.name);
    named.iter().find(|other| other.track() == crd.track()).or(named.first())
}

fn compare(old: Option<&Crd<'_>>, new: &Crd<'_>) -> Vec<Fact> {
    let mut facts = judge(new, &Demands::on_create());
    let Some(old) = old else { return facts };
    if new.api == Api::V1 && (facts.iter().any(update::is_refusal) || update::ca_bundle(new).is_some()) {
        facts = tolerate(facts, judge(new, &Demands::on_update(old, new)));
    }
    if facts.iter().any(|fact| !update::is_refusal(fact)) {
        let same = old.node.same(new.node);
        let before = if same { Vec::new() } else { past(old) };
        let known: HashSet<_> = before.iter().map(update::identity).collect();
        let had: Vec<bool> = facts.iter().map(|fact| same || known.contains(&update::identity(fact))).collect();
        for (fact, had) in facts.iter_mut().zip(had).filter(|(fact, _)| !update::is_refusal(fact)) {
            fact.pre_existing = had;
        }
    }
    if new.api == Api::V1 {
        let mut ledger = Ledger::new(new);
        update::check(&mut ledger, old);
        facts.extend(ledger.into_facts());
    }
    facts
}

/// Of what a create would be refused for, an update is only refused for what still stands under its own demands.
fn tolerate(on_create: Vec<Fact>, on_update: Vec<Fact>) -> Vec<Fact> {
    let stops: HashSet<_> = on_update.iter().filter(|fact| update::is_refusal(fact)).map(update::identity).collect();
    let known: HashSet<_> = on_create.iter().map(update::identity).collect();
    let more = on_update.iter().filter(|fact| update::is_refusal(fact) && !known.contains(&update::identity(fact))).cloned();
    let judged = on_create.iter().map(|fact| {
        let spared = update::is_refusal(fact) && !stops.contains(&update::identity(fact));
        Fact { pre_existing: spared, ..fact.clone() }
    });
    judged.chain(more).collect()
}

/// What could be said of the old CRD, apart from what the server refuses. The old API is no excuse for what the new one shares with it,
/// except where it kept unknown fields: hardly anything that can be said of a schema was true then.
fn past(old: &Crd<'_>) -> Vec<Fact> {
    let demands = Demands { refusals: false, ..Demands::on_create() };
    if old.api == Api::V1 || old.preserves_unknown() {
        return judge(old, &demands);
    }
    let mut ledger = Ledger::new(old);
    writing::ambiguous(&mut ledger);
    survey(&mut ledger, &demands);
    ledger.into_facts()
}

/// Everything that is to be said of one CRD under the given demands.
fn judge(crd: &Crd<'_>, demands: &Demands) -> Vec<Fact> {
    let mut ledger = Ledger::new(crd);
    if crd.api == Api::V1Beta1 {
        writing::outdated(&mut ledger);
        return ledger.into_facts();
    }
    decode::decode(&mut ledger);
    writing::ambiguous(&mut ledger);
    if ledger.facts().iter().any(|fact| fact.affects.contains(Affected::Refused)) {
        // A server that can't decode the document looks at nothing else, and what could be said would be guesses.
        return ledger.into_facts();
    }
    survey(&mut ledger, demands);
    ledger.into_facts()
}

/// What there is to say of a CRD that can be decoded.
fn survey<'t>(ledger: &mut Ledger<'t>, demands: &Demands) {
    let layout = Layout::of(&ledger.crd);
    identity::check(ledger, demands);
    versions::check(ledger, &layout, demands);
    subresources::check(ledger, &layout, demands);
    conversion::check(ledger, demands);
    let structural = needs_structure(&ledger.crd, &layout, demands);
    let mut walked: Vec<Walked<'t>> = Vec::new();
    for edition in &layout.editions {
        let Some(schema) = &edition.schema else { continue };
        let key = edition.wrapper.and_then(|node| node.entry("openAPIV3Schema")).map_or_else(|| edition.anchor(), |entry| entry.key);
        let (place, field, start) = ((schema.node(), key), layout.schema_field(edition), ledger.len());
        // Versions often share their schema, and the server's answer.
        if let Some(known) = walked.iter().find(|known| demands.unchanged.is_empty() && known.answers(schema.node(), &field, ledger)) {
            ledger.repeat(known.facts.clone(), edition.name, Repeat { from: known.place, to: place });
            continue;
        }
        let mut walk = Walk::new(ledger, demands, edition.name, field.clone(), structural);
        if let Some(first) = layout.editions.first().filter(|_| layout.shared_schema) {
            walk.budget_version = first.name;
        }
        walk.root(schema, key);
        walk.settle(schema);
        walked.push(Walked { place, field, facts: start..ledger.len() });
    }
    resolve_paths::check(ledger, &layout);
    version_loss::check(ledger);
    convention::crd(ledger, &layout);
}

/// A version's schema with the key it stands under, the server's path of it, and the facts about it.
struct Walked<'t> {
    place: (Node<'t>, Node<'t>),
    field: String,
    facts: std::ops::Range<usize>,
}

impl<'t> Walked<'t> {
    /// Whether what was found is all that there is to find in another schema. What the server refuses is told by its path.
    fn answers(&self, schema: Node<'t>, field: &str, ledger: &Ledger<'_>) -> bool {
        let accepted = || ledger.facts().get(self.facts.clone()).unwrap_or_default().iter().all(|fact| fact.field.is_none());
        (self.field == field || accepted()) && self.place.0.alike(schema)
    }
}

/// Schemas must be structural unless the old one wasn't, unknown fields are kept, and nothing in the schema depends on structure.
fn needs_structure(crd: &Crd<'_>, layout: &Layout<'_>, demands: &Demands) -> bool {
    let preserved = crd.spec.get("preserveUnknownFields").and_then(Node::as_bool) == Some(true);
    demands.structural || !preserved || layout.editions.iter().filter_map(|edition| edition.schema.as_ref()).any(depends_on_structure)
}

fn depends_on_structure(schema: &Schema<'_>) -> bool {
    use Keyword as K;
    anywhere(schema, &mut |schema| {
        schema.flag(K::EmbeddedResource)
            || schema.is_int_or_string()
            || [K::Default, K::PreserveUnknownFields, K::ListType].iter().any(|&word| schema.word(word).is_some())
            || [K::ListMapKeys, K::Validations].iter().any(|&word| schema.word(word).is_some_and(|node| !node.is_empty()))
    })
}

/// Whether the node or one below it, junctors included, is as asked.
fn anywhere<'t>(schema: &Schema<'t>, asked: &mut dyn FnMut(&Schema<'t>) -> bool) -> bool {
    use Keyword as K;
    if asked(schema) {
        return true;
    }
    for word in [K::Items, K::AdditionalProperties, K::AdditionalItems, K::Not] {
        if let Some(node) = schema.word(word) {
            if node.is_map() && anywhere(&Schema::new(node), asked) {
                return true;
            }
            if node.items().any(|item| anywhere(&Schema::new(item), asked)) {
                return true;
            }
        }
    }
    for word in [K::AllOf, K::AnyOf, K::OneOf] {
        if schema.clauses(word).any(|clause| anywhere(&clause, asked)) {
            return true;
        }
    }
    [K::Properties, K::PatternProperties, K::Definitions, K::Dependencies]
        .iter()
        .filter_map(|&word| schema.word(word))
        .any(|map| map.entries().any(|entry| entry.value.is_map() && anywhere(&Schema::new(entry.value), asked)))
}
