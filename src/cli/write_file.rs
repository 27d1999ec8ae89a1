//! Files that appear whole or not at all: the one place where the program writes any.
//!
//! A text goes to a file beside its place, and is moved there once all of it is on the disk. Whatever ends the run before that (a full
//! disk, a signal, a power cut) leaves the old file; what is left beside it ends in `.part`, which no command reads.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Exit, Stop};

/// Writes a file, replacing the one that is there. A symbolic link stays a link, and a device or a pipe (`/dev/stderr`) is written to.
pub(super) fn replace(file: &Path, text: &str) -> Result<(), Stop> {
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let before = std::fs::metadata(&target).ok();
    let written = if before.as_ref().is_some_and(|before| !before.is_file() && !before.is_dir()) {
        std::fs::OpenOptions::new().write(true).open(&target).and_then(|mut stream| stream.write_all(text.as_bytes()))
    } else {
        beside(&target, text, before.as_ref(), |part| std::fs::rename(part, &target))
    };
    written.map_err(|error| Stop { exit: Exit::Internal, message: format!("can't write {}: {error}", file.display()) })
}

/// Writes a new file with its folders. One that exists is left alone, and that is the error.
pub(super) fn create(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let exists = || io::Error::from(io::ErrorKind::AlreadyExists);
    if file.symlink_metadata().is_ok() {
        return Err(exists());
    }
    // A second name never replaces a file that somebody else made in the meantime; not every file system has them.
    beside(file, text, None, |part| match std::fs::hard_link(part, file) {
        Ok(()) => std::fs::remove_file(part),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => std::fs::rename(part, file),
    })
}

/// Writes a text beside its place, with the permissions of the file that is there, and moves it.
fn beside(target: &Path, text: &str, before: Option<&Metadata>, settle: impl Fn(&Path) -> io::Result<()>) -> io::Result<()> {
    let part = part_of(target)?;
    let written = File::create_new(&part).and_then(|mut made| {
        made.write_all(text.as_bytes())?;
        made.sync_all()?;
        if let Some(before) = before {
            if before.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
            }
            std::fs::set_permissions(&part, before.permissions())?;
        }
        settle(&part)
    });
    written.inspect_err(|_| {
        let _ = std::fs::remove_file(&part);
    })
}

fn part_of(target: &Path) -> io::Result<PathBuf> {
    let name = target.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it has no file name"))?;
    let mut part = name.to_owned();
    part.push(format!(".{}.part", std::process::id()));
    Ok(target.with_file_name(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_created_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b.txt");
        create(&file, "one").unwrap();
        assert_eq!(create(&file, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one");
        replace(&file, "three").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "three");
        assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn what_cannot_settle_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("b.txt");
        assert!(beside(&file, "x", None, |_| Err(io::ErrorKind::StorageFull.into())).is_err());
        assert!(replace(folder.path(), "x").is_err(), "a directory can't be replaced");
        assert!(replace(Path::new("/"), "x").is_err() && replace(Path::new(""), "x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
