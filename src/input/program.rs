//! Runs another program to its end, with limits on its time and output.

use std::io::{self, Read, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Error messages are short; this limits how much of them is kept.
const STDERR_BYTES: u64 = 64 << 10;
/// How long to wait for the error output of a program that has ended.
const ERRORS_WAIT: Duration = Duration::from_secs(5);

/// The output of a program.
pub(crate) struct ProgramOutput {
    pub ok: bool,
    /// It took too long and was killed.
    pub late: bool,
    /// At most one byte more than the limit.
    pub out: Vec<u8>,
    pub err: String,
}

impl ProgramOutput {
    /// The last line of its error output, which says what went wrong.
    pub fn reason(&self) -> &str {
        let last = self.err.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed without an error message");
        last.trim_start_matches("error: ").trim_start_matches("Error: ")
    }
}

/// Runs a command with this input, and kills it if it takes too long. Its own child processes may continue, but are not waited for.
pub(crate) fn run(command: &mut Command, input: &str, timeout: Duration, limit: u64) -> io::Result<ProgramOutput> {
    let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
    let mut child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // The program needn't read all of it.
        std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    }
    let errors = begin_reading(child.stderr.take(), STDERR_BYTES);
    let output = begin_reading(child.stdout.take(), limit.saturating_add(1));
    let deadline = Instant::now() + timeout;
    let out = output.recv_timeout(timeout);
    let mut late = out.is_err();
    let out = out.unwrap_or_default();
    let mut is_ended = late || out.len() as u64 > limit;
    let ok = loop {
        if is_ended {
            // This fails only if the child has already ended.
            let _ = child.kill();
        }
        match child.try_wait() {
            Ok(Some(status)) => break status.success() && !is_ended,
            Ok(None) => {}
            Err(_) => break false,
        }
        if !is_ended && Instant::now() >= deadline {
            (late, is_ended) = (true, true);
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let err = errors.recv_timeout(if late { Duration::ZERO } else { ERRORS_WAIT }).unwrap_or_default();
    Ok(ProgramOutput { ok, late, out, err: String::from_utf8_lossy(&err).into_owned() })
}

/// Reads a stream in the background, and sends what it read once it ends or the limit is reached. The rest is read and discarded,
/// so that the program can continue.
fn begin_reading(stream: Option<impl Read + Send + 'static>, limit: u64) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            // If reading fails, the output is incomplete and the child fails too.
            let _ = (&mut stream).take(limit).read_to_end(&mut kept);
            let _ = send.send(kept);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
    });
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_child_that_hangs_is_killed() {
        let mut command = Command::new("sleep");
        let answer = run(command.arg("60"), "", Duration::from_millis(50), 10).unwrap();
        assert!(answer.late && !answer.ok);
    }

    #[cfg(unix)]
    #[test]
    fn processes_left_running_are_not_waited_for() {
        let mut command = Command::new("sh");
        let answer = run(command.args(["-c", "sleep 60 | cat"]), "", Duration::from_millis(50), 10).unwrap();
        assert!(answer.late && !answer.ok);
    }

    #[cfg(unix)]
    #[test]
    fn a_child_is_given_its_input() {
        let answer = run(&mut Command::new("cat"), "text", Duration::from_secs(10), 10).unwrap();
        assert!(answer.ok && answer.out == b"text");
        let answer = run(&mut Command::new("cat"), "more than is taken", Duration::from_secs(10), 10).unwrap();
        assert!(!answer.ok && !answer.late && answer.out.len() == 11);
    }

    #[test]
    fn a_program_that_is_missing_is_an_error() {
        let mut command = Command::new("crdwise-no-such-program");
        assert_eq!(run(&mut command, "", Duration::from_secs(1), 10).err().map(|error| error.kind()), Some(io::ErrorKind::NotFound));
    }

    #[test]
    fn the_last_line_says_what_went_wrong() {
        let answer = |err: &str| ProgramOutput { ok: false, late: false, out: Vec::new(), err: err.to_owned() };
        assert_eq!(answer("warning\nError: no chart\n\n").reason(), "no chart");
        assert_eq!(answer("").reason(), "it failed without an error message");
    }
}
