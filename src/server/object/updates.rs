//! Checks files of objects as updates of other objects, which represent what the server has stored.
//!
//! An object belongs to the previous one with the same group, kind, namespace and name; if there are several, to the one in the
//! file with the same name. If both sides have exactly one object of a kind, they belong together whatever their names. An object
//! without a previous one is created.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::model::{Bundle, Documents, Place};

use super::check_files::{BundleChecker, InputObject, ObjectReport, ObjectVerdict, Request, bare, listed, place, read, report};
use super::endpoint::Subresource;
use super::{Endpoint, Response};

/// The results for all objects, and what wasn't used.
#[derive(Debug)]
pub struct Updates {
    pub reports: Vec<ObjectReport>,
    /// Previous documents that can't be parsed.
    pub unreadable: Vec<ObjectReport>,
    /// Previous objects that no object updates.
    pub unused: Vec<Place>,
}

/// Checks every object of the documents as an update of its previous one, or as a write to a subresource of it.
pub fn check_updates(objects: &Documents, previous: &Documents, crds: &Bundle<'_>, subresource: Option<Subresource>) -> Updates {
    let (found, mut reports) = read(objects);
    let (before, unreadable) = read(previous);
    let checker = BundleChecker::new(crds);
    let files = Files { objects, previous };
    let mut names: HashMap<Option<&str>, Vec<usize>> = HashMap::new();
    before.iter().enumerate().for_each(|(index, object)| names.entry(object.word("name")).or_default().push(index));
    let previous = PreviousObjects { list: &before, names };
    let pairs: Vec<(&InputObject<'_>, Option<usize>)> =
        found.iter().map(|object| (object, partner(object, &found, &previous, subresource, &files))).collect();
    let used: HashSet<usize> = pairs.iter().filter_map(|(_, partner)| *partner).collect();
    let unused = (0..before.len()).filter(|index| !used.contains(index));
    let unused = unused.filter_map(|index| before.get(index)).filter(|object| !checker.crds(object).is_empty());
    let unused = unused.map(|object| Place { file: object.file, span: object.node.span() }).collect();
    reports.extend(listed(&pairs, |(object, partner)| match partner.and_then(|index| before.get(index)) {
        Some(previous) => update(object, previous, subresource, &checker),
        None if subresource.is_some() => vec![bare(object, Request::Update(subresource), None, ObjectVerdict::NoPrevious)],
        None => report(object, &checker, None),
    }));
    reports.sort_by_key(|report| report.place);
    Updates { reports, unreadable, unused }
}

struct Files<'d> {
    objects: &'d Documents,
    previous: &'d Documents,
}

impl Files<'_> {
    fn same_name(&self, object: &InputObject<'_>, previous: &InputObject<'_>) -> bool {
        let last = |documents: &Documents, object: &InputObject<'_>| {
            documents.file(object.file).map(|file| file.name.rsplit('/').next().unwrap_or_default().to_owned())
        };
        last(self.objects, object) == last(self.previous, previous)
    }
}

/// The previous objects, by name.
struct PreviousObjects<'p, 't> {
    list: &'p [InputObject<'t>],
    names: HashMap<Option<&'t str>, Vec<usize>>,
}

/// The previous object that this one belongs to.
fn partner(
    object: &InputObject<'_>,
    all: &[InputObject<'_>],
    before: &PreviousObjects<'_, '_>,
    subresource: Option<Subresource>,
    files: &Files<'_>,
) -> Option<usize> {
    let scale = subresource == Some(Subresource::Scale) && object.kind == "Scale" && object.group() == "autoscaling";
    let of_kind = |other: &InputObject<'_>| scale || (other.group() == object.group() && other.kind == object.kind);
    let candidates = || before.list.iter().enumerate().filter(|(_, other)| of_kind(other));
    let same_namespace = |other: &InputObject<'_>| {
        let namespaces = (other.word("namespace"), object.word("namespace"));
        namespaces.0 == namespaces.1 || namespaces.0.is_none() || namespaces.1.is_none()
    };
    let of_name = before.names.get(&object.word("name")).into_iter().flatten();
    let of_name = of_name.filter_map(|index| Some((*index, before.list.get(*index)?)));
    let named: Vec<_> = of_name.filter(|(_, other)| of_kind(other) && same_namespace(other)).collect();
    match named.as_slice() {
        [] => {}
        [(only, _)] => return Some(*only),
        several => return several.iter().find(|(_, other)| files.same_name(object, other)).or(several.first()).map(|(index, _)| *index),
    }
    let alone = all.iter().filter(|other| of_kind(other)).nth(1).is_none() && candidates().nth(1).is_none();
    candidates().next().map(|(index, _)| index).filter(|_| alone)
}

fn update(
    object: &InputObject<'_>,
    previous: &InputObject<'_>,
    subresource: Option<Subresource>,
    checker: &BundleChecker<'_, '_>,
) -> Vec<ObjectReport> {
    let request = Request::Update(subresource);
    // A `Scale` belongs to no CRD, but the object it scales does.
    let scale = subresource == Some(Subresource::Scale) && object.kind == "Scale";
    let target = if scale { previous } else { object };
    let crds = checker.crds(target);
    if crds.is_empty() {
        return report(object, checker, None);
    }
    let answers = crds.iter().filter_map(|&index| {
        let crd = checker.bundle.crds.get(index)?;
        let answer = checker.endpoint(index, target).and_then(|endpoint| {
            let stored = stored(previous, target, index, endpoint, checker)?;
            let outcome = answer(endpoint, &stored, object.request_body()?, subresource)?;
            Ok(ObjectVerdict::Checked(Box::new(place(object, outcome, Some(endpoint)))))
        });
        Some(bare(object, request, Some(crd), answer.unwrap_or_else(|verdict| verdict)))
    });
    answers.collect()
}

/// The previous object as the server reads it for a request to the version of `target`.
fn stored(
    previous: &InputObject<'_>,
    target: &InputObject<'_>,
    crd: usize,
    endpoint: &Endpoint,
    checker: &BundleChecker<'_, '_>,
) -> Result<Value, ObjectVerdict> {
    let value = previous.node.to_json();
    if previous.version() == target.version() {
        return Ok(endpoint.read(value));
    }
    let by_webhook = checker.bundle.crds.get(crd).is_some_and(|crd| crd.conversion.is_webhook());
    if by_webhook {
        return Err(ObjectVerdict::Converted { from: previous.version().to_owned() });
    }
    let read = match checker.endpoint(crd, previous) {
        Ok(stored) => stored.read(value),
        Err(ObjectVerdict::NotServed | ObjectVerdict::NoSchema) => value,
        Err(verdict) => return Err(verdict),
    };
    Ok(endpoint.convert(read, target.api_version))
}

fn answer(endpoint: &Endpoint, stored: &Value, new: Value, subresource: Option<Subresource>) -> Result<Response, ObjectVerdict> {
    match subresource {
        None => Ok(endpoint.update(stored, new)),
        Some(subresource) => endpoint.update_subresource(subresource, stored, new).ok_or(ObjectVerdict::NoSubresource(subresource)),
    }
}
