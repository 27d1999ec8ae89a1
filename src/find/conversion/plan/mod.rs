//! Plans the releases that lead from one CRD to another without losing an object.
//!
//! Every step is a CRD that the server accepts as an update of the one before, and stored objects can be read at every point.

mod instructions;
mod relaxed_schema;
mod sequence;

use serde_json::{Map, Value, json};

use crate::model::{Bundle, Crd, Documents};

use super::catalogue::Conversions;
use super::text::as_yaml;
pub use instructions::Instructions;
pub(crate) use sequence::StoredObjects;

/// The first line of a file with a step's CRD. It marks files that aren't CRDs of the project they are in.
pub const FILE_HEADER: &str = "# A step of `crdwise conversions plan`\n";

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Adds versions and fields; removes nothing.
    Add,
    Deprecate,
    MoveStorage,
    /// Rewrites the stored objects.
    Migrate,
    TrimStoredVersions,
    StopServing,
    CleanManagedFields,
    /// Applies the new CRD, without the removed versions and fields.
    Finish,
}

impl Action {
    /// The name of the action in the step's file name.
    pub fn name(self) -> &'static str {
        match self {
            Action::Add => "add",
            Action::Deprecate => "deprecate",
            Action::MoveStorage => "move-storage",
            Action::Migrate => "migrate",
            Action::TrimStoredVersions => "trim-stored-versions",
            Action::StopServing => "stop-serving",
            Action::CleanManagedFields => "clean-managed-fields",
            Action::Finish => "finish",
        }
    }
}

/// One step of a plan.
#[derive(Debug, Clone)]
pub struct PlanStep {
    pub action: Action,
    /// The CRD after the step; `None` if the step doesn't change the CRD.
    pub crd: Option<Value>,
    pub instructions: Instructions,
}

/// The steps for one CRD.
#[derive(Debug, Clone)]
pub struct Plan {
    pub crd: String,
    pub steps: Vec<PlanStep>,
}

/// Why there is no plan for a CRD, or what is wrong with a sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRefusal {
    pub crd: String,
    /// The wrong step, counted from 1; 0 if there is no plan at all.
    pub step: usize,
    pub reason: String,
}

/// Plans the steps for all CRDs that change, with the reasons for those without a plan.
pub fn plan(old: &Bundle<'_>, new: &Bundle<'_>, conversions: Option<&Conversions>) -> (Vec<Plan>, Vec<PlanRefusal>) {
    let (mut plans, mut refusals) = (Vec::new(), Vec::new());
    let pairs = new.crds.iter().filter_map(|after| Some((after.counterpart(old.named(after.name))?, after)));
    let changed: Vec<(&Crd<'_>, &Crd<'_>)> = pairs.filter(|(before, after)| !before.node.same_text(after.node)).collect();
    for &(before, after) in &changed {
        let objects = StoredObjects::new((old, new), (before, after), conversions, changed.len());
        let planner = Planner { old: before, new: after, objects };
        let plan = planner.plan();
        let documents: Vec<Documents> = std::iter::once(without_status(before.node.to_json()))
            .chain(plan.steps.iter().filter_map(|step| step.crd.clone()))
            .map(|crd| Documents::of_text("plan.yaml", &as_yaml(&crd)))
            .collect();
        let bundles: Vec<Bundle<'_>> = documents.iter().map(Bundle::read).collect();
        let crds: Vec<&Crd<'_>> = bundles.iter().filter_map(|bundle| bundle.crds.first()).collect();
        match planner.objects.check(&crds) {
            Ok(()) => plans.push(plan),
            Err((step, reason)) => refusals.push(PlanRefusal { crd: after.name.to_owned(), step, reason }),
        }
    }
    (plans, refusals)
}

/// Checks a sequence of bundles, each replacing the one before, and returns what is wrong with it.
pub fn check_sequence(bundles: &[&Bundle<'_>], conversions: Option<&Conversions>) -> Vec<PlanRefusal> {
    let (Some(first), Some(last)) = (bundles.first(), bundles.last()) else { return Vec::new() };
    let mut refusals = Vec::new();
    for before in &first.crds {
        let mut crds: Vec<&Crd<'_>> = Vec::new();
        for bundle in bundles {
            crds.extend(before.counterpart(bundle.named(before.name)));
        }
        let Some(after) = crds.last().filter(|_| crds.len() == bundles.len()) else {
            let step = crds.len();
            let reason = "the CRD is missing, and the server deletes all objects with it".to_owned();
            refusals.push(PlanRefusal { crd: before.name.to_owned(), step, reason });
            continue;
        };
        if let Err((step, reason)) = StoredObjects::new((first, last), (before, after), conversions, first.crds.len()).check(&crds) {
            refusals.push(PlanRefusal { crd: before.name.to_owned(), step, reason });
        }
    }
    refusals
}

fn without_status(mut crd: Value) -> Value {
    if let Some(map) = crd.as_object_mut() {
        map.remove("status");
    }
    crd
}

struct Planner<'p, 'b, 't> {
    old: &'b Crd<'t>,
    new: &'b Crd<'t>,
    objects: StoredObjects<'p, 'b, 't>,
}

impl Planner<'_, '_, '_> {
    fn plan(&self) -> Plan {
        let (old, new) = (self.old, self.new);
        let mut crd = without_status(old.node.to_json());
        let mut steps: Vec<PlanStep> = Vec::new();
        let mut add = |action: Action, before: &Value, after: Option<&Value>| {
            if after.is_none_or(|after| after != before) {
                let instructions = Instructions::new(action, old, new, &self.objects);
                steps.push(PlanStep { action, crd: after.cloned(), instructions });
            }
        };
        let is_kept = |name: &str| new.version(name).is_some_and(|version| version.served);
        let leaving: Vec<&str> = old.versions.iter().filter(|version| version.served && !is_kept(version.name)).map(|v| v.name).collect();
        let converts = self.objects.needs_conversion();
        let moves = old.storage_version().map(|version| version.name) != new.storage_version().map(|version| version.name);
        let several = leaving.len() + usize::from(converts) + usize::from(moves) > 0;
        if several {
            let before = crd.clone();
            self.add_versions(&mut crd, converts);
            add(Action::Add, &before, Some(&crd));
            let before = crd.clone();
            each_version(&mut crd, |name, version| {
                if leaving.contains(&name) && version.get("deprecated") != Some(&Value::Bool(true)) {
                    version.insert("deprecated".to_owned(), true.into());
                }
            });
            add(Action::Deprecate, &before, Some(&crd));
            let before = crd.clone();
            let storage = new.storage_version().map(|version| version.name);
            each_version(&mut crd, |name, version| {
                version.insert("storage".to_owned(), (Some(name) == storage).into());
            });
            add(Action::MoveStorage, &before, Some(&crd));
            // Without a status, only the cluster knows which versions objects are stored in.
            let goes = old.versions.iter().any(|version| new.version(version.name).is_none());
            let elsewhere = old.stored_versions.len() > 1 || (goes && old.stored_versions.is_empty());
            if moves || converts || elsewhere {
                add(Action::Migrate, &crd, None);
            }
            if moves || elsewhere {
                add(Action::TrimStoredVersions, &crd, None);
            }
            let before = crd.clone();
            each_version(&mut crd, |name, version| {
                if leaving.contains(&name) {
                    version.insert("served".to_owned(), false.into());
                }
            });
            add(Action::StopServing, &before, Some(&crd));
            if goes {
                add(Action::CleanManagedFields, &crd, None);
            }
        }
        add(Action::Finish, &crd, Some(&without_status(new.node.to_json())));
        if !converts && self.objects.converts_in_place() {
            add(Action::Migrate, &crd, None);
        }
        Plan { crd: new.name.to_owned(), steps }
    }

    /// Adds the versions that only the new CRD has, and declares the fields of both sides in the versions that both have.
    fn add_versions(&self, crd: &mut Value, converts: bool) {
        let target = without_status(self.new.node.to_json());
        let listed = |crd: &Value| crd.pointer("/spec/versions").and_then(Value::as_array).cloned().unwrap_or_default();
        let name = |version: &Value| version.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let new_versions = listed(&target);
        let mut versions = listed(crd);
        for version in &mut versions {
            let Some(other) = new_versions.iter().find(|other| name(other) == name(version)) else { continue };
            let schema = "/schema/openAPIV3Schema";
            if let (true, Some(old), Some(new)) = (converts, version.pointer(schema).cloned(), other.pointer(schema))
                && let Some(slot) = version.pointer_mut(schema)
            {
                *slot = relaxed_schema::relaxed(&old, new);
            }
        }
        for version in &new_versions {
            if !versions.iter().any(|known| name(known) == name(version)) {
                let mut version = version.clone();
                if let Some(map) = version.as_object_mut() {
                    map.insert("storage".to_owned(), false.into());
                }
                versions.push(version);
            }
        }
        if let Some(spec) = crd.get_mut("spec").and_then(Value::as_object_mut) {
            spec.insert("versions".to_owned(), Value::Array(versions));
            if let Some(conversion) = target.pointer("/spec/conversion") {
                spec.insert("conversion".to_owned(), conversion.clone());
            }
        }
    }
}

fn each_version(crd: &mut Value, mut edit: impl FnMut(&str, &mut Map<String, Value>)) {
    for version in crd.pointer_mut("/spec/versions").and_then(Value::as_array_mut).into_iter().flatten() {
        let name = version.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(map) = version.as_object_mut() {
            edit(&name, map);
        }
    }
}

/// The object that makes Kubernetes 1.35 and later rewrite all objects of a resource.
pub(super) fn storage_version_migration(crd: &Crd<'_>) -> Value {
    let plural = crd.names.plural.map_or("", |plural| plural.value);
    json!({
        "apiVersion": "storagemigration.k8s.io/v1beta1",
        "kind": "StorageVersionMigration",
        "metadata": {"name": format!("{plural}.{}", crd.group())},
        "spec": {"resource": {"group": crd.group(), "resource": plural}},
    })
}

#[cfg(test)]
mod tests;
