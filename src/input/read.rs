//! Reads the bytes of a path: regular files only, and within the size limit.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::limits::FILE_BYTES;
use super::problem::{Problem, Special};

/// Reads a file whose size was checked before; it may have changed since.
pub(super) fn read(path: &Path, name: &str, limit: u64) -> Result<Vec<u8>, Problem> {
    let failed = |error: io::Error| io_problem(name, &error);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    check(&metadata, name, limit)?;
    let mut bytes = Vec::with_capacity(reserved(metadata.len()));
    bounded(file, &mut bytes, name, limit)?;
    Ok(bytes)
}

/// How much memory to reserve for a claimed size: with a raised limit, a sparse file of a terabyte must not exhaust memory.
pub(super) fn reserved(size: u64) -> usize {
    usize::try_from(size.min(FILE_BYTES)).unwrap_or(0)
}

/// Reads a stream to its end, or fails if it exceeds the limit.
pub(super) fn bounded(from: impl Read, bytes: &mut Vec<u8>, name: &str, limit: u64) -> Result<(), Problem> {
    let read = from.take(limit.saturating_add(1)).read_to_end(bytes);
    read.map_err(|error| io_problem(name, &error))?;
    if bytes.len() as u64 > limit {
        return Err(Problem::TooLarge { name: name.to_owned(), size: None, limit });
    }
    Ok(())
}

/// Whether a file may be opened: opening a pipe would block.
pub(super) fn check(metadata: &Metadata, name: &str, limit: u64) -> Result<(), Problem> {
    let name = || name.to_owned();
    if !metadata.is_file() {
        let kind = special(metadata.file_type());
        return Err(Problem::NotRegular { name: name(), kind });
    }
    if metadata.len() > limit {
        return Err(Problem::TooLarge { name: name(), size: Some(metadata.len()), limit });
    }
    Ok(())
}

pub(super) fn special(kind: FileType) -> Special {
    if kind.is_dir() {
        return Special::Directory;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Special::Fifo;
        }
        if kind.is_socket() {
            return Special::Socket;
        }
        if kind.is_block_device() {
            return Special::BlockDevice;
        }
        if kind.is_char_device() {
            return Special::CharacterDevice;
        }
    }
    Special::Other
}

pub(super) fn io_problem(name: &str, error: &io::Error) -> Problem {
    let name = name.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Problem::NotFound { name },
        _ if is_link_loop(error) => Problem::LinkLoop { name },
        _ => Problem::Unreadable { name, reason: error.to_string() },
    }
}

/// Recognises ELOOP, for which the standard library has no stable name.
fn is_link_loop(error: &io::Error) -> bool {
    const ELOOP: i32 = if cfg!(any(target_os = "linux", target_os = "android")) {
        40
    } else if cfg!(windows) {
        1921
    } else {
        62
    };
    error.raw_os_error() == Some(ELOOP)
}
