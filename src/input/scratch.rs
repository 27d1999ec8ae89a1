//! Directories and git repositories for tests, independent of the settings of the user who runs them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use super::{Input, Limits, Loaded, Loader, Problem, Repository};

/// A directory that is removed after the test.
pub(super) struct Scratch {
    dir: TempDir,
    limits: Limits,
    variables: Vec<(&'static str, Option<String>)>,
}

impl Scratch {
    pub(super) fn new() -> Scratch {
        let dir = TempDir::new().unwrap();
        let set = |name, value: &str| (name, Some(value.to_owned()));
        let home = dir.path().join("home");
        std::fs::create_dir_all(dir.path().join("work")).unwrap();
        std::fs::create_dir_all(&home).unwrap();
        let variables = vec![
            set("GIT_CONFIG_NOSYSTEM", "1"),
            set("GIT_CONFIG_GLOBAL", "/dev/null"),
            set("GIT_CEILING_DIRECTORIES", dir.path().to_str().unwrap()),
            set("HOME", home.to_str().unwrap()),
            set("GIT_AUTHOR_NAME", "A"),
            set("GIT_AUTHOR_EMAIL", "a@example.com"),
            set("GIT_COMMITTER_NAME", "A"),
            set("GIT_COMMITTER_EMAIL", "a@example.com"),
            // Makes commit ids the same in every run.
            set("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z"),
            set("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z"),
            ("XDG_CONFIG_HOME", None),
            ("GIT_DIR", None),
            ("GIT_WORK_TREE", None),
            ("GIT_INDEX_FILE", None),
            ("GIT_OBJECT_DIRECTORY", None),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", None),
            ("GIT_PREFIX", None),
        ];
        Scratch { dir, limits: Limits::default(), variables }
    }

    /// A repository with `main` checked out and no commits.
    pub(super) fn repository() -> Scratch {
        let scratch = Scratch::new();
        scratch.git(&["init", "--quiet", "--initial-branch=main"]);
        scratch
    }

    pub(super) fn limited(mut self, limits: Limits) -> Scratch {
        self.limits = limits;
        self
    }

    pub(super) fn variable(mut self, name: &'static str, value: &str) -> Scratch {
        self.variables.push((name, Some(value.to_owned())));
        self
    }

    pub(super) fn path(&self) -> PathBuf {
        self.dir.path().join("work")
    }

    /// A path next to the working directory, outside the tree.
    pub(super) fn outside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> &Scratch {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    #[cfg(unix)]
    pub(super) fn link(&self, path: &str, target: impl AsRef<Path>) -> &Scratch {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
        self
    }

    /// Runs git, whether or not it succeeds.
    pub(super) fn try_git(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("git");
        command.current_dir(self.path()).args(arguments);
        command.stdin(Stdio::null());
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.output().unwrap()
    }

    pub(super) fn git(&self, arguments: &[&str]) -> String {
        let output = self.try_git(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Commits everything and returns the id.
    pub(super) fn commit(&self) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(super) fn environment(&self) -> Vec<(OsString, Option<OsString>)> {
        let owned = self.variables.iter();
        owned.map(|(name, value)| (name.into(), value.as_ref().map(OsString::from))).collect()
    }

    pub(super) fn loader(&self) -> Loader {
        self.loader_in("")
    }

    pub(super) fn loader_in(&self, dir: &str) -> Loader {
        let loader = Loader::new(self.limits.clone()).within(self.path().join(dir));
        let variables = self.environment().into_iter();
        variables.fold(loader, |loader, (name, value)| loader.git_env(name, value))
    }

    pub(super) fn around(&self) -> Repository {
        Repository::around_with(&self.path(), &self.environment()).unwrap()
    }

    pub(super) fn inputs<S: AsRef<OsStr>>(&self, texts: &[S]) -> Vec<Input> {
        let parse = |text: &S| Input::parse_in(&self.path(), text.as_ref()).unwrap();
        texts.iter().map(parse).collect()
    }

    pub(super) fn load<S: AsRef<OsStr>>(&self, texts: &[S]) -> Loaded {
        self.loader().load_with(&self.inputs(texts), &b""[..])
    }
}

impl Loaded {
    pub(super) fn names(&self) -> Vec<&str> {
        self.files.iter().map(|file| file.name.as_str()).collect()
    }

    pub(super) fn texts(&self) -> Vec<&str> {
        self.files.iter().map(|file| &*file.text).collect()
    }

    /// The skipped inputs as `what: why`, like in a report.
    pub(super) fn skipped_lines(&self) -> Vec<String> {
        let skipped = self.skipped.iter();
        skipped.map(|skipped| format!("{}: {}", skipped.what, skipped.why)).collect()
    }

    /// The only problem.
    pub(super) fn problem(&self) -> &Problem {
        assert_eq!(self.problems.len(), 1, "{:#?}", self.problems);
        &self.problems[0]
    }

    /// Whether everything was read without notes or problems.
    pub(super) fn is_clean(&self) -> bool {
        self.problems.is_empty() && self.skipped.is_empty() && self.notes.is_empty()
    }
}
