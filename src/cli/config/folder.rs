//! Finds where a configuration is, and resolves the paths in it.

use std::path::{Component, Path, PathBuf};

use crate::cli::Stop;
use crate::input::{File, Input, InputKind, Origin};

/// The directory of a configuration file.
pub(in crate::cli) struct ConfigFolder(Option<Origin>);

impl ConfigFolder {
    pub(in crate::cli) fn of(file: Option<&File>) -> Self {
        ConfigFolder(file.map(|file| real(&file.origin)))
    }

    /// The path of a file relative to this directory.
    pub(in crate::cli) fn path(&self, file: &File) -> String {
        let strip = |path: &str, own: &str| {
            let folder = own.rsplit_once('/').map_or("", |(folder, _)| folder);
            path.strip_prefix(folder).map_or(path, |rest| rest.trim_start_matches('/')).to_owned()
        };
        match (&self.0, real(&file.origin)) {
            (Some(Origin::Path(own)), Origin::Path(path)) => {
                let inside = own.parent().and_then(|folder| path.strip_prefix(folder).ok());
                inside.map_or_else(|| file.name.clone(), |path| path.to_string_lossy().replace('\\', "/"))
            }
            (Some(Origin::Git { path: own, .. } | Origin::Index { path: own }), Origin::Git { path, .. } | Origin::Index { path }) => {
                strip(&path, own)
            }
            (_, Origin::Git { path, .. } | Origin::Index { path }) => path,
            _ => file.name.clone(),
        }
    }

    /// A file named in the configuration, which may be missing.
    pub(in crate::cli) fn file(&self, name: &str) -> Result<Input, String> {
        self.inside(name).map(|kind| absent(kind.into()))
    }

    /// A directory named in the configuration.
    pub(in crate::cli) fn directory(&self, name: &str) -> Result<Input, String> {
        match self.inside(name)? {
            InputKind::Path(path) if !path.exists() => Err(format!("the directory `{name}` doesn't exist")),
            InputKind::Path(path) if !path.is_dir() => Err(format!("`{name}` is not a directory")),
            InputKind::Path(path) => Ok(Input::path(path)),
            of_git => Ok(absent(of_git.into())),
        }
    }

    /// Resolves a path from the configuration. It must be inside the repository, or below the configuration without one: a reviewed
    /// change must not be able to show files of the machine in a log.
    fn inside(&self, name: &str) -> Result<InputKind, String> {
        let outside = || format!("`{name}` is outside the repository");
        if Path::new(name).is_absolute() {
            return Err(format!("`{name}` is an absolute path: write it relative to the folder of this file"));
        }
        let sibling = |own: &str| clean(&Path::new(own).with_file_name(name)).ok_or_else(outside);
        match &self.0 {
            Some(Origin::Git { rev, path, .. }) => Ok(InputKind::Revision { rev: rev.clone(), path: sibling(path)? }),
            Some(Origin::Index { path }) => Ok(InputKind::Index { path: sibling(path)? }),
            Some(Origin::Path(own)) => {
                let root = enclosing_repository(own);
                let is_inside = match own.with_file_name(name).canonicalize() {
                    Ok(real) => real.starts_with(root),
                    Err(_) => own.with_file_name(name).strip_prefix(root).is_ok_and(|path| clean(path).is_some()),
                };
                if is_inside { Ok(InputKind::Path(self.beside(name))) } else { Err(outside()) }
            }
            _ => Ok(InputKind::Path(self.beside(name))),
        }
    }

    pub(in crate::cli) fn beside(&self, name: &str) -> PathBuf {
        match &self.0 {
            Some(Origin::Path(own)) => relative_to_current_dir(&own.with_file_name(name)),
            _ => PathBuf::from(name),
        }
    }
}

/// The root of the repository that contains a file, or else the file's directory.
fn enclosing_repository(file: &Path) -> &Path {
    let folder = file.parent().unwrap_or(Path::new(""));
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder)
}

/// Removes `.` and `..` from a path in a git tree; `None` if it leads out of the tree.
fn clean(path: &Path) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

/// Finds the nearest file of this name in the directory of an input or above it, up to the root of its repository, or up to the
/// current directory without a repository.
pub(in crate::cli) fn above(input: &Path, name: &str) -> Result<Option<PathBuf>, Stop> {
    let Ok(here) = std::env::current_dir() else { return Ok(None) };
    let Ok(start) = here.join(input).canonicalize() else { return Ok(None) };
    let folder = if start.is_dir() { Some(&*start) } else { start.parent() };
    let Some(start) = folder else { return Ok(None) };
    let real_here = here.canonicalize().unwrap_or_else(|_| here.clone());
    let is_root = |folder: &Path| folder.join(".git").exists();
    let root = start.ancestors().find(|folder| is_root(folder));
    let last = root.or_else(|| start.starts_with(&real_here).then_some(&*real_here)).unwrap_or(start);
    let mut files = start.ancestors().take_while(|folder| folder.starts_with(last)).map(|folder| folder.join(name));
    let Some(found) = files.find(|file| file.is_file()) else { return Ok(None) };
    // A reviewed change must not be able to show files of the machine in a log.
    if let (Some(root), Ok(real)) = (root, found.canonicalize())
        && !real.starts_with(root)
    {
        return Err(Stop::usage(format!("{} is a link that points outside the repository", relative(&found, &real_here).display())));
    }
    Ok(Some(relative(&found, &real_here)))
}

/// Makes a path relative to a directory, so that reports are the same on every machine.
fn relative(path: &Path, from: &Path) -> PathBuf {
    let shared = path.ancestors().find(|folder| from.starts_with(folder));
    let Some(shared) = shared.filter(|shared| shared.parent().is_some()) else { return path.to_owned() };
    let up = from.strip_prefix(shared).map_or(0, |rest| rest.components().count());
    let mut out: PathBuf = std::iter::repeat_n("..", up).collect();
    out.push(path.strip_prefix(shared).unwrap_or(path));
    out
}

/// Makes a path relative to the current directory.
pub(in crate::cli) fn relative_to_current_dir(path: &Path) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
    relative(path, &here)
}

/// Resolves symbolic links, so that two names of one file compare equal.
pub(in crate::cli) fn real(origin: &Origin) -> Origin {
    match origin {
        Origin::Path(path) => Origin::Path(path.canonicalize().unwrap_or_else(|_| path.clone())),
        other => other.clone(),
    }
}

/// Marks an input that may be missing as empty.
pub(in crate::cli) fn absent(mut input: Input) -> Input {
    input.absent_is_empty = true;
    input
}
