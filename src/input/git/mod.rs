//! The git repository around a directory, read with the git program: revisions, trees, the index, tags. Nothing is written or
//! fetched.

mod blobs;
mod command;
mod error;
mod listing;
mod revision;
mod search;
mod snapshot;
mod staged;
mod tags;

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use error::GitError;
pub use revision::Resolved;
pub use search::GitState;
pub use staged::StagedChange;
pub use tags::Tag;

pub(super) use blobs::{Blob, Blobs};
pub(super) use snapshot::{SelectedBlob, Snapshot};

use command::Git;
use listing::Listings;

/// The output limit for short responses.
const SHORT: u64 = 1 << 20;

/// The repository around a directory.
#[derive(Debug, Clone)]
pub struct Repository {
    git: Git,
    root: Option<PathBuf>,
    shallow: bool,
    listings: Arc<Mutex<Listings>>,
}

/// The root of the working tree around `dir`.
pub fn repo_root(dir: &Path) -> Result<PathBuf, GitError> {
    let repository = Repository::around(dir)?;
    repository.root.ok_or(GitError::NoWorkTree)
}

impl Repository {
    pub fn around(dir: &Path) -> Result<Repository, GitError> {
        Repository::around_with(dir, &[])
    }

    /// Like [`Repository::around`], with environment variables set or removed for git.
    pub fn around_with(dir: &Path, environment: &[(OsString, Option<OsString>)]) -> Result<Repository, GitError> {
        let git = Git::new(dir, environment);
        let arguments = ["rev-parse", "--is-shallow-repository", "--show-toplevel"];
        let answer = git.run(&arguments, SHORT)?;
        let text = answer.line();
        let (shallow, root) = text.split_once('\n').unwrap_or((&text, ""));
        // A bare repository has no top level, but its revisions can be read.
        let bare = answer.err.contains("must be run in a work tree");
        if !answer.ok && !bare {
            return Err(answer.error("rev-parse"));
        }
        Ok(Repository { git, root: (!bare).then(|| PathBuf::from(root)), shallow: shallow == "true", listings: Arc::default() })
    }

    /// The root of the working tree; `None` for a bare repository.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Makes a path that is relative to the current directory relative to the root, with `/`. Links in it are kept, because
    /// revisions are read with the same names. It needn't exist.
    pub fn relative(&self, path: &Path) -> Result<String, GitError> {
        let outside = || GitError::Outside { path: path.to_string_lossy().into_owned() };
        let root = self.root.as_deref().ok_or(GitError::NoWorkTree)?;
        if path.is_absolute() {
            // Either side may contain a link (`/tmp` on macOS).
            let inside = path.strip_prefix(root).map(Path::to_owned).ok();
            let inside = inside.or_else(|| stripped(&existing(path), root));
            return joined(Path::new(""), &inside.ok_or_else(outside)?).ok_or_else(outside);
        }
        joined(&self.prefix()?, path).ok_or_else(outside)
    }

    /// Resolves the path of a REV:path from the root: as in git, `./` and `../` are relative to the current directory.
    pub(super) fn in_tree(&self, path: &str) -> Result<String, GitError> {
        let outside = || GitError::Outside { path: path.to_owned() };
        let from_here = matches!(path, "." | "..") || path.starts_with("./") || path.starts_with("../");
        let base = if from_here { self.prefix()? } else { PathBuf::new() };
        joined(&base, Path::new(path)).ok_or_else(outside)
    }

    /// The directory git was started in, relative to the root.
    fn prefix(&self) -> Result<PathBuf, GitError> {
        let root = self.root.as_deref().ok_or(GitError::NoWorkTree)?;
        let here = self.git.dir();
        let here = here.canonicalize().unwrap_or_else(|_| here.to_owned());
        stripped(&here, root).ok_or_else(|| GitError::Outside { path: ".".to_owned() })
    }
}

fn stripped(path: &Path, root: &Path) -> Option<PathBuf> {
    let root = root.canonicalize().ok()?;
    path.strip_prefix(&root).map(Path::to_owned).ok()
}

/// Canonicalises the existing part of a path.
fn existing(path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|ancestor| {
        let real = ancestor.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(ancestor).ok()?))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// Joins paths without looking at the disk; `None` if `..` leads above the root.
fn joined(base: &Path, path: &Path) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for component in base.components().chain(path.components()) {
        match component {
            Component::Normal(name) => parts.push(name.to_str()?.to_owned()),
            Component::ParentDir => drop(parts.pop()?),
            Component::CurDir => {}
            // The root of a tree is an empty string, not `/`.
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}
