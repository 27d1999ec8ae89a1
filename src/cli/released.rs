//! `--released`: reads the last release, but only if something breaks.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use semver::Version;

use crate::cli::arguments;
use crate::input::{GitError, GitState, Input, InputKind, Tag, same_paths};
use crate::judge::review::{LastRelease, Released};

use super::input::InputReader;
use super::sides::unread_git;
use super::{Stop, Streams};

/// The value for the highest release among the tags.
const AUTO: &str = "auto";
/// The value for a review in which everything counts as released.
const NONE: &str = "none";

/// Where to look for the last release.
pub(super) struct ReleaseSearch<'r> {
    reader: &'r InputReader,
    /// The revision named by a flag; otherwise the last release before the base.
    rev: Option<String>,
    base: String,
    /// The inputs of the new side: the release is read at the same paths.
    inputs: Vec<Input>,
    tag: OnceLock<Option<Tag>>,
    /// A note about the search, set when it is done.
    note: OnceLock<String>,
}

impl LastRelease for ReleaseSearch<'_> {
    fn version(&self) -> Option<Version> {
        self.tag().ok()??.version
    }

    fn read(&self, names: &BTreeSet<&str>) -> Option<Released> {
        match self.try_read(names) {
            Ok(Some(released)) => Some(released),
            Ok(None) => {
                self.note.get_or_init(|| format!("no release tag is older than {}, so everything counts as released", self.base));
                None
            }
            Err(error) => {
                self.note.get_or_init(|| format!("the last release can't be read, so everything counts as released: {error}"));
                None
            }
        }
    }
}

impl<'r> ReleaseSearch<'r> {
    /// Returns `None` if everything counts as released: without a git revision to start from, or if the old side is itself a
    /// release.
    pub fn new(reader: &'r InputReader, arguments: &arguments::Review, base: Option<&str>, inputs: &[Input]) -> Result<Option<Self>, Stop> {
        let named = arguments.released.as_deref();
        let rev = match named {
            Some(NONE) => return Ok(None),
            None | Some(AUTO) => None,
            Some(rev) => {
                // A mistyped revision must be an error, not a review without a release.
                reader.loader.repository().and_then(|repository| repository.resolve(rev)).map_err(unread_git)?;
                Some(rev.to_owned())
            }
        };
        let base = match (base, &rev) {
            (Some(base), _) => base.to_owned(),
            (None, Some(rev)) => rev.clone(),
            (None, None) if named.is_some() => {
                return Err(Stop::usage("--released auto needs an old side in git; name the release with --released REV"));
            }
            (None, None) => return Ok(None),
        };
        Ok(Some(ReleaseSearch { reader, rev, base, inputs: inputs.to_vec(), tag: OnceLock::new(), note: OnceLock::new() }))
    }

    /// The tag of the release; `None` if there is none, or if a flag names a revision that isn't a tag with a version.
    fn tag(&self) -> Result<Option<Tag>, GitError> {
        if let Some(tag) = self.tag.get() {
            return Ok(tag.clone());
        }
        let repository = self.reader.loader.repository()?;
        let tag = match &self.rev {
            Some(rev) => repository.tag_of(rev)?,
            None => repository.last_release(&self.revisions())?,
        };
        Ok(self.tag.get_or_init(|| tag).clone())
    }

    fn try_read(&self, names: &BTreeSet<&str>) -> Result<Option<Released>, GitError> {
        let repository = self.reader.loader.repository()?;
        let (name, rev) = match &self.rev {
            Some(rev) => (rev.clone(), rev.clone()),
            None => match self.tag()? {
                Some(tag) => (tag.name.clone(), format!("refs/tags/{}", tag.name)),
                None => return Ok(None),
            },
        };
        let inputs = match same_paths(&self.reader.loader, &rev, &self.inputs) {
            Ok(against) => against.inputs,
            Err(_) => Vec::new(),
        };
        let read = self.reader.read(name.clone(), &inputs, None);
        let found: BTreeSet<String> = read.side().bundle.crds.iter().map(|crd| crd.name.to_owned()).collect();
        let missing: Vec<&str> = names.iter().copied().filter(|name| !found.contains(*name)).collect();
        if missing.is_empty() {
            let complete = read.unread_files().is_empty();
            return Ok(Some(Released { name, documents: read.into_documents(), complete }));
        }
        // A CRD is released even if the release has it in another directory.
        let elsewhere = repository.manifests_with(GitState::Revision(&rev), &missing)?;
        let at = |path: String| Input::from(InputKind::Revision { rev: rev.clone(), path });
        let inputs: Vec<Input> = inputs.into_iter().chain(elsewhere.into_iter().map(at)).collect();
        let read = self.reader.read(name.clone(), &inputs, None);
        let complete = read.unread_files().is_empty();
        Ok(Some(Released { name, documents: read.into_documents(), complete }))
    }

    /// The revisions of the old side and, if it has one, of the new side. The release must not be newer than these.
    fn revisions(&self) -> Vec<&str> {
        let new = self.inputs.iter().find_map(|input| match &input.kind {
            InputKind::Revision { rev, .. } => Some(rev.as_str()),
            _ => None,
        });
        std::iter::once(self.base.as_str()).chain(new).collect()
    }

    /// Notes once why no release could be used.
    pub fn report(&self, streams: &mut Streams<'_>) {
        if let Some(note) = self.note.get() {
            streams.note(note);
        }
    }
}
