//! `--objects`: reads objects from files and clusters, page by page.

use std::ffi::OsString;

use crate::input::{Cluster, ClusterError, File, Input, InputKind, Origin};
use crate::model::{Bundle, Crd, Documents};

use super::input::{InputReader, with_advice};
use super::{Exit, Stop, Streams};

/// The list of a CRD's objects in a cluster.
pub(super) struct ResourceList {
    /// The name of the CRD, for messages.
    crd: String,
    path: String,
}

impl ResourceList {
    /// The objects of a CRD, in the version that they are most likely stored in.
    pub fn of(crd: &Crd<'_>) -> Option<ResourceList> {
        let served = || crd.versions.iter().filter(|version| version.served);
        let version = served().find(|version| version.storage).or_else(|| served().max_by_key(|version| version.priority()))?;
        let plural = crd.names.plural?.value;
        let plain = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        // Names in a CRD are untrusted, and these become part of a URL path.
        let all_plain = [crd.group(), version.name, plural].into_iter().all(plain);
        all_plain.then(|| ResourceList { crd: crd.name.to_owned(), path: format!("/apis/{}/{}/{plural}", crd.group(), version.name) })
    }

    /// The objects of all CRDs that a change affects.
    pub fn changed(old: &Bundle<'_>, new: &Bundle<'_>) -> Vec<ResourceList> {
        let is_changed = |crd: &&Crd<'_>| !crd.counterpart(&new.crds).is_some_and(|other| crd.spec.same(other.spec));
        old.crds.iter().filter(is_changed).filter_map(ResourceList::of).collect()
    }
}

/// Reads objects and passes them on, a file or page at a time. Unreadable input is reported, and the exit code becomes 3.
pub(super) fn each_page(
    reader: &InputReader,
    inputs: &[OsString],
    resources: &[ResourceList],
    streams: &mut Streams<'_>,
    mut page: impl FnMut(&Documents),
) -> Result<Exit, Stop> {
    let (clusters, others): (Vec<Input>, Vec<Input>) = reader.parse(inputs)?.into_iter().partition(Input::is_cluster);
    let mut problems = Vec::new();
    if !others.is_empty() {
        let loaded = reader.loader.load(&others);
        problems.extend(loaded.problems.iter().map(|problem| with_advice(problem, problem.advice())));
        for file in loaded.files {
            let documents = Documents::parse(vec![file], reader.budget());
            problems.extend(unreadable(&documents));
            page(&documents);
        }
    }
    for input in &clusters {
        let InputKind::Cluster { context } = &input.kind else { continue };
        let cluster = reader.loader.cluster(context.as_deref());
        for resource in resources {
            match list(&cluster, resource, input, reader, &mut page) {
                Ok(()) => {}
                // If the CRD isn't installed, it has no objects.
                Err(ClusterError::NotServed(_)) => streams.note(&format!("{input} has no {}", resource.crd)),
                Err(error) => problems.push(with_advice(&format!("`{input}`: {}: {error}", resource.crd), error.advice())),
            }
        }
    }
    problems.iter().for_each(|problem| streams.error(problem));
    Ok(if problems.is_empty() { Exit::Clean } else { Exit::Unread })
}

/// Passes on the pages of one list, holding only one at a time in memory.
fn list(
    cluster: &Cluster,
    resource: &ResourceList,
    input: &Input,
    reader: &InputReader,
    page: &mut impl FnMut(&Documents),
) -> Result<(), ClusterError> {
    let not_a_list = |reason: String| ClusterError::NotAList { path: resource.path.clone(), reason };
    let mut from: Option<String> = None;
    loop {
        let text = cluster.page(&resource.path, from.as_deref())?;
        let file = File::new(format!("{input}/{}", resource.crd), text, Origin::Cluster);
        let documents = Documents::parse(vec![file], reader.budget());
        if let Some(problem) = unreadable(&documents).next() {
            return Err(not_a_list(problem));
        }
        let root = documents.documents.first().and_then(|(_, document)| document.tree.as_ref().ok()).map(|tree| tree.root());
        let Some(root) = root.filter(|root| root.get("items").is_some_and(|items| items.is_seq()) || root.get("items").is_none()) else {
            return Err(not_a_list("it has no items".to_owned()));
        };
        let token = root.get("metadata").and_then(|metadata| metadata.get("continue")).and_then(|token| token.as_str());
        let next = token.filter(|token| !token.is_empty()).map(str::to_owned);
        page(&documents);
        if next.is_none() || next == from {
            return Ok(());
        }
        from = next;
    }
}

/// The documents that can't be parsed, with their places.
fn unreadable(documents: &Documents) -> impl Iterator<Item = String> + '_ {
    documents.documents.iter().filter_map(|(id, document)| {
        let error = document.tree.as_ref().err()?;
        let file = documents.file(*id)?;
        Some(format!("{}:{}: {}", file.name, file.place(error.span.start as usize), error.kind))
    })
}
