//! Finds the versions in two bundles that a manifest converts between.

use crate::model::schema::Shape;
use crate::model::{Bundle, Crd, Version};

use super::manifest::{BundleVersion, Manifest, ManifestEndpoint};
use super::schema_endpoint::SchemaEndpoint;

/// A manifest with the CRDs and versions that it converts between.
pub struct ManifestEndpoints<'m, 'b, 't> {
    pub manifest: &'m Manifest,
    /// The CRDs that the manifest converts from and to.
    pub old_crd: &'b Crd<'t>,
    pub new_crd: &'b Crd<'t>,
    pub from: &'b Version<'t>,
    pub to: &'b Version<'t>,
    pub old: SchemaEndpoint,
    pub new: SchemaEndpoint,
    /// Whether the manifest belongs to the change from the old bundle to the new one, rather than to versions that both have.
    pub of_change: bool,
}

fn is_kind(manifest: &Manifest, crd: &Crd<'_>) -> bool {
    crd.group() == manifest.group && crd.kind() == manifest.kind
}

/// Whether an endpoint can mean this CRD: where both state a property, they agree.
pub(crate) fn fits(end: &ManifestEndpoint, crd: &Crd<'_>) -> bool {
    let channel = crd.channel();
    let bundle = crd.bundle_version().and_then(|bundle| BundleVersion::parse(bundle.value));
    // The next release has no version yet, so the CRDs may still declare the last one.
    let open = end.bundle == Some(BundleVersion::Next);
    let same_channel = end.channel.is_none() || channel.is_none() || end.channel.as_deref() == channel;
    same_channel && (open || end.bundle.is_none() || bundle.is_none() || end.bundle == bundle)
}

impl<'m, 'b, 't> ManifestEndpoints<'m, 'b, 't> {
    /// Returns `None` if an endpoint is in neither bundle, because then the manifest belongs to another change.
    pub fn new(manifest: &'m Manifest, old: &'b Bundle<'t>, new: &'b Bundle<'t>) -> Option<Self> {
        let crds = |bundle: &'b Bundle<'t>, end: &ManifestEndpoint| -> Vec<&'b Crd<'t>> {
            bundle.crds.iter().filter(|crd| is_kind(manifest, crd) && fits(end, crd)).collect()
        };
        let (before, after) = (crds(old, &manifest.from), crds(new, &manifest.to));
        let name = |end: &'m ManifestEndpoint, crd: &'b Crd<'t>| -> Option<&'b Version<'t>> {
            match &end.version {
                Some(version) => crd.version(version),
                None => crd.storage_version().or(crd.versions.first()),
            }
        };
        // Objects are converted from a version of the new bundle, or of the old one if the version was removed.
        let still = crds(new, &manifest.from);
        let cross = !manifest.in_place();
        let sources: Vec<&'b Crd<'t>> = if cross { still.iter().chain(&before).copied().collect() } else { before.clone() };
        let targets: Vec<&'b Crd<'t>> = if cross { after.into_iter().chain(crds(old, &manifest.to)).collect() } else { after };
        let (old_crd, from) = sources.iter().find_map(|crd| Some((*crd, name(&manifest.from, crd)?)))?;
        let (new_crd, to) = targets.iter().find_map(|crd| Some((*crd, name(&manifest.to, crd)?)))?;
        let of_change = manifest.in_place() || before.iter().all(|crd| name(&manifest.to, crd).is_none()) || new_lacks(new, manifest);
        let endpoint = |version: &Version<'t>| {
            let shape = Shape::of(version.schema.as_ref()?);
            Some(SchemaEndpoint::new(shape, &manifest.group, version.name, &manifest.kind))
        };
        Some(ManifestEndpoints { manifest, old_crd, new_crd, from, to, old: endpoint(from)?, new: endpoint(to)?, of_change })
    }

    /// Generates fewer objects of both versions, because they are generated for this many schemas.
    #[must_use]
    pub fn sharing_work(self, share: usize) -> Self {
        ManifestEndpoints { old: self.old.sharing_work(share), new: self.new.sharing_work(share), ..self }
    }

    /// `within` or `across` channels.
    pub fn channels(&self) -> &'static str {
        let channel = |end: &ManifestEndpoint, crd: &Crd<'t>| end.channel.clone().or_else(|| crd.channel().map(str::to_owned));
        let (from, to) = (channel(&self.manifest.from, self.old_crd), channel(&self.manifest.to, self.new_crd));
        if from == to { "within" } else { "across" }
    }
}

/// Whether this change removes the version that a manifest converts from.
fn new_lacks(new: &Bundle<'_>, manifest: &Manifest) -> bool {
    let Some(version) = &manifest.from.version else { return false };
    new.crds.iter().filter(|crd| is_kind(manifest, crd)).all(|crd| crd.version(version).is_none())
}
