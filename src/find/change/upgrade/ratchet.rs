//! Finds updates that only the newer server accepts because they don't change the invalid value.

use serde_json::{Value, json};

use crate::compare::{Budget, CaseMaker};
use crate::model::fact::{Aspect, Effect, Evidence, Fact, Outcome, Subject, Witness, Word};
use crate::model::kubernetes::{Feature, Server};
use crate::model::schema::{Schema, Shape};
use crate::model::{Crd, FieldPath, Place};
use crate::server::object::{Check, Endpoint, FieldErrorKind, Subresource};

/// For how many CRDs, and fields of each, an object is searched.
const CRDS: usize = 20;
const FIELDS: usize = 5;

/// One fact per bundle for each part of an object that is tolerated from now on, at the first field that shows it.
pub(super) fn tolerated(crds: &[&Crd<'_>], from: Server, to: Server) -> Vec<Fact> {
    let parts = [(Feature::Ratcheting, None), (Feature::StatusRatcheting, Some(Subresource::Status))];
    let gained = parts.into_iter().filter(|(feature, _)| !from.has(*feature) && to.has(*feature));
    gained.filter_map(|(_, part)| crds.iter().take(CRDS).find_map(|crd| of_crd(crd, part, from, to))).collect()
}

fn of_crd(crd: &Crd<'_>, part: Option<Subresource>, from: Server, to: Server) -> Option<Fact> {
    let (before, after) = (crd.on(from), crd.on(to));
    let sides = before.versions.iter().zip(&after.versions).filter(|(version, _)| version.served);
    for (old, new) in sides {
        let Some(schema) = &new.schema else { continue };
        let shape = Shape::of(schema);
        let api_version = format!("{}/{}", crd.group(), new.name);
        let maker = CaseMaker::new(&shape, &api_version, crd.kind(), &Budget::of_each());
        let mut fields = Vec::new();
        constrained(schema, &FieldPath::root(), part.is_some(), &mut fields);
        let mut endpoints = None;
        for (path, kind, node) in fields.into_iter().take(FIELDS) {
            let Some(rejected) = maker.rejected(&path, &Check::Keyword(kind)) else { continue };
            if endpoints.is_none() {
                endpoints = Endpoint::new(old).zip(Endpoint::new(new));
            }
            let (older, newer) = endpoints.as_ref()?;
            let stored = older.read(rejected.object);
            let mut sent = stored.clone();
            if part.is_none() {
                sent["metadata"]["labels"] = json!({"changed": "true"});
            }
            let errors = |endpoint: &Endpoint, sent: &Value| {
                let outcome = match part {
                    Some(subresource) => endpoint.update_subresource(subresource, &stored, sent.clone())?,
                    None => endpoint.update(&stored, sent.clone()),
                };
                Some(outcome.errors.iter().map(|error| error.message.clone()).collect::<Vec<_>>())
            };
            let (Some(refused), Some(passed)) = (errors(older, &sent), errors(newer, &sent)) else { break };
            let Some(because) = refused.first().filter(|_| passed.is_empty()) else { continue };
            let witness = Witness {
                previous: Some(stored.clone()),
                object: sent,
                old: Outcome::Rejected,
                new: Outcome::Accepted,
                because: because.clone(),
            };
            let place = Place { file: crd.file, span: node };
            let fact = Fact::about(crd, Subject::Field, Aspect::Accepted, Effect::Lapsed).version(new.name).path(&path);
            let fact = fact
                .before(place)
                .after(place)
                .word(Word::What, if part.is_some() { "a status" } else { "an object" })
                .word(Word::Old, from.to_string())
                .word(Word::New, to.to_string());
            return Some(Fact { evidence: Evidence::shown(witness), ..fact });
        }
    }
    None
}

/// Collects fields with a constraint that some value violates, in the status or outside it.
fn constrained(
    schema: &Schema<'_>,
    path: &FieldPath,
    status: bool,
    found: &mut Vec<(FieldPath, FieldErrorKind, crate::input::yaml::Span)>,
) {
    for (entry, child) in schema.properties() {
        let outside = path.is_root() && (entry.name() == "status") != status;
        if outside || found.len() >= FIELDS || path.is_root() && crate::model::schema::is_meta(entry.name()) {
            continue;
        }
        let path = path.key(entry.name());
        let shape = Shape::local(&child);
        let kind = match () {
            () if shape.enum_values.is_some() => Some(FieldErrorKind::Enum),
            () if shape.length.max.is_some() => Some(FieldErrorKind::MaxLength),
            () if shape.bounds.maximum.is_some() => Some(FieldErrorKind::Maximum),
            () if shape.bounds.minimum.is_some() => Some(FieldErrorKind::Minimum),
            () if shape.pattern.is_some() => Some(FieldErrorKind::Pattern),
            () => None,
        };
        found.extend(kind.map(|kind| (path.clone(), kind, entry.key.span())));
        constrained(&child, &path, status, found);
    }
}
