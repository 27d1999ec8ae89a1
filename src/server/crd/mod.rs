//! Admission of CRDs: what an API server refuses when a CRD is created, and when it replaces another one.
//!
//! A refusal is a [`Fact`] that affects [`Affected::Refused`](crate::model::fact::Affected), with the field path and the reason
//! that the server reports.

mod cel_rules;
mod conversion;
mod decode_document;
mod default_checks;
mod document_types;
mod identity;
mod json_path;
mod list_types;
mod pattern;
mod same_value;
mod schema_node;
mod schema_position;
mod schema_walk;
mod server_checks;
mod structural;
mod subresources;
#[cfg(test)]
mod tests;
mod update;
mod version_checks;
mod version_list;
mod warnings;

pub(crate) use decode_document::decode;
pub(crate) use default_checks::{fits, shown_default};
pub(crate) use schema_position::{SchemaPosition, SchemaStep};
pub(crate) use schema_walk::SchemaLevel;
pub(crate) use structural::has_int_or_string_pair;
pub(crate) use version_list::{VersionEntry, VersionList};
pub(crate) use warnings::{set_items_warned_about, unrecognised_format};

use std::collections::BTreeSet;

use crate::input::yaml::Node;
use crate::model::fact::Fact;
use crate::model::{Crd, FactCollector, Repeat};

use schema_walk::CrdSchemaWalk;
use server_checks::ServerChecks;

/// The server's response to a CRD.
#[derive(Debug)]
pub struct Admission {
    /// What the server refuses, and the unknown keys that it drops. For an update, a refusal is `pre_existing` if the server
    /// accepts the update because the old CRD violated the same rule.
    pub facts: Vec<Fact>,
    /// Whether the document can be decoded. If not, the server checks nothing else.
    pub decoded: bool,
    /// Indexes in `spec.versions` of schemas that aren't structural, whose defaults and CEL rules aren't checked.
    unstructured: BTreeSet<usize>,
}

impl Admission {
    /// Whether the schema of a version, by its index in `spec.versions`, is structural.
    pub fn is_structural(&self, version: usize) -> bool {
        !self.unstructured.contains(&version)
    }
}

/// The server's response to creating a CRD of `apiextensions.k8s.io/v1`.
pub fn create(crd: &Crd<'_>) -> Admission {
    admit(crd, &ServerChecks::on_create())
}

/// The server's response to replacing a CRD of `apiextensions.k8s.io/v1` with another one.
pub fn update(old: &Crd<'_>, new: &Crd<'_>) -> Admission {
    let mut admission = create(new);
    if admission.facts.iter().any(Fact::is_refusal) || update::ca_bundle(new).is_some() {
        let on_update = admit(new, &ServerChecks::on_update(old, new)).facts;
        admission.facts = update::tolerate(admission.facts, &on_update);
    }
    admission.facts.extend(update::check(old, new));
    admission
}

fn admit(crd: &Crd<'_>, checks: &ServerChecks) -> Admission {
    let (mut facts, decoded) = decode(crd);
    let mut unstructured = BTreeSet::new();
    if decoded {
        let mut collector = FactCollector::new(crd);
        validate(&mut collector, checks, &mut unstructured);
        facts.extend(collector.into_facts());
    }
    Admission { facts, decoded, unstructured }
}

/// Validates a CRD that can be decoded.
fn validate<'t>(collector: &mut FactCollector<'t>, checks: &ServerChecks, unstructured: &mut BTreeSet<usize>) {
    let versions = VersionList::of(&collector.crd);
    identity::check(collector, checks);
    version_checks::check(collector, &versions, checks);
    subresources::check(collector, &versions, checks);
    conversion::check(collector, checks);
    let structural = structural::needs_structure(&collector.crd, &versions, checks);
    let mut validated: Vec<ValidatedSchema<'t>> = Vec::new();
    for version in &versions.entries {
        let Some(schema) = &version.schema else { continue };
        let key = version.schema_key();
        let (place, field, start) = ((schema.node(), key), versions.schema_field(version), collector.count());
        // Versions often share their schema, and then the server's response.
        let known = validated.iter().find(|known| checks.unchanged.is_empty() && known.answers(schema.node(), &field));
        let unsound = if let Some(known) = known {
            collector.repeat(known.facts.clone(), version.name, Repeat { from: known.place, to: place });
            known.unsound
        } else {
            let mut walk = CrdSchemaWalk::new(collector, checks, version.name, field.clone(), structural);
            if let Some(first) = versions.entries.first().filter(|_| versions.shared_schema) {
                walk.budget_version = first.name;
            }
            walk.root(schema, key);
            walk.check_defaults_and_rules(schema);
            let unsound = walk.unsound;
            validated.push(ValidatedSchema { place, field, facts: start..collector.count(), unsound });
            unsound
        };
        if unsound {
            unstructured.insert(version.index);
        }
    }
}

/// A version's schema with its key, the server's path for it, and the facts about it.
struct ValidatedSchema<'t> {
    place: (Node<'t>, Node<'t>),
    field: String,
    facts: std::ops::Range<usize>,
    unsound: bool,
}

impl<'t> ValidatedSchema<'t> {
    /// Whether the server's response is the same for another schema. A refusal includes the path, so that must be equal too.
    fn answers(&self, schema: Node<'t>, field: &str) -> bool {
        (self.field == field || self.facts.is_empty()) && self.place.0.same_text(schema)
    }
}
