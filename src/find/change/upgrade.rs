//! What an upgrade of the cluster changes for CRDs that stay the same.
//!
//! A CRD and two servers come in: facts about objects that only one of them accepts go out, as if the schema had changed, and what
//! only the newer one refuses in the CRD itself.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::cel::check::Purpose;
use crate::cel::decl::Decl;
use crate::cel::eval::Program;
use crate::compare::Sample;
use crate::find::review_context::{ReviewContext, Stability};
use crate::find::servers::read_by;
use crate::model::fact::{Affected, Aspect, Effect, Fact, Mark, Ratchet, Subject, Word};
use crate::model::kubernetes::{Feature, Minor, Server};
use crate::model::schema::shape::Extra;
use crate::model::schema::{Keyword, Schema, Shape};
use crate::model::{Api, Bundle, Crd, FieldPath, PathStep, Place, Version};
use crate::server::crd;
use crate::server::object::{Scale, enforced_format};

use super::value_text::cut;
use super::witness::{FactDraft, Resource, attach};

/// Characters of a rule that a message shows.
const RULE: usize = 80;

/// Everything that changes for the CRDs of a bundle when its cluster goes from one minor to another.
pub fn upgrade(bundle: &Bundle<'_>, (from, to): (Minor, Minor), context: &ReviewContext<'_>) -> Vec<Fact> {
    let (from, to) = (from.server(), to.server());
    let stability = Stability::new(None, bundle, context);
    let of_crd = |crd: &Crd<'_>| {
        let mut facts = refusals(crd, from, to);
        for version in crd.versions.iter().filter(|version| version.served) {
            facts.extend(of_version(crd, version, from, to));
        }
        facts
    };
    bundle.crds.par_iter().filter(|crd| crd.api == Api::V1).flat_map_iter(|crd| stability.complete(of_crd(crd))).collect()
}

/// What only the newer server refuses when the CRD is created, or when a stored one is updated.
fn refusals(crd: &Crd<'_>, from: Server, to: Server) -> Vec<Fact> {
    let created = |server| read_by(crd, server, crd::create).facts;
    let updated = |server| {
        let facts = read_by(crd, server, |crd| crd::update(crd, crd)).facts;
        facts.into_iter().filter(|fact| fact.is_refusal() && !fact.pre_existing).collect::<Vec<_>>()
    };
    let (before, stuck_before) = (created(from), updated(from));
    let known: HashSet<_> = before.iter().filter(|fact| fact.is_refusal()).map(Fact::identity).collect();
    let known_stuck: HashSet<_> = stuck_before.iter().map(Fact::identity).collect();
    let stuck: Vec<Fact> = updated(to).into_iter().filter(|fact| !known_stuck.contains(&fact.identity())).collect();
    let mut facts: Vec<Fact> = created(to).into_iter().filter(|fact| fact.is_refusal() && !known.contains(&fact.identity())).collect();
    for fact in stuck {
        match facts.iter_mut().find(|known| known.identity() == fact.identity()) {
            Some(known) => {
                known.marks.insert(Mark::RefusedOnUpdate);
            }
            None => facts.push(Fact { pre_existing: false, ..fact }.mark(Mark::RefusedOnUpdate)),
        }
    }
    facts
}

fn of_version(crd: &Crd<'_>, version: &Version<'_>, from: Server, to: Server) -> Vec<Fact> {
    let Some(schema) = &version.schema else { return Vec::new() };
    let (old, new) = (schema.clone().on(from), schema.clone().on(to));
    let mut walk = UpgradeWalk { crd, version: version.name, from, to, drafts: Vec::new() };
    walk.node(&old, &new, &FieldPath::root(), true);
    let UpgradeWalk { drafts, .. } = walk;
    if drafts.is_empty() {
        return Vec::new();
    }
    let scale = Scale::of(version);
    let resource = Resource { group: crd.group(), version: version.name, kind: crd.kind() };
    let facts = attach(drafts, (&old, &scale), (&new, &scale), resource);
    // What no object shows is no change.
    facts.into_iter().filter(|fact| fact.effect != Effect::Rewritten).collect()
}

struct UpgradeWalk<'w, 't> {
    crd: &'w Crd<'t>,
    version: &'w str,
    from: Server,
    to: Server,
    drafts: Vec<FactDraft>,
}

impl UpgradeWalk<'_, '_> {
    fn node(&mut self, old: &Schema<'_>, new: &Schema<'_>, path: &FieldPath, root: bool) {
        self.formats(old, new, path);
        self.rules(old, new, path, root);
        for ((entry, before), (_, after)) in old.properties().zip(new.properties()) {
            self.node(&before, &after, &path.key(entry.name()), false);
        }
        if let (Some(before), Some(after)) = (old.items(), new.items()) {
            self.node(&before, &after, &path.child(PathStep::Items), false);
        }
        if let (Extra::Values(before), Extra::Values(after)) = (old.extra(), new.extra()) {
            self.node(&before, &after, &path.child(PathStep::Values), false);
        }
    }

    /// Formats that only one of the servers enforces, of the node itself or in its clauses.
    fn formats(&mut self, old: &Schema<'_>, new: &Schema<'_>, path: &FieldPath) {
        let (before, after) = (Shape::local(old), Shape::local(new));
        let Some(effect) = format_effect(&before, &after) else { return };
        let at = new.entry(Keyword::Format).map_or(new.node(), |entry| entry.value);
        let format = after.format.as_deref().unwrap_or("in a clause");
        let state = |server: Server, enforced: bool| format!("{format} ({} by {server})", if enforced { "enforced" } else { "ignored" });
        let fact = self
            .fact(Aspect::Format, effect, path, at.span())
            .word(Word::Old, state(self.from, effect == Effect::Widened))
            .word(Word::New, state(self.to, effect == Effect::Narrowed))
            .word(Word::Keyword, Keyword::Format.name());
        let lost = (effect == Effect::Narrowed).then(|| beyond(&before, format)).flatten();
        self.drafts.push(FactDraft { lost: lost.map(Sample::Sent), ..FactDraft::from(fact) });
    }

    /// Rules that compile, or hold, on one of the servers only.
    fn rules(&mut self, old: &Schema<'_>, new: &Schema<'_>, path: &FieldPath, root: bool) {
        if old.cel_rules().len() == 0 {
            return;
        }
        let compiles = |schema: &Schema<'_>, text: &str| {
            let shape = Shape::of(schema);
            let decl = Arc::new(Decl::of(&shape, root || shape.embedded));
            let rule = shape.rules.iter().find(|rule| rule.rule == text);
            let optional = rule.is_some_and(|rule| rule.optional_old_self == Some(true));
            Program::compile(text, Purpose::Rule, &decl, optional, schema.kubernetes().stored_expressions())
        };
        for rule in old.cel_rules() {
            let text = rule.rule();
            let (before, after) = (compiles(old, text), compiles(new, text));
            let differs =
                |program: &Program, feature: Feature| self.from.has(feature) != self.to.has(feature) && program.is_evaluated_by(feature);
            let (effect, state) = match (&before, &after) {
                (Ok(_), Err(error)) => (Effect::Narrowed, format!("doesn't compile on {}: {error}", self.to)),
                (Err(_), Ok(_)) => (Effect::Widened, format!("compiles since {}", self.to)),
                (Ok(program), Ok(_))
                    if [Feature::SubnetsContained, Feature::QuantitiesCopied].into_iter().any(|feature| differs(program, feature)) =>
                {
                    (Effect::Undecided, format!("is evaluated differently on {}", self.to))
                }
                _ => continue,
            };
            let at = rule.node.get("rule").unwrap_or(rule.node);
            let aspect = if text.contains("oldSelf") { Aspect::CelTransition } else { Aspect::CelRule };
            let fact = self
                .fact(aspect, effect, path, at.span())
                .key(text.trim())
                .word(Word::Rule, text.trim())
                .word(Word::Old, cut(text, RULE))
                .word(Word::New, format!("{} ({state})", cut(text, RULE)))
                .word(Word::Reason, state);
            self.drafts.push(FactDraft { rule: Some(text.to_owned()), ..FactDraft::from(fact) });
        }
    }

    fn fact(&self, aspect: Aspect, effect: Effect, path: &FieldPath, span: crate::input::yaml::Span) -> Fact {
        let place = Place { file: self.crd.file, span };
        let fact = Fact::new(Subject::Field, aspect, effect, self.crd.name).version(self.version).path(path).before(place).after(place);
        let fact = Fact { channel: self.crd.channel().map(|channel| channel.value.to_owned()), ..fact };
        match (effect, self.to.has(Feature::Ratcheting)) {
            (Effect::Widened, _) => fact.affects(&[Affected::Readers]),
            (_, true) => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Field),
            (_, false) => fact.affects(&[Affected::Writers, Affected::Stored]).ratchet(Ratchet::Never),
        }
    }
}

/// Whether one server enforces a format here that the other ignores.
fn format_effect(old: &Shape, new: &Shape) -> Option<Effect> {
    let own = match (enforced_format(old), enforced_format(new)) {
        (false, true) => Some(Effect::Narrowed),
        (true, false) => Some(Effect::Widened),
        _ => None,
    };
    let clauses = |shape: &'_ Shape| -> Vec<Shape> {
        let lists = [&shape.all_of, &shape.any_of, &shape.one_of].into_iter().flatten().cloned();
        lists.chain(shape.not.as_deref().cloned()).collect()
    };
    let mut inner = clauses(old).into_iter().zip(clauses(new));
    own.or_else(|| inner.find_map(|(before, after)| format_effect(&before, &after)))
}

/// A value that a format excludes, to look for an object with.
fn beyond(shape: &Shape, format: &str) -> Option<Value> {
    let bounds = &shape.bounds;
    let fits = |number: f64| bounds.maximum.is_none_or(|most| number <= most) && bounds.minimum.is_none_or(|least| number >= least);
    match format {
        "int32" if fits(2_147_483_648.0) => Some(json!(2_147_483_648_i64)),
        "int32" => Some(json!(-2_147_483_649_i64)),
        "float" if fits(1e39) => Some(json!(1e39)),
        "float" => Some(json!(-1e39)),
        _ => Some(json!("Not a name")),
    }
}
