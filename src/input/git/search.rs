//! Files of a revision that mention one of several words.

use super::super::limits::LISTING_BYTES;
use super::{GitError, Repository};

/// More words than this are too long for one command line.
const WORDS: usize = 2_000;

impl Repository {
    /// The manifests of a revision that contain one of these words, as paths from the root.
    pub fn manifests_with(&self, rev: &str, words: &[&str]) -> Result<Vec<String>, GitError> {
        let revision = self.resolve(rev)?;
        // A word comes from a file: only what can be part of a CRD's name is handed to git.
        let plain = |word: &&&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte));
        let mut arguments = vec!["grep", "--files-with-matches", "--null", "--fixed-strings", "--full-name", "--no-textconv"];
        let before = arguments.len();
        for word in words.iter().filter(plain).take(WORDS) {
            arguments.extend(["-e", *word]);
        }
        if arguments.len() == before {
            return Ok(Vec::new());
        }
        arguments.extend([&*revision.id, "--", ":(top)*.yaml", ":(top)*.yml", ":(top)*.json"]);
        let answer = self.git.ask(&arguments, LISTING_BYTES)?;
        // No match is an exit code of 1 without a message.
        if !answer.ok && !answer.err.trim().is_empty() {
            return Err(answer.error("grep"));
        }
        let prefix = format!("{}:", revision.id);
        let path = |record: &[u8]| std::str::from_utf8(record).ok()?.strip_prefix(&*prefix).map(str::to_owned);
        Ok(answer.out.split(|byte| *byte == 0).filter_map(path).collect())
    }
}
