//! Writes files atomically. This is the only place where the program writes any.
//!
//! A text is written to a temporary file in the same directory, and renamed when all of it is written. If the run ends before that
//! (full disk, signal), the old file is intact; a leftover temporary file ends in `.part`, which no command reads. A text that replaces
//! another is on disk before it does so, which keeps one of them whole even if the power fails.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{Exit, Stop};

/// Writes a file, replacing an existing one. A symbolic link is followed, and a device or pipe (`/dev/stderr`) is written to
/// directly.
pub(super) fn replace(file: &Path, text: &str) -> Result<(), Stop> {
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let before = std::fs::metadata(&target).ok();
    let written = if before.as_ref().is_some_and(|before| !before.is_file() && !before.is_dir()) {
        std::fs::OpenOptions::new().write(true).open(&target).and_then(|mut stream| stream.write_all(text.as_bytes()))
    } else {
        write_temporary(&target, text, before.as_ref(), |part| std::fs::rename(part, &target))
    };
    written.map_err(|error| Stop { exit: Exit::Internal, message: format!("can't write {}: {error}", file.display()) })
}

/// Creates a directory and its parents, unless it exists.
pub(super) fn create_dir(dir: &Path) -> Result<(), Stop> {
    let fail = |error| Stop { exit: Exit::Internal, message: format!("can't make {}: {error}", dir.display()) };
    std::fs::create_dir_all(dir).map_err(fail)
}

/// Writes a new file and its parent directories. If the file exists, it is left alone and an error is returned.
pub(super) fn create(file: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let exists = || io::Error::from(io::ErrorKind::AlreadyExists);
    if file.symlink_metadata().is_ok() {
        return Err(exists());
    }
    // A hard link never replaces a file that someone else created in the meantime; not every file system supports them.
    write_temporary(file, text, None, |part| match std::fs::hard_link(part, file) {
        Ok(()) => std::fs::remove_file(part),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => std::fs::rename(part, file),
    })
}

/// Writes a text to a temporary file, with the permissions of the existing file, and moves it into place.
fn write_temporary(
    target: &Path,
    text: &str,
    before: Option<&Metadata>,
    move_into_place: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let part = part_of(target)?;
    let written = File::create_new(&part).and_then(|mut made| {
        made.write_all(text.as_bytes())?;
        if let Some(before) = before {
            made.sync_all()?;
            if before.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
            }
            std::fs::set_permissions(&part, before.permissions())?;
        }
        move_into_place(&part)
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
    fn files_are_replaced_atomically_and_created_once() {
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
    fn a_failed_write_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("b.txt");
        assert!(write_temporary(&file, "x", None, |_| Err(io::ErrorKind::StorageFull.into())).is_err());
        assert!(replace(folder.path(), "x").is_err(), "a directory can't be replaced");
        assert!(replace(Path::new("/"), "x").is_err() && replace(Path::new(""), "x").is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
