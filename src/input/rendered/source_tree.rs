//! The tree around an input (a repository, one state of it, or a plain directory), and the raw files in it.

use std::path::{Path, PathBuf};

use crate::input::directory::boundary;
use crate::input::{Input, InputKind, Loader, Origin, Problem, shown, shown_revision};

/// A file to pass to another program.
#[derive(Debug)]
pub(super) struct RawFile {
    /// Relative to the root of the tree, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// A tree whose paths are relative to its root, with `/`; the root itself is an empty string.
pub(super) enum SourceTree {
    Files { root: PathBuf, absolute: bool },
    Revision(String),
    Index,
}

impl SourceTree {
    /// The tree around the directory of an input, and the directory's path in it.
    pub fn of(loader: &Loader, input: &Input) -> Option<(SourceTree, String)> {
        match &input.kind {
            InputKind::Path(given) => {
                let real = loader.dir().join(given).canonicalize().ok().filter(|real| real.is_dir())?;
                let root = boundary(&real);
                let path = slashed(real.strip_prefix(&root).ok()?);
                Some((SourceTree::Files { root, absolute: given.is_absolute() }, path))
            }
            InputKind::Revision { rev, path } => Some((SourceTree::Revision(rev.clone()), loader.repository().ok()?.in_tree(path).ok()?)),
            InputKind::Index { path } => Some((SourceTree::Index, loader.repository().ok()?.in_tree(path).ok()?)),
            InputKind::Stdin | InputKind::Cluster { .. } => None,
        }
    }

    /// The file at a path, or all files in the directory there; empty if there is neither.
    pub fn files(&self, loader: &Loader, path: &str) -> Result<Vec<RawFile>, Problem> {
        let kind = match self {
            SourceTree::Files { root, .. } => InputKind::Path(root.join(path)),
            SourceTree::Revision(rev) => InputKind::Revision { rev: rev.clone(), path: path.to_owned() },
            SourceTree::Index => InputKind::Index { path: path.to_owned() },
        };
        let files = raw_files(loader, &Input { absent_is_empty: true, ..Input::from(kind) })?;
        let from_root = |mut file: RawFile| {
            if let SourceTree::Files { root, .. } = self {
                file.path = slashed(Path::new(&file.path).strip_prefix(root).ok()?);
            }
            Some(file)
        };
        Ok(files.into_iter().filter_map(from_root).collect())
    }

    /// The name of a file in the tree, and its origin.
    pub fn name(&self, loader: &Loader, path: &str) -> (String, Origin) {
        match self {
            SourceTree::Files { root, absolute } => {
                let path = root.join(path);
                let here = if loader.dir().as_os_str().is_empty() { Path::new(".") } else { loader.dir() };
                let here = here.canonicalize().ok().filter(|_| !absolute);
                let near = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
                (shown(near.as_deref().unwrap_or(&path)), Origin::Path(path))
            }
            SourceTree::Revision(rev) => {
                let origin = Origin::Git { rev: rev.clone(), path: path.to_owned(), commit: String::new() };
                (format!("{}:{path}", shown_revision(rev)), origin)
            }
            SourceTree::Index => (format!(":{path}"), Origin::Index { path: path.to_owned() }),
        }
    }
}

/// All files of an input, whatever their names. Unreadable manifests are a problem; other files may be missing.
pub(super) fn raw_files(loader: &Loader, input: &Input) -> Result<Vec<RawFile>, Problem> {
    let (files, problems) = loader.of_everything().load_raw(input);
    if let Some(problem) = problems.into_iter().find(|problem| crate::input::is_manifest(problem.name())) {
        return Err(problem);
    }
    let file = |(origin, bytes): (Origin, Vec<u8>)| match origin {
        Origin::Path(path) => Some(RawFile { path: path.to_str()?.to_owned(), bytes }),
        Origin::Git { path, .. } | Origin::Index { path } | Origin::Archive { path } => Some(RawFile { path, bytes }),
        Origin::Stdin | Origin::Cluster | Origin::Rendered { .. } => None,
    };
    Ok(files.into_iter().filter_map(file).collect())
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}
