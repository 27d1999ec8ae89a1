//! Queues the files of all inputs in order, within the budget, then reads and decodes them in parallel.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::archive::{self, HEAD_BYTES, Packed, Unpacked};
use super::decode::{Decoded, Encoding, decode};
use super::directory::{FoundFile, contents};
use super::git::{Blob, Blobs, GitError, SelectedBlob, Snapshot};
use super::kubectl::{self, Cluster, CrdPage};
use super::limits::{LimitReached, Limits, LoadBudget, SKIPPED_NAMED};
use super::read::{bounded, check, io_problem, read};
use super::text::SharedTexts;
use super::{File, Input, Loaded, Note, Origin, Problem, STDIN, SkippedInput, Why, shown};

/// The files to read, and the notes and problems so far.
pub(super) struct LoadQueue<'l> {
    limits: &'l Limits,
    budget: LoadBudget,
    order: usize,
    items: Vec<Item>,
    /// The files queued so far, with their names.
    seen: BTreeMap<Identity, String>,
    spent: Option<(LimitReached, String, usize)>,
    problems: Vec<(usize, Problem)>,
    loaded: Loaded,
}

/// Identifies content, so that a file reached by two names is read once.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identity {
    /// A path without links, as text: the parts of a path take longer to compare.
    File(OsString),
    Blob(Option<String>, Vec<u8>),
    /// The name of the rendered input.
    Rendered(String),
}

struct Item {
    order: usize,
    name: String,
    origin: Origin,
    content: Content,
}

enum Content {
    At(PathBuf),
    Bytes(Vec<u8>),
}

impl<'l> LoadQueue<'l> {
    pub(super) fn new(limits: &'l Limits) -> LoadQueue<'l> {
        LoadQueue {
            limits,
            budget: LoadBudget::new(limits),
            order: 0,
            items: Vec::new(),
            seen: BTreeMap::new(),
            spent: None,
            problems: Vec::new(),
            loaded: Loaded::default(),
        }
    }

    /// Starts the next input; `order` is its position.
    pub(super) fn begin(&mut self, order: usize, input: &Input) {
        self.order = order;
        self.loaded.notes.extend(input.note.clone());
    }

    pub(super) fn stdin(&mut self, stdin: &mut impl Read) {
        let mut bytes = Vec::new();
        match bounded(stdin, &mut bytes, STDIN, self.limits.file_bytes) {
            Err(problem) => self.problem(problem),
            Ok(()) => self.named(STDIN.to_owned(), Origin::Stdin, bytes),
        }
    }

    pub(super) fn path(&mut self, path: &Path, given: &Path, input: &Input) {
        let name = shown(given);
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(error) => {
                return match io_problem(&name, &error) {
                    Problem::NotFound { name } if path.symlink_metadata().is_ok() => {
                        self.problem(Problem::DanglingLink { name });
                    }
                    Problem::NotFound { name } if input.absent_is_empty => {
                        self.loaded.notes.push(Note::EmptyAtRevision { name });
                    }
                    problem => self.problem(problem),
                };
            }
        };
        if metadata.is_dir() {
            let contents = contents(path, given, self.limits);
            self.skip(contents.skipped, &name);
            contents.problems.into_iter().for_each(|problem| self.problem(problem));
            return self.found(contents.found);
        }
        let format = metadata.is_file().then(|| head(path)).and_then(|head| archive::format(&head));
        let limit = if format.is_some() { self.limits.total_bytes } else { self.limits.file_bytes };
        if let Err(problem) = check(&metadata, &name, limit) {
            return self.problem(problem);
        }
        match (path.canonicalize(), format) {
            (Err(error), _) => self.problem(io_problem(&name, &error)),
            (Ok(real), Some(format)) => {
                if self.is_new(Identity::File(real.clone().into_os_string()), &name) {
                    let open = || std::fs::File::open(&real).map(std::io::BufReader::new);
                    let unpacked = archive::unpack(open, format, &name, self.limits);
                    self.unpacked(unpacked, &name);
                }
            }
            (Ok(real), None) => self.found(vec![FoundFile { name, path: path.to_owned(), real, size: metadata.len() }]),
        }
    }

    /// The CRDs of a cluster.
    pub(super) fn cluster(&mut self, cluster: &Cluster, input: &Input) {
        let name = input.to_string();
        let mut from = None;
        loop {
            let page = cluster.page(kubectl::CRDS, from.as_deref()).and_then(|page| kubectl::crds(&page));
            let CrdPage { crds, next } = match page {
                Ok(page) => page,
                Err(error) => return self.problem(Problem::Cluster { name, error }),
            };
            for (crd, text) in crds {
                let name = format!("{name}/{crd}");
                if self.admit(&name, text.len() as u64) {
                    self.item(name, Origin::Cluster, Content::Bytes(text.into_bytes()));
                }
            }
            // Once the budget is used up, don't request the rest.
            if next.is_none() || next == from || self.spent.is_some() {
                return;
            }
            from = next;
        }
    }

    /// Queues a file that was named explicitly, which may be an archive.
    fn named(&mut self, name: String, origin: Origin, bytes: Vec<u8>) {
        match archive::format(&bytes) {
            Some(format) => {
                // The readers of an archive share its bytes.
                let bytes: std::sync::Arc<[u8]> = bytes.into();
                let open = || Ok(std::io::Cursor::new(std::sync::Arc::clone(&bytes)));
                let unpacked = archive::unpack(open, format, &name, self.limits);
                self.unpacked(unpacked, &name);
            }
            None => {
                if self.admit(&name, bytes.len() as u64) {
                    self.item(name, origin, Content::Bytes(bytes));
                }
            }
        }
    }

    fn unpacked(&mut self, unpacked: Unpacked, name: &str) {
        self.skip(unpacked.skipped, name);
        unpacked.problems.into_iter().for_each(|problem| self.problem(problem));
        for Packed { path, bytes } in unpacked.files {
            let name = format!("{name}/{path}");
            if self.admit(&name, bytes.len() as u64) {
                self.item(name, Origin::Archive { path }, Content::Bytes(bytes));
            }
        }
    }

    fn found(&mut self, mut found: Vec<FoundFile>) {
        found.retain(|file| self.is_new(Identity::File(file.real.clone().into_os_string()), &file.name));
        found.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path.cmp(&b.path)));
        for file in found {
            if self.admit(&file.name, file.size) {
                // Open the path that was checked, not what a link may lead to by now.
                self.item(file.name, Origin::Path(file.path), Content::At(file.real));
            }
        }
    }

    pub(super) fn snapshot(&mut self, snapshot: &Snapshot<'_>, path: &str, blobs: &mut Blobs<'_>) -> Result<(), GitError> {
        let revision = snapshot.revision();
        if let Some((rev, warning)) = revision.and_then(|r| Some((r.rev.clone(), r.warning.clone()?))) {
            let note = Note::GitWarned { rev, warning };
            if !self.loaded.notes.contains(&note) {
                self.loaded.notes.push(note);
            }
        }
        let mut left = snapshot.select(path, self.limits, blobs)?;
        self.skip(left.skipped, &snapshot.name(path));
        left.problems.into_iter().for_each(|problem| self.problem(problem));
        left.picks.retain_mut(|pick| {
            let real = std::mem::take(&mut pick.real);
            let identity = Identity::Blob(revision.map(|r| r.id.clone()), real);
            self.is_new(identity, &snapshot.name(&pick.path))
        });
        left.picks.sort_by(|a, b| a.path.cmp(&b.path));
        let ids: Vec<&str> = left.picks.iter().map(|pick| pick.id.as_str()).collect();
        let mut unread = left.picks.len();
        blobs.read_all(&ids, self.limits.file_bytes, |index, blob| {
            let Some(pick) = left.picks.get(index) else {
                return false;
            };
            unread = left.picks.len() - index - 1;
            self.blob(snapshot, pick, blob, pick.path == path)
        })?;
        // Files after the end of the budget weren't even requested.
        if let Some((_, _, refused)) = &mut self.spent {
            *refused += unread;
        }
        Ok(())
    }

    /// Queues a blob, and returns whether to continue.
    fn blob(&mut self, snapshot: &Snapshot<'_>, pick: &SelectedBlob, blob: Blob, is_named: bool) -> bool {
        let name = snapshot.name(&pick.path);
        match blob {
            Blob::Bytes(bytes) if is_named && archive::format(&bytes).is_some() => self.named(name, Origin::Stdin, bytes),
            Blob::Bytes(bytes) => {
                if !self.admit(&name, bytes.len() as u64) {
                    return false;
                }
                let path = pick.path.clone();
                let origin = match snapshot.revision() {
                    None => Origin::Index { path },
                    Some(revision) => Origin::Git { rev: revision.rev.clone(), path, commit: revision.id.clone() },
                };
                self.item(name, origin, Content::Bytes(bytes));
            }
            Blob::TooLarge(size) => self.problem(Problem::TooLarge { name, size: Some(size), limit: self.limits.file_bytes }),
            Blob::Missing => {
                self.problem(Problem::Git { error: GitError::MissingObject { name: pick.path.clone(), id: pick.id.clone() }, name })
            }
        }
        true
    }

    pub(super) fn git_error(&mut self, input: &Input, error: GitError) {
        let name = input.to_string();
        if error.is_absent() && input.absent_is_empty {
            self.loaded.notes.push(Note::EmptyAtRevision { name });
        } else {
            self.problem(Problem::Git { name, error });
        }
    }

    fn is_new(&mut self, identity: Identity, name: &str) -> bool {
        if let Some(first) = self.seen.get(&identity) {
            self.loaded.skipped.push(SkippedInput { what: name.to_owned(), why: Why::SameFile { first: first.clone() } });
            return false;
        }
        self.seen.insert(identity, name.to_owned());
        true
    }

    /// Takes a file off the budget. Once the budget is used up nothing more is read, so that the result doesn't depend on which
    /// files happen to fit.
    fn admit(&mut self, name: &str, size: u64) -> bool {
        if let Some((_, _, refused)) = &mut self.spent {
            *refused += 1;
            return false;
        }
        if let Err(spent) = self.budget.admit(size) {
            self.spent = Some((spent, name.to_owned(), 1));
            return false;
        }
        true
    }

    fn item(&mut self, name: String, origin: Origin, content: Content) {
        self.items.push(Item { order: self.order, name, origin, content });
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.problems.push((self.order, problem));
    }

    fn skip(&mut self, mut skipped: Vec<SkippedInput>, input: &str) {
        skipped.sort_by(|a, b| a.what.cmp(&b.what));
        let more = skipped.len().saturating_sub(SKIPPED_NAMED);
        skipped.truncate(SKIPPED_NAMED);
        self.loaded.skipped.append(&mut skipped);
        if more > 0 {
            self.loaded.skipped.push(SkippedInput { what: format!("{more} more in {input}"), why: Why::OtherExtension });
        }
    }

    /// Adds the output of another program for an input; returns whether there is any.
    pub(super) fn rendered(&mut self, outcome: Option<Result<(File, Note), Problem>>) -> bool {
        match outcome {
            None => return false,
            Some(Err(problem)) => self.problem(problem),
            Some(Ok((file, note))) => {
                if self.is_new(Identity::Rendered(file.name.clone()), &file.name) && self.admit(&file.name, file.text.len() as u64) {
                    self.loaded.files.push(file);
                    self.loaded.notes.push(note);
                }
            }
        }
        true
    }

    /// Returns the bytes of all files, not decoded.
    pub(super) fn raw(self) -> (Vec<(Origin, Vec<u8>)>, Vec<Problem>) {
        let limits = self.limits;
        let mut problems: Vec<Problem> = self.problems.into_iter().map(|(_, problem)| problem).collect();
        problems.extend(self.spent.map(|spent| spent_problem(spent, limits)));
        let mut files = Vec::with_capacity(self.items.len());
        for item in self.items {
            match bytes_of(item.content, &item.name, limits) {
                Ok(bytes) => files.push((item.origin, bytes)),
                Err(problem) => problems.push(problem),
            }
        }
        (files, problems)
    }

    /// Reads the files. A text that is among the shared ones is not kept a second time.
    pub(super) fn finish(self, texts: Option<&SharedTexts>) -> Loaded {
        let LoadQueue { limits, items, spent, mut problems, mut loaded, .. } = self;
        let read: Vec<_> = match items.len() {
            // A single file isn't worth starting threads.
            0 | 1 => items.into_iter().map(|item| open(item, limits, texts)).collect(),
            _ => items.into_par_iter().map(|item| open(item, limits, texts)).collect(),
        };
        for (order, outcome) in read {
            match outcome {
                Ok((file, encoding)) => {
                    if encoding != Encoding::Utf8 {
                        let name = file.name.clone();
                        loaded.notes.push(Note::Encoding { name, encoding });
                    }
                    loaded.files.push(file);
                }
                Err(problem) => problems.push((order, problem)),
            }
        }
        problems.sort_by(|(a, one), (b, other)| a.cmp(b).then_with(|| one.name().cmp(other.name())));
        loaded.problems = problems.into_iter().map(|(_, problem)| problem).collect();
        loaded.problems.extend(spent.map(|spent| spent_problem(spent, limits)));
        loaded
    }
}

/// The first bytes of a file; empty if it can't be read, which is reported when it is opened.
fn head(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES);
    let _ = std::fs::File::open(path).and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut bytes));
    bytes
}

fn bytes_of(content: Content, name: &str, limits: &Limits) -> Result<Vec<u8>, Problem> {
    match content {
        Content::Bytes(bytes) => Ok(bytes),
        Content::At(path) => read(&path, name, limits.file_bytes),
    }
}

fn spent_problem((spent, name, left): (LimitReached, String, usize), limits: &Limits) -> Problem {
    match spent {
        LimitReached::Bytes => Problem::TotalTooLarge { name, left, limit: limits.total_bytes },
        LimitReached::Files => Problem::TooManyFiles { name, left, limit: limits.files },
    }
}

fn open(item: Item, limits: &Limits, texts: Option<&SharedTexts>) -> (usize, Result<(File, Encoding), Problem>) {
    let Item { order, name, origin, content } = item;
    let file = bytes_of(content, &name, limits).and_then(|bytes| {
        let decoded = match texts {
            Some(texts) => texts.decode(bytes),
            None => decode(bytes),
        };
        match decoded {
            Ok(Decoded { text, encoding }) => Ok((File::new(name, text, origin), encoding)),
            Err(malformed) => Err(Problem::Malformed { name, malformed }),
        }
    });
    (order, file)
}
