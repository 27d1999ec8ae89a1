//! Fixtures of past releases: objects that this release must still read, and its own objects under the CRDs of an earlier one.
//!
//! `fixtures/<release>/` holds the objects of one release. The newest two are checked; a newest release without fixtures gets a warning.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use semver::Version;

use crate::judge::review::Side;
use crate::model::{Documents, release};
use crate::render::objects;
use crate::server::object::check_objects;

use super::input::Reader;
use super::{Exit, Stop, Streams};

/// Releases whose objects must still be read.
const RELEASES: usize = 2;

#[derive(Debug)]
pub(super) struct Checked {
    pub exit: Exit,
    pub checked: usize,
    pub text: String,
}

pub(super) fn run(
    paths: &[OsString],
    reader: &Reader,
    side: &Side<'_>,
    downgrade: Option<&OsStr>,
    streams: &mut Streams<'_>,
) -> Result<Checked, Stop> {
    let mut result = Checked { exit: Exit::Clean, checked: 0, text: String::new() };
    let releases = releases(paths);
    if !releases.is_empty() {
        let tag =
            reader.loader.repository().ok().and_then(|repository| repository.newest_tag("v*", "HEAD").ok()).and_then(|tag| tag.version);
        if let Some(newest) = tag.filter(|tag| !releases.contains_key(tag)) {
            streams.warning(&format!("release {newest} has no fixtures; write them with `crdwise fixtures write`"));
        }
    }
    for (version, dir) in releases.iter().rev().take(RELEASES) {
        let read = reader.one(&[dir.clone().into_os_string()], false)?;
        result.exit = result.exit.or(read.unread(streams));
        result.check(&format!("fixtures of {version}"), read.documents(), side, streams);
    }
    if let Some(old) = downgrade {
        let old = reader.one(&[old.to_owned()], false)?;
        let old_side = old.side();
        result.exit = result.exit.or(old.problems(&old_side, streams)?);
        let mut text = String::new();
        for crd in &side.bundle.crds {
            for version in crd.versions.iter().filter(|version| version.served) {
                // Only what the old CRDs serve can be read after a downgrade.
                let known = old_side.bundle.named(crd.name).iter().any(|old| old.version(version.name).is_some_and(|old| old.served));
                if let Some(object) = super::objects::sample(crd, version).filter(|_| known) {
                    let _ = write!(text, "---\n{}", crate::find::conversion::text::as_yaml(&object));
                }
            }
        }
        let objects = Documents::of_text("objects of this release", &text);
        result.check("objects of this release under the old CRDs", &objects, &old_side, streams);
    }
    Ok(result)
}

impl Checked {
    fn check(&mut self, what: &str, documents: &Documents, side: &Side<'_>, streams: &Streams<'_>) {
        let reports = check_objects(documents, &side.bundle, None);
        let judged = objects::judged(&reports, documents);
        self.checked += judged.len();
        if judged.iter().any(objects::Judged::fails) {
            self.exit = self.exit.or(Exit::Findings);
        }
        let text = objects::render((&judged, None), 0, &[], documents, &streams.out_style(), false);
        let _ = write!(self.text, "{what}:\n{text}");
    }
}

/// The directories of releases in `fixtures/` of each path.
fn releases(paths: &[OsString]) -> BTreeMap<Version, PathBuf> {
    let mut found = BTreeMap::new();
    for path in paths {
        let path = Path::new(path);
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

/// `v1.2.0`, `1.2.0` or `1.2`.
fn parse(text: &str) -> Option<Version> {
    release::parse(text).or_else(|| release::parse(&format!("{text}.0")))
}
