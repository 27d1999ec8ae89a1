//! Loads inputs into [`Loaded`], looking up the repository once for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::git::{Blobs, GitError, Repository, Snapshot};
use super::kubectl::Cluster;
use super::limits::EVERYTHING;
use super::load_queue::LoadQueue;
use super::text::SharedTexts;
use super::{Input, InputKind, Limits, Loaded, Origin, Problem};

/// Reads inputs relative to the current directory.
pub fn load(inputs: &[Input], limits: &Limits) -> Loaded {
    Loader::new(limits.clone()).load(inputs)
}

/// Reads bundles, relative to a directory and within limits per bundle.
#[derive(Debug)]
pub struct Loader {
    limits: Limits,
    dir: PathBuf,
    environment: Vec<(OsString, Option<OsString>)>,
    repository: OnceLock<Result<Repository, GitError>>,
    /// Both sides of a review share one loader, and only one of them can be `-`.
    stdin_read: AtomicBool,
    /// `--render`
    renders: bool,
    /// The texts of bundles.
    texts: SharedTexts,
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
            texts: SharedTexts::default(),
        }
    }

    /// Whether charts and kustomizations are rendered by other programs.
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
    /// Resolves relative paths and the repository from `dir` instead of the current directory.
    pub fn within(mut self, dir: impl Into<PathBuf>) -> Loader {
        self.dir = dir.into();
        self.repository = OnceLock::new();
        self
    }

    #[cfg(test)]
    /// Sets (or removes) an environment variable for git.
    pub fn git_env(mut self, name: impl Into<OsString>, value: Option<OsString>) -> Loader {
        self.environment.push((name.into(), value));
        self.repository = OnceLock::new();
        self
    }

    /// A loader that reads Markdown files instead of manifests.
    pub fn of_pages(&self) -> Loader {
        let limits = Limits { extensions: &["md"], ..self.limits.clone() };
        Loader { dir: self.dir.clone(), environment: self.environment.clone(), ..Loader::new(limits) }
    }

    /// A loader that reads all files of directories and archives, whatever their names.
    pub(super) fn of_everything(&self) -> Loader {
        let limits = Limits { extensions: EVERYTHING, ..self.limits.clone() };
        // Asking git again would take longer than reading the files.
        let repository = self.repository.clone();
        Loader { dir: self.dir.clone(), environment: self.environment.clone(), repository, ..Loader::new(limits) }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The surrounding repository, looked up once.
    pub fn repository(&self) -> Result<&Repository, GitError> {
        let repository = self.repository.get_or_init(|| Repository::around_with(&self.dir, &self.environment));
        repository.as_ref().map_err(Clone::clone)
    }

    /// A cluster, to read objects from.
    pub fn cluster(&self, context: Option<&str>) -> Cluster {
        Cluster::new(context, &self.limits)
    }

    pub fn load(&self, inputs: &[Input]) -> Loaded {
        self.load_with(inputs, std::io::stdin())
    }

    /// Like [`Loader::load`], for CRDs: charts and kustomizations may be rendered.
    pub fn load_bundle(&self, inputs: &[Input]) -> Loaded {
        let mut loaded = self.enqueue(inputs, std::io::stdin(), self.renders).finish(Some(&self.texts));
        self.render_templates(inputs, &mut loaded);
        loaded
    }

    /// Like [`Loader::load`], with another stream for `-`.
    pub fn load_with(&self, inputs: &[Input], stdin: impl Read) -> Loaded {
        self.enqueue(inputs, stdin, false).finish(None)
    }

    /// Reads the files of an input without decoding them, and the problems.
    pub(super) fn load_raw(&self, input: &Input) -> (Vec<(Origin, Vec<u8>)>, Vec<Problem>) {
        self.enqueue(std::slice::from_ref(input), std::io::empty(), false).raw()
    }

    fn enqueue(&self, inputs: &[Input], mut stdin: impl Read, renders: bool) -> LoadQueue<'_> {
        let mut queue = LoadQueue::new(&self.limits);
        let git = Git::prepare(self, inputs);
        let mut blobs = git.repository.map(Blobs::new);
        for (order, input) in inputs.iter().enumerate() {
            queue.begin(order, input);
            if renders && queue.rendered(self.rendered(input)) {
                continue;
            }
            match &input.kind {
                InputKind::Stdin if self.stdin_read.swap(true, Ordering::Relaxed) => queue.problem(Problem::StdinTwice),
                InputKind::Stdin => queue.stdin(&mut stdin),
                InputKind::Path(given) => queue.path(&self.dir.join(given), given, input),
                InputKind::Cluster { context } => queue.cluster(&self.cluster(context.as_deref()), input),
                InputKind::Revision { .. } | InputKind::Index { .. } => {
                    let outcome = match (git.of(input), &mut blobs) {
                        (Ok((snapshot, path)), Some(blobs)) => queue.snapshot(snapshot, &path, blobs),
                        (Err(error), _) => Err(error),
                        (_, None) => Err(GitError::NoRepository),
                    };
                    if let Err(error) = outcome {
                        queue.git_error(input, error);
                    }
                }
            }
        }
        queue
    }
}

/// The repository states that inputs refer to, each looked up once.
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
