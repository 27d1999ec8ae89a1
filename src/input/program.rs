//! Another program, run to its end: bounded in time and in what it may write.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Errors are short; this bounds what is kept of them.
const STDERR_BYTES: u64 = 64 << 10;
/// How long the errors of a program that has ended are waited for.
const ERRORS_WAIT: Duration = Duration::from_secs(5);

/// What a program left.
pub(super) struct Answer {
    pub ok: bool,
    /// It took too long and was ended.
    pub late: bool,
    /// At most one byte more than allowed.
    pub out: Vec<u8>,
    pub err: String,
}

impl Answer {
    /// The last line of its errors, which says what went wrong.
    pub fn reason(&self) -> &str {
        let last = self.err.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed without a reason");
        last.trim_start_matches("error: ").trim_start_matches("Error: ")
    }
}

/// Runs a command, and ends it if that takes too long. It can't ask anything.
pub(super) fn run(command: &mut Command, patience: Duration, limit: u64) -> io::Result<Answer> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let child = Arc::new(Mutex::new(child));
    let kill = |child: &Mutex<Child>| {
        // It fails only if the child has ended already.
        let _ = child.lock().unwrap_or_else(PoisonError::into_inner).kill();
    };
    let (done, wait) = mpsc::channel::<()>();
    let watched = Arc::clone(&child);
    let watch = std::thread::spawn(move || {
        let late = wait.recv_timeout(patience) == Err(RecvTimeoutError::Timeout);
        if late {
            kill(&watched);
        }
        late
    });
    // A helper of the program may hold on to this stream, so nobody waits for its end.
    let (send, errors) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = (&mut stderr).take(STDERR_BYTES).read_to_end(&mut kept);
            let _ = send.send(kept);
            let _ = io::copy(&mut stderr, &mut io::sink());
        }
    });
    let mut out = Vec::new();
    if let Some(stdout) = stdout {
        // What can't be read leaves an answer that is cut, and a child that fails.
        let _ = stdout.take(limit.saturating_add(1)).read_to_end(&mut out);
    }
    if out.len() as u64 > limit {
        kill(&child);
    }
    let ok = loop {
        // The lock is not held while waiting, so that the child can be ended.
        match child.lock().unwrap_or_else(PoisonError::into_inner).try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) => {}
            Err(_) => break false,
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    drop(done);
    let late = watch.join().unwrap_or(false);
    let err = errors.recv_timeout(ERRORS_WAIT).unwrap_or_default();
    Ok(Answer { ok, late, out, err: String::from_utf8_lossy(&err).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_child_that_hangs_is_ended() {
        let mut command = Command::new("sleep");
        let answer = run(command.arg("60"), Duration::from_millis(50), 10).unwrap();
        assert!(answer.late && !answer.ok);
    }

    #[test]
    fn a_program_that_is_missing_is_an_error() {
        let mut command = Command::new("crdwise-no-such-program");
        assert_eq!(run(&mut command, Duration::from_secs(1), 10).err().map(|error| error.kind()), Some(io::ErrorKind::NotFound));
    }

    #[test]
    fn the_last_line_says_what_went_wrong() {
        let answer = |err: &str| Answer { ok: false, late: false, out: Vec::new(), err: err.to_owned() };
        assert_eq!(answer("warning\nError: no chart\n\n").reason(), "no chart");
        assert_eq!(answer("").reason(), "it failed without a reason");
    }
}
