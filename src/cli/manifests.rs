//! Finds and loads the conversion manifests of a run.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::find::conversion::Conversions;
use crate::find::conversion::catalogue::FIRST_FILE;
use crate::input::{Input, InputKind, leads_out};
use crate::judge::finding::Spot;
use crate::judge::review::Manifests;
use crate::model::Place;
use crate::render::human;

use super::arguments;
use super::input::InputReader;
use super::{Exit, Stop, Streams};

/// The conversion manifests of a run.
#[derive(Default)]
pub(super) struct LoadedManifests {
    now: Option<Conversions>,
    before: Option<Conversions>,
    /// The value of `--conversions`. If set, finding no manifest is an error.
    requested: Option<OsString>,
    unread: Vec<String>,
    /// Whether only manifests of the old side lower the severity of breaks.
    pub only_earlier: bool,
}

impl LoadedManifests {
    /// Loads the manifests that `--conversions` names, or those next to the new bundle, and those next to the old bundle.
    pub fn of_review(reader: &InputReader, arguments: &arguments::Review) -> Result<LoadedManifests, Stop> {
        if arguments.staged && arguments.conversions.is_none() {
            // Read the index and the last commit, not the working tree.
            let here = [OsString::from(".")];
            let inputs = if arguments.sides.inputs.is_empty() { &here[..] } else { &arguments.sides.inputs };
            let at = |revision: &str| inputs.iter().filter_map(|input| at_revision(revision.as_ref(), input)).collect::<Vec<_>>();
            let mut found = LoadedManifests::new(reader, None, &at(""))?;
            found.load_before(reader, &at("HEAD"));
            return Ok(found);
        }
        let (old, new): (&[OsString], &[OsString]) = match arguments.sides.inputs.as_slice() {
            [old, new] if arguments.sides.against.is_none() && arguments.sides.against_tag.is_none() && !arguments.staged => {
                (std::slice::from_ref(old), std::slice::from_ref(new))
            }
            all => (&[], all),
        };
        let mut found = LoadedManifests::new(reader, arguments.conversions.as_ref(), new)?;
        // With --conversions, both sides would read the same files.
        if arguments.conversions.is_none() {
            let old: Vec<OsString> = match &arguments.sides.against {
                Some(revision) if !Path::new(revision).exists() => new.iter().filter_map(|input| at_revision(revision, input)).collect(),
                Some(path) => vec![path.clone()],
                None => old.to_vec(),
            };
            found.load_before(reader, &old);
        }
        Ok(found)
    }

    /// Loads the manifests next to the old bundle, unless they are the same files as those next to the new one.
    pub fn load_before(&mut self, reader: &InputReader, old: &[OsString]) {
        if old.is_empty() {
            return;
        }
        let files = |conversions: &Conversions| conversions.documents().files.iter().map(|file| file.origin.clone()).collect::<Vec<_>>();
        let now = self.now.as_ref().map(files);
        // A revision is complete, so if the directory is missing there were no manifests.
        let complete = || reader.parse(old).is_ok_and(|all| all.iter().all(|input| matches!(input.kind, InputKind::Revision { .. })));
        let before = load_next_to(reader, old).map(|loaded| loaded.0).or_else(|| complete().then(Conversions::default));
        self.before = before.filter(|before| before.is_empty() || now != Some(files(before)));
        if let (Some(now), Some(before)) = (&mut self.now, &self.before) {
            now.leave_out_earlier_steps(before);
        }
    }

    pub fn new(reader: &InputReader, requested: Option<&OsString>, inputs: &[OsString]) -> Result<LoadedManifests, Stop> {
        let mut found = LoadedManifests { requested: requested.cloned(), ..LoadedManifests::default() };
        let loaded = match requested {
            Some(requested) => Some(load(reader, &reader.parse(std::slice::from_ref(requested))?)),
            None => load_next_to(reader, inputs).or_else(|| {
                let paths = reader.parse(inputs).is_ok_and(|all| all.iter().all(|input| matches!(input.kind, InputKind::Path(_))));
                paths.then(|| load_next_to(reader, &[OsString::from(".")])).flatten()
            }),
        };
        if let Some((conversions, unread)) = loaded {
            found.now = Some(conversions);
            found.unread = unread;
        }
        Ok(found)
    }

    /// Loads the manifests for objects to convert: next to the objects, or next to the CRDs of this repository.
    pub fn of_objects(reader: &InputReader, requested: Option<&OsString>, inputs: &[OsString]) -> Result<LoadedManifests, Stop> {
        let found = LoadedManifests::new(reader, requested, inputs)?;
        if found.now.is_some() { Ok(found) } else { LoadedManifests::new(reader, requested, &super::default_inputs::crds()) }
    }

    pub fn now(&self) -> Option<&Conversions> {
        self.now.as_ref()
    }

    pub fn manifests(&self) -> Manifests<'_> {
        Manifests { now: self.now.as_ref(), before: self.before.as_ref(), only_earlier: self.only_earlier }
    }

    /// Says which manifests have no effect because they arrive with the change.
    pub fn note_ignored(&self, streams: &mut Streams<'_>) {
        let names: Vec<String> = self.manifests().ignored().map(|name| format!("`{name}`")).collect();
        if !names.is_empty() {
            let text = "conversion manifests that come with the change don't lower the severity of a break";
            streams.note(&format!("--config-from old: {text}: {}", names.join(", ")));
        }
    }

    /// Reports errors in the manifests.
    pub fn problems(&self, streams: &mut Streams<'_>) -> Exit {
        let mut exit = Exit::Clean;
        for problem in &self.unread {
            streams.error(problem);
            exit = Exit::Unread;
        }
        let Some(now) = &self.now else { return exit };
        for bad in now.invalid() {
            let places = [bad.related, Some(bad.place)].map(|place| spot(now, place?));
            let text = human::problem(
                &bad.message,
                Some("`crdwise schema conversion` prints the JSON Schema of a manifest"),
                &places,
                now.documents(),
                &streams.err_style(),
            );
            streams.raw_error(&text);
            exit = exit.or(Exit::Usage);
        }
        if let Some(requested) =
            self.requested.as_ref().filter(|_| now.manifests.is_empty() && now.invalid().is_empty() && self.unread.is_empty())
        {
            streams.error(&format!("no conversion manifest was found in {}", requested.to_string_lossy()));
            exit = exit.or(Exit::Unread);
        }
        exit
    }
}

/// A place in a manifest, with its source for a message.
fn spot(conversions: &Conversions, place: Place) -> Option<Spot> {
    let file = conversions.file(place.file)?;
    let at = file.place(place.span.start as usize);
    let place = Place { file: place.file.saturating_sub(FIRST_FILE), span: place.span };
    Some(Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(place) })
}

fn load(reader: &InputReader, inputs: &[Input]) -> (Conversions, Vec<String>) {
    let read = reader.read(String::new(), inputs, None);
    let unread = read.unread_files();
    (Conversions::read(read.into_documents()), unread)
}

/// Reads `conversions/` in or next to each input.
fn load_next_to(reader: &InputReader, inputs: &[OsString]) -> Option<(Conversions, Vec<String>)> {
    let mut found: Vec<Input> = Vec::new();
    let mut outside: Vec<String> = Vec::new();
    for input in reader.parse(inputs).ok()? {
        let candidates: Vec<OsString> = match &input.kind {
            InputKind::Path(path) => {
                let mut places = if path.is_dir() { vec![path.join("conversions")] } else { Vec::new() };
                places.extend(path.parent().map(|parent| parent.join("conversions")));
                // The user didn't name the target of such a link, and its lines must not appear in a log.
                let (outer, inner): (Vec<_>, Vec<_>) =
                    places.into_iter().filter(|place| place.is_dir()).partition(|place| leads_out(place));
                let refused = outer.iter().map(|place| {
                    format!(
                        "`{}` is a symbolic link that points outside the repository; if that is intended, use --conversions",
                        place.display()
                    )
                });
                outside.extend(refused);
                inner.into_iter().map(PathBuf::into_os_string).collect()
            }
            InputKind::Revision { rev, path } => around(path).iter().map(|place| OsString::from(format!("{rev}:{place}"))).collect(),
            InputKind::Index { path } => around(path).iter().map(|place| OsString::from(format!(":{place}"))).collect(),
            InputKind::Stdin | InputKind::Cluster { .. } => {
                let here = Path::new("conversions");
                (here.is_dir() && !leads_out(here)).then(|| here.as_os_str().to_owned()).into_iter().collect()
            }
        };
        for candidate in candidates {
            let Ok(parsed) = reader.parse(std::slice::from_ref(&candidate)) else { continue };
            let exists = matches!(parsed.first().map(|input| &input.kind), Some(InputKind::Path(_)))
                || !reader.loader.load(&parsed).files.is_empty();
            if exists {
                found.extend(parsed);
                break;
            }
        }
    }
    if found.is_empty() && outside.is_empty() {
        return None;
    }
    let (conversions, mut unread) = load(reader, &found);
    unread.extend(outside);
    Some((conversions, unread))
}

/// The directory where a review looks for manifests: an existing one, or else the default next to the new bundle.
pub(super) fn directory(arguments: &arguments::Review) -> String {
    let new = match arguments.sides.inputs.as_slice() {
        [_, new] if arguments.sides.against.is_none() && arguments.sides.against_tag.is_none() && !arguments.staged => Some(new),
        all => all.first(),
    };
    let Some(new) = new.and_then(|new| new.to_str()) else { return "conversions".to_owned() };
    // For `REV:path`, use the path: the next commit will put the manifests there.
    let path = match new.split_once(':') {
        Some((_, path)) if !Path::new(new).exists() => path,
        _ => new,
    };
    let places = around(path);
    let existing = places.iter().find(|place| Path::new(place.as_str()).is_dir());
    existing.or(places.get(1)).or(places.first()).cloned().unwrap_or_default()
}

fn around(path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let join = |dir: &str| if dir.is_empty() || dir == "." { "conversions".to_owned() } else { format!("{dir}/conversions") };
    let mut places = vec![join(path), join(parent), join("")];
    places.dedup();
    places
}

fn at_revision(revision: &OsStr, input: &OsString) -> Option<OsString> {
    let (revision, input) = (revision.to_str()?, input.to_str()?);
    Some(OsString::from(format!("{revision}:{input}")))
}

/// The error of a command that needs manifests but found none.
pub(super) fn no_manifest() -> Stop {
    Stop { exit: Exit::Unread, message: "no conversion manifest was found; pass --conversions".into() }
}
