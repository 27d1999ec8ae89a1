//! Reads the inputs of the command line, and reports everything that couldn't be read to stderr.

use std::ffi::OsString;

use memchr::memmem;

use crate::cli::arguments;
use crate::cli::config::{self, Config};
use crate::input::yaml::YamlBudget;
use crate::input::{self, File, Input, InputError, Kustomizations, Limits, Loaded, Loader, Note};
use crate::judge::baseline;
use crate::judge::review::{Side, StatedVersion};
use crate::model::{Documents, FileId, ProblemKind, Skipped, semantic_version};
use crate::render::human;

use super::{Exit, Stop, Streams};

pub(super) struct InputReader {
    pub(super) loader: Loader,
    budget: YamlBudget,
}

/// The files of one side, before they are parsed.
pub(super) struct Unparsed {
    pub source: String,
    pub inputs: Vec<Input>,
    pub loaded: Loaded,
    pub version: Option<StatedVersion>,
}

/// The parsed documents of one side, before the CRDs are read from them.
pub(super) struct Read {
    source: String,
    documents: Documents,
    inputs: Vec<Input>,
    loaded: Loaded,
    version: Option<StatedVersion>,
    pub(super) is_release: bool,
    /// Directories whose kustomization patches CRDs.
    patched_in: Vec<String>,
}

impl InputReader {
    pub fn new(flags: &arguments::LimitFlags) -> Self {
        let mut limits = Limits::default();
        let mut budget = YamlBudget::default();
        fn set<T: Copy>(slot: &mut T, flag: Option<T>) {
            if let Some(value) = flag {
                *slot = value;
            }
        }
        set(&mut limits.file_bytes, flags.max_file_size);
        set(&mut limits.total_bytes, flags.max_total_size);
        set(&mut limits.files, flags.max_files);
        set(&mut limits.entries, flags.max_entries);
        set(&mut limits.directory_depth, flags.max_directory_depth);
        set(&mut limits.kubectl_timeout, flags.kubectl_timeout.map(std::time::Duration::from_secs));
        set(&mut budget.depth, flags.max_depth.map(|depth| depth.min(MOST_DEPTH)));
        set(&mut budget.nodes, flags.max_nodes);
        set(&mut budget.documents, flags.max_documents);
        set(&mut budget.scalar, flags.max_scalar);
        InputReader { loader: Loader::new(limits).rendering(flags.render), budget }
    }

    pub fn budget(&self) -> &YamlBudget {
        &self.budget
    }

    pub fn one(&self, inputs: &[OsString], crds_only: bool) -> Result<Read, Stop> {
        let parsed = self.parse(inputs)?;
        let mut loaded = self.loader.load_bundle(&parsed);
        if crds_only {
            loaded.files.retain(|file| names_a_crd(&file.text));
        }
        Ok(self.parse_documents(Unparsed { source: label(inputs), inputs: parsed, loaded, version: None }))
    }

    /// Reads only the files that `takes` accepts.
    pub fn chosen(&self, inputs: &[OsString], takes: impl Fn(&File) -> bool) -> Result<Read, Stop> {
        let parsed = self.parse(inputs)?;
        let mut loaded = self.loader.load_bundle(&parsed);
        loaded.files.retain(takes);
        Ok(self.parse_documents(Unparsed { source: label(inputs), inputs: parsed, loaded, version: None }))
    }

    pub(super) fn parse(&self, inputs: &[OsString]) -> Result<Vec<Input>, Stop> {
        let fail = |error: InputError| Stop::usage(with_advice(&error, Some(error.advice())));
        inputs.iter().map(|text| Input::parse_in(self.loader.dir(), text).map_err(fail)).collect()
    }

    pub(super) fn read(&self, source: String, inputs: &[Input], version: Option<StatedVersion>) -> Read {
        self.parse_documents(Unparsed { source, inputs: inputs.to_vec(), loaded: self.loader.load_bundle(inputs), version })
    }

    fn parse_documents(&self, mut unparsed: Unparsed) -> Read {
        let kustomizations = self.loader.kustomizations(&unparsed.loaded.files);
        let documents = Documents::parse(std::mem::take(&mut unparsed.loaded.files), &self.budget);
        Read::new(unparsed, documents, kustomizations)
    }

    /// Parses both sides of a review in parallel; files that they share are parsed once.
    pub(super) fn parse_both_sides(&self, mut old: Unparsed, mut new: Unparsed) -> (Read, Read) {
        let patches = rayon::join(|| self.loader.kustomizations(&old.loaded.files), || self.loader.kustomizations(&new.loaded.files));
        let files = (std::mem::take(&mut old.loaded.files), std::mem::take(&mut new.loaded.files));
        let documents = Documents::parse_both(files.0, files.1, &self.budget);
        (Read::new(old, documents.0, patches.0), Read::new(new, documents.1, patches.1))
    }
}

/// The version of an OLM bundle, from its `ClusterServiceVersion`; `None` if there are several.
fn csv_version(documents: &Documents) -> Option<StatedVersion> {
    let trees = documents.documents.iter().filter_map(|(_, document)| document.tree.as_ref().ok());
    let mut found = trees.filter_map(|tree| {
        let root = tree.root();
        let is_csv = root.text("kind") == Some("ClusterServiceVersion") && root.text("apiVersion")?.starts_with("operators.coreos.com/");
        semantic_version::parse(root.get("spec").filter(|_| is_csv)?.get("version")?.as_str()?)
    });
    let version = found.next()?;
    found.all(|other| other == version).then_some(StatedVersion::Csv(version))
}

/// Reports a side without a CRD.
pub(super) fn without_crd(side: &Side<'_>, streams: &mut Streams<'_>) -> Exit {
    if !side.bundle.crds.is_empty() {
        return Exit::Clean;
    }
    streams.error(&format!("no CRD was found in {}", side.source));
    Exit::Unread
}

pub(super) fn with_advice(what: &dyn std::fmt::Display, advice: Option<String>) -> String {
    let advice = advice.map(|advice| format!("\n  help: {advice}")).unwrap_or_default();
    format!("{what}{advice}")
}

/// A deeper document could overflow the stack later.
const MOST_DEPTH: usize = 1_000;

/// Whether a text can contain a CRD at all. Hooks pass all kinds of files, and the others must not be parsed.
pub(super) fn names_a_crd(text: &str) -> bool {
    text.contains("CustomResourceDefinition") || crate::input::generated::KINDS.iter().any(|kind| text.contains(kind))
}

pub(super) fn label(inputs: &[OsString]) -> String {
    inputs.iter().map(|input| input.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

impl Read {
    fn new(unparsed: Unparsed, mut documents: Documents, kustomizations: Kustomizations) -> Self {
        let Unparsed { source, inputs, mut loaded, version } = unparsed;
        loaded.problems.extend(kustomizations.problems);
        documents.patches = kustomizations.found.then_some(kustomizations.conversions);
        let version = version.or_else(|| csv_version(&documents));
        Read { patched_in: kustomizations.patching, source, documents, inputs, loaded, version, is_release: false }
    }

    pub fn side(&self) -> Side<'_> {
        let mut side = Side::new(self.source.clone(), &self.documents);
        side.skipped =
            self.loaded.skipped.iter().map(|skipped| Skipped { what: skipped.what.clone(), why: skipped.why.to_string() }).collect();
        side.version = self.version.clone();
        side.is_release = self.is_release;
        let unread = |problem: &input::Problem| Skipped { what: self.source.clone(), why: format!("not read: {problem}") };
        side.unread.splice(0..0, self.loaded.problems.iter().map(unread));
        side
    }

    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Adds a file that findings refer to.
    pub fn add_extra_file(&mut self, file: File) -> FileId {
        self.documents.add_extra_file(file)
    }

    /// Applies the configuration: excludes files, including the tool's own, and sets the version keys.
    pub fn configure(&mut self, config: &Config, path: impl Fn(&File) -> String, name: &str) {
        self.documents.keys = config.keys.clone();
        let all = config.include.is_empty() && config.exclude.is_empty();
        let mut left_out = Vec::new();
        self.documents.retain(|file| {
            let last = file.name.rsplit('/').next().unwrap_or_default();
            if last == config::FILE || last == baseline::FILE {
                return false;
            }
            let taken = all || config.takes(&path(file));
            if !taken {
                left_out.push(input::SkippedInput { what: file.name.clone(), why: input::Why::LeftOut { by: name.to_owned() } });
            }
            taken
        });
        self.loaded.skipped.extend(left_out);
    }

    /// Whether an input is missing or inaccessible, which is a mistake in the command rather than in a file.
    pub fn is_missing(&self) -> bool {
        self.loaded.problems.iter().any(|problem| !problem.is_about_content())
    }

    /// Whether none of the side's paths exist and that is allowed, so that the side is empty.
    pub fn is_absent(&self) -> bool {
        let absent = self.loaded.notes.iter().filter(|note| matches!(note, Note::EmptyAtRevision { .. })).count();
        absent > 0 && absent == self.inputs.len()
    }

    /// Adds a file only for the CRDs with these names.
    pub fn add_for(&mut self, names: std::collections::BTreeSet<String>, file: File, reader: &InputReader) {
        self.documents.add_for(names, file, &reader.budget);
    }

    pub fn documents(&self) -> &Documents {
        &self.documents
    }

    pub fn into_documents(self) -> Documents {
        self.documents
    }

    /// The files that couldn't be read, each with advice.
    pub fn unread_files(&self) -> Vec<String> {
        self.loaded.problems.iter().map(|problem| with_advice(problem, problem.advice())).collect()
    }

    /// Notes which CRD templates were read without Helm.
    pub fn note_templates(&self, streams: &mut Streams<'_>) {
        let starts_with_expression = |line: &str| line.trim_start().starts_with("{{");
        let is_template = |file: &&File| {
            memmem::find(file.text.as_bytes(), b"{{").is_some() && names_a_crd(&file.text) && file.text.lines().any(starts_with_expression)
        };
        if self.loaded.notes.iter().any(|note| matches!(note, Note::LeftOutByValues { .. })) {
            return;
        }
        let mut templates = self.documents.files.iter().filter(is_template);
        let Some(first) = templates.next() else { return };
        let more = match templates.count() {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        streams.note(&format!(
            "{}{more} was read without Helm: template lines around a CRD are ignored, and expressions inside its `spec` are rejected. To \
             check what Helm renders with the chart's values, add --render",
            first.name
        ));
    }

    /// Notes that clusters get something else than what was read, because a kustomization patches CRDs.
    pub fn note_patches(&self, streams: &mut Streams<'_>) {
        let Some(first) = self.patched_in.first() else { return };
        let more = match self.patched_in.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        streams.note(&format!(
            "the kustomization in {first}{more} patches CRDs, and only the conversion strategy of the patches was applied. To check the \
             rendered output that clusters get, add --render"
        ));
    }

    /// Reports the files that couldn't be read.
    pub fn unread(&self, streams: &mut Streams<'_>) -> Exit {
        for note in &self.loaded.notes {
            streams.note(&note.to_string());
        }
        for problem in &self.loaded.problems {
            streams.error(&with_advice(problem, problem.advice()));
        }
        if self.loaded.problems.is_empty() { Exit::Clean } else { Exit::Unread }
    }

    /// Reports everything that couldn't be read; anything left unchecked makes the exit code 3.
    pub fn problems(&self, side: &Side<'_>, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
        let mut exit = self.unread(streams);
        match side.contradiction() {
            Some((own, StatedVersion::Tag(tag))) => {
                streams.note(&format!("{} is annotated with version {own}, which takes precedence over the tag's {tag}", self.source));
            }
            Some((own, StatedVersion::Csv(csv))) => {
                streams.note(&format!(
                    "{} is annotated with version {own}, which takes precedence over {csv} of its ClusterServiceVersion",
                    self.source
                ));
            }
            Some((own, StatedVersion::Flag(flag))) => {
                streams.note(&format!("{} is annotated with version {own}; {flag} from the command line is used", self.source));
            }
            None => {}
        }
        for problem in &side.bundle.problems {
            let help = match &problem.kind {
                ProblemKind::Yaml(kind) => kind.help(),
                ProblemKind::TwiceInBundle(_) => Some("remove one, or compare the variants one at a time"),
                ProblemKind::TooLarge(_) => Some("it was not checked any further; shorten its descriptions, or split the API"),
                ProblemKind::TooManyVersions(_) => Some("it was not checked any further; remove versions that are no longer served"),
                _ => None,
            };
            let places = [problem.related, Some(problem.place)].map(|place| side.spot(place));
            let style = streams.err_style();
            let text = human::problem(&problem.kind.to_string(), help, &places, side.documents, &style);
            streams.raw_error(&text);
            exit = Exit::Unread;
        }
        Ok(exit)
    }
}
