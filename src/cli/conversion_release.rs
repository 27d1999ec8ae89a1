//! `conversions release`: fills in the version of manifests that convert to the next release.

use std::ffi::OsString;

use semver::Version;

use crate::cli::arguments;
use crate::find::conversion::manifest::{BundleVersion, Manifest};
use crate::find::conversion::release as conversion_release;
use crate::input::Origin;
use crate::judge::bump::Recommendation;
use crate::model::semantic_version::{self, Bump};

use super::check_run::CheckRun;
use super::input::InputReader;
use super::manifests::{LoadedManifests, no_manifest};
use super::{Exit, Stop, Streams, default_inputs, write_file};

pub(super) fn release(arguments: &arguments::ConversionsRelease, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let given = match &arguments.version {
        Some(text) => Some(semantic_version::parse(text).ok_or_else(|| Stop::usage(format!("`{text}` is not a semantic version")))?),
        None => None,
    };
    let reader = InputReader::new(&arguments.limits);
    let inputs = if arguments.conversions.is_some() { Vec::new() } else { default_inputs::crds() };
    let found = LoadedManifests::new(&reader, arguments.conversions.as_ref(), &inputs)?;
    let exit = found.problems(streams);
    let Some(conversions) = found.now() else { return Err(no_manifest()) };
    let pending: Vec<_> = conversions.manifests.iter().filter(|manifest| manifest.is_pending()).collect();
    if pending.is_empty() {
        streams.note("no manifest converts to the next release");
        return Ok(exit);
    }
    let version = match given {
        Some(version) => version,
        None => recommended(arguments, &reader, streams)?,
    };
    check(&pending, &version)?;
    for file in &conversions.documents().files {
        let pinned = conversion_release::pin(&file.text, &version);
        if pinned.manifests == 0 {
            continue;
        }
        let Origin::Path(path) = &file.origin else {
            return Err(Stop::usage(format!("{} can't be overwritten because it isn't a local file", file.name)));
        };
        write_file::replace(path, &pinned.text)?;
        streams.note(&format!("{}: to {version}", file.name));
    }
    Ok(exit)
}

/// Checks that pending manifests don't contradict each other or the release.
fn check(pending: &[&Manifest], version: &Version) -> Result<(), Stop> {
    for (index, manifest) in pending.iter().enumerate() {
        let same = |other: &&&Manifest| {
            (&other.group, &other.kind, &other.from, &other.to) == (&manifest.group, &manifest.kind, &manifest.from, &manifest.to)
        };
        if let Some(other) = pending.iter().take(index).find(same) {
            let (a, b) = (&other.name, &manifest.name);
            return Err(Stop::usage(format!(
                "`{a}` and `{b}` convert {} to the same release; put the steps of both into one manifest",
                manifest.kind
            )));
        }
        if let Some(BundleVersion::Released(from)) =
            manifest.from.bundle.as_ref().filter(|from| **from >= BundleVersion::Released(version.clone()))
        {
            return Err(Stop::usage(format!("`{}` converts from {from}, which is not older than {version}", manifest.name)));
        }
    }
    Ok(())
}

/// The version that a review since the last release recommends, or the version that the CRDs declare if it is high enough.
fn recommended(arguments: &arguments::ConversionsRelease, reader: &InputReader, streams: &mut Streams<'_>) -> Result<Version, Stop> {
    let last = || {
        let tag = reader.loader.repository().and_then(|repository| repository.last_release(&["HEAD"])).ok().flatten();
        tag.map(|tag| OsString::from(tag.name))
    };
    let sides = arguments::ChangeSides { against: arguments.against.clone().or_else(last), ..arguments::ChangeSides::default() };
    let review = sides.as_review(arguments.conversions.as_ref(), &arguments::Judging::default(), &arguments.limits);
    let review = default_inputs::review(review, streams)?;
    let unknown = || Stop::usage("no version can be recommended: pass VERSION, or --against with the last release");
    let run = CheckRun::review(reader, &review, false, streams)?.ok_or_else(unknown)?;
    let bump = run.judge(streams, |judged, _| Ok(judged.report.bump.clone()))?;
    let Some(Recommendation { required, from, recommended, declared, sufficient }) = bump else { return Err(unknown()) };
    if required == Bump::None {
        return Err(Stop::usage(
            "the CRDs didn't change, so no version can be recommended: pass VERSION, or --against with the last release",
        ));
    }
    let declared = declared.filter(|declared| sufficient == Some(true) && Some(declared) != from.as_ref());
    declared.or(recommended).ok_or_else(unknown)
}
