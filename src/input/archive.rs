//! Reads the manifests in an archive: a Helm chart package, a bundle, a release asset, a saved image.
//!
//! Nothing is written to disk. All unpacked bytes count against the limits of a directory, even skipped ones, so that a small file
//! can't expand without end. Names that lead out of the archive are problems; links are not followed.
//!
//! An image (`docker save`, a Crossplane package) is an archive of layers. The layers listed in its manifest are read; other
//! archives inside an archive are not.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Read, Seek};

use flate2::read::MultiGzDecoder;
use thiserror::Error;

use super::limits::{Limits, flag, human_size};
use super::problem::Problem;
use super::read::bounded;
use super::{SkippedInput, Why, shorten_line};

/// How many bytes are needed to recognise a file: the first header of a tar archive.
pub(super) const HEAD_BYTES: usize = 512;
/// The maximum length of a name: the limit for a path on Linux. Names are shown, and a header could contain megabytes.
const NAME_BYTES: usize = 4096;
/// The file that lists the layers of an image.
const IMAGE_MANIFEST: &str = "manifest.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArchiveFormat {
    Tar,
    Gzip,
    Zip,
}

/// Why an archive, or a file in it, wasn't read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArchiveError {
    #[error("the archive is broken: {0}")]
    Broken(String),
    #[error("the archive unpacks to more than {}, and none of it was read", human_size(*.0))]
    Expands(u64),
    #[error("the path points outside the archive")]
    Leaves,
    #[error("the archive has two files with this name")]
    Twice,
    #[error("links in archives are not followed")]
    Link,
    #[error("the name is longer than {NAME_BYTES} bytes")]
    LongName,
    #[error("the image lists the layer `{0}` but doesn't contain it")]
    NoLayer(String),
}

impl ArchiveError {
    pub fn advice(&self) -> Option<String> {
        Some(match self {
            ArchiveError::Broken(_) => "download it again, or unpack it and pass the files in it".to_owned(),
            ArchiveError::Expands(_) => format!("raise it with {}, or unpack it and pass the files in it", flag::TOTAL_BYTES),
            ArchiveError::Leaves => "don't unpack it: such an archive is damaged, or made to overwrite files".to_owned(),
            ArchiveError::Twice | ArchiveError::LongName => "pack it again; tools read such an archive differently".to_owned(),
            ArchiveError::Link => "unpack it and pass the files in it, or pack files instead of links".to_owned(),
            ArchiveError::NoLayer(_) => "save the image again".to_owned(),
        })
    }
}

/// A file of an archive.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// The path in the archive, with `/`.
    pub path: String,
    pub bytes: Vec<u8>,
}

/// The contents of an archive, sorted by path.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    pub files: Vec<Packed>,
    pub skipped: Vec<SkippedInput>,
    pub problems: Vec<Problem>,
}

/// Recognises the format from the first bytes of a file.
pub(super) fn format(head: &[u8]) -> Option<ArchiveFormat> {
    match head {
        [0x1F, 0x8B, ..] => Some(ArchiveFormat::Gzip),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Some(ArchiveFormat::Zip),
        _ => (head.get(257..262) == Some(b"ustar")).then_some(ArchiveFormat::Tar),
    }
}

/// Unpacks an archive that messages call `name`; `open` starts at its first byte each time.
pub(super) fn unpack<R: Read + Seek + 'static>(
    open: impl Fn() -> io::Result<R>,
    format: ArchiveFormat,
    name: &str,
    limits: &Limits,
) -> Unpacked {
    let mut walk =
        Walk { name, limits, left: limits.total_bytes, kept: 0, looked_at: 0, in_layer: false, files: BTreeMap::new(), image: None };
    let mut unpacked = Unpacked::default();
    let outcome = walk.archive(&open, format, &mut unpacked);
    if let Err(problem) = outcome {
        // Which files come before the end depends on how it was packed, so none of them counts.
        return Unpacked { problems: vec![problem], ..Unpacked::default() };
    }
    unpacked.files = walk.files.into_iter().map(|(path, bytes)| Packed { path, bytes }).collect();
    unpacked
}

struct Walk<'a> {
    name: &'a str,
    limits: &'a Limits,
    /// How many more bytes may be unpacked.
    left: u64,
    /// The size of the files taken so far, including the holes of sparse files, which aren't in the archive.
    kept: u64,
    looked_at: usize,
    /// In an image, files of upper layers replace those of lower ones.
    in_layer: bool,
    files: BTreeMap<String, Vec<u8>>,
    /// The layers of an image, once its manifest is found.
    image: Option<Vec<String>>,
}

impl Walk<'_> {
    fn archive<R: Read + Seek + 'static>(
        &mut self,
        open: &impl Fn() -> io::Result<R>,
        format: ArchiveFormat,
        unpacked: &mut Unpacked,
    ) -> Result<(), Problem> {
        let opened = || open().map_err(|error| self.unreadable(&error));
        match format {
            ArchiveFormat::Zip => {
                let reader = opened()?;
                return self.zip(reader, unpacked);
            }
            ArchiveFormat::Tar => {
                let reader = opened()?;
                self.tar(reader, unpacked)?;
            }
            ArchiveFormat::Gzip => {
                let reader = opened()?;
                self.gzip(reader, unpacked)?;
            }
        }
        let Some(layers) = self.image.take() else { return Ok(()) };
        // The manifest may come after the layers, so start again from the beginning.
        (self.files, *unpacked, self.in_layer) = (BTreeMap::new(), Unpacked::default(), true);
        let mut held = self.layers(opened_again(open, format).map_err(|error| self.unreadable(&error))?, &layers)?;
        for layer in &layers {
            let Some(bytes) = held.remove(layer) else { return Err(self.failed(ArchiveError::NoLayer(layer.clone()))) };
            match self::format(&bytes) {
                Some(ArchiveFormat::Gzip) => self.gzip(Cursor::new(bytes), unpacked)?,
                Some(ArchiveFormat::Tar) => self.tar(Cursor::new(bytes), unpacked)?,
                _ => return Err(self.failed(ArchiveError::Broken(format!("the layer `{layer}` is not a tar archive")))),
            }
        }
        Ok(())
    }

    /// Reads the layers of an image in the order they are packed. A layer that is listed twice is read twice.
    fn layers(&mut self, reader: Box<dyn Read>, layers: &[String]) -> Result<BTreeMap<String, Vec<u8>>, Problem> {
        let wanted: BTreeSet<&str> = layers.iter().map(String::as_str).collect();
        let mut held = BTreeMap::new();
        let mut archive = tar::Archive::new(Bounded { from: reader, left: &mut self.left });
        let entries = archive.entries().map_err(|error| broken(self.name, self.limits, &error))?;
        for entry in entries {
            let mut entry = entry.map_err(|error| broken(self.name, self.limits, &error))?;
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            if wanted.contains(path.as_str()) {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes).map_err(|error| broken(self.name, self.limits, &error))?;
                held.insert(path, bytes);
            }
        }
        Ok(held)
    }

    fn gzip(&mut self, reader: impl Read, unpacked: &mut Unpacked) -> Result<(), Problem> {
        let mut plain = MultiGzDecoder::new(reader);
        let mut head = Vec::with_capacity(HEAD_BYTES);
        (&mut plain).take(HEAD_BYTES as u64).read_to_end(&mut head).map_err(|error| broken(self.name, self.limits, &error))?;
        let is_tar = format(&head) == Some(ArchiveFormat::Tar);
        let whole = Cursor::new(head).chain(plain);
        if is_tar {
            return self.tar(whole, unpacked);
        }
        // A single compressed file.
        let path = self.name.rsplit('/').next().unwrap_or_default();
        let path = path.strip_suffix(".gz").unwrap_or(path).to_owned();
        let mut bytes = Vec::new();
        bounded(Bounded { from: whole, left: &mut self.left }, &mut bytes, self.name, self.limits.file_bytes).map_err(|problem| {
            match problem {
                Problem::Unreadable { reason, .. } => Problem::Archive { name: self.name.to_owned(), error: ArchiveError::Broken(reason) },
                other => other,
            }
        })?;
        self.files.insert(path, bytes);
        Ok(())
    }

    fn tar(&mut self, reader: impl Read, unpacked: &mut Unpacked) -> Result<(), Problem> {
        let (name, limits) = (self.name, self.limits);
        let mut left = self.left;
        let mut archive = tar::Archive::new(Bounded { from: reader, left: &mut left });
        for entry in archive.entries().map_err(|error| broken(name, limits, &error))? {
            let mut entry = entry.map_err(|error| broken(name, limits, &error))?;
            self.count()?;
            let kind = entry.header().entry_type();
            let written = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            if kind.is_dir() || kind.is_pax_global_extensions() {
                continue;
            }
            if kind.is_gnu_sparse() {
                self.hold(entry.size())?;
            }
            let is_link = !kind.is_file() && !kind.is_contiguous() && !kind.is_gnu_sparse();
            let Some(path) = self.wanted(&written, is_link, entry.size(), unpacked) else { continue };
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(|error| broken(name, limits, &error))?;
            self.take(path, bytes, unpacked);
        }
        // The checksum is at the end of the stream. Anything after a complete archive is padding.
        let rest = io::copy(&mut archive.into_inner(), &mut io::sink());
        self.left = left;
        match rest {
            Err(error) if !error.to_string().contains("gzip header") => Err(broken(name, limits, &error)),
            _ => Ok(()),
        }
    }

    fn zip(&mut self, reader: impl Read + Seek, unpacked: &mut Unpacked) -> Result<(), Problem> {
        let broken = |name: &str, error: &dyn std::fmt::Display| Problem::Archive {
            name: name.to_owned(),
            error: ArchiveError::Broken(error.to_string()),
        };
        let mut archive = zip::ZipArchive::new(reader).map_err(|error| broken(self.name, &error))?;
        // The zip reader would show only one of the files.
        if archive.has_duplicate_names() {
            return Err(broken(self.name, &"it lists a file twice"));
        }
        for index in 0..archive.len() {
            self.count()?;
            let mut entry = archive.by_index(index).map_err(|error| broken(self.name, &error))?;
            let written = entry.name().map_err(|error| broken(self.name, &error))?.into_owned();
            if entry.is_dir() {
                continue;
            }
            let Some(path) = self.wanted(&written, entry.is_symlink(), entry.size(), unpacked) else { continue };
            let mut bytes = Vec::new();
            let read = Bounded { from: &mut entry, left: &mut self.left }.read_to_end(&mut bytes);
            read.map_err(|error| self::broken(self.name, self.limits, &error))?;
            self.take(path, bytes, unpacked);
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), Problem> {
        self.looked_at += 1;
        if self.looked_at > self.limits.entries {
            return Err(Problem::TooManyEntries { name: self.name.to_owned(), limit: self.limits.entries });
        }
        Ok(())
    }

    /// Counts the bytes kept of a file.
    fn hold(&mut self, bytes: u64) -> Result<(), Problem> {
        self.kept = self.kept.saturating_add(bytes);
        if self.kept > self.limits.total_bytes {
            return Err(self.failed(ArchiveError::Expands(self.limits.total_bytes)));
        }
        Ok(())
    }

    /// The path under which to take a file, or `None` to skip it.
    fn wanted(&self, written: &str, is_link: bool, size: u64, unpacked: &mut Unpacked) -> Option<String> {
        if written.len() > NAME_BYTES {
            let name = format!("{}/{}", self.name, shorten_line(written, 100));
            unpacked.problems.push(Problem::Archive { name, error: ArchiveError::LongName });
            return None;
        }
        let clean = inside(written);
        let path = clean.as_deref().unwrap_or(written);
        let name = format!("{}/{path}", self.name);
        if !self.limits.takes(path) {
            unpacked.skipped.push(SkippedInput { what: name, why: Why::OtherExtension });
            return None;
        }
        let problem = match clean {
            None => Problem::Archive { name, error: ArchiveError::Leaves },
            Some(_) if is_link => Problem::Archive { name, error: ArchiveError::Link },
            Some(_) if size > self.limits.file_bytes => Problem::TooLarge { name, size: Some(size), limit: self.limits.file_bytes },
            Some(path) => return Some(path),
        };
        unpacked.problems.push(problem);
        None
    }

    fn take(&mut self, path: String, bytes: Vec<u8>, unpacked: &mut Unpacked) {
        if path == IMAGE_MANIFEST
            && !self.in_layer
            && let Some(layers) = image_layers(&bytes)
        {
            self.image = Some(layers);
            return;
        }
        let name = format!("{}/{path}", self.name);
        if bytes.len() as u64 > self.limits.file_bytes {
            unpacked.problems.push(Problem::TooLarge { name, size: None, limit: self.limits.file_bytes });
        } else if self.files.insert(path, bytes).is_some() && !self.in_layer {
            unpacked.problems.push(Problem::Archive { name, error: ArchiveError::Twice });
        }
    }

    fn unreadable(&self, error: &io::Error) -> Problem {
        Problem::Unreadable { name: self.name.to_owned(), reason: error.to_string() }
    }

    fn failed(&self, error: ArchiveError) -> Problem {
        Problem::Archive { name: self.name.to_owned(), error }
    }
}

fn opened_again<R: Read + Seek + 'static>(open: &impl Fn() -> io::Result<R>, format: ArchiveFormat) -> io::Result<Box<dyn Read>> {
    let reader = open()?;
    Ok(match format {
        ArchiveFormat::Gzip => Box::new(MultiGzDecoder::new(reader)),
        _ => Box::new(reader),
    })
}

/// The layers that an image manifest lists, lowest first.
fn image_layers(bytes: &[u8]) -> Option<Vec<String>> {
    let images: Vec<serde_json::Value> = serde_json::from_slice(bytes).ok()?;
    let layers = images.first()?.get("Layers")?.as_array()?;
    layers.iter().map(|layer| layer.as_str().map(str::to_owned)).collect()
}

/// A path in an archive without `./`; `None` if it leads out of the archive, on any system.
fn inside(written: &str) -> Option<String> {
    let has_drive = matches!(written.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    if written.starts_with('/') || written.contains(['\\', '\0']) || has_drive {
        return None;
    }
    let parts: Vec<&str> = written.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    (!parts.is_empty() && !parts.contains(&"..")).then(|| parts.join("/"))
}

/// Marks the error of a reader that reached the unpacking limit.
#[derive(Debug, Error)]
#[error("too large")]
struct Exhausted;

/// A reader that fails, instead of ending, if too many bytes come out of it.
struct Bounded<'l, R> {
    from: R,
    left: &'l mut u64,
}

impl<R: Read> Read for Bounded<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(buffer)?;
        *self.left = self.left.checked_sub(count as u64).ok_or_else(|| io::Error::other(Exhausted))?;
        Ok(count)
    }
}

fn broken(name: &str, limits: &Limits, error: &io::Error) -> Problem {
    // The tar reader wraps errors in its own type.
    let mut source: Option<&(dyn std::error::Error + 'static)> = error.get_ref().map(|inner| inner as &(dyn std::error::Error + 'static));
    let mut exhausted = false;
    while let Some(inner) = source {
        exhausted |= inner.is::<Exhausted>() || inner.to_string() == Exhausted.to_string();
        source = inner.source();
    }
    let error = if exhausted { ArchiveError::Expands(limits.total_bytes) } else { ArchiveError::Broken(error.to_string()) };
    Problem::Archive { name: name.to_owned(), error }
}
