//! Errors when reading from a repository.

use thiserror::Error;

/// Why a git request failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GitError {
    #[error("the git program could not be started: {reason}")]
    NotStarted { reason: String },
    #[error("the current directory is not in a git repository")]
    NoRepository,
    #[error("git refuses the repository at `{path}`, because another user owns it")]
    DubiousOwnership { path: String },
    #[error("the repository has no working tree")]
    NoWorkTree,
    #[error("`{rev}` can't be a revision")]
    NotARevision { rev: String },
    #[error("unknown revision `{rev}` in this repository")]
    UnknownRevision { rev: String, fetch: Option<String> },
    #[error("`{rev}` is ambiguous: it names several objects")]
    AmbiguousRevision { rev: String },
    #[error("`{rev}` is not in this shallow clone")]
    Shallow { rev: String, fetch: String },
    #[error("`{path}` does not exist in {}", at(.rev))]
    Absent { rev: Option<String>, path: String },
    #[error("`{path}` is outside the repository")]
    Outside { path: String },
    #[error("{a} and {b} have no common ancestor here")]
    NoMergeBase { a: String, b: String, fetch: Option<String> },
    #[error("no tag that matches `{pattern}` can be reached from {from}")]
    NoTag { pattern: String, from: String, fetch: Option<String> },
    #[error("`{name}` is not in this clone (object {id} is missing)")]
    MissingObject { name: String, id: String },
    #[error("git {command} listed more than {limit}")]
    TooMuch { command: String, limit: String },
    #[error("git {command} failed: {said}")]
    Failed { command: String, said: String },
}

fn at(rev: &Option<String>) -> String {
    match rev {
        Some(rev) => format!("revision `{rev}`"),
        None => "the index".to_owned(),
    }
}

impl GitError {
    /// Advice for the user, with complete commands to copy.
    pub fn advice(&self) -> Option<String> {
        let fetched = |command: &Option<String>| command.as_ref().map(|c| format!("run `{c}`"));
        Some(match self {
            GitError::NotStarted { .. } => "install git, or pass files and directories".to_owned(),
            GitError::NoRepository => "REV:path and :path need a repository: change into it".to_owned(),
            GitError::DubiousOwnership { path } => {
                format!("if you trust it, run `git config --global --add safe.directory {}`", super::super::argument::quoted(path))
            }
            GitError::NoWorkTree => "use REV:path instead".to_owned(),
            GitError::NotARevision { .. } => "write a branch, a tag or a commit".to_owned(),
            GitError::UnknownRevision { fetch, .. } => {
                let here = "`git branch --all` and `git tag` list the known ones";
                match fetch {
                    Some(fetch) => format!("{here}; to get it from the remote, run `{fetch}`"),
                    None => here.to_owned(),
                }
            }
            GitError::Shallow { fetch, .. } => format!("run `{fetch}`"),
            GitError::NoMergeBase { fetch, .. } | GitError::NoTag { fetch, .. } => return fetched(fetch),
            GitError::AmbiguousRevision { .. } => "write more digits of the commit".to_owned(),
            GitError::Absent { rev, .. } => {
                let rev = rev.as_deref().map(super::super::argument::quoted);
                match rev {
                    Some(rev) => format!(
                        "`git ls-tree -r --name-only {rev}` lists its files; paths are relative to the repository root, or with `./` to \
                         the current directory"
                    ),
                    None => {
                        "`git add` it first; paths are relative to the repository root, or with `./` to the current directory".to_owned()
                    }
                }
            }
            GitError::Outside { .. } => "a revision contains only the files in its tree; pass the file itself".to_owned(),
            GitError::MissingObject { .. } => {
                "this is a partial clone, and crdwise fetches nothing: run `git fetch --refetch --no-filter`".to_owned()
            }
            GitError::TooMuch { .. } => "choose a smaller directory".to_owned(),
            GitError::Failed { .. } => return None,
        })
    }

    /// Whether the path (not the revision) is missing, which is an empty bundle for `--against REV`.
    pub fn is_absent(&self) -> bool {
        matches!(self, GitError::Absent { .. })
    }
}
