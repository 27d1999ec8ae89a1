//! Reads blobs by id, through one `git cat-file --batch` for a whole bundle.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use super::super::read::reserved;
use super::command::{end, spawn};
use super::{GitError, Repository};

/// How many ids are written ahead of the responses read. They must fit the smallest pipe buffer (4,096 bytes with 64-digit ids), so
/// that writing never blocks on a git that is itself waiting for its output to be read.
const AHEAD: usize = 60;

/// The maximum length of a response's first line: an id, a word and a size.
const HEADER_BYTES: u64 = 256;

/// The result of reading an object.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Blob {
    Bytes(Vec<u8>),
    /// It has this many bytes and wasn't read.
    TooLarge(u64),
    Missing,
}

/// Reads blobs; the process is started for the first one.
#[derive(Debug)]
pub(in super::super) struct Blobs<'r> {
    repository: &'r Repository,
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Drop for Process {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

impl<'r> Blobs<'r> {
    pub(in super::super) fn new(repository: &'r Repository) -> Blobs<'r> {
        Blobs { repository, process: None }
    }

    pub(in super::super) fn read(&mut self, id: &str, limit: u64) -> Result<Blob, GitError> {
        let mut found = Blob::Missing;
        self.read_all(&[id], limit, |_, blob| {
            found = blob;
            true
        })?;
        Ok(found)
    }

    /// Reads blobs in order; `visit` gets the index into `ids` and returns whether to continue.
    pub(in super::super) fn read_all(
        &mut self,
        ids: &[&str],
        limit: u64,
        mut visit: impl FnMut(usize, Blob) -> bool,
    ) -> Result<(), GitError> {
        let mut asked = 0;
        for index in 0..ids.len() {
            // A process that failed in the middle of a response isn't used again.
            let mut process = match self.process.take() {
                Some(process) => process,
                None => {
                    asked = index;
                    start(self.repository)?
                }
            };
            while let Some(id) = ids.get(asked).filter(|_| asked < index + AHEAD) {
                process.ask.write_all(format!("{id}\n").as_bytes()).map_err(broken)?;
                asked += 1;
            }
            let blob = answer(&mut process.answers, limit)?;
            let unread = matches!(blob, Blob::TooLarge(_));
            let goes_on = visit(index, blob);
            if !goes_on {
                break;
            }
            // To skip the rest of a blob, start a new process instead of reading it.
            if !unread {
                self.process = Some(process);
            }
        }
        Ok(())
    }
}

fn start(repository: &Repository) -> Result<Process, GitError> {
    let mut command = repository.git.command(&["cat-file", "--batch"]);
    command.stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = spawn(&mut command)?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(ask), Some(answers)) => Ok(Process { child, ask, answers: BufReader::with_capacity(64 << 10, answers) }),
        _ => {
            end(&mut child);
            Err(failed("it has no pipes"))
        }
    }
}

/// Parses `<id> blob <size>
/// <bytes>
/// `, or `<id> missing
/// `.
fn answer(from: &mut impl BufRead, limit: u64) -> Result<Blob, GitError> {
    let mut header = Vec::new();
    from.by_ref().take(HEADER_BYTES).read_until(b'\n', &mut header).map_err(broken)?;
    let header = String::from_utf8_lossy(&header).into_owned();
    let words: Vec<&str> = header.split_whitespace().collect();
    let size: u64 = match words.as_slice() {
        [_, "missing"] => return Ok(Blob::Missing),
        [_, "blob", size] => size.parse().map_err(|_| failed("its answer has no size"))?,
        [_, kind, _] => return Err(failed(&format!("a {kind} was found instead of a blob"))),
        _ => return Err(failed("it ended early; `git fsck` may show why")),
    };
    if size > limit {
        return Ok(Blob::TooLarge(size));
    }
    let mut bytes = Vec::with_capacity(reserved(size));
    from.by_ref().take(size).read_to_end(&mut bytes).map_err(broken)?;
    let mut after = [0];
    from.read_exact(&mut after).map_err(broken)?;
    match after {
        [b'\n'] => Ok(Blob::Bytes(bytes)),
        _ => Err(failed("its answer is longer than announced")),
    }
}

fn broken(error: std::io::Error) -> GitError {
    failed(&error.to_string())
}

fn failed(said: &str) -> GitError {
    GitError::Failed { command: "cat-file".to_owned(), said: said.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answers(mut bytes: &[u8]) -> Result<Blob, GitError> {
        answer(&mut bytes, 10)
    }

    #[test]
    fn responses_are_read_up_to_their_stated_size() {
        assert_eq!(answers(b"1 blob 3\nabc\n"), Ok(Blob::Bytes(b"abc".to_vec())));
        assert_eq!(answers(b"1 blob 11\n"), Ok(Blob::TooLarge(11)));
        assert_eq!(answers(b"1 missing\n"), Ok(Blob::Missing));
        for broken in [&b""[..], b"\n", b"1 tree 3\nabc\n", b"1 blob x\n", b"1 blob 3\nab", b"1 blob 3\nabc", b"1 blob 2\nabc\n"] {
            assert!(answers(broken).is_err(), "{broken:?}");
        }
    }

    proptest! {
        #[test]
        fn no_response_panics(start in "(1 (blob|tree|missing)? ?[0-9x]{0,21}\n)?", bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = answers(&[start.as_bytes(), &bytes].concat());
        }
    }
}
