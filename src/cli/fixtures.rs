//! Checks fixtures of past releases, which this release must still read, and this release's objects against the CRDs of an earlier
//! one.
//!
//! `fixtures/<release>/` contains the objects of one release. The newest two are checked; if the newest release has no fixtures,
//! there is a warning.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use semver::Version;

use crate::judge::review::Side;
use crate::model::{Documents, semantic_version};
use crate::render::objects::{self, JudgedObject};
use crate::render::suite::ReleaseObjects;
use crate::server::object::check_objects;

use super::input::{InputReader, without_crd};
use super::{Exit, Stop, Streams};

/// How many releases must still be readable.
const RELEASES: usize = 2;

/// Checks the objects of the newest releases with the CRDs of `side`, and with `downgrade`, the objects of `side` with those CRDs.
pub(super) fn run(
    paths: &[OsString],
    reader: &InputReader,
    side: &Side<'_>,
    downgrade: Option<&OsStr>,
    streams: &mut Streams<'_>,
) -> Result<(Vec<ReleaseObjects>, Exit), Stop> {
    let (mut found, mut exit) = (Vec::new(), Exit::Clean);
    let releases = releases(paths);
    if !releases.is_empty() {
        let tag =
            reader.loader.repository().ok().and_then(|repository| repository.newest_tag("v*", "HEAD").ok()).and_then(|tag| tag.version);
        if let Some(newest) = tag.filter(|tag| !releases.contains_key(tag)) {
            streams.warning(&format!(
                "release {newest} has no fixtures; write them with `crdwise fixtures write CRDS --dir fixtures/{newest}`"
            ));
        }
    }
    for (version, dir) in releases.iter().rev().take(RELEASES) {
        let read = reader.one(&[dir.clone().into_os_string()], false)?;
        exit = exit.or(read.unread(streams));
        found.push(check(format!("fixtures of {version}"), read.into_documents(), side));
    }
    if let Some(old) = downgrade {
        let old = reader.one(&[old.to_owned()], false)?;
        let old_side = old.side();
        exit = exit.or(old.problems(&old_side, streams)?).or(without_crd(&old_side, streams));
        let mut text = String::new();
        for crd in &side.bundle.crds {
            for version in crd.versions.iter().filter(|version| version.served) {
                // After a downgrade, only versions that the old CRDs serve can be read.
                let known = old_side.bundle.named(crd.name).iter().any(|old| old.version(version.name).is_some_and(|old| old.served));
                if let Some(object) = super::objects::sample(crd, version).filter(|_| known) {
                    let _ = write!(text, "---\n{}", crate::find::conversion::text::as_yaml(&object));
                }
            }
        }
        let objects = Documents::of_text("objects of this release", &text);
        let mut checked = check(format!("objects of this release read by {}", old_side.source), objects, &old_side);
        checked.judged = checked.judged.into_iter().map(JudgedObject::of_downgrade).collect();
        found.push(checked);
    }
    Ok((found, exit))
}

fn check(title: String, documents: Documents, side: &Side<'_>) -> ReleaseObjects {
    let judged = objects::judged(&check_objects(&documents, &side.bundle, None), &documents);
    ReleaseObjects { title, judged, documents }
}

/// The release directories in `fixtures/` of each path, and of the current directory if the paths are inside it.
fn releases(paths: &[OsString]) -> BTreeMap<Version, PathBuf> {
    let mut found = BTreeMap::new();
    let inside = paths.iter().all(|path| Path::new(path).is_relative() && !Path::new(path).starts_with(".."));
    for path in paths.iter().map(Path::new).chain(inside.then_some(Path::new("."))) {
        let dir = if path.is_dir() { path } else { path.parent().unwrap_or(Path::new(".")) };
        for entry in std::fs::read_dir(dir.join("fixtures")).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let text = name.strip_prefix("release-").unwrap_or(&name);
            if let Some(version) = parse(text).filter(|_| entry.path().is_dir()) {
                found.insert(version, entry.path());
            }
        }
    }
    found
}

/// Parses `v1.2.0`, `1.2.0` or `1.2`.
fn parse(text: &str) -> Option<Version> {
    semantic_version::parse(text).or_else(|| semantic_version::parse(&format!("{text}.0")))
}
