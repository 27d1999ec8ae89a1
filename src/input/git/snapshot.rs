//! Selects the blobs to read at a path in a repository state (a revision or the index).

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use super::super::argument::shown_revision;
use super::super::limits::Limits;
use super::super::{Problem, SkippedInput, Why};
use super::blobs::{Blob, Blobs};
use super::listing::{LinkTarget, Listing, Mode, TreeEntry};
use super::{GitError, Repository, Resolved};

/// The maximum length of a link's target, which is a path.
const LINK_BYTES: u64 = 4096;

/// A revision or the index.
#[derive(Debug)]
pub(in super::super) struct Snapshot<'r> {
    repository: &'r Repository,
    /// `None` for the index.
    revision: Option<Resolved>,
}

/// A blob to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct SelectedBlob {
    /// The path under which it was found, for messages.
    pub path: String,
    /// Its path after following links.
    pub real: Vec<u8>,
    pub id: String,
}

/// What was selected at a path.
#[derive(Debug, Default)]
pub(in super::super) struct Selection {
    pub picks: Vec<SelectedBlob>,
    pub skipped: Vec<SkippedInput>,
    pub problems: Vec<Problem>,
}

impl<'r> Snapshot<'r> {
    pub(in super::super) fn new(repository: &'r Repository, revision: Option<Resolved>) -> Snapshot<'r> {
        Snapshot { repository, revision }
    }

    /// How messages show a path in this state.
    pub(in super::super) fn name(&self, path: &str) -> String {
        match &self.revision {
            Some(revision) => format!("{}:{path}", shown_revision(&revision.rev)),
            None => format!(":{path}"),
        }
    }

    pub(in super::super) fn revision(&self) -> Option<&Resolved> {
        self.revision.as_ref()
    }

    /// Selects what is at a path: the file itself, or all manifests in a directory.
    pub(in super::super) fn select(&self, path: &str, limits: &Limits, blobs: &mut Blobs<'_>) -> Result<Selection, GitError> {
        let listing = self.listing()?;
        let mut search = Search {
            snapshot: self,
            listing: &listing,
            limits,
            blobs,
            walked: BTreeSet::new(),
            pending: VecDeque::new(),
            looked_at: 0,
            left: Selection::default(),
        };
        let key = path.as_bytes();
        let inside = listing.under(key);
        if let Some(entry) = listing.get(key).filter(|entry| entry.mode == Mode::File) {
            search.take(path.to_owned(), entry);
        } else if !inside.is_empty() && inside.iter().all(|entry| entry.mode != Mode::Link) {
            search.expand(path, key, inside)?;
        } else {
            // There are links in the path or in the directory.
            search.through_links(path)?;
        }
        if search.looked_at > limits.entries {
            let problem = Problem::TooManyEntries { name: self.name(path), limit: limits.entries };
            search.left = Selection { problems: vec![problem], ..Selection::default() };
        }
        Ok(search.left)
    }

    fn listing(&self) -> Result<Arc<Listing>, GitError> {
        self.repository.listing(self.revision.as_ref().map(|revision| &*revision.id))
    }
}

struct Search<'s, 'r, 'b> {
    snapshot: &'s Snapshot<'r>,
    listing: &'s Listing,
    limits: &'s Limits,
    blobs: &'s mut Blobs<'b>,
    /// Directories that were read, by their real paths: each is read once, so links can't loop.
    walked: BTreeSet<Vec<u8>>,
    /// Directories that links lead to, with their shown and real paths.
    pending: VecDeque<(String, Vec<u8>)>,
    looked_at: usize,
    left: Selection,
}

impl Search<'_, '_, '_> {
    fn through_links(&mut self, path: &str) -> Result<(), GitError> {
        let snapshot = self.snapshot;
        match self.follow(path.as_bytes())? {
            LinkTarget::File(entry) => self.take(path.to_owned(), &entry),
            LinkTarget::Directory(real) => self.pending.push_back((path.to_owned(), real)),
            LinkTarget::Absent => {
                return Err(GitError::Absent { rev: snapshot.revision.as_ref().map(|r| r.rev.clone()), path: path.to_owned() });
            }
            astray => self.refuse(path, &astray),
        }
        while let Some((shown, real)) = self.pending.pop_front() {
            self.expand(&shown, &real, self.listing.under(&real))?;
        }
        Ok(())
    }

    fn expand(&mut self, shown: &str, real: &[u8], entries: &[TreeEntry]) -> Result<(), GitError> {
        self.walked.insert(real.to_vec());
        self.looked_at = self.looked_at.saturating_add(entries.len());
        if self.looked_at > self.limits.entries {
            self.pending.clear();
            return Ok(());
        }
        let mut links = Vec::new();
        for entry in entries {
            let rest = entry.path.get(real.len()..).unwrap_or_default();
            let rest = String::from_utf8_lossy(rest);
            let rest = rest.trim_start_matches('/');
            let path = match shown {
                "" => rest.to_owned(),
                shown => format!("{shown}/{rest}"),
            };
            match entry.mode {
                Mode::Link => links.push((path, entry)),
                Mode::Submodule => self.refuse(&path, &LinkTarget::Submodule(entry.clone())),
                Mode::File if self.limits.takes(&path) => self.take(path, entry),
                Mode::File => self.skip(&path, Why::OtherExtension),
            }
        }
        for (path, link) in links {
            self.through_link(path, link)?;
        }
        Ok(())
    }

    fn through_link(&mut self, path: String, link: &TreeEntry) -> Result<(), GitError> {
        match self.follow(&link.path)? {
            LinkTarget::File(entry) if self.limits.takes(&path) => self.take(path, &entry),
            LinkTarget::File(_) => self.skip(&path, Why::OtherExtension),
            LinkTarget::Directory(real) => {
                let read = ancestors(&real).any(|directory| self.walked.contains(directory));
                if read || ancestors(&link.path).any(|directory| directory == real) {
                    let target = self.snapshot.name(&String::from_utf8_lossy(&real));
                    self.skip(&path, Why::LinkedDirectory { target });
                } else {
                    self.walked.insert(real.clone());
                    self.pending.push_back((path, real));
                }
            }
            LinkTarget::Absent if !self.limits.takes(&path) => self.skip(&path, Why::OtherExtension),
            astray => self.refuse(&path, &astray),
        }
        Ok(())
    }

    fn follow(&mut self, path: &[u8]) -> Result<LinkTarget, GitError> {
        let blobs = &mut *self.blobs;
        self.listing.follow(path, |link| match blobs.read(&link.id, LINK_BYTES)? {
            Blob::Bytes(text) => Ok(text),
            Blob::TooLarge(_) => Ok(Vec::new()),
            Blob::Missing => Err(GitError::MissingObject { name: link.shown(), id: link.id.clone() }),
        })
    }

    fn take(&mut self, path: String, entry: &TreeEntry) {
        if entry.unmerged {
            let problem = Problem::Unmerged { name: self.snapshot.name(&path) };
            // An unmerged file has up to three sides.
            if self.left.problems.last() != Some(&problem) {
                self.left.problems.push(problem);
            }
            return;
        }
        self.left.picks.push(SelectedBlob { path, real: entry.path.clone(), id: entry.id.clone() });
    }

    fn skip(&mut self, path: &str, why: Why) {
        self.left.skipped.push(SkippedInput { what: self.snapshot.name(path), why });
    }

    fn refuse(&mut self, path: &str, target: &LinkTarget) {
        let name = self.snapshot.name(path);
        self.left.problems.push(match target {
            LinkTarget::Submodule(entry) => Problem::Submodule { name, commit: entry.id.clone() },
            LinkTarget::Loop => Problem::LinkLoop { name },
            LinkTarget::Absent => Problem::DanglingLink { name },
            _ => Problem::LinkLeaves { name, in_git: true },
        });
    }
}

/// A path, its parent directories, and the root.
fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| {
        if path.is_empty() {
            return None;
        }
        let slash = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        path.get(..slash)
    })
}
