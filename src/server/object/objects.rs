//! Checks files with custom resources against a bundle of CRDs: for every object, what the server would answer, with places in the file.
//!
//! An object is checked as if it were created. Where `status` has a subresource, a create drops it unread, so that it can't satisfy
//! what the root requires. A `status` in the file is then checked as a write to the subresource: whoever exported it, or wrote it
//! as a fixture, wants it to be valid. With old CRDs an object counts as stored, and keeps its status.
//!
//! Objects of groups that no CRD of the bundle has are listed, but not checked.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde_json::Value;

use crate::input::yaml::{self, Node};
use crate::model::schema::Shape;
use crate::model::{Bundle, Crd, Documents, FileId, Place, Version};

use super::error::{Error, Kind, Reason};
use super::path::ObjectPath;
use super::scale::Scale;
use super::upgrade::{Upgrade, upgrade};
use super::{Compiled, Outcome};

/// Something about an object and its place in the file.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    pub what: T,
    pub place: Place,
}

/// What was found for one object of the input.
#[derive(Debug)]
pub struct ObjectReport {
    /// The object in its file.
    pub place: Place,
    pub api_version: String,
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
    /// Name and channel of the CRD it was checked against.
    pub crd: Option<(String, Option<String>)>,
    pub verdict: Verdict,
    /// What an upgrade from the old CRDs does to it, where there are old CRDs.
    pub upgrade: Option<Upgrade>,
}

/// What the server would answer for one object.
#[derive(Debug)]
pub enum Verdict {
    /// The document could not be parsed.
    Unreadable(yaml::ErrorKind),
    /// No CRD of the bundle has this group.
    OtherGroup,
    /// No CRD of the bundle has this kind.
    UnknownKind,
    /// The CRD doesn't have this version; it has those.
    UnknownVersion(Vec<String>),
    /// The version exists but isn't served.
    NotServed,
    /// The version has no schema.
    NoSchema,
    Checked(Checked),
}

#[derive(Debug, Default)]
pub struct Checked {
    pub errors: Vec<Placed<Error>>,
    pub pruned: Vec<Placed<ObjectPath>>,
    /// Fields dropped because they were null.
    pub nulls: Vec<Placed<ObjectPath>>,
    /// Fields that get a default; the place is that of the nearest parent.
    pub defaulted: Vec<Placed<ObjectPath>>,
    /// Checks that the server makes and that can't be made here, with the reason.
    pub undecided: Vec<Placed<(ObjectPath, String)>>,
}

impl ObjectReport {
    /// Accepted, with nothing pruned and nothing undecided.
    pub fn is_clean(&self) -> bool {
        let clean = |checked: &Checked| checked.errors.is_empty() && checked.pruned.is_empty() && checked.undecided.is_empty();
        matches!(&self.verdict, Verdict::Checked(checked) if clean(checked)) && !self.upgrade.as_ref().is_some_and(Upgrade::is_break)
    }
}

/// A version of a CRD, ready for its objects.
struct VersionChecker {
    compiled: Compiled,
    scale: Scale,
    /// Whether `status` has a subresource.
    status: bool,
}

impl VersionChecker {
    fn new(version: &Version<'_>) -> Option<Self> {
        let shape = Shape::of(version.schema.as_ref()?);
        Some(VersionChecker { compiled: Compiled::new(&shape), scale: Scale::of(version), status: version.status_subresource().is_some() })
    }

    /// The object as it is given.
    fn validate(&self, object: Value) -> Outcome {
        self.complete(self.compiled.request(object))
    }

    /// A create, and where `status` has a subresource, a write of the status behind it.
    fn create(&self, object: Value) -> Outcome {
        let mut outcome = self.validate(object.clone());
        if !self.status || outcome.stored.get("status").is_none() {
            return outcome;
        }
        let created = self.complete(self.compiled.request_without_status(object)).errors;
        let (both, by_status): (Vec<Error>, Vec<Error>) = outcome.errors.into_iter().partition(|error| created.contains(error));
        let note = |error: Error, words: &str| Error { message: format!("{} ({words})", error.message), ..error };
        let by_create = created.into_iter().filter(|error| !both.contains(error)).map(|error| note(error, "a create drops `status`"));
        outcome.errors = by_create.collect();
        outcome.errors.extend(by_status.into_iter().map(|error| note(error, "refused by the status subresource")));
        outcome.errors.extend(both);
        outcome
    }

    fn complete(&self, mut outcome: Outcome) -> Outcome {
        if outcome.stored.get("metadata").is_none() {
            let path = ObjectPath::root().key("metadata").key("name");
            let words = "name or generateName is required";
            outcome.errors.push(Error::new(path, super::error::Naming::Dotted, Kind::Metadata, Reason::Required, None, words));
        }
        self.scale.check(&outcome.stored, &mut outcome.errors);
        outcome
    }
}

/// The CRDs of one bundle; the versions that any object needs are compiled once.
struct BundleChecker<'b, 't> {
    bundle: &'b Bundle<'t>,
    by_kind: BTreeMap<&'t str, BTreeMap<&'t str, Vec<usize>>>,
    versions: BTreeMap<(usize, usize), Option<VersionChecker>>,
}

impl<'b, 't> BundleChecker<'b, 't> {
    fn new(bundle: &'b Bundle<'t>, objects: &[Object<'_>]) -> Self {
        let mut by_kind: BTreeMap<_, BTreeMap<_, Vec<usize>>> = BTreeMap::new();
        for (index, crd) in bundle.crds.iter().enumerate() {
            by_kind.entry(crd.group()).or_default().entry(crd.kind()).or_default().push(index);
        }
        let mut checker = BundleChecker { bundle, by_kind, versions: BTreeMap::new() };
        let needed: BTreeSet<(usize, usize)> = objects.iter().flat_map(|object| checker.needs(object)).collect();
        let make = |key: (usize, usize)| {
            let version = bundle.crds.get(key.0).and_then(|crd| crd.versions.get(key.1));
            (key, version.and_then(VersionChecker::new))
        };
        checker.versions = needed.into_par_iter().map(make).collect();
        checker
    }

    /// The CRDs of an object's group and kind: one, or one for each channel.
    fn crds(&self, object: &Object<'_>) -> &[usize] {
        self.by_kind.get(object.group()).and_then(|kinds| kinds.get(object.kind)).map_or(&[], Vec::as_slice)
    }

    fn needs(&self, object: &Object<'_>) -> Vec<(usize, usize)> {
        let position = |&crd: &usize| {
            let versions = &self.bundle.crds.get(crd)?.versions;
            Some((crd, versions.iter().position(|version| version.name == object.version())?))
        };
        self.crds(object).iter().filter_map(position).collect()
    }

    /// The object as one that is stored, or as one that is `created`.
    fn validate(&self, crd: usize, object: &Object<'_>, created: bool) -> Result<Outcome, Verdict> {
        let Some(found) = self.bundle.crds.get(crd) else { return Err(Verdict::UnknownKind) };
        let Some((position, version)) = found.versions.iter().enumerate().find(|(_, version)| version.name == object.version()) else {
            return Err(Verdict::UnknownVersion(found.versions.iter().map(|version| version.name.to_owned()).collect()));
        };
        if !version.served {
            return Err(Verdict::NotServed);
        }
        match self.versions.get(&(crd, position)) {
            Some(Some(checker)) if created => Ok(checker.create(object.node.to_json())),
            Some(Some(checker)) => Ok(checker.validate(object.node.to_json())),
            _ => Err(Verdict::NoSchema),
        }
    }

    /// The CRD of the same name and channel as `other`, else the only one of the object's kind.
    fn counterpart(&self, other: &Crd<'_>, object: &Object<'_>) -> Option<usize> {
        let channel = |crd: &Crd<'_>| crd.channel().map(|channel| channel.value.to_owned());
        let candidates = self.crds(object);
        let same = |&&index: &&usize| self.bundle.crds.get(index).is_some_and(|crd| channel(crd) == channel(other));
        candidates.iter().find(same).or_else(|| candidates.first().filter(|_| candidates.len() == 1)).copied()
    }
}

/// One object of the input.
struct Object<'t> {
    file: FileId,
    node: Node<'t>,
    api_version: &'t str,
    kind: &'t str,
}

impl<'t> Object<'t> {
    fn group(&self) -> &'t str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    fn version(&self) -> &'t str {
        self.api_version.split_once('/').map_or(self.api_version, |(_, version)| version)
    }
}

/// Objects of a document: itself, or the items of a `List`. CRDs are not objects.
fn unwrap<'t>(file: FileId, node: Node<'t>, objects: &mut Vec<Object<'t>>) {
    let text = |key: &str| node.get(key).and_then(Node::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind == "CustomResourceDefinition" {
        return;
    }
    match node.get("items").filter(|items| items.is_seq() && kind.ends_with("List")) {
        Some(items) => items.items().for_each(|item| unwrap(file, item, objects)),
        None => objects.push(Object { file, node, api_version, kind }),
    }
}

/// Checks every custom resource of the documents against the CRDs; with old CRDs, also says what the upgrade does to it.
///
/// An object whose CRD is in the bundle once per channel is checked against each of them.
pub fn check_objects(objects: &Documents, crds: &Bundle<'_>, old: Option<&Bundle<'_>>) -> Vec<ObjectReport> {
    let mut found = Vec::new();
    let mut reports = Vec::new();
    for (file, document) in &objects.documents {
        match &document.tree {
            Ok(tree) => unwrap(*file, tree.root(), &mut found),
            Err(error) => reports.push(unreadable(*file, error)),
        }
    }
    let checker = BundleChecker::new(crds, &found);
    let old_checker = old.map(|old| BundleChecker::new(old, &found));
    reports.par_extend(found.par_iter().flat_map_iter(|object| report(object, &checker, old_checker.as_ref())));
    reports.sort_by_key(|report| report.place);
    reports
}

fn unreadable(file: FileId, error: &yaml::Error) -> ObjectReport {
    ObjectReport {
        place: Place { file, span: error.span },
        api_version: String::new(),
        kind: String::new(),
        namespace: None,
        name: String::new(),
        crd: None,
        verdict: Verdict::Unreadable(error.kind.clone()),
        upgrade: None,
    }
}

fn report(object: &Object<'_>, checker: &BundleChecker<'_, '_>, old: Option<&BundleChecker<'_, '_>>) -> Vec<ObjectReport> {
    let metadata = object.node.get("metadata");
    let word = |key: &str| metadata.and_then(|node| node.get(key)).and_then(Node::as_str).map(str::to_owned);
    let bare = |crd: Option<&Crd<'_>>, verdict, upgrade| ObjectReport {
        place: Place { file: object.file, span: object.node.span() },
        api_version: object.api_version.to_owned(),
        kind: object.kind.to_owned(),
        namespace: word("namespace"),
        name: word("name").or_else(|| word("generateName")).unwrap_or_default(),
        crd: crd.map(|crd| (crd.name.to_owned(), crd.channel().map(|channel| channel.value.to_owned()))),
        verdict,
        upgrade,
    };
    let crds = checker.crds(object);
    if crds.is_empty() {
        let before = old.and_then(|old| old.crds(object).first().map(|&crd| old.validate(crd, object, false)));
        let gone = before.map(|before| upgrade(before, Err(&Verdict::UnknownKind)));
        let known = [Some(checker), old].into_iter().flatten().any(|checker| checker.by_kind.contains_key(object.group()));
        // Without a kind and a version it can't belong to another group.
        let other = !known && !object.kind.is_empty() && !object.api_version.is_empty();
        return vec![bare(None, if other { Verdict::OtherGroup } else { Verdict::UnknownKind }, gone)];
    }
    let checked = crds.iter().filter_map(|&index| {
        let crd = checker.bundle.crds.get(index)?;
        let after = checker.validate(index, object, old.is_none());
        let changed = old.map(|old| match old.counterpart(crd, object) {
            Some(before) => upgrade(old.validate(before, object, false), after.as_ref()),
            None => Upgrade::New,
        });
        let verdict = match after {
            Ok(outcome) => Verdict::Checked(place(object, outcome)),
            Err(verdict) => verdict,
        };
        Some(bare(Some(crd), verdict, changed))
    });
    checked.collect()
}

fn place(object: &Object<'_>, outcome: Outcome) -> Checked {
    let paths = |list: Vec<ObjectPath>, by_key: bool| {
        list.into_iter().map(|path| Placed { place: place_of(object, &path, by_key), what: path }).collect::<Vec<_>>()
    };
    Checked {
        errors: outcome.errors.into_iter().map(|error| Placed { place: place_of(object, &error.path, false), what: error }).collect(),
        pruned: paths(outcome.pruned, true),
        nulls: paths(outcome.nulls, true),
        defaulted: paths(outcome.defaulted, false),
        undecided: outcome.undecided.into_iter().map(|open| Placed { place: place_of(object, &open.0, false), what: open }).collect(),
    }
}

/// Where to point: at a scalar itself, at the key of a collection, at the nearest parent of what isn't there.
fn place_of(object: &Object<'_>, path: &ObjectPath, by_key: bool) -> Place {
    let at = |node: Node<'_>| Place { file: object.file, span: node.span() };
    let (node, taken) = path.locate(object.node);
    let reached = path.prefix(taken);
    let collection = node.is_map() || node.is_seq();
    match reached.locate_key(object.node).filter(|_| by_key || collection) {
        Some(key) => at(key),
        None if reached.is_root() => object.node.entry("kind").map_or_else(|| at(object.node), |entry| at(entry.key)),
        None => at(node),
    }
}
