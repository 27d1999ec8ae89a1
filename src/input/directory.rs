//! Lists the manifests in a directory, sorted by path.
//!
//! Links are followed within the same tree: the given directory, or the git repository around it if there is one, so that a working
//! tree reads like its revisions (`charts/crds/x.yaml → ../../config/crd/x.yaml` is common). A link that leads elsewhere, or into
//! `.git`, where checkouts keep credentials, is a problem and isn't read. A linked directory that is read under its own name
//! anyway, or that contains the link, is skipped, so nothing loops.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::limits::Limits;
use super::problem::Problem;
use super::read::{check, io_problem};
use super::{SkippedInput, Why, shown};

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub name: String,
    pub path: PathBuf,
    /// Its path after following links, so that the same file is read once.
    pub real: PathBuf,
    pub size: u64,
}

/// The contents of a directory. Files under their own names come before files found through links.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub found: Vec<FoundFile>,
    pub skipped: Vec<SkippedInput>,
    pub problems: Vec<Problem>,
}

/// Lists the directory `path`, which messages call `given`.
pub(super) fn contents(path: &Path, given: &Path, limits: &Limits) -> Contents {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) => {
            return Contents { problems: vec![io_problem(&shown(given), &error)], ..Contents::default() };
        }
    };
    let mut walk = Walk {
        limits,
        boundary: boundary(&real),
        walked: BTreeSet::from([real.clone()]),
        pending: VecDeque::from([Branch { given: given.to_owned(), path: path.to_owned(), real }]),
        links: Vec::new(),
        looked_at: 0,
        contents: Contents::default(),
    };
    while let Some(branch) = walk.pending.pop_front() {
        if walk.branch(&branch).is_none() {
            // The order of the entries depends on the file system, so none of them counts.
            return Contents {
                problems: vec![Problem::TooManyEntries { name: shown(given), limit: limits.entries }],
                ..Contents::default()
            };
        }
        let mut links = std::mem::take(&mut walk.links);
        links.sort_by(|a, b| a.name.cmp(&b.name));
        for link in links {
            walk.link(link);
        }
    }
    walk.contents
}

/// Whether a path is a link that leads out of its repository, or out of its directory if there is no repository.
pub(crate) fn leads_out(path: &Path) -> bool {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(real), Ok(parent)) = (path.canonicalize(), parent.canonicalize()) else { return false };
    !real.starts_with(boundary(&parent))
}

/// The tree that links must stay in.
pub(super) fn boundary(directory: &Path) -> PathBuf {
    // Git isn't asked, because `core.worktree` of a hostile repository could widen the boundary.
    let repository = directory.ancestors().find(|above| above.join(".git").exists());
    repository.unwrap_or(directory).to_owned()
}

struct Walk<'l> {
    limits: &'l Limits,
    boundary: PathBuf,
    walked: BTreeSet<PathBuf>,
    pending: VecDeque<Branch>,
    links: Vec<Link>,
    looked_at: usize,
    contents: Contents,
}

/// A directory to walk: the given one, or the target of a link.
struct Branch {
    given: PathBuf,
    path: PathBuf,
    real: PathBuf,
}

struct Link {
    name: String,
    given: PathBuf,
    path: PathBuf,
    /// The link itself, not its target.
    real: PathBuf,
}

impl Walk<'_> {
    /// Returns `None` if there are more entries than allowed.
    fn branch(&mut self, branch: &Branch) -> Option<()> {
        // The walk starts at the target of a link, because the root of a walk must not be a link itself.
        let mut entries = WalkDir::new(&branch.real).min_depth(1).into_iter();
        while let Some(entry) = entries.next() {
            self.looked_at += 1;
            if self.looked_at > self.limits.entries {
                return None;
            }
            match entry {
                Ok(entry) => {
                    let enters = self.entry(branch, &entry);
                    if entry.file_type().is_dir() && !enters {
                        entries.skip_current_dir();
                    }
                }
                Err(error) => {
                    let rest = error.path().and_then(|path| path.strip_prefix(&branch.real).ok());
                    let name = shown(&branch.given.join(rest.unwrap_or(Path::new(""))));
                    let problem = match error.io_error() {
                        Some(error) => io_problem(&name, error),
                        None => Problem::LinkLoop { name },
                    };
                    self.contents.problems.push(problem);
                }
            }
        }
        Some(())
    }

    /// Handles an entry, and returns whether to descend into it.
    fn entry(&mut self, branch: &Branch, entry: &DirEntry) -> bool {
        let rest = entry.path().strip_prefix(&branch.real).unwrap_or(entry.path());
        let given = branch.given.join(rest);
        let name = shown(&given);
        let kind = entry.file_type();
        if kind.is_dir() {
            if entry.file_name() == ".git" {
                self.skip(name, Why::GitDirectory);
                return false;
            }
            if entry.depth() > self.limits.directory_depth {
                let limit = self.limits.directory_depth;
                self.contents.problems.push(Problem::TooDeep { name, limit });
                return false;
            }
            return true;
        }
        let path = branch.path.join(rest);
        let real = entry.path().to_owned();
        if kind.is_symlink() {
            self.links.push(Link { name, given, path, real });
        } else if self.limits.takes(&name) {
            match entry.metadata() {
                Ok(metadata) => self.take(name, path, real, &metadata),
                Err(error) => self.contents.problems.push(match error.io_error() {
                    Some(error) => io_problem(&name, error),
                    None => Problem::LinkLoop { name },
                }),
            }
        } else {
            self.skip(name, Why::OtherExtension);
        }
        false
    }

    fn link(&mut self, link: Link) {
        let Link { name, given, path, real } = link;
        let target = match real.canonicalize() {
            Ok(target) => target,
            Err(error) => {
                return match io_problem(&name, &error) {
                    Problem::NotFound { name } if self.limits.takes(&name) => {
                        self.contents.problems.push(Problem::DanglingLink { name });
                    }
                    Problem::NotFound { name } => self.skip(name, Why::OtherExtension),
                    problem => self.contents.problems.push(problem),
                };
            }
        };
        let metadata = match target.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return self.contents.problems.push(io_problem(&name, &error)),
        };
        if !metadata.is_dir() && !self.limits.takes(&name) {
            return self.skip(name, Why::OtherExtension);
        }
        let inside = target.strip_prefix(&self.boundary).ok();
        if inside.is_none_or(|rest| rest.iter().any(|part| part == ".git")) {
            let in_git = false;
            return self.contents.problems.push(Problem::LinkLeaves { name, in_git });
        }
        if !metadata.is_dir() {
            return self.take(name, path, target, &metadata);
        }
        let is_read = target.ancestors().any(|directory| self.walked.contains(directory));
        if is_read || real.starts_with(&target) {
            let target = shown(inside.unwrap_or(Path::new("")));
            return self.skip(name, Why::LinkedDirectory { target });
        }
        self.walked.insert(target.clone());
        self.pending.push_back(Branch { given, path, real: target });
    }

    fn take(&mut self, name: String, path: PathBuf, real: PathBuf, metadata: &std::fs::Metadata) {
        match check(metadata, &name, self.limits.file_bytes) {
            Ok(()) => self.contents.found.push(FoundFile { name, path, real, size: metadata.len() }),
            Err(problem) => self.contents.problems.push(problem),
        }
    }

    fn skip(&mut self, what: String, why: Why) {
        self.contents.skipped.push(SkippedInput { what, why });
    }
}
