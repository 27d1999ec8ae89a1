//! Finds CRDs that a change moved to another directory: both sides have them, but the inputs contain only one.

use std::collections::{BTreeMap, BTreeSet};

use crate::input::{File, GitState, Input, InputKind, Repository};
use crate::model::Bundle;

use super::Streams;
use super::config::folder::relative_to_current_dir;
use super::input::{InputReader, Read};

/// Looks in git for CRDs that one side lacks, and adds them to it, because a moved CRD was neither added nor removed.
pub(super) fn find(reader: &InputReader, old: &mut Read, new: &mut Read, streams: &mut Streams<'_>) {
    // Unless the old side is a revision, the sides are independent bundles.
    if !matches!(state(old.inputs()), Some(GitState::Revision(_))) {
        return;
    }
    let Ok(repository) = reader.loader.repository() else { return };
    let (before, after) = (files_by_crd(old), files_by_crd(new));
    if before.is_empty() && after.is_empty() {
        return;
    }
    let complete = |read: &Read| read.unread_files().is_empty();
    if complete(old) {
        add(reader, repository, old, &missing(&after, &before), streams);
    }
    if complete(new) {
        add(reader, repository, new, &missing(&before, &after), streams);
    }
}

/// The file of every CRD, by the CRD's name.
type Files = BTreeMap<String, String>;

fn files_by_crd(read: &Read) -> Files {
    let bundle = Bundle::read(read.documents());
    let file = |id| read.documents().file(id).map_or("", |file| file.name.as_str()).to_owned();
    bundle.crds.iter().map(|crd| (crd.name.to_owned(), file(crd.file))).collect()
}

fn missing(here: &Files, there: &Files) -> Files {
    here.iter().filter(|(name, _)| !there.contains_key(*name)).map(|(name, file)| (name.clone(), file.clone())).collect()
}

/// Adds the CRDs with these names, if each is in exactly one other file, or in one with the same file name.
fn add(reader: &InputReader, repository: &Repository, read: &mut Read, wanted: &Files, streams: &mut Streams<'_>) {
    let names: Vec<&str> = wanted.keys().map(String::as_str).collect();
    let Some(state) = state(read.inputs()).filter(|_| !names.is_empty()) else { return };
    let Ok(paths) = repository.manifests_with(state, &names) else { return };
    let inputs: Vec<Input> = paths.into_iter().filter_map(|path| at(repository, state, path)).collect();
    let known: BTreeSet<String> = read.documents().files.iter().map(|file| file.name.clone()).collect();
    let mut found: BTreeMap<&str, Vec<File>> = BTreeMap::new();
    for file in reader.loader.load(&inputs).files.into_iter().filter(|file| !known.contains(&file.name)) {
        let documents = crate::model::Documents::of_text(&file.name, &file.text);
        let bundle = Bundle::read(&documents);
        for name in names.iter().filter(|name| !bundle.named(name).is_empty()) {
            found.entry(name).or_default().push(file.clone());
        }
    }
    let base = |name: &str| name.rsplit(['/', ':']).next().unwrap_or_default().to_owned();
    for (name, files) in found {
        let alike = |file: &&File| wanted.get(name).is_some_and(|other| base(other) == base(&file.name));
        let same_name: Vec<&File> = files.iter().filter(alike).collect();
        let Some(file) = (match (same_name.as_slice(), files.as_slice()) {
            ([one], _) => Some(*one),
            ([], [one]) => Some(one),
            _ => None,
        }) else {
            continue;
        };
        streams.note(&format!("{name} was moved to {}, outside the inputs of this side", file.name));
        read.add_for(BTreeSet::from([name.to_owned()]), file.clone(), reader);
    }
}

/// The state of the repository that all inputs of a side are read from.
fn state(inputs: &[Input]) -> Option<GitState<'_>> {
    let mut states = inputs.iter().map(|input| match &input.kind {
        InputKind::Revision { rev, .. } => Some(GitState::Revision(rev)),
        InputKind::Index { .. } => Some(GitState::Index),
        InputKind::Path(_) => Some(GitState::WorkingTree),
        InputKind::Stdin | InputKind::Cluster { .. } => None,
    });
    let first = states.next()??;
    states.all(|state| state == Some(first)).then_some(first)
}

fn at(repository: &Repository, state: GitState<'_>, path: String) -> Option<Input> {
    Some(match state {
        GitState::Revision(rev) => Input::from(InputKind::Revision { rev: rev.to_owned(), path }),
        GitState::Index => Input::from(InputKind::Index { path }),
        GitState::WorkingTree => Input::path(relative_to_current_dir(&repository.root()?.join(path))),
    })
}
