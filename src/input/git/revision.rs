//! Resolves revisions to commits, and finds the exact `git fetch` for one that is missing in a shallow clone.

use super::super::argument::{is_revision, quoted};
use super::tags::version_of;
use super::{GitError, Repository, SHORT};

/// A resolved revision; everything after uses the id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resolved {
    pub rev: String,
    /// The commit, or the tree if the revision names one.
    pub id: String,
    /// A warning from git, such as a name that is both a tag and a branch.
    pub warning: Option<String>,
}

impl Repository {
    pub fn resolve(&self, rev: &str) -> Result<Resolved, GitError> {
        if !is_revision(rev) {
            return Err(GitError::NotARevision { rev: rev.escape_debug().to_string() });
        }
        let mut last = None;
        for kind in ["commit", "tree"] {
            let object = format!("{rev}^{{{kind}}}");
            let arguments = ["rev-parse", "--verify", "--end-of-options", &object];
            let answer = self.git.run(&arguments, SHORT)?;
            let id = answer.line();
            if answer.ok && is_id(&id) {
                let warning = answer.err.lines().find_map(|line| line.strip_prefix("warning: "));
                return Ok(Resolved { rev: rev.to_owned(), id, warning: warning.map(str::to_owned) });
            }
            let error = answer.error("rev-parse");
            if matches!(error, GitError::DubiousOwnership { .. } | GitError::NoRepository) {
                return Err(error);
            }
            last = Some(answer.err);
        }
        if last.is_some_and(|said| said.contains("is ambiguous")) {
            return Err(GitError::AmbiguousRevision { rev: rev.to_owned() });
        }
        let fetch = self.fetch_of(rev);
        Err(match (self.shallow, fetch) {
            (true, Some(fetch)) => GitError::Shallow { rev: rev.to_owned(), fetch },
            (_, fetch) => GitError::UnknownRevision { rev: rev.to_owned(), fetch },
        })
    }

    /// The best common ancestor of two revisions.
    pub fn merge_base(&self, a: &str, b: &str) -> Result<Resolved, GitError> {
        let resolve = |rev| self.resolve(rev).map_err(with_history);
        let (left, right) = (resolve(a)?, resolve(b)?);
        let arguments = ["merge-base", "--end-of-options", &left.id, &right.id];
        let answer = self.git.run(&arguments, SHORT)?;
        let id = answer.line();
        if answer.ok && is_id(&id) {
            return Ok(Resolved { rev: id.clone(), id, warning: None });
        }
        if !answer.err.is_empty() {
            return Err(answer.error("merge-base"));
        }
        Err(GitError::NoMergeBase { a: a.to_owned(), b: b.to_owned(), fetch: self.unshallow() })
    }

    /// The command that fetches the rest of the history, if the clone is shallow.
    pub(super) fn unshallow(&self) -> Option<String> {
        let remote = self.remote()?;
        self.shallow.then(|| format!("git fetch --unshallow {}", quoted(&remote)))
    }

    /// The command that fetches one revision; `None` if there is no remote to fetch it from.
    fn fetch_of(&self, rev: &str) -> Option<String> {
        let remote = self.remote()?;
        let from = quoted(&remote);
        let depth = if self.shallow { " --depth=1" } else { "" };
        if rev == "HEAD" || rev == "@" {
            // There is no commit yet.
            return None;
        }
        if rev.contains(['~', '^']) || rev.contains("@{") {
            // The missing part is history.
            return self.unshallow();
        }
        let branch = rev.strip_prefix("refs/heads/").unwrap_or(rev);
        if let Some(branch) = branch.strip_prefix(&format!("{remote}/")) {
            let to = quoted(&format!("{branch}:refs/remotes/{remote}/{branch}"));
            return Some(format!("git fetch{depth} {from} {to}"));
        }
        let tag = rev.strip_prefix("refs/tags/").or_else(|| version_of(rev).map(|_| rev));
        if let Some(tag) = tag {
            return Some(format!("git fetch{depth} {from} tag {}", quoted(tag)));
        }
        if is_id(rev) {
            return Some(format!("git fetch{depth} {from} {rev}"));
        }
        let to = quoted(&format!("{branch}:{branch}"));
        Some(format!("git fetch{depth} {from} {to}"))
    }

    /// `origin`, or the first remote.
    fn remote(&self) -> Option<String> {
        let answer = self.git.run(&["remote"], SHORT).ok()?;
        let names = String::from_utf8_lossy(&answer.out).into_owned();
        let origin = names.lines().find(|name| *name == "origin");
        origin.or_else(|| names.lines().next()).map(str::to_owned)
    }
}

/// The same error with a command that also fetches the history, which a merge base needs.
fn with_history(error: GitError) -> GitError {
    match error {
        GitError::Shallow { rev, fetch } => GitError::Shallow { rev, fetch: fetch.replacen(" --depth=1", " --unshallow", 1) },
        other => other,
    }
}

/// Whether this is a full object id (SHA-1 or SHA-256).
pub(super) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
