//! Checks files with custom resources against a bundle of CRDs: what the server would respond for every object, with places in the
//! file.
//!
//! An object is checked as if it were created. If `status` has a subresource, a create drops it, so it can't satisfy what the root
//! requires. A `status` in the file is then checked as a write to the subresource, because whoever exported it or wrote it as a
//! fixture expects it to be valid. With old CRDs an object counts as stored, and keeps its status.
//!
//! Objects of groups that no CRD of the bundle has are listed but not checked.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use rayon::prelude::*;
use serde_json::Value;

use crate::go::json_size::bytes_above;
use crate::input::json_schema_check::nearest;
use crate::input::yaml::{self, Node};
use crate::model::kubernetes::MAX_REQUEST;
use crate::model::{Bundle, Crd, Documents, FileId, Place};

use super::Response;
use super::crd_upgrade::{Upgrade, upgrade};
use super::endpoint::{Endpoint, Subresource};
use super::error::FieldError;
use super::path::ObjectPath;
use super::ratchet::Tolerated;

/// Something about an object, with its place in the file.
#[derive(Debug, Clone)]
pub struct Placed<T> {
    pub what: T,
    pub place: Place,
}

/// The result for one object of the input.
#[derive(Debug)]
pub struct ObjectReport {
    /// The object in its file.
    pub place: Place,
    pub api_version: String,
    pub kind: String,
    pub namespace: Option<String>,
    pub name: String,
    pub request: Request,
    /// Name and channel of the CRD it was checked against.
    pub crd: Option<(String, Option<String>)>,
    pub verdict: ObjectVerdict,
    /// The effect of an upgrade from the old CRDs, if there are old CRDs.
    pub upgrade: Option<Upgrade>,
}

/// The request that an object was checked as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// A create, followed by a write of the status.
    Create,
    Update(Option<Subresource>),
}

/// What the server would respond for one object.
#[derive(Debug)]
pub enum ObjectVerdict {
    /// The document could not be parsed.
    Unreadable(yaml::ErrorKind),
    /// No CRD of the bundle has this group.
    OtherGroup,
    /// No CRD of the bundle has this kind.
    UnknownKind,
    /// The CRD doesn't have this version; it has these.
    UnknownVersion(Vec<String>),
    /// The version exists but isn't served.
    NotServed,
    /// The version has no schema.
    NoSchema,
    /// The server refuses requests of this many bytes.
    TooLarge(usize),
    /// The version doesn't have this subresource.
    NoSubresource(Subresource),
    /// A write to a subresource needs the existing object.
    NoPrevious,
    /// The previous object is stored at another version, and a webhook converts it.
    Converted {
        from: String,
    },
    Checked(Box<Checked>),
}

#[derive(Debug, Default)]
pub struct Checked {
    pub errors: Vec<Placed<FieldError>>,
    /// Errors that ratcheting tolerates.
    pub tolerated: Vec<Placed<Tolerated>>,
    pub pruned: Vec<Placed<ObjectPath>>,
    /// For each pruned field, a suggestion of a similar name.
    pub similar: Vec<String>,
    /// Fields dropped because they were null.
    pub nulls: Vec<Placed<ObjectPath>>,
    /// Fields that get a default, with its value; the place is that of the nearest parent.
    pub defaulted: Vec<Placed<(ObjectPath, Value)>>,
    /// Checks of the server that can't be made here, with the reason.
    pub undecided: Vec<Placed<(ObjectPath, String)>>,
    /// How many others were found but aren't listed, because there are too many in all objects.
    pub left_out: usize,
}

impl Checked {
    fn listed(&self) -> usize {
        let Checked { errors, tolerated, pruned, nulls, defaulted, undecided, .. } = self;
        errors.len() + tolerated.len() + pruned.len() + nulls.len() + defaulted.len() + undecided.len()
    }

    /// Keeps one error or field of each kind.
    fn shorten(&mut self) {
        let before = self.listed();
        self.errors.truncate(1);
        self.tolerated.truncate(1);
        self.pruned.truncate(1);
        self.similar.truncate(1);
        self.nulls.truncate(1);
        self.defaulted.truncate(1);
        self.undecided.truncate(1);
        self.left_out = before - self.listed();
    }
}

impl ObjectReport {
    /// Accepted, with nothing pruned and nothing undecided.
    pub fn is_clean(&self) -> bool {
        let clean = |checked: &Checked| checked.errors.is_empty() && checked.pruned.is_empty() && checked.undecided.is_empty();
        matches!(&self.verdict, ObjectVerdict::Checked(checked) if clean(checked)) && !self.upgrade.as_ref().is_some_and(Upgrade::is_break)
    }
}

/// The CRDs of one bundle; a version is compiled when the first object needs it.
pub(super) struct BundleChecker<'b, 't> {
    pub(super) bundle: &'b Bundle<'t>,
    pub(super) by_kind: BTreeMap<&'t str, BTreeMap<&'t str, Vec<usize>>>,
    versions: Vec<Vec<OnceLock<Option<Endpoint>>>>,
}

impl<'b, 't> BundleChecker<'b, 't> {
    pub(super) fn new(bundle: &'b Bundle<'t>) -> Self {
        let mut by_kind: BTreeMap<_, BTreeMap<_, Vec<usize>>> = BTreeMap::new();
        for (index, crd) in bundle.crds.iter().enumerate() {
            by_kind.entry(crd.group()).or_default().entry(crd.kind()).or_default().push(index);
        }
        let versions = bundle.crds.iter().map(|crd| crd.versions.iter().map(|_| OnceLock::new()).collect()).collect();
        BundleChecker { bundle, by_kind, versions }
    }

    /// The CRDs of an object's group and kind: one, or one per channel.
    pub(super) fn crds(&self, object: &InputObject<'_>) -> &[usize] {
        self.by_kind.get(object.group()).and_then(|kinds| kinds.get(object.kind)).map_or(&[], Vec::as_slice)
    }

    /// The endpoint for objects of this version.
    pub(super) fn endpoint(&self, crd: usize, object: &InputObject<'_>) -> Result<&Endpoint, ObjectVerdict> {
        let Some(found) = self.bundle.crds.get(crd) else { return Err(ObjectVerdict::UnknownKind) };
        let Some((position, version)) = found.versions.iter().enumerate().find(|(_, version)| version.name == object.version()) else {
            return Err(ObjectVerdict::UnknownVersion(found.versions.iter().map(|version| version.name.to_owned()).collect()));
        };
        if !version.served {
            return Err(ObjectVerdict::NotServed);
        }
        let slot = self.versions.get(crd).and_then(|versions| versions.get(position));
        slot.and_then(|slot| slot.get_or_init(|| Endpoint::new(version)).as_ref()).ok_or(ObjectVerdict::NoSchema)
    }

    /// Checks the object as a stored one, or as one that is `created`.
    fn validate(&self, crd: usize, object: &InputObject<'_>, created: bool) -> Result<Response, ObjectVerdict> {
        let endpoint = self.endpoint(crd, object)?;
        let object = object.request_body()?;
        Ok(if created { endpoint.create_with_status(object) } else { endpoint.validate(object) })
    }

    /// The CRD with the same name and channel as `other`, or else the only one of the object's kind.
    pub(super) fn counterpart(&self, other: &Crd<'_>, object: &InputObject<'_>) -> Option<usize> {
        let channel = |crd: &Crd<'_>| crd.channel().map(str::to_owned);
        let candidates = self.crds(object);
        let same = |&&index: &&usize| self.bundle.crds.get(index).is_some_and(|crd| channel(crd) == channel(other));
        candidates.iter().find(same).or_else(|| candidates.first().filter(|_| candidates.len() == 1)).copied()
    }
}

/// One object of the input.
#[derive(Clone, Copy)]
pub(super) struct InputObject<'t> {
    pub file: FileId,
    pub node: Node<'t>,
    pub api_version: &'t str,
    pub kind: &'t str,
}

impl<'t> InputObject<'t> {
    pub fn group(&self) -> &'t str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// The object as a client sends it.
    pub fn request_body(&self) -> Result<Value, ObjectVerdict> {
        match bytes_above(self.node, MAX_REQUEST) {
            Some(bytes) => Err(ObjectVerdict::TooLarge(bytes)),
            None => Ok(self.node.to_json()),
        }
    }

    pub fn version(&self) -> &'t str {
        self.api_version.split_once('/').map_or(self.api_version, |(_, version)| version)
    }

    /// A string in its metadata.
    pub fn word(&self, key: &str) -> Option<&'t str> {
        self.node.get("metadata").and_then(|node| node.get(key)).and_then(Node::as_str)
    }
}

/// Collects the objects of a document: itself, or the items of a `List`. CRDs are not objects.
fn unwrap<'t>(file: FileId, node: Node<'t>, objects: &mut Vec<InputObject<'t>>) {
    let text = |key: &str| node.text(key).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind == "CustomResourceDefinition" {
        return;
    }
    match node.get("items").filter(|items| items.is_seq() && kind.ends_with("List")) {
        Some(items) => items.items().for_each(|item| unwrap(file, item, objects)),
        None => objects.push(InputObject { file, node, api_version, kind }),
    }
}

/// Checks every custom resource in the documents against the CRDs; with old CRDs, also the effect of the upgrade.
///
/// If the bundle has an object's CRD once per channel, the object is checked against each of them.
pub fn check_objects(objects: &Documents, crds: &Bundle<'_>, old: Option<&Bundle<'_>>) -> Vec<ObjectReport> {
    let (found, mut reports) = read(objects);
    let checker = BundleChecker::new(crds);
    let old_checker = old.map(BundleChecker::new);
    reports.extend(listed(&found, |object| report(object, &checker, old_checker.as_ref())));
    reports.sort_by_key(|report| report.place);
    reports
}

/// How many errors and fields are listed for all objects together. After that, one of each kind is listed for an object.
const MAX_LISTED: usize = 100_000;
/// How many objects are checked before their errors are counted.
const COUNTED: usize = 500;

/// Checks objects in parallel.
pub(super) fn listed<T: Sync>(objects: &[T], check: impl Fn(&T) -> Vec<ObjectReport> + Sync) -> Vec<ObjectReport> {
    let mut count = 0;
    let mut reports = Vec::new();
    for objects in objects.chunks(COUNTED) {
        let mut checked: Vec<ObjectReport> = objects.par_iter().flat_map_iter(&check).collect();
        for report in &mut checked {
            if let ObjectVerdict::Checked(checked) = &mut report.verdict {
                if count > MAX_LISTED {
                    checked.shorten();
                }
                count += checked.listed();
            }
        }
        reports.extend(checked);
    }
    reports
}

/// All objects of the documents, and a report for each document that can't be parsed.
pub(super) fn read(objects: &Documents) -> (Vec<InputObject<'_>>, Vec<ObjectReport>) {
    let (mut found, mut reports) = (Vec::new(), Vec::new());
    for (file, document) in &objects.documents {
        match &document.tree {
            Ok(tree) => unwrap(*file, tree.root(), &mut found),
            Err(error) => reports.push(unreadable(*file, error)),
        }
    }
    (found, reports)
}

fn unreadable(file: FileId, error: &yaml::Error) -> ObjectReport {
    ObjectReport {
        place: Place { file, span: error.span },
        api_version: String::new(),
        kind: String::new(),
        namespace: None,
        name: String::new(),
        request: Request::Create,
        crd: None,
        verdict: ObjectVerdict::Unreadable(error.kind.clone()),
        upgrade: None,
    }
}

/// A report with what the object itself states.
pub(super) fn bare(object: &InputObject<'_>, request: Request, crd: Option<&Crd<'_>>, verdict: ObjectVerdict) -> ObjectReport {
    ObjectReport {
        place: Place { file: object.file, span: object.node.span() },
        api_version: object.api_version.to_owned(),
        kind: object.kind.to_owned(),
        namespace: object.word("namespace").map(str::to_owned),
        name: object.word("name").or_else(|| object.word("generateName")).unwrap_or_default().to_owned(),
        request,
        crd: crd.map(|crd| (crd.name.to_owned(), crd.channel().map(str::to_owned))),
        verdict,
        upgrade: None,
    }
}

pub(super) fn report(object: &InputObject<'_>, checker: &BundleChecker<'_, '_>, old: Option<&BundleChecker<'_, '_>>) -> Vec<ObjectReport> {
    let bare = |crd: Option<&Crd<'_>>, verdict, upgrade| ObjectReport { upgrade, ..bare(object, Request::Create, crd, verdict) };
    let crds = checker.crds(object);
    if crds.is_empty() {
        let before = old.and_then(|old| old.crds(object).first().map(|&crd| old.validate(crd, object, false)));
        let gone = before.map(|before| upgrade(before, Err(&ObjectVerdict::UnknownKind)));
        let known = [Some(checker), old].into_iter().flatten().any(|checker| checker.by_kind.contains_key(object.group()));
        // Without a kind and a version it can't belong to another group.
        let other = !known && !object.kind.is_empty() && !object.api_version.is_empty();
        return vec![bare(None, if other { ObjectVerdict::OtherGroup } else { ObjectVerdict::UnknownKind }, gone)];
    }
    let checked = crds.iter().filter_map(|&index| {
        let crd = checker.bundle.crds.get(index)?;
        let after = checker.validate(index, object, old.is_none());
        let changed = old.map(|old| match old.counterpart(crd, object) {
            Some(before) => upgrade(old.validate(before, object, false), after.as_ref()),
            None => Upgrade::New,
        });
        let verdict = match after {
            Ok(outcome) => {
                let endpoint = checker.endpoint(index, object).ok();
                ObjectVerdict::Checked(Box::new(place(object, outcome, endpoint)))
            }
            Err(verdict) => verdict,
        };
        Some(bare(Some(crd), verdict, changed))
    });
    checked.collect()
}

/// How many dropped fields of one object are listed.
const MAX_PRUNED: usize = 10_000;

/// Adds places in the object's file to a result.
pub(super) fn place(object: &InputObject<'_>, mut outcome: Response, endpoint: Option<&Endpoint>) -> Checked {
    if let Some(more) = outcome.pruned.len().checked_sub(MAX_PRUNED).filter(|more| *more > 0) {
        outcome.pruned.truncate(MAX_PRUNED);
        outcome.undecided.push((ObjectPath::root(), format!("{more} more fields are dropped; they aren't listed")));
    }
    let similar = |path: &ObjectPath| {
        let known = endpoint.map(|endpoint| endpoint.compiled().declared_siblings(path)).unwrap_or_default();
        let (parent, _) = path.prefix(path.steps().len().saturating_sub(1)).locate(object.node);
        let name = path.last_name().unwrap_or_default();
        // A name that the object already uses next to it wasn't meant.
        nearest(name, known.into_iter().filter(|name| parent.get(name).is_none()))
    };
    let paths = |list: Vec<ObjectPath>, by_key: bool| {
        list.into_iter().map(|path| Placed { place: place_of(object, &path, by_key), what: path }).collect::<Vec<_>>()
    };
    Checked {
        errors: outcome.errors.into_iter().map(|error| Placed { place: place_of(object, &error.path, false), what: error }).collect(),
        tolerated: outcome
            .warnings
            .into_iter()
            .map(|tolerated| Placed { place: place_of(object, &tolerated.error.path, false), what: tolerated })
            .collect(),
        similar: outcome.pruned.iter().map(similar).collect(),
        left_out: 0,
        pruned: paths(outcome.pruned, true),
        nulls: paths(outcome.nulls, true),
        defaulted: outcome
            .defaulted
            .into_iter()
            .map(|path| {
                let value = path.get(&outcome.stored).cloned().unwrap_or_default();
                Placed { place: place_of(object, &path, false), what: (path, value) }
            })
            .collect(),
        undecided: outcome.undecided.into_iter().map(|open| Placed { place: place_of(object, &open.0, false), what: open }).collect(),
    }
}

/// Where to point: at a scalar itself, at the key of a collection, at the nearest parent of a missing value.
fn place_of(object: &InputObject<'_>, path: &ObjectPath, by_key: bool) -> Place {
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
