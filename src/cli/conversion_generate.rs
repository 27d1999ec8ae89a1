//! `conversions generate`: writes code that converts objects to their newest form.

use crate::cli::arguments;
use crate::find::conversion::generate;

use super::input::{InputReader, without_crd};
use super::manifests::{LoadedManifests, no_manifest};
use super::{Exit, Stop, Streams, default_inputs, write_file};

/// `conversions generate go`: writes a package for each kind. The files are generated, so existing ones are replaced.
pub(super) fn go(arguments: &arguments::ConversionsGenerateGo, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let reader = InputReader::new(&arguments.limits);
    let inputs = if arguments.conversions.is_some() { Vec::new() } else { default_inputs::crds() };
    let found = LoadedManifests::new(&reader, arguments.conversions.as_ref(), &inputs)?;
    let mut exit = found.problems(streams);
    let Some(conversions) = found.now() else { return Err(no_manifest()) };
    let crds = if arguments.crd.is_empty() { None } else { Some(reader.one(&arguments.crd, false)?) };
    let side = crds.as_ref().map(|crds| crds.side());
    if let (Some(crds), Some(side)) = (&crds, &side) {
        exit = exit.or(crds.unread(streams));
        exit = exit.or(without_crd(side, streams));
    }
    let packages = generate::packages(conversions, side.as_ref().map(|side| &side.bundle))
        .map_err(|message| Stop { exit: Exit::Findings, message })?;
    for package in &packages {
        let dir = arguments.output.join(&package.name);
        for (name, text) in &package.files {
            let file = dir.join(name);
            write_file::create_dir(file.parent().unwrap_or(&dir))?;
            write_file::replace(&file, text)?;
        }
        streams.note(&format!("wrote {}", dir.display()));
    }
    Ok(exit)
}
