//! Inputs → [`Loaded`], with one look at the repository for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::git::{Blobs, GitError, Repository, Snapshot};
use super::kubectl::Cluster;
use super::limits::EVERYTHING;
use super::load_queue::Shelf;
use super::{Input, InputKind, Limits, Loaded, Origin, Problem};

/// Reads inputs of the current directory.
pub fn load(inputs: &[Input], limits: &Limits) -> Loaded {
    Loader::new(limits.clone()).load(inputs)
}

/// Reads bundles: a directory to start from, and limits for each bundle.
#[derive(Debug)]
pub struct Loader {
    limits: Limits,
    dir: PathBuf,
    environment: Vec<(OsString, Option<OsString>)>,
    repository: OnceLock<Result<Repository, GitError>>,
    /// Both sides of a review are read by one loader, and `-` can be only one of them.
    stdin_read: AtomicBool,
    /// `--render`
    renders: bool,
}

impl Loader {
    pub fn new(limits: Limits) -> Loader {
        Loader {
            limits,
            dir: PathBuf::new(),
            environment: Vec::new(),
            repository: OnceLock::new(),
            stdin_read: AtomicBool::new(false),
            renders: false,
        }
    }

    /// Lets other programs render charts and kustomizations.
    pub fn rendering(mut self, renders: bool) -> Loader {
        self.renders = renders;
        self
    }

    pub(super) fn renders(&self) -> bool {
        self.renders
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    #[cfg(test)]
    /// Relative paths and the repository are those of `dir` instead of the current directory.
    pub fn within(mut self, dir: impl Into<PathBuf>) -> Loader {
        self.dir = dir.into();
        self.repository = OnceLock::new();
        self
    }

    #[cfg(test)]
    /// Sets (or removes) a variable for git.
    pub fn git_env(mut self, name: impl Into<OsString>, value: Option<OsString>) -> Loader {
        self.environment.push((name.into(), value));
        self.repository = OnceLock::new();
        self
    }

    /// Reads the Markdown files of directories instead of manifests.
    pub fn of_pages(&self) -> Loader {
        let limits = Limits { extensions: &["md"], ..self.limits.clone() };
        Loader { dir: self.dir.clone(), environment: self.environment.clone(), ..Loader::new(limits) }
    }

    /// Reads all files of directories and archives, whatever their names.
    pub(super) fn of_everything(&self) -> Loader {
        let limits = Limits { extensions: EVERYTHING, ..self.limits.clone() };
        // Asking git again what was asked before would take longer than the files.
        let repository = self.repository.clone();
        Loader { dir: self.dir.clone(), environment: self.environment.clone(), repository, ..Loader::new(limits) }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The repository around, looked for once.
    pub fn repository(&self) -> Result<&Repository, GitError> {
        let repository = self.repository.get_or_init(|| Repository::around_with(&self.dir, &self.environment));
        repository.as_ref().map_err(Clone::clone)
    }

    /// A cluster that can be asked for more than its CRDs.
    pub fn cluster(&self, context: Option<&str>) -> Cluster {
        Cluster::new(context, &self.limits)
    }

    pub fn load(&self, inputs: &[Input]) -> Loaded {
        self.load_with(inputs, std::io::stdin())
    }

    /// As [`Loader::load`], for CRDs: what other programs make of charts and kustomizations counts.
    pub fn load_bundle(&self, inputs: &[Input]) -> Loaded {
        let mut loaded = self.shelve(inputs, std::io::stdin(), self.renders).finish();
        self.render_templates(inputs, &mut loaded);
        loaded
    }

    /// As [`Loader::load`], with another stream for `-`.
    pub fn load_with(&self, inputs: &[Input], stdin: impl Read) -> Loaded {
        self.shelve(inputs, stdin, false).finish()
    }

    /// The files of an input as they are, and what could not be read.
    pub(super) fn load_raw(&self, input: &Input) -> (Vec<(Origin, Vec<u8>)>, Vec<Problem>) {
        self.shelve(std::slice::from_ref(input), std::io::empty(), false).raw()
    }

    fn shelve(&self, inputs: &[Input], mut stdin: impl Read, renders: bool) -> Shelf<'_> {
        let mut shelf = Shelf::new(&self.limits);
        let git = Git::prepare(self, inputs);
        let mut blobs = git.repository.map(Blobs::new);
        for (order, input) in inputs.iter().enumerate() {
            shelf.begin(order, input);
            if renders && shelf.rendered(self.rendered(input)) {
                continue;
            }
            match &input.kind {
                InputKind::Stdin if self.stdin_read.swap(true, Ordering::Relaxed) => shelf.problem(Problem::StdinTwice),
                InputKind::Stdin => shelf.stdin(&mut stdin),
                InputKind::Path(given) => shelf.path(&self.dir.join(given), given, input),
                InputKind::Cluster { context } => shelf.cluster(&self.cluster(context.as_deref()), input),
                InputKind::Revision { .. } | InputKind::Index { .. } => {
                    let outcome = match (git.of(input), &mut blobs) {
                        (Ok((snapshot, path)), Some(blobs)) => shelf.snapshot(snapshot, &path, blobs),
                        (Err(error), _) => Err(error),
                        (_, None) => Err(GitError::NoRepository),
                    };
                    if let Err(error) = outcome {
                        shelf.git_error(input, error);
                    }
                }
            }
        }
        shelf
    }
}

/// The states of the repository that inputs name, each looked up once.
struct Git<'l> {
    loader: &'l Loader,
    repository: Option<&'l Repository>,
    snapshots: BTreeMap<Option<String>, Result<Snapshot<'l>, GitError>>,
}

impl<'l> Git<'l> {
    fn prepare(loader: &'l Loader, inputs: &[Input]) -> Git<'l> {
        let revisions: BTreeSet<Option<&str>> = inputs.iter().filter_map(rev_and_path).map(|(rev, _)| rev).collect();
        let repository = if revisions.is_empty() { None } else { loader.repository().ok() };
        let snapshots = revisions.into_iter().filter_map(|rev| {
            let repository = repository?;
            let resolved = rev.map(|rev| repository.resolve(rev)).transpose();
            Some((rev.map(str::to_owned), resolved.map(|revision| Snapshot::new(repository, revision))))
        });
        Git { loader, repository, snapshots: snapshots.collect() }
    }

    fn of(&self, input: &Input) -> Result<(&Snapshot<'l>, String), GitError> {
        let repository = self.loader.repository()?;
        let (rev, path) = rev_and_path(input).ok_or(GitError::NoRepository)?;
        let snapshot = self.snapshots.get(&rev.map(str::to_owned)).ok_or(GitError::NoRepository)?;
        let snapshot = snapshot.as_ref().map_err(Clone::clone)?;
        Ok((snapshot, repository.in_tree(path)?))
    }
}

fn rev_and_path(input: &Input) -> Option<(Option<&str>, &str)> {
    match &input.kind {
        InputKind::Revision { rev, path } => Some((Some(rev), path)),
        InputKind::Index { path } => Some((None, path)),
        InputKind::Stdin | InputKind::Path(_) | InputKind::Cluster { .. } => None,
    }
}
