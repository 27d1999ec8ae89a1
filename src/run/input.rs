//! Inputs of the command line → sides, with everything that could not be read told on stderr.

use std::ffi::OsString;

use crate::bump;
use crate::cli;
use crate::crd::{Documents, ProblemKind, Skipped};
use crate::render::human;
use crate::review::Side;
use crate::source::{Against, AgainstError, Input, Limits, Loaded, Loader, against};
use crate::yaml::Budget;

use super::{Exit, Stop, Streams};

pub(super) struct Reader {
    loader: Loader,
    budget: Budget,
}

/// What was read of one side, before it is understood.
pub(super) struct Read {
    source: String,
    documents: Documents,
    loaded: Loaded,
    version: Option<semver::Version>,
}

pub(super) struct Sides {
    pub old: Read,
    pub new: Read,
}

impl Reader {
    pub fn new(flags: &cli::LimitFlags) -> Self {
        let mut limits = Limits::default();
        let mut budget = Budget::default();
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
        set(&mut budget.depth, flags.max_depth.map(|depth| depth.min(MOST_DEPTH)));
        set(&mut budget.nodes, flags.max_nodes);
        set(&mut budget.documents, flags.max_documents);
        set(&mut budget.scalar, flags.max_scalar);
        Reader { loader: Loader::new(limits), budget }
    }

    pub fn one(&self, inputs: &[OsString]) -> Result<Read, Stop> {
        let parsed = self.parse(inputs)?;
        Ok(self.read(label(inputs), &parsed, None))
    }

    pub fn sides(&self, arguments: &cli::Review) -> Result<Sides, Stop> {
        let given = |text: &Option<String>, flag: &str| match text {
            None => Ok(None),
            Some(text) => bump::parse(text).map(Some).ok_or_else(|| Stop::usage(format!("{flag}: `{text}` is no semantic version"))),
        };
        let old_version = given(&arguments.old_version, "--old-version")?;
        let new_version = given(&arguments.new_version, "--new-version")?;
        let (old_inputs, new_inputs, old_label, new_label) = match (&arguments.against, arguments.inputs.as_slice()) {
            (Some(target), inputs) => {
                let new = self.parse(inputs)?;
                let Against { inputs: old, .. } = against(&self.loader, target, &new).map_err(|error| {
                    let exit = if matches!(error, AgainstError::Input(_)) { Exit::Usage } else { Exit::Unread };
                    Stop { exit, message: with_advice(&error, error.advice()) }
                })?;
                (old, new, target.to_string_lossy().into_owned(), label(inputs))
            }
            (None, [old, new]) => {
                let (first, second) = (std::slice::from_ref(old), std::slice::from_ref(new));
                (self.parse(first)?, self.parse(second)?, label(first), label(second))
            }
            (None, inputs) => {
                let help = "give OLD and NEW, or NEW with --against REV";
                return Err(Stop::usage(format!("review needs two inputs, {} given: {help}", inputs.len())));
            }
        };
        let tag = |inputs: &[Input]| inputs.first().and_then(|input| self.tag(input));
        let old_version = old_version.or_else(|| tag(&old_inputs));
        let new_version = new_version.or_else(|| tag(&new_inputs));
        Ok(Sides { old: self.read(old_label, &old_inputs, old_version), new: self.read(new_label, &new_inputs, new_version) })
    }

    /// The version that a revision's own name gives: `v1.2.0:config/crd`.
    fn tag(&self, input: &Input) -> Option<semver::Version> {
        match &input.kind {
            crate::source::InputKind::Revision { rev, .. } => self.loader.repository().ok()?.tag_of(rev).ok()??.version,
            _ => None,
        }
    }

    fn parse(&self, inputs: &[OsString]) -> Result<Vec<Input>, Stop> {
        inputs
            .iter()
            .map(|text| Input::parse_in(self.loader.dir(), text).map_err(|error| Stop::usage(with_advice(&error, Some(error.advice())))))
            .collect()
    }

    fn read(&self, source: String, inputs: &[Input], version: Option<semver::Version>) -> Read {
        let mut loaded = self.loader.load(inputs);
        let documents = Documents::parse(std::mem::take(&mut loaded.files), &self.budget);
        Read { source, documents, loaded, version }
    }
}

fn with_advice(what: &dyn std::fmt::Display, advice: Option<String>) -> String {
    let advice = advice.map(|advice| format!("\n  help: {advice}")).unwrap_or_default();
    format!("{what}{advice}")
}

/// A deeper document could exhaust the stack of a later walk.
const MOST_DEPTH: usize = 1_000;

fn label(inputs: &[OsString]) -> String {
    inputs.iter().map(|input| input.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

impl Read {
    pub fn side(&self) -> Side<'_> {
        let mut side = Side::new(self.source.clone(), &self.documents);
        side.skipped =
            self.loaded.skipped.iter().map(|skipped| Skipped { what: skipped.what.clone(), why: skipped.why.to_string() }).collect();
        side.version = self.version.clone();
        side
    }

    /// Tells what could not be read; anything left unchecked makes the exit code 3.
    pub fn problems(&self, side: &Side<'_>, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
        let mut exit = Exit::Clean;
        for note in &self.loaded.notes {
            streams.note(&note.to_string());
        }
        for problem in &self.loaded.problems {
            streams.error(&with_advice(problem, problem.advice()));
            exit = Exit::Unread;
        }
        for problem in &side.bundle.problems {
            let help = match &problem.kind {
                ProblemKind::Yaml(kind) => kind.help(),
                ProblemKind::TwiceInBundle(_) => Some("remove one, or compare the variants one at a time"),
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
