//! Manifests that don't apply to anything in the two bundles.

use crate::find::conversion::catalogue::Conversions;
use crate::find::conversion::manifest::{BundleVersion, Manifest, ManifestEndpoint};
use crate::find::conversion::manifest_endpoints::{ManifestEndpoints, fits};
use crate::input::json_schema_check::nearest;
use crate::model::fact::{Aspect, Effect, Fact, Subject, Word};
use crate::model::{Bundle, Crd};

use super::{crd_name, of_kind};

/// Returns the manifests that don't apply to anything, each with the reason.
///
/// A manifest that existed before the change remains part of the chain. If the earlier manifests aren't known, only manifests that
/// can't belong to an earlier change are reported.
pub fn unused_manifests(conversions: &Conversions, before: Option<&Conversions>, old: &Bundle<'_>, new: &Bundle<'_>) -> Vec<Fact> {
    let known = |manifest: &Manifest| before.is_some_and(|before| before.manifests.iter().any(|other| other.name == manifest.name));
    let fresh = conversions.manifests.iter().filter(|manifest| !known(manifest));
    let unused = fresh.filter_map(|manifest| Some((manifest, why_unused(manifest, before.is_some(), old, new)?)));
    unused
        .map(|(manifest, reason)| {
            Fact::new(Subject::Conversion, Aspect::Coverage, Effect::Unused, &crd_name(&manifest.group, &manifest.kind, old, new))
                .after(manifest.place(manifest.span))
                .key(manifest.name.clone())
                .word(Word::Name, manifest.name.clone())
                .word(Word::From, manifest.from.to_string())
                .word(Word::New, manifest.to.to_string())
                .word(Word::Reason, reason)
        })
        .collect()
}

/// Returns why a manifest applies to neither bundle.
fn why_unused(manifest: &Manifest, fresh: bool, old: &Bundle<'_>, new: &Bundle<'_>) -> Option<String> {
    let (before, after) = (of_kind(manifest, old), of_kind(manifest, new));
    if before.is_empty() && after.is_empty() {
        let kinds = old.crds.iter().chain(&new.crds).filter(|crd| crd.group() == manifest.group).map(|crd| crd.kind());
        let hint = nearest(&manifest.kind, kinds);
        return Some(format!("neither side has the kind `{}` in {}{hint}", manifest.kind, manifest.group));
    }
    if manifest.webhook || ManifestEndpoints::new(manifest, old, new).is_some() {
        return None;
    }
    let release = |crds: &[&Crd<'_>]| BundleVersion::parse(crds.first()?.bundle_version()?.value);
    let (past, present) = (release(&before), release(&after));
    let released = |end: &ManifestEndpoint| matches!(end.bundle, Some(BundleVersion::Released(_)));
    let ahead = |end: &ManifestEndpoint| released(end) && past.is_some() && end.bundle > past && end.bundle != present;
    let meant = |end: &ManifestEndpoint, crd: &&Crd<'_>| {
        fits(end, crd) && end.version.as_deref().is_none_or(|version| crd.version(version).is_some())
    };
    let nowhere = |end: &ManifestEndpoint| !before.iter().chain(&after).any(|crd| meant(end, crd));
    let ends = [&manifest.from, &manifest.to];
    if !fresh && !ends.iter().any(|end| ahead(end) && nowhere(end)) {
        return None;
    }
    let missing: Vec<String> = ends.iter().filter(|end| nowhere(end)).map(|end| format!("`{end}`")).collect();
    Some(match missing.as_slice() {
        [] => format!("this change doesn't go from `{}` to `{}`", manifest.from, manifest.to),
        ends => format!("neither side has {}", ends.join(" or ")),
    })
}
