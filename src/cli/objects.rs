//! `validate` and `fixtures`: check custom resources against CRDs, and generate custom resources from CRDs.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::cli::arguments::{self, OutputFormat};
use crate::find::conversion::text::as_yaml;
use crate::input::Input;
use crate::model::kubernetes::Minor;
use crate::model::schema::{Shape, is_meta};
use crate::model::{Crd, Version};
use crate::render::{Anchors, objects};
use crate::server::object::{self, Subresource};

use super::chosen_servers;
use super::existing_objects::{ResourceList, each_page};
use super::input::{InputReader, without_crd};
use super::output::{check_formats, write_formats};
use super::run_settings::configured_servers;
use super::write_file::{create_dir, replace};
use super::{Exit, Stop, Streams};

pub(super) fn validate(arguments: &arguments::Validate, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    check_formats(&arguments.format, &arguments.objects)?;
    let reader = InputReader::new(&arguments.limits);
    let is_cluster = |text: &&OsString| reader.parse(std::slice::from_ref(*text)).is_ok_and(|all| all.iter().all(Input::is_cluster));
    let (clusters, files): (Vec<OsString>, Vec<OsString>) = arguments.objects.iter().cloned().partition(|text| is_cluster(&text));
    let given = reader.one(&files, false)?;
    let crds = reader.one(&arguments.crd, false)?;
    let old = if arguments.old.is_empty() { None } else { Some(reader.one(&arguments.old, false)?) };
    let (crd_side, old_side) = (crds.side(), old.as_ref().map(|old| old.side()));
    let mut exit = given.unread(streams).or(crds.problems(&crd_side, streams)?);
    if let (Some(old), Some(side)) = (&old, &old_side) {
        exit = exit.or(old.problems(side, streams)?);
    }
    exit = exit.or(without_crd(&crd_side, streams));
    let named = match arguments.kubernetes {
        Some(minors) => Some(minors),
        None => configured_servers(&reader, crds.inputs(), streams)?,
    };
    let asked = reader.parse(&clusters)?;
    let asked = chosen_servers::clusters(crds.inputs().iter().chain(old.iter().flat_map(|old| old.inputs())).chain(&asked));
    let kubernetes = chosen_servers::choose(named, &asked, &reader, streams);
    let crds_on = |minor| crd_side.bundle.on(minor);
    let reports: Vec<(Minor, Vec<object::ObjectReport>)> = if arguments.previous.is_empty() {
        let old_on = |minor| old_side.as_ref().map(|side| side.bundle.on(minor));
        let check = |minor| object::check_objects(given.documents(), &crds_on(minor), old_on(minor).as_ref());
        kubernetes.iter().rev().map(|minor| (minor, check(minor))).collect()
    } else {
        let previous = reader.one(&arguments.previous, false)?;
        exit = exit.or(previous.unread(streams));
        let subresource = arguments.subresource.map(|name| match name {
            arguments::SubresourceName::Status => Subresource::Status,
            arguments::SubresourceName::Scale => Subresource::Scale,
        });
        let check = |minor| object::check_updates(given.documents(), previous.documents(), &crds_on(minor), subresource);
        let mut checked = kubernetes.iter().rev().map(|minor| (minor, check(minor)));
        let Some((newest, updates)) = checked.next() else { return Ok(exit) };
        for report in objects::judged(&updates.unreadable, previous.documents()) {
            streams.error(&format!("{}:{}: {}", report.file, report.line, report.remarks.first().map_or("", |remark| &remark.message)));
            exit = exit.or(Exit::Unread);
        }
        for place in &updates.unused {
            if let Some(file) = previous.documents().file(place.file) {
                let line = file.place(place.span.start as usize).line;
                streams.note(&format!("no object updates the previous one at {}:{line}", file.name));
            }
        }
        let older = checked.map(|(minor, updates)| (minor, updates.reports));
        std::iter::once((newest, updates.reports)).chain(older).collect()
    };
    let mut judged = objects::judged_on(&reports, given.documents());
    let reports = reports.first().map_or(&[][..], |(_, reports)| reports);
    let skipped = objects::skipped(reports);
    let mut unhurt = 0;
    if !clusters.is_empty() {
        let progress = streams.progress("checking objects");
        let resources: Vec<ResourceList> = crd_side.bundle.crds.iter().filter_map(ResourceList::of).collect();
        let sides: Vec<_> =
            kubernetes.iter().rev().map(|minor| (minor, crds_on(minor), old_side.as_ref().map(|side| side.bundle.on(minor)))).collect();
        exit = exit.or(each_page(&reader, &clusters, &resources, streams, |documents| {
            let check = |(minor, crds, old): &(Minor, _, Option<_>)| (*minor, object::check_objects(documents, crds, old.as_ref()));
            let page = objects::judged_on(&sides.iter().map(check).collect::<Vec<_>>(), documents);
            let (failing, fine): (Vec<_>, Vec<_>) = page.into_iter().partition(objects::JudgedObject::fails);
            unhurt += fine.len();
            judged.extend(failing.into_iter().map(objects::JudgedObject::of_cluster));
            progress.done(unhurt + judged.len());
        })?);
    }
    if judged.is_empty() && unhurt == 0 {
        streams.error("no custom resource was found among the objects");
        exit = exit.or(Exit::Unread);
    }
    if reports.iter().any(|report| matches!(report.verdict, object::ObjectVerdict::Unreadable(_))) {
        exit = exit.or(Exit::Unread);
    }
    let complete = exit == Exit::Clean;
    if judged.iter().any(objects::JudgedObject::fails) {
        exit = exit.or(Exit::Findings);
    }
    let json = arguments.json.then_some(arguments::FormatFlag { format: OutputFormat::Json, file: None });
    let formats = json.as_ref().map_or(arguments.format.as_slice(), std::slice::from_ref);
    let anchors = Anchors::new(None, given.documents(), reader.loader.repository().ok());
    write_formats(formats, streams, |format, style| match format {
        OutputFormat::Json => objects::json(&judged, &skipped, kubernetes),
        OutputFormat::Github => objects::github(&judged, unhurt, &anchors),
        OutputFormat::Sarif => objects::sarif(&judged, &anchors, complete),
        OutputFormat::Junit => objects::junit(&judged, complete),
        _ => objects::render((&judged, Some(kubernetes)), unhurt, &skipped, given.documents(), style, arguments.all),
    })?;
    Ok(exit)
}

/// Writes one file for each served version of each CRD, with as many compatible fields as possible: the serialised form that later
/// releases must still read.
pub(super) fn fixtures(arguments: &arguments::Fixtures, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let arguments::FixturesCommand::Write { inputs, dir, limits } = &arguments.command;
    let reader = InputReader::new(limits);
    let read = reader.one(inputs, false)?;
    let side = read.side();
    let mut exit = read.problems(&side, streams)?;
    let mut said = String::new();
    create_dir(dir)?;
    let mut written = 0usize;
    for crd in &side.bundle.crds {
        for version in crd.versions.iter().filter(|version| version.served) {
            if version.schema.is_none() {
                continue;
            }
            let Some(object) = sample(crd, version) else {
                let _ = writeln!(said, "left out: {} {}: no object could be generated for it", crd.name, version.name);
                exit = exit.or(Exit::Unread);
                continue;
            };
            let text = as_yaml(&object);
            replace(&dir.join(file_name(crd.name, version.name)), &text)?;
            written += 1;
        }
    }
    let files = if written == 1 { "file" } else { "files" };
    let _ = writeln!(said, "fixtures: {written} {files} in {}", dir.display());
    streams.write(&said)?;
    Ok(exit)
}

/// Generates an object with as many compatible fields as possible.
pub(super) fn sample(crd: &Crd<'_>, version: &Version<'_>) -> Option<Value> {
    let body = crate::compare::filled(&Shape::of(version.schema.as_ref()?))?;
    Some(resource(&format!("{}/{}", crd.group(), version.name), crd.kind(), body))
}

/// Adds API version, kind and metadata to a body.
fn resource(api_version: &str, kind: &str, body: Value) -> Value {
    let mut object = serde_json::json!({ "apiVersion": api_version, "kind": kind, "metadata": { "name": "example" } });
    if let (Value::Object(object), Value::Object(body)) = (&mut object, body) {
        object.extend(body.into_iter().filter(|(key, _)| !is_meta(key)));
    }
    object
}

/// Makes a file name. CRD names are untrusted, so only letters, digits, dots and dashes are kept.
pub(super) fn file_name(crd: &str, rest: &str) -> String {
    let safe =
        |text: &str| text.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-') { c } else { '_' }).collect::<String>();
    format!("{}.{}.yaml", safe(crd).trim_start_matches('.'), safe(rest))
}

/// Writes each witness of a report to its own file, for `kubectl apply --dry-run=server`.
pub(super) fn witnesses(report: &crate::judge::report::Report, dir: &Path) -> Result<usize, Stop> {
    create_dir(dir)?;
    let mut written = 0;
    for finding in &report.findings {
        let Some(witness) = &finding.witness else { continue };
        let yaml = as_yaml(&witness.object);
        let line = |text: &str| crate::render::visible(text).into_owned();
        let text =
            format!("# {}\n# {} before, {} now: {}\n{yaml}", line(&finding.message), witness.old, witness.new, line(&witness.because));
        replace(&dir.join(file_name(&finding.crd, &format!("{}.{}", finding.rule, finding.fingerprint))), &text)?;
        written += 1;
    }
    Ok(written)
}
