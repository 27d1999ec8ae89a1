//! Checks a sequence of CRDs, each replacing the one before: the server accepts every update, versions are removed in the right
//! order, and objects stored under the first CRD can be read under every later one.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::find::conversion::catalogue::Conversions;
use crate::find::conversion::convert::{About, ConvertError, Converter};
use crate::find::conversion::laws::difference;
use crate::find::conversion::manifest::{Direction, Manifest, api_version};
use crate::find::conversion::manifest_endpoints::ManifestEndpoints;
use crate::find::conversion::readability;
use crate::find::conversion::schema_endpoint::SchemaEndpoint;
use crate::find::conversion::step::{Manual, StepFailure};
use crate::model::fact::Word;
use crate::model::schema::Shape;
use crate::model::{Bundle, Crd, FieldPath, PathStep, Version};
use crate::server;
use crate::server::object::ObjectPath;

/// The objects in clusters before the first step, and the manifest that converts them.
pub(crate) struct StoredObjects<'p, 'b, 't> {
    first: &'b Crd<'t>,
    last: &'b Crd<'t>,
    pub manifest: Option<&'p Manifest>,
    objects: Vec<Value>,
    /// How the last CRD serves objects.
    served: ServedVersions<'b, 't>,
    needs_conversion: OnceCell<bool>,
}

/// The served versions of a CRD, compiled on first use.
struct ServedVersions<'b, 't> {
    crd: &'b Crd<'t>,
    versions: Vec<(&'b Version<'t>, String, OnceCell<Option<SchemaEndpoint>>)>,
}

impl<'b, 't> ServedVersions<'b, 't> {
    fn of(crd: &'b Crd<'t>) -> Self {
        let served = crd.versions.iter().filter(|version| version.served);
        ServedVersions { crd, versions: served.map(|version| (version, api_version(crd.group(), version.name), OnceCell::new())).collect() }
    }

    /// All of them with their API versions: first the object's own version, because clients use it.
    fn for_object<'s>(&'s self, object: &Value) -> impl Iterator<Item = (&'s str, Option<&'s SchemaEndpoint>)> {
        let own = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        let order = |first: bool| self.versions.iter().map(move |version| (first, version));
        let ordered = order(true).chain(order(false)).filter(move |(first, (_, name, _))| *first == (*name == own));
        ordered.map(|(_, (version, name, end))| (name.as_str(), end.get_or_init(|| endpoint(self.crd, version)).as_ref()))
    }
}

/// Why an object is not safe under a CRD.
enum UnsafeReason {
    /// A field can't be read.
    Unreadable(FieldPath),
    /// It can be read, but the next write is refused.
    Invalid(String),
}

impl<'p, 'b, 't> StoredObjects<'p, 'b, 't> {
    /// `share`: of how many CRDs objects are generated in the same run.
    pub fn new(
        bundles: (&'b Bundle<'t>, &'b Bundle<'t>),
        crds: (&'b Crd<'t>, &'b Crd<'t>),
        conversions: Option<&'p Conversions>,
        share: usize,
    ) -> Self {
        let (first, last) = crds;
        let storage = first.storage_version();
        let target = last.storage_version().map(|version| version.name);
        let fits = |manifest: &&Manifest| {
            let from = manifest.from.version.as_deref();
            let ends = ManifestEndpoints::new(manifest, bundles.0, bundles.1);
            !manifest.webhook && ends.is_some() && from.is_none_or(|from| storage.is_some_and(|storage| storage.name == from))
        };
        let manifests: Vec<&Manifest> =
            conversions.map(|all| all.of_kind(first.group(), first.kind())).unwrap_or_default().into_iter().filter(fits).collect();
        let to_target = manifests.iter().find(|manifest| manifest.to.version.as_deref() == target && !manifest.in_place());
        let manifest = to_target.or_else(|| manifests.iter().find(|manifest| manifest.in_place())).copied();
        let objects = storage.and_then(|version| endpoint(first, version)).map(|end| end.sharing_work(share).into_samples());
        let (objects, served) = (objects.unwrap_or_default(), ServedVersions::of(last));
        StoredObjects { first, last, manifest, objects, served, needs_conversion: OnceCell::new() }
    }

    /// Whether some stored object must be converted before or after applying the last CRD.
    pub fn needs_conversion(&self) -> bool {
        let in_danger = || self.objects.iter().any(|object| danger(object, &self.served).is_some());
        !self.last.conversion.is_webhook() && *self.needs_conversion.get_or_init(in_danger)
    }

    /// Whether a manifest converts objects without changing their API version.
    pub fn converts_in_place(&self) -> bool {
        self.manifest.is_some_and(Manifest::in_place)
    }

    /// Whether the migration converts objects, rather than only rewriting them.
    pub fn is_converted(&self) -> bool {
        self.needs_conversion() || self.converts_in_place()
    }

    /// The fields that can't be read under the last CRD.
    pub fn unreadable(&self) -> Vec<FieldPath> {
        let in_danger = |object: &&Value| matches!(danger(object, &self.served), Some(UnsafeReason::Unreadable(_)));
        let paths: BTreeSet<FieldPath> = self.objects.iter().filter(in_danger).flat_map(|object| pruned(object, &self.served)).collect();
        paths.into_iter().collect()
    }

    /// The steps that people must do by hand.
    pub fn manual(&self) -> Vec<&'p Manual> {
        self.manifest.iter().flat_map(|manifest| &manifest.steps).filter_map(|step| step.op.manual()).collect()
    }

    /// Whether a step converts something in the status, which is written by separate requests.
    pub fn converts_status(&self) -> bool {
        let of_status = |path: &&FieldPath| matches!(path.steps().first(), Some(PathStep::Key(name)) if &**name == "status");
        self.manifest.iter().flat_map(|manifest| &manifest.steps).any(|step| step.op.paths().iter().any(of_status))
    }

    /// Returns the first wrong step, counted from 1, and why it is wrong.
    pub fn check(&self, crds: &[&Crd<'_>]) -> Result<(), (usize, String)> {
        let mut objects = Cow::Borrowed(&self.objects);
        let mut converted = false;
        let served: Vec<ServedVersions<'_, '_>> = crds.iter().map(|crd| ServedVersions::of(crd)).collect();
        for (index, (pair, served)) in crds.windows(2).zip(served.windows(2)).enumerate() {
            let ([before, after], [served_before, served_after]) = (pair, served) else { continue };
            let wrong = |reason: String| (index + 1, reason);
            admitted(before, after).map_err(wrong)?;
            versions(before, after).map_err(wrong)?;
            if before.conversion.is_webhook() && after.conversion.is_webhook() {
                continue;
            }
            let Some(found) = objects.iter().find_map(|object| danger(object, served_after)) else { continue };
            if converted {
                return Err(wrong(said(&found)));
            }
            let mut new_forms = self.converted(&objects).map_err(|why| wrong(format!("{}; {why}", said(&found))))?;
            // Assume that a person converts objects correctly.
            new_forms.retain(|form| !form.by_hand || danger(&form.object, served_after).is_none());
            let new_forms: Vec<Value> = new_forms.into_iter().map(|form| form.object).collect();
            // Convert before the step if the earlier CRD also accepts the new form, or after it if the old form can still be read.
            let safe = |crd: &ServedVersions<'_, '_>| new_forms.iter().find_map(|object| danger(object, crd));
            let early = safe(served_before);
            if let (Some(early), UnsafeReason::Unreadable(_)) = (&early, &found) {
                return Err(wrong(format!("{}, and the objects can't be converted before: {}", said(&found), said(early))));
            }
            if let Some(late) = safe(served_after) {
                return Err(wrong(format!("converted objects are not safe: {}", said(&late))));
            }
            objects = Cow::Owned(new_forms);
            converted = true;
        }
        Ok(())
    }

    fn converted(&self, objects: &[Value]) -> Result<Vec<NewForm>, String> {
        let (from, to) = (self.first.storage_version(), self.last.storage_version());
        let names = (from.map_or("", |from| from.name), to.map_or("", |to| to.name));
        let Some(manifest) = self.manifest else {
            let way = if names.0 == names.1 { "the old form to the new one".to_owned() } else { format!("{} to {}", names.0, names.1) };
            return Err(format!("no manifest converts {} from {way}: draft it with `crdwise conversions scaffold`", self.first.kind()));
        };
        let converter = Converter::new(manifest, Direction::Forward).map_err(|error| error.to_string())?;
        let mut forms = Vec::new();
        for object in objects {
            let mut object = object.clone();
            match converter.convert(&mut object) {
                Ok(notes) => forms.push(NewForm { by_hand: notes.iter().any(|note| matches!(note.about, About::Manual(_))), object }),
                Err(ConvertError::Refused(refusal)) if matches!(refusal.reason, StepFailure::Manual(_)) => {}
                Err(error) => return Err(format!("`{}` fails: {error}", manifest.name)),
            }
        }
        Ok(forms)
    }
}

/// A converted object.
struct NewForm {
    object: Value,
    /// A person must finish the conversion.
    by_hand: bool,
}

/// Checks that the server accepts the update.
fn admitted(before: &Crd<'_>, after: &Crd<'_>) -> Result<(), String> {
    let admission = server::crd::update(before, after);
    let refusal = admission.facts.iter().find(|fact| fact.is_refusal() && !fact.pre_existing);
    refusal.map_or(Ok(()), |fact| {
        let reason = fact.words.get(&Word::Reason).map_or("", String::as_str);
        Err(format!("the API server rejects the update: {}: {reason}", fact.field.as_deref().unwrap_or_default()))
    })
}

/// Checks that a version is added, becomes the storage version, is deprecated, stops being served and is removed in separate steps.
fn versions(before: &Crd<'_>, after: &Crd<'_>) -> Result<(), String> {
    for version in &before.versions {
        let name = version.name;
        match after.version(name) {
            None if version.served => {
                return Err(format!("{name} is removed while clients can use it: stop serving it in an earlier step"));
            }
            None if version.storage => {
                return Err(format!("{name} is removed while objects are stored at it: move the storage and migrate in earlier steps"));
            }
            Some(next) if version.served && !next.served && !version.deprecated => {
                return Err(format!("{name} is no longer served, but clients were never warned: deprecate it in an earlier step"));
            }
            Some(next) if version.served && !next.served && next.storage => {
                return Err(format!("{name} is no longer served, but objects are still stored at it: move the storage in an earlier step"));
            }
            _ => {}
        }
    }
    let storage = after.storage_version();
    if let Some(added) = storage.filter(|version| before.version(version.name).is_none()) {
        return Err(format!(
            "{name} becomes the storage version in the step that adds it, so after a rollback the previous CRD can't read the new \
             objects: add it in an earlier step",
            name = added.name
        ));
    }
    let alike =
        |a: &Version<'_>, b: &Version<'_>| a.schema.as_ref().zip(b.schema.as_ref()).is_some_and(|(a, b)| a.node().same_text(b.node()));
    let differ = after.versions.iter().any(|version| storage.is_some_and(|storage| !alike(version, storage)));
    if before.conversion.is_webhook() && !after.conversion.is_webhook() && differ {
        return Err(
            "the conversion webhook is removed while versions with different schemas remain: remove the other versions in an earlier \
             step"
                .to_owned(),
        );
    }
    Ok(())
}

fn endpoint(crd: &Crd<'_>, version: &Version<'_>) -> Option<SchemaEndpoint> {
    Some(SchemaEndpoint::new(Shape::of(version.schema.as_ref()?), crd.group(), version.name, crd.kind()))
}

/// Everything that the server prunes from an object, in its own version or else in the first served one.
fn pruned(object: &Value, crd: &ServedVersions<'_, '_>) -> Vec<FieldPath> {
    let Some((_, Some(end))) = crd.for_object(object).next() else { return Vec::new() };
    end.request(object).pruned.iter().map(ObjectPath::general).collect()
}

/// Why an object isn't safe: no served version shows all of it, or the one that does refuses to write it back.
fn danger(object: &Value, crd: &ServedVersions<'_, '_>) -> Option<UnsafeReason> {
    let mut found: Option<UnsafeReason> = None;
    for (api_version, end) in crd.for_object(object) {
        let end = end?;
        let mut seen = object.clone();
        if let Some(map) = seen.as_object_mut() {
            map.insert("apiVersion".to_owned(), api_version.into());
        }
        let one = match difference(&seen, &end.pruned(&seen)) {
            Some((path, _)) => UnsafeReason::Unreadable(path),
            None => match end.request(&seen).errors.first() {
                None => return None,
                Some(error) => UnsafeReason::Invalid(format!("{}: {}", error.field, error.message)),
            },
        };
        match (&found, &one) {
            (None, _) | (Some(UnsafeReason::Unreadable(_)), UnsafeReason::Invalid(_)) => found = Some(one),
            _ => {}
        }
    }
    found
}

fn said(danger: &UnsafeReason) -> String {
    match danger {
        UnsafeReason::Unreadable(path) => format!("{}: {}", readability::reason(&[path]), readability::ADVICE),
        UnsafeReason::Invalid(error) => format!("stored objects are rejected on their next write: {error}"),
    }
}
