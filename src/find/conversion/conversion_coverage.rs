//! Finds the manifest that covers a breaking change.

use crate::model::fact::{Aspect, Fact, Subject};
use crate::model::{Bundle, FieldPath};

use super::catalogue::Conversions;
use super::graph::Graph;
use super::manifest::Manifest;
use super::manifest_endpoints::fits;
use super::path_through_steps::{destination, origin};
use super::step::{Op, Overlap, Step};

/// The manifest that covers a breaking change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    pub manifest: String,
    /// Position of the step; `None` if the manifest as a whole covers it.
    pub step: Option<usize>,
    /// Whether crdwise can prove it, unlike a manual step or a webhook. Only then it lowers the severity of the break.
    pub provable: bool,
}

/// The fields of a step, named as in the old and in the new version.
struct StepFields {
    index: usize,
    op: Op,
    /// The paths it reads, in the old version.
    reads: Vec<FieldPath>,
    /// The paths it writes, in the new version.
    writes: Vec<FieldPath>,
}

pub struct ConversionCoverage<'m> {
    conversions: &'m Conversions,
    step_fields: Vec<Vec<StepFields>>,
    /// CRDs of the new bundle that a webhook converts.
    webhooks: Vec<String>,
    /// For each manifest, the CRDs it applies to.
    crds: Vec<Vec<String>>,
}

impl<'m> ConversionCoverage<'m> {
    pub fn new(conversions: &'m Conversions, old: &Bundle<'_>, new: &Bundle<'_>) -> Self {
        let webhooks = new.crds.iter().filter(|crd| crd.conversion.is_webhook()).map(|crd| crd.name.to_owned()).collect();
        let about = |manifest: &Manifest| {
            let of = |bundle: &Bundle<'_>, end: &super::manifest::ManifestEndpoint| -> Vec<String> {
                let crds = bundle.crds.iter().filter(|crd| crd.group() == manifest.group && crd.kind() == manifest.kind && fits(end, crd));
                crds.map(|crd| crd.name.to_owned()).collect()
            };
            let before = of(old, &manifest.from);
            of(new, &manifest.to).into_iter().filter(|name| before.contains(name)).collect()
        };
        let crds = conversions.manifests.iter().map(about).collect();
        ConversionCoverage { conversions, step_fields: conversions.manifests.iter().map(step_fields).collect(), webhooks, crds }
    }

    /// Finds the manifest that covers a breaking change.
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
        let mut candidates = self.conversions.manifests.iter().zip(&self.step_fields).zip(&self.crds);
        let found = candidates.find_map(|((manifest, steps), crds)| {
            if !crds.contains(&fact.crd) || !leads(manifest) {
                return None;
            }
            if manifest.webhook {
                return Some(Cover { manifest: manifest.name.clone(), step: None, provable: false });
            }
            let step = steps.iter().find(|step| step.op.covers(fact, &Overlap::new(fact, &step.reads, &step.writes)))?;
            let provable = step.op.manual().is_none();
            Some(Cover { manifest: manifest.name.clone(), step: Some(step.index), provable })
        });
        let crosses = fact.against.is_some();
        found.or_else(|| (crosses && self.webhooks.contains(&fact.crd)).then(by_webhook))
    }

    /// Covers a version that is removed or no longer the storage version: objects need a conversion to another version.
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
        let cover = leg.map(|edge| Cover { manifest: edge.manifest.name.clone(), step: None, provable: !edge.manifest.webhook });
        cover.or_else(|| self.webhooks.contains(&fact.crd).then(by_webhook))
    }
}

fn by_webhook() -> Cover {
    Cover { manifest: "webhook".to_owned(), step: None, provable: false }
}

fn step_fields(manifest: &Manifest) -> Vec<StepFields> {
    let ops: Vec<Op> = manifest.steps.iter().map(|step| step.op.clone()).collect();
    let fields = |(index, step): (usize, &Step)| {
        let (done, rest) = ops.split_at_checked(index).unwrap_or((&ops, &[]));
        let later = rest.get(1..).unwrap_or_default();
        StepFields {
            index,
            op: step.op.clone(),
            reads: step.op.reads().into_iter().map(|path| origin(done, path)).collect(),
            writes: step.op.writes().into_iter().map(|path| destination(later, path)).collect(),
        }
    };
    manifest.steps.iter().enumerate().map(fields).collect()
}
