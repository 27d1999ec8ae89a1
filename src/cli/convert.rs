//! `convert`: converts files of objects using the conversion manifests.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::cli::arguments;
use crate::find::conversion::convert_files::{ConversionTarget, ConvertedFile, FileConverter};
use crate::input::{File, Origin, unified_diff};
use crate::judge::finding::Spot;
use crate::model::{Documents, Place};
use crate::render::{human, plural};

use super::input::InputReader;
use super::manifests::{LoadedManifests, no_manifest};
use super::{Exit, Stop, Streams, write_file};

/// The file to write; in an output directory, files keep their names.
fn target(output: &Path, file: &File) -> PathBuf {
    let dir = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    match (&file.origin, dir) {
        (Origin::Path(path), true) => output.join(path.file_name().unwrap_or_default()),
        (Origin::Git { path, .. } | Origin::Index { path } | Origin::Archive { path }, true) => {
            output.join(Path::new(path).file_name().unwrap_or_default())
        }
        (Origin::Stdin | Origin::Cluster | Origin::Rendered { .. }, true) => output.join("converted.yaml"),
        (_, false) => output.to_owned(),
    }
}

pub(super) fn convert(arguments: &arguments::Convert, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = InputReader::new(&arguments.limits);
    let found = LoadedManifests::of_objects(&reader, arguments.conversions.as_ref(), &arguments.inputs)?;
    let mut exit = found.problems(streams);
    let Some(conversions) = found.now() else {
        return Err(no_manifest());
    };
    let crds = if arguments.crd.is_empty() { None } else { Some(reader.one(&arguments.crd, false)?) };
    let bundle = crds.as_ref().map(|crds| crds.side());
    if let (Some(crds), Some(side)) = (&crds, &bundle) {
        exit = exit.or(crds.problems(side, streams)?);
    }
    let linked = bundle.as_ref().map(|side| conversions.with_links(&side.bundle));
    let mut converter = FileConverter::new(
        linked.as_ref().unwrap_or(conversions),
        ConversionTarget { to: arguments.to.clone(), from: arguments.from.clone() },
    );
    if let Some(side) = &bundle {
        converter = converter.with_crds(&side.bundle);
    }
    if exit != Exit::Clean && conversions.is_empty() {
        return Ok(exit);
    }
    if !converter.knows_target() {
        return Err(Stop::usage(format!("no manifest converts to `{}`; use one of {}", arguments.to, converter.targets().join(", "))));
    }
    let loaded = reader.loader.load(&reader.parse(&arguments.inputs)?);
    for problem in &loaded.problems {
        streams.error(&super::input::with_advice(problem, problem.advice()));
        exit = exit.or(Exit::Unread);
    }
    let outcomes: Vec<ConvertedFile> = loaded.files.par_iter().map(|file| converter.convert(&file.text)).collect();
    let (ended, unwritten) = write(arguments, &loaded.files, &outcomes, streams)?;
    exit = exit.or(ended);
    let done = || outcomes.iter().enumerate().filter(|(index, _)| !unwritten.contains(index)).map(|(_, outcome)| outcome);
    let sum = |count: fn(&ConvertedFile) -> usize| done().map(count).sum::<usize>();
    let (converted, reformatted) = (sum(|outcome| outcome.converted), sum(|outcome| outcome.reformatted));
    let (current, other_kinds) = (sum(|outcome| outcome.current), sum(|outcome| outcome.other_kinds));
    let comments = if reformatted > 0 { format!(" ({reformatted} of them reformatted, without comments)") } else { String::new() };
    let (mut files, converted) = (plural(loaded.files.len(), "file"), plural(converted, "object"));
    if !unwritten.is_empty() {
        files = format!("{files}, {} of them not written", unwritten.len());
    }
    let failed = match sum(|outcome| outcome.failed) {
        0 => String::new(),
        failed => format!(", {failed} failed and unchanged"),
    };
    streams.note(&format!("{files}: {converted} converted{comments}{failed}, {current} already current, {other_kinds} of other kinds"));
    Ok(exit)
}

/// Prints or writes the converted files, and returns the indexes of those that could not be written.
fn write(
    arguments: &arguments::Convert,
    files: &[File],
    outcomes: &[ConvertedFile],
    streams: &mut Streams<'_>,
) -> Result<(Exit, HashSet<usize>), Stop> {
    let mut exit = Exit::Clean;
    let mut unwritten = HashSet::new();
    let mut printed = String::new();
    let mut written: Vec<(PathBuf, &String)> = Vec::new();
    let mut warnings = Warnings::new(outcomes);
    for (index, (file, outcome)) in files.iter().zip(outcomes).enumerate() {
        remarks(file, outcome, &mut warnings, streams);
        if outcome.failed > 0 {
            exit = exit.or(Exit::Findings);
        }
        let changed = outcome.text != *file.text;
        if arguments.check {
            if changed {
                printed.push_str(&unified_diff(&file.text, &outcome.text, &file.name));
                exit = exit.or(Exit::Findings);
            }
        } else if let Some(output) = &arguments.output {
            let place = target(output, file);
            if place == *output {
                append(&mut printed, &outcome.text);
            } else {
                written.push((place, &outcome.text));
            }
        } else if arguments.write {
            match &file.origin {
                // Continue with the other files if one can't be written.
                Origin::Path(path) if changed => {
                    if let Err(stop) = write_file::replace(path, &outcome.text) {
                        streams.error(&stop.message);
                        exit = exit.or(stop.exit);
                        unwritten.insert(index);
                    }
                }
                Origin::Path(_) => {}
                _ => return Err(Stop::usage(format!("{} can't be overwritten because it isn't a local file; use -o", file.name))),
            }
        } else {
            append(&mut printed, &outcome.text);
        }
    }
    match &arguments.output {
        Some(output) => {
            if !printed.is_empty() {
                written.push((output.clone(), &printed));
            }
            write_files(&written, arguments.write)?;
        }
        None => streams.write(&printed)?,
    }
    Ok((exit, unwritten))
}

/// Appends the objects of another file.
fn append(printed: &mut String, text: &str) {
    if !printed.is_empty() && !text.trim_start().starts_with("---") {
        printed.push_str("---\n");
    }
    printed.push_str(text);
    if !printed.ends_with('\n') {
        printed.push('\n');
    }
}

/// Writes all files or none. Two results must not go to the same file, and existing files are only overwritten on request.
fn write_files(files: &[(PathBuf, &String)], overwrite: bool) -> Result<(), Stop> {
    let mut taken: HashSet<&Path> = HashSet::new();
    for (place, _) in files {
        if !taken.insert(place) {
            return Err(Stop::usage(format!("two inputs would be written to {}; convert them one after the other", place.display())));
        }
        if !overwrite && place.exists() {
            return Err(Stop::usage(format!("{} already exists; add --write to overwrite it", place.display())));
        }
    }
    for (place, text) in files {
        if let Some(parent) = place.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            write_file::create_dir(parent)?;
        }
        write_file::replace(place, text)?;
    }
    Ok(())
}

/// The warnings of all files, by message without list indices, so that each is shown once with a count.
struct Warnings {
    left: BTreeMap<String, usize>,
}

impl Warnings {
    fn new(outcomes: &[ConvertedFile]) -> Warnings {
        let mut left: BTreeMap<String, usize> = BTreeMap::new();
        for remark in outcomes.iter().flat_map(|outcome| &outcome.remarks).filter(|remark| !remark.error) {
            *left.entry(general(&remark.message)).or_default() += 1;
        }
        Warnings { left }
    }

    /// Returns the message with the number of similar ones, or `None` if one of them was already shown.
    fn first(&mut self, message: &str) -> Option<String> {
        match self.left.remove(&general(message))? {
            1 => Some(message.to_owned()),
            count => Some(format!("{message} (the first of {count} such warnings)")),
        }
    }
}

/// Replaces `spec.rules[3].a` with `spec.rules[].a`.
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

/// Shows errors with their source, and warnings on one line each.
fn remarks(file: &File, outcome: &ConvertedFile, warnings: &mut Warnings, streams: &mut Streams<'_>) {
    for remark in &outcome.remarks {
        let at = file.place(remark.span.start as usize);
        if remark.error {
            let documents = Documents { files: vec![file.clone()], ..Documents::default() };
            let spot =
                Spot { file: file.name.clone(), line: at.line, column: at.column, place: Some(Place { file: 0, span: remark.span }) };
            let text = human::problem(&remark.message, None, &[Some(spot)], &documents, &streams.err_style());
            streams.raw_error(&text);
        } else if let Some(message) = warnings.first(&remark.message) {
            streams.warning(&format!("{}:{}:{}: {message}", file.name, at.line, at.column));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_list_items_are_the_same() {
        assert_eq!(general("`spec.l[12].a` is [1,2] and [] or [3"), "`spec.l[].a` is [1,2] and [] or [3");
    }
}
