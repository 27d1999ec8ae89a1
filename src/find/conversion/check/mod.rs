//! Checks conversion manifests against two bundles and emits facts: unknown paths, broken laws, manual steps, wrong examples.

mod examples;
mod fields;
mod law_facts;
mod step_facts;
mod unused;

use crate::compare::{Budget, divide};
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::{Bundle, Crd, FieldPath, Place};

use super::catalogue::Conversions;
use super::graph::GraphProblem;
use super::laws::{Law, LawCheck, LawVerdict};
use super::manifest::Manifest;
use super::manifest_endpoints::ManifestEndpoints;
use super::step::Step;
pub use unused::unused_manifests;

/// Which part of the work of a comparison the proofs of one manifest may take.
const LAWS_PART: usize = 3;

/// The results of checking one manifest.
#[derive(Debug)]
pub struct CheckedManifest {
    pub manifest: String,
    pub from: String,
    pub to: String,
    /// Empty for webhooks, and for manifests between versions that neither bundle has.
    pub laws: Vec<(Law, LawVerdict)>,
    pub facts: Vec<Fact>,
}

/// Checks every manifest whose two schemas are known, and the graph that all manifests form.
pub fn check(conversions: &Conversions, old: &Bundle<'_>, new: &Bundle<'_>, only: &dyn Fn(&Manifest) -> bool) -> Vec<CheckedManifest> {
    let manifests: Vec<&Manifest> = conversions.manifests.iter().filter(|manifest| only(manifest)).collect();
    let share = 2 * manifests.len();
    let mut checked = divide(&manifests, |manifest, budget| check_manifest(manifest, (old, new), budget, share));
    for (group, kind) in conversions.kinds() {
        for problem in conversions.graph(group, kind).problems() {
            let (manifest, fact) = graph_fact(&problem, crd_name(group, kind, old, new));
            if let Some(owner) = checked.iter_mut().find(|checked| checked.manifest == manifest) {
                owner.facts.push(fact);
            }
        }
    }
    checked
}

fn of_kind<'b, 't>(manifest: &Manifest, bundle: &'b Bundle<'t>) -> Vec<&'b Crd<'t>> {
    bundle.crds.iter().filter(|crd| crd.group() == manifest.group && crd.kind() == manifest.kind).collect()
}

fn crd_name(group: &str, kind: &str, old: &Bundle<'_>, new: &Bundle<'_>) -> String {
    let named = new.crds.iter().chain(&old.crds).find(|crd| crd.group() == group && crd.kind() == kind);
    named.map(|crd| crd.name.to_owned()).unwrap_or_default()
}

fn graph_fact(problem: &GraphProblem<'_>, crd: String) -> (String, Fact) {
    let (manifest, effect, detail) = match problem {
        GraphProblem::Loop { manifest, other } => {
            let names: Vec<&str> = other.iter().map(|manifest| manifest.name.as_str()).collect();
            (*manifest, Effect::Duplicate, names.join(", "))
        }
        GraphProblem::Webhook { manifest, first } => (*manifest, Effect::Excessive, first.name.clone()),
    };
    let fact = Fact::new(Subject::Conversion, Aspect::Graph, effect, &crd)
        .after(manifest.place(manifest.span))
        .key(manifest.name.clone())
        .word(Word::Name, manifest.name.clone())
        .word(Word::From, manifest.from.to_string())
        .word(Word::New, manifest.to.to_string())
        .word(Word::Other, detail);
    (manifest.name.clone(), fact)
}

/// `share`: how many schemas are checked in the same run.
fn check_manifest(manifest: &Manifest, (old, new): (&Bundle<'_>, &Bundle<'_>), budget: &Budget, share: usize) -> CheckedManifest {
    let crd = crd_name(&manifest.group, &manifest.kind, old, new);
    let mut checker =
        ManifestChecker { manifest, crd, facts: Vec::new(), version: manifest.to.version.clone(), channel: None, channels: "within" };
    let mut laws = Vec::new();
    checker.webhook();
    checker.manual_steps();
    checker.merging_steps();
    checker.step_order();
    checker.examples();
    if let Some(ends) = ManifestEndpoints::new(manifest, old, new).filter(|_| !manifest.webhook).map(|ends| ends.sharing_work(share)) {
        checker.channels = ends.channels();
        checker.channel = ends.new_crd.channel().map(str::to_owned);
        checker.version = Some(ends.to.name.to_owned());
        if checker.paths_exist(&ends) {
            laws = checker.laws(&LawCheck::new(manifest, &ends.old, &ends.new).within(&budget.part(LAWS_PART)));
        }
        checker.meanings();
        checker.pruned_sources(&ends);
    }
    checker.tombstones(new);
    CheckedManifest {
        manifest: manifest.name.clone(),
        from: manifest.from.to_string(),
        to: manifest.to.to_string(),
        laws,
        facts: checker.facts,
    }
}

/// Collects the facts about one manifest.
struct ManifestChecker<'m> {
    manifest: &'m Manifest,
    crd: String,
    version: Option<String>,
    channel: Option<String>,
    channels: &'static str,
    facts: Vec<Fact>,
}

impl ManifestChecker<'_> {
    fn fact(&self, aspect: Aspect, effect: Effect, place: Place) -> Fact {
        let mut fact = Fact::new(Subject::Conversion, aspect, effect, &self.crd)
            .after(place)
            .word(Word::Name, self.manifest.name.clone())
            .word(Word::Channels, self.channels);
        fact.version.clone_from(&self.version);
        fact.channel.clone_from(&self.channel);
        fact.key(self.manifest.name.clone())
    }

    fn at_step(&self, aspect: Aspect, effect: Effect, index: usize, step: &Step, path: &FieldPath) -> Fact {
        let place = self.manifest.place(step.path_spans.first().copied().unwrap_or(step.span));
        self.fact(aspect, effect, place)
            .path(path)
            .key(format!("{}/{index}", self.manifest.name))
            .word(Word::Step, step.name)
            .word(Word::Number, (self.manifest.earlier_steps + index + 1).to_string())
    }
}
