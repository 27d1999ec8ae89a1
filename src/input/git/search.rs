//! Finds files of a revision that contain one of several words.

use super::super::limits::LISTING_BYTES;
use super::{GitError, Repository};

/// A state of the files in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitState<'r> {
    Revision(&'r str),
    Index,
    WorkingTree,
}

/// More words than this don't fit on one command line.
const WORDS: usize = 2_000;

impl Repository {
    /// The manifests that contain one of these words, as paths relative to the root.
    pub fn manifests_with(&self, state: GitState<'_>, words: &[&str]) -> Result<Vec<String>, GitError> {
        let revision = match state {
            GitState::Revision(rev) => Some(self.resolve(rev)?.id),
            GitState::Index | GitState::WorkingTree => None,
        };
        // Words come from files, so only those that can be part of a CRD's name are passed to git.
        let plain = |word: &&&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        let mut arguments = vec!["grep", "--files-with-matches", "--null", "--fixed-strings", "--full-name", "--no-textconv"];
        arguments.extend((state == GitState::Index).then_some("--cached"));
        let before = arguments.len();
        for word in words.iter().filter(plain).take(WORDS) {
            arguments.extend(["-e", *word]);
        }
        if arguments.len() == before {
            return Ok(Vec::new());
        }
        arguments.extend(revision.as_deref());
        arguments.extend(["--", ":(top)*.yaml", ":(top)*.yml", ":(top)*.json"]);
        let answer = self.git.ask(&arguments, LISTING_BYTES)?;
        // Without a match, the exit code is 1 and there is no message.
        if !answer.ok && !answer.err.trim().is_empty() {
            return Err(answer.error("grep"));
        }
        let prefix = revision.map_or(String::new(), |id| format!("{id}:"));
        let path =
            |record: &[u8]| std::str::from_utf8(record).ok()?.strip_prefix(&*prefix).filter(|path| !path.is_empty()).map(str::to_owned);
        Ok(answer.out.split(|byte| *byte == 0).filter_map(path).collect())
    }
}
