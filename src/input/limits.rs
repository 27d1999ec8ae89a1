//! Limits on how much is read. Each is a constant with its reason, and has a flag to raise it.

use std::time::Duration;

/// Bytes per file. The API server accepts objects of at most 1.5 MB, and the largest public single-file bundles have about 25 MB;
/// anything larger is a mistake or an attack.
pub const FILE_BYTES: u64 = 64 << 20;
/// Bytes per bundle. Everything read stays in memory for the excerpts of the report, and a tree needs several times the size of its
/// text.
pub const TOTAL_BYTES: u64 = 256 << 20;
/// Files per bundle. The largest provider bundles have about a thousand CRDs, one per file.
pub const FILES: usize = 20_000;
/// Directory entries per input, including directories and files of other kinds, so that `crdwise lint /` ends.
pub const ENTRIES: usize = 500_000;
/// Nested directories. No layout needs more, and a path has at most 4,096 bytes.
pub const DIRECTORY_DEPTH: usize = 64;
/// Bytes of a git listing: enough for several million paths of usual length.
pub const LISTING_BYTES: u64 = 256 << 20;
/// How many skipped files are named individually; the others are counted in one line.
pub const SKIPPED_NAMED: usize = 1_000;
/// Length of a chain of symbolic links, as in Linux.
pub const LINK_HOPS: usize = 40;

/// How long a cluster may take for one page. kubectl itself would wait forever.
pub const KUBECTL_TIMEOUT: Duration = Duration::from_secs(30);

/// The limits of one [`Loader`](super::Loader).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// `--max-file-size`
    pub file_bytes: u64,
    /// `--max-total-size`
    pub total_bytes: u64,
    /// `--max-files`
    pub files: usize,
    /// `--max-entries`
    pub entries: usize,
    /// `--max-directory-depth`
    pub directory_depth: usize,
    /// `--kubectl-timeout`
    pub kubectl_timeout: Duration,
    /// The file name extensions that are read in a directory. A file that is named explicitly is read whatever its name.
    pub extensions: &'static [&'static str],
}

/// Extensions of manifests.
const EXTENSIONS: &[&str] = &["yaml", "yml", "json"];
/// All files, whatever their names.
pub(super) const EVERYTHING: &[&str] = &[];

impl Limits {
    /// Whether a file in a directory is read.
    pub(super) fn takes(&self, name: &str) -> bool {
        if self.extensions == EVERYTHING {
            return true;
        }
        let extension = name.rsplit(['/', '\\']).next().and_then(|file| file.rsplit_once('.'));
        extension.is_some_and(|(_, extension)| self.extensions.iter().any(|known| extension.eq_ignore_ascii_case(known)))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            file_bytes: FILE_BYTES,
            total_bytes: TOTAL_BYTES,
            files: FILES,
            entries: ENTRIES,
            directory_depth: DIRECTORY_DEPTH,
            kubectl_timeout: KUBECTL_TIMEOUT,
            extensions: EXTENSIONS,
        }
    }
}

/// The names of the flags, shared by errors and the command line.
pub mod flag {
    pub const FILE_BYTES: &str = "--max-file-size";
    pub const TOTAL_BYTES: &str = "--max-total-size";
    pub const FILES: &str = "--max-files";
    pub const ENTRIES: &str = "--max-entries";
    pub const DIRECTORY_DEPTH: &str = "--max-directory-depth";
    pub const KUBECTL_TIMEOUT: &str = "--kubectl-timeout";
}

/// The remaining budget for limits that apply to all inputs of a bundle together.
#[derive(Debug)]
pub(super) struct LoadBudget {
    bytes: u64,
    files: usize,
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LimitReached {
    Bytes,
    Files,
}

impl LoadBudget {
    pub(super) fn new(limits: &Limits) -> LoadBudget {
        LoadBudget { bytes: limits.total_bytes, files: limits.files }
    }

    /// Takes a file of `size` bytes off the budget.
    pub(super) fn admit(&mut self, size: u64) -> Result<(), LimitReached> {
        if self.files == 0 {
            return Err(LimitReached::Files);
        }
        self.bytes = self.bytes.checked_sub(size).ok_or(LimitReached::Bytes)?;
        self.files -= 1;
        Ok(())
    }
}

/// Formats a size for people: exact below 10 KiB, otherwise in KiB, MiB or GiB.
pub(super) fn human_size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (unit, name) in UNITS {
        if bytes >= unit && (bytes >= 10 * 1024) {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            return match tenths % 10 {
                0 => format!("{} {name}", tenths / 10),
                rest => format!("{}.{rest} {name}", tenths / 10),
            };
        }
    }
    match bytes {
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_ends_at_the_byte_and_at_the_file() {
        let mut budget = LoadBudget::new(&Limits { total_bytes: 10, files: 2, ..Limits::default() });
        assert_eq!(budget.admit(11), Err(LimitReached::Bytes));
        assert_eq!(budget.admit(10), Ok(()));
        assert_eq!(budget.admit(1), Err(LimitReached::Bytes));
        assert_eq!(budget.admit(0), Ok(()));
        assert_eq!(budget.admit(0), Err(LimitReached::Files));
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(human_size(1), "1 byte");
        assert_eq!(human_size(5000), "5000 bytes");
        assert_eq!(human_size(64 << 20), "64 MiB");
        assert_eq!(human_size((3 << 30) / 2), "1.5 GiB");
        assert_eq!(human_size(u64::MAX), "17179869183.9 GiB");
    }
}
