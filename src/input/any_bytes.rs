//! Reads bytes that don't come from a file, for fuzzing and its tests.

use std::io::Cursor;

use super::archive::{self, Unpacked};
use super::decode;
use super::{Limits, Text};

/// Decodes the bytes of a file, if they are text.
pub(crate) fn decoded(bytes: &[u8]) -> Option<Text> {
    decode::decode(bytes.to_vec()).ok().map(|decoded| decoded.text)
}

/// Unpacks an archive and returns its files with their paths.
pub(crate) fn unpacked(bytes: &[u8], limits: &Limits) -> Vec<(String, Vec<u8>)> {
    let Some(format) = archive::format(bytes) else { return Vec::new() };
    let bytes = bytes.to_vec();
    let Unpacked { files, .. } = archive::unpack(|| Ok(Cursor::new(bytes.clone())), format, "archive", limits);
    files.into_iter().map(|file| (file.path, file.bytes)).collect()
}
