//! Which schemas of two bundles a manifest leads between.

use crate::model::schema::Shape;
use crate::model::{Bundle, Crd, Version, release};

use super::manifest::{Endpoint, Manifest};
use super::schema_endpoint::Ground;

/// A manifest with the CRDs and versions that it leads between.
pub struct Hop<'m, 'b, 't> {
    pub manifest: &'m Manifest,
    /// The CRD of each end.
    pub old_crd: &'b Crd<'t>,
    pub new_crd: &'b Crd<'t>,
    pub from: &'b Version<'t>,
    pub to: &'b Version<'t>,
    pub old: Ground,
    pub new: Ground,
    /// Whether the manifest leads from the old bundle to the new one, and not between versions that both have.
    pub of_change: bool,
}

fn is_kind(manifest: &Manifest, crd: &Crd<'_>) -> bool {
    crd.group() == manifest.group && crd.kind() == manifest.kind
}

/// Whether a CRD can be meant by an end: nothing that both of them say differs.
pub(crate) fn fits(end: &Endpoint, crd: &Crd<'_>) -> bool {
    let channel = crd.channel().map(|channel| channel.value);
    let bundle = crd.bundle_version().and_then(|bundle| release::parse(bundle.value));
    let same_channel = end.channel.is_none() || channel.is_none() || end.channel.as_deref() == channel;
    same_channel && (end.bundle.is_none() || bundle.is_none() || end.bundle == bundle)
}

impl<'m, 'b, 't> Hop<'m, 'b, 't> {
    /// `None` if one of the ends is in neither bundle: then the manifest is of another time, and stays for the chain.
    pub fn new(manifest: &'m Manifest, old: &'b Bundle<'t>, new: &'b Bundle<'t>) -> Option<Self> {
        let crds = |bundle: &'b Bundle<'t>, end: &Endpoint| -> Vec<&'b Crd<'t>> {
            bundle.crds.iter().filter(|crd| is_kind(manifest, crd) && fits(end, crd)).collect()
        };
        let (before, after) = (crds(old, &manifest.from), crds(new, &manifest.to));
        let name = |end: &'m Endpoint, crd: &'b Crd<'t>| -> Option<&'b Version<'t>> {
            match &end.version {
                Some(version) => crd.version(version),
                None => crd.storage_version().or(crd.versions.first()),
            }
        };
        // What the new bundle still has is what objects are converted from; what it lost was in the old one.
        let still = crds(new, &manifest.from);
        let cross = !manifest.in_place();
        let sources: Vec<&'b Crd<'t>> = if cross { still.iter().chain(&before).copied().collect() } else { before.clone() };
        let targets: Vec<&'b Crd<'t>> = if cross { after.into_iter().chain(crds(old, &manifest.to)).collect() } else { after };
        let (old_crd, from) = sources.iter().find_map(|crd| Some((*crd, name(&manifest.from, crd)?)))?;
        let (new_crd, to) = targets.iter().find_map(|crd| Some((*crd, name(&manifest.to, crd)?)))?;
        let of_change = manifest.in_place() || before.iter().all(|crd| name(&manifest.to, crd).is_none()) || new_lacks(new, manifest);
        let ground = |version: &Version<'t>| {
            let shape = Shape::of(version.schema.as_ref()?);
            Some(Ground::new(shape, &manifest.group, version.name, &manifest.kind))
        };
        Some(Hop { manifest, old_crd, new_crd, from, to, old: ground(from)?, new: ground(to)?, of_change })
    }

    /// `within` or `across` channels.
    pub fn channels(&self) -> &'static str {
        let channel = |end: &Endpoint, crd: &Crd<'t>| end.channel.clone().or_else(|| crd.channel().map(|channel| channel.value.to_owned()));
        let (from, to) = (channel(&self.manifest.from, self.old_crd), channel(&self.manifest.to, self.new_crd));
        if from == to { "within" } else { "across" }
    }
}

/// Whether the version that a manifest leads from goes with this change.
fn new_lacks(new: &Bundle<'_>, manifest: &Manifest) -> bool {
    let Some(version) = &manifest.from.version else { return false };
    new.crds.iter().filter(|crd| is_kind(manifest, crd)).all(|crd| crd.version(version).is_none())
}
