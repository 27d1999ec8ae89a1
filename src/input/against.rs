//! Finds the old inputs for `review NEW… --against REV|PATH`.

use std::ffi::OsStr;

use thiserror::Error;

use super::git::{GitError, Resolved};
use super::{Input, InputError, InputKind, Loader, Note};

/// The old side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Against {
    pub inputs: Vec<Input>,
    /// `None` if it is a path.
    pub revision: Option<Resolved>,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AgainstError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("{what} has no path that could be looked up at `{rev}`")]
    NoPath { what: &'static str, rev: String },
}

impl AgainstError {
    /// Advice for the user.
    pub fn advice(&self) -> Option<String> {
        match self {
            AgainstError::Input(error) => Some(error.advice()),
            AgainstError::Git(error) => error.advice(),
            AgainstError::NoPath { .. } => Some("pass the old bundle as a file, a directory or REV:path".to_owned()),
        }
    }
}

/// Finds the old side of `--against`: an existing path or `REV:path` is the old bundle itself; anything else is a revision at which
/// the same paths are read.
pub fn against(loader: &Loader, text: &OsStr, new: &[Input]) -> Result<Against, AgainstError> {
    let mut old = Input::parse_in(loader.dir(), text)?;
    let InputKind::Path(path) = &old.kind else {
        return Ok(Against { inputs: vec![old], revision: None });
    };
    let rev = text.to_str();
    if loader.dir().join(path).symlink_metadata().is_ok() {
        // For example, a directory called `main` in a repository with a branch `main`.
        let both = rev.filter(|rev| loader.repository().is_ok_and(|repository| repository.resolve(rev).is_ok()));
        if let (Some(rev), None) = (both, &old.note) {
            old.note = Some(Note::FileNotRevision { name: rev.to_owned(), other: format!("{rev}^0") });
        }
        return Ok(Against { inputs: vec![old], revision: None });
    }
    let rev = rev.ok_or_else(|| GitError::NotARevision { rev: text.to_string_lossy().into_owned() })?;
    same_paths(loader, rev, new)
}

/// The paths of the new inputs at a revision. A path that doesn't exist yet is an empty bundle.
pub fn same_paths(loader: &Loader, rev: &str, new: &[Input]) -> Result<Against, AgainstError> {
    let repository = loader.repository()?;
    let revision = repository.resolve(rev)?;
    let at_revision = |input: &Input| {
        let path = match &input.kind {
            InputKind::Path(path) => repository.relative(path)?,
            InputKind::Revision { path, .. } | InputKind::Index { path } => path.clone(),
            InputKind::Stdin => return Err(AgainstError::NoPath { what: "standard input", rev: rev.to_owned() }),
            InputKind::Cluster { .. } => return Err(AgainstError::NoPath { what: "a cluster", rev: rev.to_owned() }),
        };
        Ok(Input { absent_is_empty: true, ..Input::from(InputKind::Revision { rev: rev.to_owned(), path }) })
    };
    Ok(Against { inputs: new.iter().map(at_revision).collect::<Result<_, _>>()?, revision: Some(revision) })
}
