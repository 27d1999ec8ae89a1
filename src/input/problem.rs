//! Why an input couldn't be read: what, where, and what to do.
//!
//! Names come from users and aren't escaped here; renderers escape all text.

use thiserror::Error;

use super::archive::ArchiveError;
use super::decode::Malformed;
use super::git::GitError;
use super::kubectl::ClusterError;
use super::limits::{flag, human_size};
use super::place::LineColumn;
use super::rendered::RenderError;

/// The kind of a file that isn't a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    Fifo,
    Socket,
    BlockDevice,
    CharacterDevice,
    Directory,
    Other,
}

impl std::fmt::Display for Special {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Special::Fifo => "a pipe (FIFO)",
            Special::Socket => "a socket",
            Special::BlockDevice => "a block device",
            Special::CharacterDevice => "a character device",
            Special::Directory => "a directory",
            Special::Other => "not a regular file",
        })
    }
}

/// An input, or a file in it, that wasn't read and is therefore unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    #[error("`{name}` does not exist")]
    NotFound { name: String },
    #[error("`{name}` is {kind}, and only regular files are read")]
    NotRegular { name: String, kind: Special },
    #[error("`{name}` can't be read: {reason}")]
    Unreadable { name: String, reason: String },
    #[error("`{name}` {}, the limit is {} a file", size_of(.size), human_size(*.limit))]
    TooLarge {
        name: String,
        /// Unknown for a stream that exceeds the limit, such as standard input.
        size: Option<u64>,
        limit: u64,
    },
    #[error("the bundle is larger than {}: {left} not read, starting with `{name}`", human_size(*.limit))]
    TotalTooLarge { name: String, left: usize, limit: u64 },
    #[error("the bundle has more than {limit} files: {left} not read, starting with `{name}`")]
    TooManyFiles { name: String, left: usize, limit: usize },
    #[error("`{name}` has more than {limit} entries, and none of it was read")]
    TooManyEntries { name: String, limit: usize },
    #[error("`{name}` is more than {limit} directories deep, and nothing in it was read")]
    TooDeep { name: String, limit: usize },
    #[error("`{name}` is a symbolic link that points back to itself")]
    LinkLoop { name: String },
    #[error("`{name}` is a symbolic link that points outside {}", tree_of(*.in_git))]
    LinkLeaves { name: String, in_git: bool },
    #[error("`{name}` is a broken symbolic link")]
    DanglingLink { name: String },
    #[error("`{name}` is in a git submodule (commit {commit}), whose files are not part of this repository")]
    Submodule { name: String, commit: String },
    #[error("`{name}` has an unresolved merge conflict")]
    Unmerged { name: String },
    #[error("standard input can be read only once")]
    StdinTwice,
    #[error("`{name}`{}: {malformed}", at(malformed))]
    Malformed { name: String, malformed: Malformed },
    #[error("`{name}`: {error}")]
    Archive { name: String, error: ArchiveError },
    #[error("`{name}`: {error}")]
    Cluster { name: String, error: ClusterError },
    #[error("`{name}`: {error}")]
    Render { name: String, error: RenderError },
    #[error("`{name}`: {error}")]
    Git { name: String, error: GitError },
}

fn size_of(size: &Option<u64>) -> String {
    match size {
        Some(size) => format!("has {}", human_size(*size)),
        None => "is larger than allowed".to_owned(),
    }
}

fn tree_of(in_git: bool) -> &'static str {
    if in_git { "the repository" } else { "the directory (or the repository around it)" }
}

fn at(malformed: &Malformed) -> String {
    let place = malformed.place();
    place.map_or_else(String::new, |place| format!(" at {place}"))
}

impl Problem {
    /// The name of the input or file, as shown.
    pub fn name(&self) -> &str {
        match self {
            Problem::NotFound { name }
            | Problem::NotRegular { name, .. }
            | Problem::Unreadable { name, .. }
            | Problem::TooLarge { name, .. }
            | Problem::TotalTooLarge { name, .. }
            | Problem::TooManyFiles { name, .. }
            | Problem::TooManyEntries { name, .. }
            | Problem::TooDeep { name, .. }
            | Problem::LinkLoop { name }
            | Problem::LinkLeaves { name, .. }
            | Problem::DanglingLink { name }
            | Problem::Submodule { name, .. }
            | Problem::Unmerged { name }
            | Problem::Malformed { name, .. }
            | Problem::Archive { name, .. }
            | Problem::Cluster { name, .. }
            | Problem::Render { name, .. }
            | Problem::Git { name, .. } => name,
            Problem::StdinTwice => super::STDIN,
        }
    }

    /// The place in the file, if one character is the cause.
    pub fn place(&self) -> Option<LineColumn> {
        match self {
            Problem::Malformed { malformed, .. } => malformed.place(),
            _ => None,
        }
    }

    /// Whether a file exists but its content is wrong, so that a change can fix it.
    pub fn is_about_content(&self) -> bool {
        match self {
            Problem::Malformed { .. } | Problem::Archive { .. } => true,
            Problem::Render { error, .. } => error.is_about_content(),
            _ => false,
        }
    }

    /// Advice for the user.
    pub fn advice(&self) -> Option<String> {
        let raise = |flag: &str| format!("raise it with {flag}, or pass fewer inputs");
        Some(match self {
            Problem::NotFound { .. } => "pass a file, a directory, an archive, `-` for standard input, or a git REV:path".to_owned(),
            Problem::NotRegular { .. } => "to read from a pipe, write `-` and pipe it in".to_owned(),
            Problem::Unreadable { .. } => return None,
            Problem::TooLarge { .. } => raise(flag::FILE_BYTES),
            Problem::TotalTooLarge { .. } => raise(flag::TOTAL_BYTES),
            Problem::TooManyFiles { .. } => raise(flag::FILES),
            Problem::TooManyEntries { .. } => raise(flag::ENTRIES),
            Problem::TooDeep { .. } => raise(flag::DIRECTORY_DEPTH),
            Problem::LinkLoop { .. } | Problem::DanglingLink { .. } => "remove the link, or point it at a file".to_owned(),
            Problem::LinkLeaves { .. } => "if that is intended, pass its target as an input".to_owned(),
            Problem::Submodule { .. } => "pass the submodule's directory in the working tree, or run crdwise inside it".to_owned(),
            Problem::Unmerged { .. } => "finish the merge and `git add` the file".to_owned(),
            Problem::StdinTwice => "use `-` once, and a file for the other input".to_owned(),
            Problem::Malformed { malformed, .. } => malformed.advice().to_owned(),
            Problem::Archive { error, .. } => return error.advice(),
            Problem::Cluster { error, .. } => return error.advice(),
            Problem::Render { error, .. } => return error.advice(),
            Problem::Git { error, .. } => return error.advice(),
        })
    }
}

impl miette::Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.advice().map(|advice| Box::new(advice) as Box<dyn std::fmt::Display>)
    }
}
