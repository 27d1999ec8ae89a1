//! Finds the variants of a CRD that an OpenShift suite applies to.
//!
//! A suite lists feature gates that must be on, or with a `-` off. OpenShift publishes a CRD for each cluster profile and feature
//! set, and `FeatureGate` manifests list which gates are on there. Without these manifests, a gate is on if the CRD has its
//! annotation.

use std::collections::BTreeSet;

use crate::input::yaml::Node;
use crate::model::{Crd, Documents};

const PROFILE: &str = "include.release.openshift.io/";
const FEATURE_SET: &str = "release.openshift.io/feature-set";
const MAJOR_VERSION: &str = "release.openshift.io/major-version";
const GATE: &str = "feature-gate.release.openshift.io/";
/// The annotation of a CRD that is installed only with these gates.
const OWN_GATES: &str = "release.openshift.io/feature-gate";

/// The manifests, in the order of their files.
#[derive(Debug, Default)]
pub(crate) struct FeatureGates {
    manifests: Vec<Manifest>,
}

#[derive(Debug)]
struct Manifest {
    published: Published,
    enabled: BTreeSet<String>,
    disabled: BTreeSet<String>,
}

/// The clusters that something is published for.
#[derive(Debug)]
struct Published {
    profiles: BTreeSet<String>,
    feature_sets: BTreeSet<String>,
    versions: BTreeSet<String>,
    gates: BTreeSet<String>,
}

impl Published {
    fn of(document: Node<'_>) -> Self {
        let annotations = || {
            let map = document.get("metadata").and_then(|metadata| metadata.get("annotations"));
            map.into_iter().flat_map(Node::entries).filter_map(|entry| Some((entry.key.key_text(), entry.value.as_str()?)))
        };
        let list = |key: &str| {
            let found = annotations().filter(|(name, _)| *name == key).flat_map(|(_, value)| value.split(','));
            found.map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect::<BTreeSet<_>>()
        };
        // A CRD is excluded from a profile by another value, but a manifest isn't.
        let taken = |value: &str| value == "true" || document.text("kind") == Some("FeatureGate");
        let profiles = annotations().filter(|(name, value)| name.starts_with(PROFILE) && taken(value));
        let profiles = profiles.map(|(name, _)| name.to_owned()).collect();
        Published { profiles, feature_sets: list(FEATURE_SET), versions: list(MAJOR_VERSION), gates: list(OWN_GATES) }
    }
}

impl FeatureGates {
    /// Whether a text may contain a manifest.
    pub fn are_in(text: &str) -> bool {
        text.contains("FeatureGate") && text.contains("config.openshift.io/") && text.contains(FEATURE_SET)
    }

    /// Reads the manifests from the first documents that have any.
    pub fn read(places: &[&Documents]) -> Self {
        places.iter().map(|documents| FeatureGates::of(documents)).find(|gates| !gates.manifests.is_empty()).unwrap_or_default()
    }

    fn of(documents: &Documents) -> Self {
        let roots = documents.documents.iter().filter_map(|(_, document)| Some(document.tree.as_ref().ok()?.root()));
        FeatureGates { manifests: roots.filter_map(manifest).collect() }
    }

    /// The CRDs of one name that a suite with these gates applies to.
    pub fn choose<'c, 't>(&self, gates: &[String], crds: Vec<(usize, &'c Crd<'t>)>) -> Result<Vec<(usize, &'c Crd<'t>)>, String> {
        if gates.is_empty() || crds.is_empty() {
            return Ok(crds);
        }
        if self.manifests.is_empty() {
            return by_annotation(gates, crds);
        }
        let mut chosen = Vec::new();
        for (index, crd) in crds {
            if self.has(crd, gates)? {
                chosen.push((index, crd));
            }
        }
        if chosen.is_empty() { Err(no_variant(gates)) } else { Ok(chosen) }
    }

    /// Whether a CRD is published for clusters where these gates have the required state.
    fn has(&self, crd: &Crd<'_>, gates: &[String]) -> Result<bool, String> {
        let mut published = Published::of(crd.node);
        // It has every field, whatever the gates are.
        if published.feature_sets.contains("CustomNoUpgrade") {
            return Ok(!gates.iter().any(|gate| gate.starts_with('-')));
        }
        let Some(profile) = published.profiles.first() else { return Ok(true) };
        if published.feature_sets.is_empty() {
            published.feature_sets.insert("Default".to_owned());
        }
        let fits = |manifest: &&Manifest| {
            let other = &manifest.published;
            other.profiles.contains(profile)
                && !other.feature_sets.is_disjoint(&published.feature_sets)
                && (published.versions.is_empty() || !other.versions.is_disjoint(&published.versions))
        };
        let Some(manifest) = self.manifests.iter().find(fits) else {
            return Err(format!("no FeatureGate manifest is for the clusters of {}", crd.path));
        };
        for gate in gates {
            let (name, wanted) = gate.strip_prefix('-').map_or((gate.as_str(), true), |name| (name, false));
            let on = manifest.enabled.contains(name) || published.gates.contains(name);
            let off = manifest.disabled.contains(name);
            if !on && !off {
                return Err(format!("the FeatureGate manifest for the clusters of {} doesn't have the gate `{name}`", crd.path));
            }
            if on != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn manifest(root: Node<'_>) -> Option<Manifest> {
    let is_one = root.get("kind")?.as_str() == Some("FeatureGate") && root.get("apiVersion")?.as_str()?.starts_with("config.openshift.io/");
    let gates = root.get("status").filter(|_| is_one)?.get("featureGates")?.items().next()?;
    let names = |key: &str| {
        let items = gates.items_of(key);
        items.filter_map(|gate| Some(gate.get("name")?.as_str()?.to_owned())).collect()
    };
    Some(Manifest { published: Published::of(root), enabled: names("enabled"), disabled: names("disabled") })
}

fn by_annotation<'c, 't>(gates: &[String], mut crds: Vec<(usize, &'c Crd<'t>)>) -> Result<Vec<(usize, &'c Crd<'t>)>, String> {
    let has = |crd: &Crd<'_>, gate: &str| {
        let annotations = crd.node.get("metadata").and_then(|metadata| metadata.get("annotations"));
        annotations.and_then(|map| map.get(&format!("{GATE}{gate}"))).is_some()
    };
    let known = crds.iter().any(|(_, crd)| gates.iter().any(|gate| has(crd, gate.trim_start_matches('-'))));
    if !known {
        return if crds.len() == 1 {
            Ok(crds)
        } else {
            let gates = gates.join(", ");
            Err(format!(
                "the suite is for variants with the feature gates {gates}, and no FeatureGate manifest says which these are; add the directory of the manifests to the paths"
            ))
        };
    }
    crds.retain(|(_, crd)| gates.iter().all(|gate| gate.strip_prefix('-').map_or_else(|| has(crd, gate), |gate| !has(crd, gate))));
    if crds.is_empty() { Err(no_variant(gates)) } else { Ok(crds) }
}

fn no_variant(gates: &[String]) -> String {
    format!("no variant of the CRD has the feature gates {}", gates.join(", "))
}
