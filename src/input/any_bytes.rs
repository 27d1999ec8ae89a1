//! The readers of bytes for those who have no file: fuzzing and its tests.

use std::io::Cursor;

use super::archive::{self, Unpacked};
use super::decode;
use super::{Limits, Text};

/// The text of a file with these bytes, if they are one.
pub(crate) fn decoded(bytes: &[u8]) -> Option<Text> {
    decode::decode(bytes.to_vec()).ok().map(|decoded| decoded.text)
}

/// The files that an archive of these bytes has, with their paths.
pub(crate) fn unpacked(bytes: &[u8], limits: &Limits) -> Vec<(String, Vec<u8>)> {
    let Some(format) = archive::format(bytes) else { return Vec::new() };
    let bytes = bytes.to_vec();
    let Unpacked { files, .. } = archive::unpack(|| Ok(Cursor::new(bytes.clone())), format, "archive", limits);
    files.into_iter().map(|file| (file.path, file.bytes)).collect()
}
