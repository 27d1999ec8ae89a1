//! Staged changes: the paths where the index differs from HEAD.

use super::super::limits::LISTING_BYTES;
use super::{GitError, Repository};

/// A path whose staged content differs from HEAD.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Staged {
    /// Relative to the repository root; bytes that aren't UTF-8 are shown as U+FFFD.
    pub path: String,
    pub change: StagedChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StagedChange {
    Added,
    Modified,
    Deleted,
    /// A file became a link or a submodule, or vice versa.
    Retyped,
    Unmerged,
}

impl Repository {
    /// Compares the index with HEAD, sorted by path; before the first commit, everything staged is added. A rename is a deletion
    /// and an addition, because CRDs are matched by name and not by file.
    pub fn changed_paths(&self) -> Result<Vec<Staged>, GitError> {
        let head = match self.resolve("HEAD") {
            Ok(head) => head,
            Err(GitError::UnknownRevision { .. }) => return self.all_staged(),
            Err(error) => return Err(error),
        };
        let arguments = [
            "diff-index",
            "--cached",
            "--name-status",
            "-z",
            "--no-renames",
            "--no-ext-diff",
            "--no-textconv",
            "--end-of-options",
            &head.id,
            "--",
        ];
        let answer = self.git.run(&arguments, LISTING_BYTES)?;
        if !answer.ok {
            return Err(answer.error("diff-index"));
        }
        let mut fields = answer.out.split(|byte| *byte == 0);
        let mut changes = Vec::new();
        while let (Some([status, ..]), Some(path)) = (fields.next(), fields.next()) {
            changes.push(Staged {
                path: String::from_utf8_lossy(path).into_owned(),
                change: match status {
                    b'A' => StagedChange::Added,
                    b'D' => StagedChange::Deleted,
                    b'T' => StagedChange::Retyped,
                    b'U' => StagedChange::Unmerged,
                    _ => StagedChange::Modified,
                },
            });
        }
        changes.sort();
        changes.dedup_by(|later, kept| later.path == kept.path);
        Ok(changes)
    }

    fn all_staged(&self) -> Result<Vec<Staged>, GitError> {
        let mut paths: Vec<Staged> =
            self.listing(None)?.entries().iter().map(|entry| Staged { path: entry.shown(), change: StagedChange::Added }).collect();
        paths.sort();
        Ok(paths)
    }
}
