//! `convert`, `conversions check` and `conversions scaffold`, and the manifests that a review finds beside its inputs.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::cli::arguments;
use crate::find::conversion::catalogue::FIRST_FILE;
use crate::find::conversion::check::{self, Checked};
use crate::find::conversion::coverage::Coverage;
use crate::find::conversion::files::{Outcome, Target, Workshop};
use crate::find::conversion::laws::Verdict;
use crate::find::conversion::{Conversions, scaffold as drafts};
use crate::input::{File, Input, InputKind, Origin};
use crate::judge::finding::Spot;
use crate::judge::review::{Judgement, Manifests};
use crate::model::{Documents, Place};
use crate::render::{human, plural};

use super::case::Judged;
use super::input::Reader;
use super::setting::{Setting, Sought};
use super::{Exit, Stop, Streams, output};

/// The manifests of a run.
pub(super) struct Found {
    now: Option<Conversions>,
    before: Option<Conversions>,
    /// Asked for by name, so that finding none is a mistake.
    asked: Option<OsString>,
    unread: Vec<String>,
}

impl Found {
    /// What `--conversions` names, or what stands beside the new bundle; and what stood beside the old one.
    pub fn of_review(reader: &Reader, arguments: &arguments::Review) -> Result<Found, Stop> {
        if arguments.staged && arguments.conversions.is_none() {
            // The index and the last commit, whatever lies in the working tree.
            let here = [OsString::from(".")];
            let inputs = if arguments.inputs.is_empty() { &here[..] } else { &arguments.inputs };
            let at = |revision: &str| inputs.iter().filter_map(|input| at_revision(revision.as_ref(), input)).collect::<Vec<_>>();
            let mut found = Found::new(reader, None, &at(""))?;
            found.look_before(reader, &at("HEAD"));
            return Ok(found);
        }
        let (old, new): (&[OsString], &[OsString]) = match arguments.inputs.as_slice() {
            [old, new] if arguments.against.is_none() && arguments.against_tag.is_none() && !arguments.staged => {
                (std::slice::from_ref(old), std::slice::from_ref(new))
            }
            all => (&[], all),
        };
        let mut found = Found::new(reader, arguments.conversions.as_ref(), new)?;
        // With --conversions both sides would be the same files.
        if arguments.conversions.is_none() {
            let old: Vec<OsString> = match &arguments.against {
                Some(revision) if !Path::new(revision).exists() => new.iter().filter_map(|input| at_revision(revision, input)).collect(),
                Some(path) => vec![path.clone()],
                None => old.to_vec(),
            };
            found.look_before(reader, &old);
        }
        Ok(found)
    }

    /// What stood beside the old bundle, if that is not the same that stands beside the new one.
    fn look_before(&mut self, reader: &Reader, old: &[OsString]) {
        if old.is_empty() {
            return;
        }
        let files = |conversions: &Conversions| conversions.documents().files.iter().map(|file| file.origin.clone()).collect::<Vec<_>>();
        let now = self.now.as_ref().map(files);
        // A revision is whole: what is not there was not there.
        let whole = || reader.parse(old).is_ok_and(|all| all.iter().all(|input| matches!(input.kind, InputKind::Revision { .. })));
        let before = beside(reader, old).map(|loaded| loaded.0).or_else(|| whole().then(Conversions::default));
        self.before = before.filter(|before| before.is_empty() || now != Some(files(before)));
    }

    pub fn none() -> Found {
        Found { now: None, before: None, asked: None, unread: Vec::new() }
    }

    fn new(reader: &Reader, asked: Option<&OsString>, inputs: &[OsString]) -> Result<Found, Stop> {
        let mut found = Found { now: None, before: None, asked: asked.cloned(), unread: Vec::new() };
        let loaded = match asked {
            Some(asked) => Some(load(reader, &reader.parse(std::slice::from_ref(asked))?)),
            None => beside(reader, inputs).or_else(|| {
                let paths = reader.parse(inputs).is_ok_and(|all| all.iter().all(|input| matches!(input.kind, InputKind::Path(_))));
                paths.then(|| beside(reader, &[OsString::from(".")])).flatten()
            }),
        };
        if let Some((conversions, unread)) = loaded {
            found.now = Some(conversions);
            found.unread = unread;
        }
        Ok(found)
    }

    pub fn now(&self) -> Option<&Conversions> {
        self.now.as_ref()
    }

    pub fn manifests(&self) -> Manifests<'_> {
        Manifests { now: self.now.as_ref(), before: self.before.as_ref() }
    }

    /// Tells what is wrong with the manifests themselves.
    pub fn problems(&self, streams: &mut Streams<'_>) -> Exit {
        let mut exit = Exit::Clean;
        for problem in &self.unread {
            streams.error(problem);
            exit = Exit::Unread;
        }
        let Some(now) = &self.now else { return exit };
        for bad in &now.unusable {
            let places = [bad.related, Some(bad.place)].map(|place| spot(now, place?));
            let text = human::problem(
                &bad.message,
                Some("`crdwise schema conversion` prints what a manifest may hold"),
                &places,
                now.documents(),
                &streams.err_style(),
            );
            streams.raw_error(&text);
            exit = exit.or(Exit::Usage);
        }
        if let Some(asked) = self.asked.as_ref().filter(|_| now.manifests.is_empty() && now.unusable.is_empty() && self.unread.is_empty()) {
            streams.error(&format!("no conversion manifest was found in {}", asked.to_string_lossy()));
            exit = exit.or(Exit::Unread);
        }
        exit
    }
}

/// A place in a manifest as the drawing of problems wants it.
fn spot(conversions: &Conversions, place: Place) -> Option<Spot> {
    let file = conversions.file(place.file)?;
    let at = file.place(place.span.start as usize);
    let place = Place { file: place.file.saturating_sub(FIRST_FILE), span: place.span };
    Some(Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(place) })
}

fn load(reader: &Reader, inputs: &[Input]) -> (Conversions, Vec<String>) {
    let read = reader.read(String::new(), inputs, None);
    let unread = read.unread_files();
    (Conversions::read(read.into_documents()), unread)
}

/// `conversions/` in or next to each input.
fn beside(reader: &Reader, inputs: &[OsString]) -> Option<(Conversions, Vec<String>)> {
    let mut found: Vec<Input> = Vec::new();
    for input in reader.parse(inputs).ok()? {
        let candidates: Vec<OsString> = match &input.kind {
            InputKind::Path(path) => {
                let mut places = if path.is_dir() { vec![path.join("conversions")] } else { Vec::new() };
                places.extend(path.parent().map(|parent| parent.join("conversions")));
                places.into_iter().filter(|place| place.is_dir()).map(PathBuf::into_os_string).collect()
            }
            InputKind::Revision { rev, path } => around(path).iter().map(|place| OsString::from(format!("{rev}:{place}"))).collect(),
            InputKind::Index { path } => around(path).iter().map(|place| OsString::from(format!(":{place}"))).collect(),
            InputKind::Stdin => Vec::new(),
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
    (!found.is_empty()).then(|| load(reader, &found))
}

fn around(path: &str) -> Vec<String> {
    let path = path.trim_end_matches('/');
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let join = |dir: &str| if dir.is_empty() || dir == "." { "conversions".to_owned() } else { format!("{dir}/conversions") };
    vec![join(path), join(parent)]
}

fn at_revision(revision: &OsStr, input: &OsString) -> Option<OsString> {
    let (revision, input) = (revision.to_str()?, input.to_str()?);
    Some(OsString::from(format!("{revision}:{input}")))
}

pub(super) fn scaffold(arguments: &arguments::ConversionsScaffold, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = Reader::new(&arguments.limits);
    let (old, new) = (reader.one(std::slice::from_ref(&arguments.old), false)?, reader.one(std::slice::from_ref(&arguments.new), false)?);
    let (mut old_side, mut new_side) = (old.side(), new.side());
    let versions = arguments.versions.read()?;
    (old_side.version, new_side.version) = (versions.0.or(old_side.version), versions.1.or(new_side.version));
    let mut exit = old.problems(&old_side, streams)?.or(new.problems(&new_side, streams)?);
    if old_side.bundle.crds.is_empty() || new_side.bundle.crds.is_empty() {
        streams.error("no CRD was found on one of the sides");
        exit = exit.or(Exit::Unread);
    }
    let known = match &arguments.conversions {
        Some(_) => Found::new(&reader, arguments.conversions.as_ref(), &[])?,
        None => Found::none(),
    };
    exit = exit.or(known.problems(streams));
    let coverage = known.now().map(|known| Coverage::new(known, &old_side.bundle, &new_side.bundle));
    let facts = crate::find::change::diff(&old_side.bundle, &new_side.bundle, &crate::find::change::Options::default());
    let wanted = |fact: &crate::model::fact::Fact| {
        crate::judge::review::needs_step(fact) && coverage.as_ref().is_none_or(|coverage| coverage.cover(fact).is_none())
    };
    let drafts = drafts::scaffold(&facts, old_side.released(), new_side.released(), &wanted);
    if drafts.is_empty() {
        streams.note("nothing changed that needs a conversion");
        return Ok(exit);
    }
    match &arguments.output {
        None => {
            let texts: Vec<&str> = drafts.iter().map(|draft| draft.text.as_str()).collect();
            streams.write(&texts.join("---\n"))?;
        }
        Some(dir) => {
            std::fs::create_dir_all(dir)?;
            for draft in &drafts {
                let file = dir.join(format!("{}.yaml", draft.name));
                if file.exists() {
                    return Err(Stop::usage(format!("{} is there already; nothing is overwritten", file.display())));
                }
                output::replace(&file, &draft.text)?;
                streams.note(&format!("wrote {}", file.display()));
            }
        }
    }
    Ok(exit)
}

pub(super) fn check(arguments: &arguments::ConversionsCheck, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let inputs = [arguments.old.clone(), arguments.new.clone()];
    output::check(&arguments.output, &inputs)?;
    let reader = Reader::new(&arguments.limits);
    let (mut old, mut new) =
        (reader.one(std::slice::from_ref(&arguments.old), false)?, reader.one(std::slice::from_ref(&arguments.new), false)?);
    let sought = Sought { old: Some((&mut old, arguments::ConfigSide::New)), new: &mut new, accept: false };
    let setting = Setting::new(&reader, &arguments.judging, sought, streams)?;
    let (old_side, new_side) = (old.side(), new.side());
    let mut found = Found::new(&reader, arguments.conversions.as_ref(), std::slice::from_ref(&arguments.new))?;
    if arguments.conversions.is_none() {
        found.look_before(&reader, std::slice::from_ref(&arguments.old));
    }
    let mut exit = old.problems(&old_side, streams)?.or(new.problems(&new_side, streams)?).or(found.problems(streams));
    let Some(conversions) = found.now() else {
        return Err(Stop { exit: Exit::Unread, message: "no conversion manifest was found; name them with --conversions".into() });
    };
    let mut checked = check::check(conversions, &old_side.bundle, &new_side.bundle, &|_| true);
    for fact in check::astray(conversions, found.manifests().before, &old_side.bundle, &new_side.bundle) {
        let owner = checked.iter_mut().find(|one| fact.key.as_ref() == Some(&one.manifest));
        owner.into_iter().for_each(|one| one.facts.push(fact.clone()));
    }
    let judgement = Judgement { conversions: found.manifests(), ..setting.judgement() };
    let facts: Vec<crate::model::fact::Fact> = checked.iter().flat_map(|one| one.facts.iter().cloned()).collect();
    let report = crate::judge::review::of_manifests(&facts, &old_side, &new_side, &judgement);
    let to_people = arguments.output.format.iter().any(|flag| flag.format == arguments::Format::Human && flag.file.is_none());
    if to_people && !arguments.output.quiet {
        let text = table(&checked, streams.out_style().width);
        streams.write(&text)?;
    }
    if conversions.manifests.is_empty() {
        exit = exit.or(Exit::Unread);
    }
    let judged = Judged { report, old: Some(&old_side), new: &new_side, judgement: &judgement, exit };
    output::write(&judged, &reader, setting.gate, &arguments.output, streams)?;
    Ok(exit.or(super::gate(setting.gate, &arguments.judging, &judged.report)))
}

/// The laws of each manifest, and how each is known.
fn table(checked: &[Checked], width: usize) -> String {
    const TITLES: usize = 34;
    let mut out = String::new();
    let mut line = |lead: &str, indent: usize, text: &str| {
        let indent = " ".repeat(indent);
        let options = textwrap::Options::new(width.max(2 * TITLES)).initial_indent(lead).subsequent_indent(&indent);
        let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
        for line in textwrap::wrap(&crate::render::visible(text), options) {
            let _ = writeln!(out, "{}", line.trim_end());
        }
    };
    let mut generated = false;
    for one in checked {
        line("", 2, &format!("{}: {} → {}", one.manifest, one.from, one.to));
        if one.laws.is_empty() {
            let why = if one.facts.is_empty() { "it leads between other versions than those of the two sides" } else { "see below" };
            line("  ", 4, &format!("not checked: {why}"));
        }
        for (law, verdict) in &one.laws {
            let said = match verdict {
                Verdict::Proved => "proved".to_owned(),
                Verdict::Tested { objects, because } => {
                    generated = true;
                    format!("tested with {objects} objects: {because}")
                }
                Verdict::Broken(broken) => format!("broken: {}", broken.because),
                Verdict::Undecided(why) => format!("not decided: {why}"),
            };
            line(&format!("  {:<TITLES$} ", law.title()), TITLES + 3, &said);
        }
    }
    if generated {
        line("", 0, "Tested is what could not be proved, with objects made from the schemas, the same in every run.");
    }
    out
}

/// Files below a directory that is written to keep their names there.
fn target(output: &Path, file: &File) -> PathBuf {
    let dir = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    match (&file.origin, dir) {
        (Origin::Path(path), true) => output.join(path.file_name().unwrap_or_default()),
        (_, true) => output.join("converted.yaml"),
        (_, false) => output.to_owned(),
    }
}

pub(super) fn convert(arguments: &arguments::Convert, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = Reader::new(&arguments.limits);
    let found = Found::new(&reader, arguments.conversions.as_ref(), &arguments.inputs)?;
    let mut exit = found.problems(streams);
    let Some(conversions) = found.now() else {
        return Err(Stop { exit: Exit::Unread, message: "no conversion manifest was found; name them with --conversions".into() });
    };
    let crds = if arguments.crd.is_empty() { None } else { Some(reader.one(&arguments.crd, false)?) };
    let bundle = crds.as_ref().map(|crds| crds.side());
    if let (Some(crds), Some(side)) = (&crds, &bundle) {
        exit = exit.or(crds.problems(side, streams)?);
    }
    let mut workshop = Workshop::new(conversions, Target { to: arguments.to.clone(), from: arguments.from.clone() });
    if let Some(side) = &bundle {
        workshop = workshop.with_crds(&side.bundle);
    }
    if !workshop.knows_target() {
        return Err(Stop::usage(format!("no manifest leads to `{}`; there are {}", arguments.to, workshop.targets().join(", "))));
    }
    let loaded = reader.loader.load(&reader.parse(&arguments.inputs)?);
    for problem in &loaded.problems {
        streams.error(&super::input::with_advice(problem, problem.advice()));
        exit = exit.or(Exit::Unread);
    }
    let outcomes: Vec<Outcome> = loaded.files.par_iter().map(|file| workshop.convert(&file.text)).collect();
    exit = exit.or(write(arguments, &loaded.files, &outcomes, streams)?);
    let sum = |count: fn(&Outcome) -> usize| outcomes.iter().map(count).sum::<usize>();
    let (converted, current, other, anew) = (sum(|o| o.converted), sum(|o| o.current), sum(|o| o.other), sum(|o| o.anew));
    let rewritten = if anew > 0 { format!(" ({anew} of them written anew, without comments)") } else { String::new() };
    let (files, converted) = (plural(loaded.files.len(), "file"), plural(converted, "object"));
    streams.note(&format!("{files}: {converted} converted{rewritten}, {current} there already, {other} of other kinds"));
    Ok(exit)
}

fn write(arguments: &arguments::Convert, files: &[File], outcomes: &[Outcome], streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let mut exit = Exit::Clean;
    let mut printed = String::new();
    let mut warnings = Warnings::new(outcomes);
    for (file, outcome) in files.iter().zip(outcomes) {
        remarks(file, outcome, &mut warnings, streams);
        if outcome.failed() {
            exit = exit.or(Exit::Findings);
        }
        let changed = outcome.text != *file.text;
        if arguments.check {
            if changed {
                let difference = similar::TextDiff::from_lines(&*file.text, &outcome.text);
                let header = (format!("a/{}", file.name), format!("b/{}", file.name));
                printed.push_str(&difference.unified_diff().context_radius(3).header(&header.0, &header.1).to_string());
                exit = exit.or(Exit::Findings);
            }
        } else if arguments.write {
            // A file is converted whole or not at all.
            match &file.origin {
                Origin::Path(path) if changed && !outcome.failed() => output::replace(path, &outcome.text)?,
                Origin::Path(_) => {}
                _ => return Err(Stop::usage(format!("{} is no file that could be replaced; use -o", file.name))),
            }
        } else if let Some(output) = &arguments.output {
            if !outcome.failed() {
                let place = target(output, file);
                if let Some(parent) = place.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                    std::fs::create_dir_all(parent)?;
                }
                if place == *output && files.len() > 1 {
                    let gap = if printed.is_empty() || printed.ends_with("---\n") { "" } else { "---\n" };
                    printed.push_str(gap);
                    printed.push_str(&outcome.text);
                    continue;
                }
                output::replace(&place, &outcome.text)?;
            }
        } else if !outcome.failed() {
            if !printed.is_empty() && !outcome.text.trim_start().starts_with("---") {
                printed.push_str("---\n");
            }
            printed.push_str(&outcome.text);
            if !printed.ends_with('\n') {
                printed.push('\n');
            }
        }
    }
    match &arguments.output {
        Some(output) if !printed.is_empty() => output::replace(output, &printed)?,
        _ => streams.write(&printed)?,
    }
    Ok(exit)
}

/// Warnings of all files, each told once: how often, by what it says of a place regardless of which item of a list that is.
struct Warnings {
    left: BTreeMap<String, usize>,
}

impl Warnings {
    fn new(outcomes: &[Outcome]) -> Warnings {
        let mut left: BTreeMap<String, usize> = BTreeMap::new();
        for remark in outcomes.iter().flat_map(|outcome| &outcome.remarks).filter(|remark| !remark.error) {
            *left.entry(general(&remark.message)).or_default() += 1;
        }
        Warnings { left }
    }

    /// The message with the number of others like it; `None` if it was told.
    fn tell(&mut self, message: &str) -> Option<String> {
        match self.left.remove(&general(message))? {
            1 => Some(message.to_owned()),
            count => Some(format!("{message} (the first of {count})")),
        }
    }
}

/// `spec.rules[3].a` as `spec.rules[].a`.
fn general(message: &str) -> String {
    let mut inside = false;
    let mut text = String::with_capacity(message.len());
    for (at, c) in message.char_indices() {
        let rest = message.get(at + c.len_utf8()..).unwrap_or_default();
        inside = inside && c.is_ascii_digit();
        if !inside {
            text.push(c);
        }
        let number = || rest.split_once(']').is_some_and(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()));
        inside = inside || (c == '[' && number());
    }
    text
}

/// Errors are drawn, warnings are a line each.
fn remarks(file: &File, outcome: &Outcome, warnings: &mut Warnings, streams: &mut Streams<'_>) {
    for remark in &outcome.remarks {
        let at = file.place(remark.span.start as usize);
        if remark.error {
            let documents = Documents { files: vec![file.clone()], ..Documents::default() };
            let spot =
                Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(Place { file: 0, span: remark.span }) };
            let text = human::problem(&remark.message, None, &[Some(spot)], &documents, &streams.err_style());
            streams.raw_error(&text);
        } else if let Some(message) = warnings.tell(&remark.message) {
            streams.warning(&format!("{}:{}:{}: {message}", file.name, at.line, at.column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_lists_are_told_together() {
        assert_eq!(general("`spec.l[12].a` is [1,2] and [] or [3"), "`spec.l[].a` is [1,2] and [] or [3");
    }

    #[test]
    fn the_table_fits_the_screen() {
        let tested = Verdict::Tested { objects: 6, because: "a step may find something to do in what it gave, and so on".into() };
        let laws = check::Law::ALL.map(|law| (law, tested.clone())).to_vec();
        let one = Checked { manifest: "widget".repeat(9), from: "v1 1.0.0".into(), to: "v1 1.1.0".into(), laws, facts: Vec::new() };
        let text = table(&[one], 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
