//! Breaks come in; the manifest that says how to deal with each of them goes out.

use crate::model::fact::{Aspect, Effect, Fact, Subject};
use crate::model::{Bundle, FieldPath};

use super::catalogue::Conversions;
use super::graph::Graph;
use super::manifest::Manifest;
use super::manifest_endpoints::fits;
use super::path_through_steps::{destination, origin};
use super::step::Op;

/// What covers a break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    pub manifest: String,
    /// Position of the step; `None` where the manifest as a whole does it.
    pub step: Option<usize>,
    /// Done by people, or by a webhook: nothing of it is checked.
    pub unchecked: bool,
}

/// A step in the coordinates of both ends.
struct Act<'m> {
    index: usize,
    op: &'m Op,
    /// Where the values that it reads stand in the old form.
    reads: Vec<FieldPath>,
    /// Where the values that it writes stand in the new form.
    writes: Vec<FieldPath>,
}

pub struct Coverage<'m> {
    conversions: &'m Conversions,
    acts: Vec<Vec<Act<'m>>>,
    /// CRDs of the new bundle that a webhook converts.
    webhooks: Vec<String>,
    /// For each manifest the CRDs whose change it is about.
    crds: Vec<Vec<String>>,
}

impl<'m> Coverage<'m> {
    pub fn new(conversions: &'m Conversions, old: &Bundle<'_>, new: &Bundle<'_>) -> Self {
        let webhooks = new.crds.iter().filter(|crd| crd.conversion.is_webhook()).map(|crd| crd.name.to_owned()).collect();
        let about = |manifest: &Manifest| {
            let of = |bundle: &Bundle<'_>, end: &super::manifest::Endpoint| -> Vec<String> {
                let crds = bundle.crds.iter().filter(|crd| crd.group() == manifest.group && crd.kind() == manifest.kind && fits(end, crd));
                crds.map(|crd| crd.name.to_owned()).collect()
            };
            let before = of(old, &manifest.from);
            of(new, &manifest.to).into_iter().filter(|name| before.contains(name)).collect()
        };
        let crds = conversions.manifests.iter().map(about).collect();
        Coverage { conversions, acts: conversions.manifests.iter().map(acts).collect(), webhooks, crds }
    }

    /// The manifest that covers a break.
    pub fn cover(&self, fact: &Fact) -> Option<Cover> {
        match fact.subject {
            Subject::Field | Subject::NewVersion => self.field(fact),
            Subject::Version | Subject::Crd => self.version(fact),
            _ => None,
        }
    }

    fn field(&self, fact: &Fact) -> Option<Cover> {
        let from = fact.against.as_deref().or(fact.version.as_deref());
        let to = fact.version.as_deref();
        let leads = |manifest: &Manifest| {
            let end = |said: &Option<String>, version: Option<&str>| said.is_none() || said.as_deref() == version;
            end(&manifest.from.version, from) && end(&manifest.to.version, to)
        };
        let mut candidates = self.conversions.manifests.iter().zip(&self.acts).zip(&self.crds);
        let found = candidates.find_map(|((manifest, acts), crds)| {
            if !crds.contains(&fact.crd) || !leads(manifest) {
                return None;
            }
            if manifest.webhook {
                return Some(Cover { manifest: manifest.name.clone(), step: None, unchecked: true });
            }
            let act = acts.iter().find(|act| act.deals_with(fact))?;
            let unchecked = act.op.manual().is_some();
            Some(Cover { manifest: manifest.name.clone(), step: Some(act.index), unchecked })
        });
        let crosses = fact.against.is_some();
        found.or_else(|| (crosses && self.webhooks.contains(&fact.crd)).then(by_webhook))
    }

    /// A version that goes, or that objects are no longer stored at, needs a way to another one.
    fn version(&self, fact: &Fact) -> Option<Cover> {
        let start = match fact.aspect {
            Aspect::Presence | Aspect::Served => fact.version.as_deref()?,
            Aspect::Storage => fact.against.as_deref()?,
            Aspect::ConversionStrategy | Aspect::ConversionWebhook => "",
            _ => return None,
        };
        let about =
            self.conversions.manifests.iter().zip(&self.crds).filter(|(_, crds)| crds.contains(&fact.crd)).map(|(manifest, _)| manifest);
        let manifests: Vec<&Manifest> = about.collect();
        let first = manifests.first()?;
        let graph = Graph::new(self.conversions.of_kind(&first.group, &first.kind));
        let starts = if start.is_empty() { (0..graph.nodes.len()).collect() } else { graph.named(start) };
        let leg = graph.edges.iter().find(|edge| starts.contains(&edge.from));
        let cover = leg.map(|edge| Cover { manifest: edge.manifest.name.clone(), step: None, unchecked: edge.manifest.webhook });
        cover.or_else(|| self.webhooks.contains(&fact.crd).then(by_webhook))
    }

    /// Whether a manifest is about the change between the two bundles.
    pub fn is_about(&self, manifest: &Manifest) -> bool {
        let index = self.conversions.manifests.iter().position(|other| other.name == manifest.name);
        index.and_then(|index| self.crds.get(index)).is_some_and(|crds| !crds.is_empty())
    }
}

fn by_webhook() -> Cover {
    Cover { manifest: "webhook".to_owned(), step: None, unchecked: true }
}

fn acts(manifest: &Manifest) -> Vec<Act<'_>> {
    let ops: Vec<Op> = manifest.steps.iter().map(|step| step.op.clone()).collect();
    let act = |(index, step): (usize, &'_ super::step::Step)| {
        let (done, rest) = ops.split_at_checked(index).unwrap_or((&ops, &[]));
        let later = rest.get(1..).unwrap_or_default();
        (
            step.op.reads().into_iter().map(|path| origin(done, path)).collect(),
            step.op.writes().into_iter().map(|path| destination(later, path)).collect(),
        )
    };
    let places: Vec<(Vec<FieldPath>, Vec<FieldPath>)> = manifest.steps.iter().enumerate().map(act).collect();
    manifest
        .steps
        .iter()
        .enumerate()
        .zip(places)
        .map(|((index, step), (reads, writes))| Act { index, op: &step.op, reads, writes })
        .collect()
}

impl Act<'_> {
    /// Whether the step is at the path of the break and does what such a break needs.
    fn deals_with(&self, fact: &Fact) -> bool {
        let path = &fact.path;
        let reads = self.reads.contains(path);
        let writes = self.writes.contains(fact.to.as_ref().unwrap_or(path));
        if let Some(manual) = self.op.manual() {
            return reads && manual.effect == fact.effect;
        }
        let arrives = fact.to.as_ref().is_none_or(|to| self.writes.contains(to));
        let at_the_fields = match (fact.aspect, fact.effect) {
            (Aspect::Presence | Aspect::Required, Effect::Added) => writes,
            (Aspect::Required | Aspect::Default | Aspect::Nullable | Aspect::Meaning, _) => reads || writes,
            // A condition on an object is dealt with where its parts are.
            (
                Aspect::CelRule
                | Aspect::CelTransition
                | Aspect::AllOf
                | Aspect::AnyOf
                | Aspect::OneOf
                | Aspect::Not
                | Aspect::Accepted
                | Aspect::MinProperties
                | Aspect::MaxProperties
                | Aspect::PreserveUnknown
                | Aspect::AdditionalProperties
                | Aspect::Items
                | Aspect::EmbeddedResource,
                _,
            ) => {
                self.reads.iter().any(|read| read.starts_with(path))
                    || self.writes.iter().any(|write| write.starts_with(fact.to.as_ref().unwrap_or(path)))
            }
            _ => reads,
        };
        at_the_fields && self.op.covers(fact, arrives)
    }
}
