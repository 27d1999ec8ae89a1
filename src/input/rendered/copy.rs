//! Copies files to a temporary directory, which is removed afterwards.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use super::RenderError;
use super::source_tree::RawFile;

/// A private directory with a copy of files, and an empty home directory for the program that reads them.
pub(super) struct Copied {
    directory: PathBuf,
    root: PathBuf,
    home: PathBuf,
}

impl Copied {
    pub fn new<'f>(files: impl IntoIterator<Item = &'f RawFile>) -> Result<Copied, RenderError> {
        let failed = |error: io::Error| RenderError::NotCopied(error.to_string());
        let directory = temporary().map_err(failed)?;
        // From here on it is removed when dropped, whatever happens.
        let copied = Copied { root: directory.join("files"), home: directory.join("home"), directory };
        for folder in [&copied.root, &copied.home] {
            std::fs::create_dir(folder).map_err(failed)?;
        }
        for file in files {
            let path = Path::new(&file.path);
            if !path.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(RenderError::NotCopied(format!("`{}` is not a plain path", file.path)));
            }
            let target = copied.root.join(path);
            target.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
            std::fs::write(target, &file.bytes).map_err(failed)?;
        }
        Ok(copied)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn home(&self) -> &Path {
        &self.home
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        // A directory that can't be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Creates a new directory that nobody else can read.
fn temporary() -> io::Result<PathBuf> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let parent = std::env::temp_dir();
    let parent = parent.canonicalize().unwrap_or(parent);
    loop {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().subsec_nanos();
        let path = parent.join(format!("crdwise-{}-{}-{now}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)));
        match builder.create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> RawFile {
        RawFile { path: path.to_owned(), bytes: b"x".to_vec() }
    }

    #[test]
    fn a_copy_is_removed_afterwards() {
        let copied = Copied::new(&[file("a/b.yaml")]).unwrap();
        let root = copied.root().to_owned();
        assert!(root.join("a/b.yaml").is_file());
        drop(copied);
        assert!(!root.exists());
    }

    #[test]
    fn paths_outside_the_copy_are_refused() {
        for path in ["../x", "/x", "a/../../x"] {
            assert!(matches!(Copied::new(&[file(path)]), Err(RenderError::NotCopied(_))), "{path}");
        }
    }
}
