//! Runs git with everything disabled that could let a repository run a program.
//!
//! A reviewed repository isn't trusted: its configuration can name programs (a file system monitor, hooks, filters, text
//! converters, an ssh command). Only plumbing commands are used, which run none of these for the requests here, and everything that
//! could is disabled as well. Nothing is fetched, locked or written. Git itself checks who owns the repository (`safe.directory`).
//! Git 2.30 or newer is required, for `--end-of-options`.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use super::GitError;

/// Settings passed on the command line, which no configuration file can override.
const SETTINGS: [&str; 8] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.gitProxy=",
    "credential.helper=",
    "submodule.recurse=false",
    "protocol.allow=never",
];

const ENVIRONMENT: [(&str, &str); 8] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // The environment's list of allowed protocols takes precedence over `protocol.<name>.allow` in a file.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_PROTOCOL_FROM_USER", "0"),
    ("GIT_PAGER", "cat"),
    // Errors are recognised by their text.
    ("LC_ALL", "C"),
];

/// Variables that would change how paths are interpreted, or start a program. Those that locate the repository and its index are
/// kept, because git sets them for hooks.
const REMOVED: [&str; 9] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "LANGUAGE",
];

/// Error messages of git are short; this limits how much of them is kept.
const STDERR_BYTES: u64 = 64 << 10;

/// The directory and environment that git runs in.
#[derive(Debug, Clone)]
pub(super) struct Git {
    dir: PathBuf,
    environment: Vec<(OsString, Option<OsString>)>,
    /// Earlier responses: one run sees one state of the repository, and starting git again is slower.
    answers: Arc<Mutex<HashMap<Vec<OsString>, GitOutput>>>,
}

/// The output of a git command.
#[derive(Debug, Clone)]
pub(super) struct GitOutput {
    pub ok: bool,
    pub out: Arc<[u8]>,
    pub err: String,
}

impl Git {
    pub(super) fn new(dir: &Path, environment: &[(OsString, Option<OsString>)]) -> Git {
        // To `join`, an empty path is the current directory, but not to a child process.
        let here = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        Git { dir: here.to_owned(), environment: environment.to_vec(), answers: Arc::default() }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.dir);
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        for name in REMOVED {
            command.env_remove(name);
        }
        command.envs(ENVIRONMENT);
        command.arg("--no-pager").arg("--no-replace-objects");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped());
        command.stderr(Stdio::piped());
        command
    }

    /// Runs git to its end, with at most `limit` bytes of output.
    pub(super) fn run<S: AsRef<OsStr>>(&self, arguments: &[S], limit: u64) -> Result<GitOutput, GitError> {
        let question: Vec<OsString> = arguments.iter().map(|argument| argument.as_ref().to_owned()).collect();
        if let Some(known) = self.answers.lock().ok().and_then(|answers| answers.get(&question).cloned()) {
            return Ok(known);
        }
        let answer = self.ask(arguments, limit)?;
        if let Ok(mut answers) = self.answers.lock() {
            answers.insert(question, answer.clone());
        }
        Ok(answer)
    }

    /// Like [`Git::run`], but without caching, for output that is kept in another form.
    pub(super) fn ask<S: AsRef<OsStr>>(&self, arguments: &[S], limit: u64) -> Result<GitOutput, GitError> {
        let mut child = spawn(&mut self.command(arguments))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut out = Vec::new();
        let (read, err) = std::thread::scope(|scope| {
            let err = scope.spawn(|| drained(stderr));
            let read = match stdout {
                Some(stdout) => stdout.take(limit.saturating_add(1)).read_to_end(&mut out),
                None => Ok(0),
            };
            if out.len() as u64 > limit {
                end(&mut child);
            }
            (read, err.join().unwrap_or_default())
        });
        let name = || name_of(arguments);
        if out.len() as u64 > limit {
            return Err(GitError::TooMuch { command: name(), limit: super::super::limits::human_size(limit) });
        }
        let failed = |error: std::io::Error| GitError::Failed { command: name(), said: error.to_string() };
        read.map_err(failed)?;
        let status = child.wait().map_err(failed)?;
        Ok(GitOutput { ok: status.success(), out: out.into(), err: String::from_utf8_lossy(&err).trim().to_owned() })
    }
}

pub(super) fn spawn(command: &mut Command) -> Result<Child, GitError> {
    command.spawn().map_err(|error| GitError::NotStarted { reason: error.to_string() })
}

/// Kills a child and waits for it, so that no process is left behind.
pub(super) fn end(child: &mut Child) {
    // Both fail only if it has already ended.
    let _ = child.kill();
    let _ = child.wait();
}

fn drained(stderr: Option<impl Read>) -> Vec<u8> {
    let mut kept = Vec::new();
    if let Some(mut stderr) = stderr {
        // If the error output can't be read, treat it as empty.
        let _ = (&mut stderr).take(STDERR_BYTES).read_to_end(&mut kept);
        let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    }
    kept
}

fn name_of<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    arguments.first().map_or_else(String::new, |name| name.as_ref().to_string_lossy().into_owned())
}

impl GitOutput {
    /// The output as one line, without its line break.
    pub(super) fn line(&self) -> String {
        let text = String::from_utf8_lossy(&self.out);
        text.trim_end_matches(['\n', '\r']).to_owned()
    }

    /// The error for git's message, for any command.
    pub(super) fn error(&self, command: &str) -> GitError {
        let said = || {
            let first = self.err.lines().next().unwrap_or("it printed no error message");
            first.trim_start_matches("fatal: ").to_owned()
        };
        if self.err.contains("detected dubious ownership") {
            let path = self.err.split('\'').nth(1).unwrap_or("*");
            return GitError::DubiousOwnership { path: path.to_owned() };
        }
        if self.err.contains("not a git repository") {
            return GitError::NoRepository;
        }
        GitError::Failed { command: command.to_owned(), said: said() }
    }
}
