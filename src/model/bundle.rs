//! Everything found on one side of a review: documents, the CRDs among them, and what was left out and why.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use rayon::prelude::*;

use crate::input::yaml::{self, Document, Node, Span, Tree, YamlBudget};
use crate::input::{ConversionPatch, File, LineColumn, Origin, generated, helm_template};

use super::crd::{Api, Crd, Keys};
use super::kubernetes::{MAX_REQUEST, Server};
use super::read_bundle;

/// The index of a file on its side.
pub type FileId = u32;

/// A byte range in a file of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub file: FileId,
    pub span: Span,
}

/// Maps places in a schema to another schema with the same text.
#[derive(Debug, Clone, Copy)]
pub struct Repeat<'t> {
    /// The schema and its key.
    pub from: (Node<'t>, Node<'t>),
    pub to: (Node<'t>, Node<'t>),
}

impl Repeat<'_> {
    /// The place of the same text in the other schema.
    pub fn place(&self, place: Place) -> Place {
        let ((from, from_key), (to, to_key)) = (self.from, self.to);
        if place.span == from_key.span() {
            return Place { span: to_key.span(), ..place };
        }
        let (base, target) = (from.span().start, to.span().start);
        let moved = |at: u32| at.wrapping_sub(base).wrapping_add(target);
        Place { span: Span { start: moved(place.span.start), end: moved(place.span.end) }, ..place }
    }
}

/// Parsed files of one side. Bundles borrow from it.
#[derive(Debug, Default)]
pub struct Documents {
    pub files: Vec<File>,
    pub documents: Vec<(FileId, Document)>,
    /// Annotations that the project uses to mark its CRDs.
    pub keys: Keys,
    /// Files that findings refer to but that aren't part of the bundle, such as the configuration. Numbered after the others.
    pub extra_files: Vec<File>,
    /// Files that are read only for the CRDs with these names.
    pub only: BTreeMap<FileId, BTreeSet<String>>,
    /// Conversion strategies set by patches. `None` if no kustomization lists patches; then patches among the documents apply.
    pub patches: Option<Vec<ConversionPatch>>,
    /// The names to use for CRDs without a name, in order.
    pub(crate) fallback_names: OnceLock<Vec<String>>,
}

/// Something that was found but not used, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Skipped {
    pub what: String,
    pub why: String,
}

impl Skipped {
    /// Several of a kind, with one reason: `not a CRD, 7 of them`.
    pub fn counted(what: String, why: &str, count: usize) -> Self {
        let why = if count == 1 { why.to_owned() } else { format!("{why}, {count} of them") };
        Skipped { what, why }
    }
}

/// Something that couldn't be read, so that the run ends with exit code 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleProblem {
    pub place: Place,
    pub related: Option<Place>,
    pub kind: ProblemKind,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProblemKind {
    #[error(transparent)]
    Yaml(yaml::ErrorKind),
    #[error("the CRD `{0}` is in this bundle twice, and nothing distinguishes the two copies")]
    TwiceInBundle(String),
    #[error("unknown CRD API version `{0}`")]
    UnknownApi(String),
    #[error("this CRD has {0} bytes as JSON, and an API server refuses requests of more than {MAX_REQUEST}")]
    TooLarge(usize),
    #[error("this CRD has {0} versions, and at most {MAX_VERSIONS} are compared with each other")]
    TooManyVersions(usize),
}

/// How many versions of a CRD are compared with each other. Real CRDs have a few.
pub(crate) const MAX_VERSIONS: usize = 200;

impl Documents {
    /// Parses every file, in parallel; the result doesn't depend on the number of threads.
    pub fn parse(files: Vec<File>, budget: &YamlBudget) -> Self {
        let parsed = files.par_iter().map(|file| documents_of(file, budget)).collect();
        Self::of(files, parsed)
    }

    /// Parses two sides. Files that share their text have one tree, because most of a large bundle is unchanged.
    pub fn parse_both(old: Vec<File>, new: Vec<File>, budget: &YamlBudget) -> (Self, Self) {
        let copies = shared_files(&old, &new);
        let own = |(file, copy): (&File, &Option<usize>)| if copy.is_some() { Vec::new() } else { documents_of(file, budget) };
        let (first, second): (Vec<Vec<Document>>, Vec<Vec<Document>>) = rayon::join(
            || old.par_iter().map(|file| documents_of(file, budget)).collect(),
            || new.par_iter().zip(&copies).map(own).collect(),
        );
        let whole = second.into_iter().zip(copies);
        let second = whole.map(|(own, copy)| copy.and_then(|index| first.get(index).cloned()).unwrap_or(own)).collect();
        (Self::of(old, first), Self::of(new, second))
    }

    fn of(files: Vec<File>, parsed: Vec<Vec<Document>>) -> Self {
        let number = |index: usize| FileId::try_from(index).unwrap_or(FileId::MAX);
        let documents = parsed
            .into_iter()
            .enumerate()
            .flat_map(|(index, list)| list.into_iter().map(move |document| (number(index), document)))
            .collect();
        Documents { files, documents, ..Documents::default() }
    }

    /// Documents from text that isn't in a file: examples, tests, callers of the library.
    pub fn of_text(name: &str, text: &str) -> Self {
        Documents::parse(vec![File::new(name, text, Origin::Stdin)], &YamlBudget::default())
    }

    /// Keeps only some files, with their documents.
    pub fn retain(&mut self, mut keep: impl FnMut(&File) -> bool) {
        let kept: Vec<bool> = self.files.iter().map(&mut keep).collect();
        if kept.iter().all(|kept| *kept) {
            return;
        }
        let mut next = 0;
        let numbers: Vec<Option<FileId>> = kept
            .iter()
            .map(|kept| {
                next += FileId::from(*kept);
                kept.then(|| next - 1)
            })
            .collect();
        let number = |file: FileId| numbers.get(file as usize).copied().flatten();
        self.documents =
            std::mem::take(&mut self.documents).into_iter().filter_map(|(file, document)| Some((number(file)?, document))).collect();
        self.only = std::mem::take(&mut self.only).into_iter().filter_map(|(file, names)| Some((number(file)?, names))).collect();
        self.fallback_names = OnceLock::new();
        let mut kept = kept.into_iter();
        self.files.retain(|_| kept.next().unwrap_or(true));
    }

    /// Adds a file that is read only for the CRDs with these names.
    pub fn add_for(&mut self, names: BTreeSet<String>, file: File, budget: &YamlBudget) {
        let id = FileId::try_from(self.files.len()).unwrap_or(FileId::MAX);
        self.documents.extend(documents_of(&file, budget).into_iter().map(|document| (id, document)));
        self.files.push(file);
        self.only.insert(id, names);
    }

    /// Adds a file that isn't part of the bundle.
    pub fn add_extra_file(&mut self, file: File) -> FileId {
        self.extra_files.push(file);
        FileId::try_from(self.files.len() + self.extra_files.len() - 1).unwrap_or(FileId::MAX)
    }

    pub fn file(&self, id: FileId) -> Option<&File> {
        self.files.iter().chain(&self.extra_files).nth(id as usize)
    }

    /// The file, line and column to show for a place.
    pub fn shown_place(&self, place: Place) -> Option<(&str, LineColumn)> {
        Some(self.file(place.file)?.shown_place(place.span.start as usize))
    }
}

/// Which old file each new one shares its text with.
fn shared_files(old: &[File], new: &[File]) -> Vec<Option<usize>> {
    let address = |file: &File| file.text.as_ptr().addr();
    let known: HashMap<usize, usize> = old.iter().enumerate().map(|(index, file)| (address(file), index)).collect();
    let same = |file: &File| {
        let index = *known.get(&address(file))?;
        old.get(index)?.text.is_shared_with(&file.text).then_some(index)
    };
    new.iter().map(same).collect()
}

/// The documents of a file; those from which other controllers generate CRDs are replaced with these CRDs.
fn documents_of(file: &File, budget: &YamlBudget) -> Vec<Document> {
    let mut documents = yaml::parse(&file.text, budget);
    helm_template::unwrap(&file.text, budget, &mut documents);
    documents.into_iter().flat_map(generated::expand).collect()
}

/// The CRDs of one side, sorted by name and channel.
#[derive(Debug, Default)]
pub struct Bundle<'t> {
    pub crds: Vec<Crd<'t>>,
    pub files: usize,
    pub documents: usize,
    pub skipped: Vec<Skipped>,
    pub problems: Vec<BundleProblem>,
}

impl<'t> Bundle<'t> {
    pub fn read(documents: &'t Documents) -> Self {
        read_bundle::read(documents)
    }

    /// The same CRDs as a server of this version reads them.
    pub fn on(&self, kubernetes: impl Into<Server>) -> Bundle<'t> {
        let kubernetes = kubernetes.into();
        let crds = self.crds.iter().map(|crd| crd.on(kubernetes)).collect();
        Bundle { crds, files: self.files, documents: self.documents, ..Bundle::default() }
    }

    /// Only the CRDs with these names.
    pub fn only(&self, names: &BTreeSet<&str>) -> Bundle<'t> {
        Bundle { crds: self.crds.iter().filter(|crd| names.contains(crd.name)).cloned().collect(), ..Bundle::default() }
    }

    /// The CRDs with a name, sorted by channel.
    pub fn named(&self, name: &str) -> &[Crd<'t>] {
        let start = self.crds.partition_point(|crd| crd.name < name);
        let end = self.crds.partition_point(|crd| crd.name <= name);
        self.crds.get(start..end).unwrap_or_default()
    }

    /// The CRD with a name in a channel, or the first of that name if the channel has none.
    pub fn find(&self, name: &str, channel: Option<&str>) -> Option<&Crd<'t>> {
        let named = self.named(name);
        named.iter().find(|crd| crd.channel() == channel).or(named.first())
    }

    pub fn versions(&self) -> usize {
        self.crds.iter().map(|crd| crd.versions.len()).sum()
    }

    /// CRDs written for an API version that servers no longer have.
    pub fn outdated(&self) -> impl Iterator<Item = &Crd<'t>> {
        self.crds.iter().filter(|crd| crd.api == Api::V1Beta1)
    }
}

/// Trees are shared between threads and sides; nothing in them changes after they are built.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Tree>();
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Text;

    fn file(name: &str, text: &Text) -> File {
        File::new(name, text.clone(), Origin::Stdin)
    }

    #[test]
    fn files_on_both_sides_are_parsed_once() {
        let (two, broken) = (Text::from("a: 1\n---\nb: 2\n"), Text::from("c: [\n"));
        let old = || vec![file("a.yaml", &two), file("b.yaml", &broken)];
        let new = || vec![file("moved.yaml", &broken), file("a.yaml", &two), file("n.yaml", &"n: 1\n".into())];
        let budget = YamlBudget::default();
        let (before, after) = Documents::parse_both(old(), new(), &budget);
        let said = |documents: &Documents| format!("{documents:?}");
        // Apart from the sharing, the result is the same as if each side were read by itself.
        assert_eq!(said(&before), said(&Documents::parse(old(), &budget)));
        assert_eq!(said(&after), said(&Documents::parse(new(), &budget)));
        let tree = |documents: &Documents, index: usize| documents.documents[index].1.tree.clone().unwrap();
        assert!(std::sync::Arc::ptr_eq(&tree(&before, 1), &tree(&after, 2)));
        assert!(after.documents[0].1.tree.is_err(), "what can't be read can't be read twice");
    }
}
