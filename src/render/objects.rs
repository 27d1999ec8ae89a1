//! Renders how a server treats objects, for people and as JSON.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use serde::Serialize;

use crate::input::{Origin, shorten};
use crate::judge::finding::Severity;
use crate::model::kubernetes::{MAX_REQUEST, Minor, Minors};
use crate::model::{Documents, Place, Skipped};
use crate::server::object::{ObjectReport, ObjectVerdict, Request, Subresource, Upgrade};

use super::Anchors;
use super::annotation::{self, Annotation};
use super::escape::visible;
use super::junit::{self, Failed, TestCase};
use super::server_lines;
use super::snippet::{self, Diagnostic, Excerpt, Excerpts, Style};
use crate::judge::overview::plural;

pub const SCHEMA: &str = "crdwise.objects/v1";
/// Longer defaults are shortened.
const SHOWN: usize = 120;

/// One remark about an object.
#[derive(Debug, Clone, Serialize)]
pub struct ObjectRemark {
    /// `rejected`, `tolerated`, `pruned`, `lost`, `null`, `changed`, `gone`, `unknown`, `undecided` or `defaulted`.
    pub what: &'static str,
    pub path: String,
    pub message: String,
    pub file: String,
    pub line: usize,
    pub column: usize,
    /// The servers of the range that behave this way; absent if all do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes: Option<Minors>,
    #[serde(skip)]
    place: Option<Place>,
    /// The message without any values from the object.
    #[serde(skip)]
    bare: Option<String>,
}

impl ObjectRemark {
    /// Whether the remark fails the run: the object is refused, loses data, or couldn't be checked.
    pub fn fails(&self) -> bool {
        !matches!(self.what, "defaulted" | "tolerated" | "lost" | "null")
    }

    /// Whether the remark is shown by default.
    fn shown_by_default(&self) -> bool {
        self.what != "defaulted"
    }
}

/// An object with all remarks about it.
#[derive(Debug, Clone, Serialize)]
pub struct JudgedObject {
    pub object: String,
    pub file: String,
    pub line: usize,
    /// `create`, `update`, `update status` or `update scale`.
    pub request: &'static str,
    pub crd: Option<String>,
    /// Whether the upgrade breaks the object; only with old CRDs.
    pub broken_by_upgrade: Option<bool>,
    pub remarks: Vec<ObjectRemark>,
}

impl JudgedObject {
    /// Removes excerpts and every value of the object except its name, so that nothing confidential from a cluster is shown.
    pub fn of_cluster(mut self) -> JudgedObject {
        for remark in &mut self.remarks {
            remark.place = None;
            if let Some(bare) = remark.bare.take() {
                remark.message = bare;
            }
        }
        self
    }

    /// Adjusts the remarks for a downgrade, where losing fields that the older release doesn't know is expected.
    pub fn of_downgrade(mut self) -> JudgedObject {
        for remark in self.remarks.iter_mut().filter(|remark| remark.what == "pruned") {
            remark.what = "lost";
        }
        self
    }

    /// Converts to a case of a JUnit report.
    pub(super) fn test_case(&self, command: &str, suite: &str) -> TestCase {
        let line =
            |remark: &ObjectRemark| format!("{}: {} ({}:{}:{})", remark.what, remark.message, remark.file, remark.line, remark.column);
        let fails = self.fails();
        let (failures, notes): (Vec<&ObjectRemark>, Vec<&ObjectRemark>) = self.remarks.iter().partition(|one| fails && one.fails());
        TestCase {
            suite: suite.to_owned(),
            class: None,
            name: self.object.clone(),
            failure: Failed::of(command, failures.into_iter().map(line).collect()),
            notes: notes.into_iter().map(line).collect(),
        }
    }

    /// With old CRDs, only objects that the upgrade breaks count.
    pub fn fails(&self) -> bool {
        self.broken_by_upgrade.unwrap_or_else(|| self.remarks.iter().any(ObjectRemark::fails))
    }
}

pub fn judged(reports: &[ObjectReport], documents: &Documents) -> Vec<JudgedObject> {
    reports.iter().filter(|report| !is_skipped(report)).map(|report| one(report, documents)).collect()
}

/// Merges the results of several servers, newest first; a remark that not all of them make names those that do.
pub fn judged_on(reports: &[(Minor, Vec<ObjectReport>)], documents: &Documents) -> Vec<JudgedObject> {
    let mut answers = reports.iter().map(|(minor, reports)| (*minor, judged(reports, documents)));
    let Some((newest, mut merged)) = answers.next() else { return Vec::new() };
    let all: Minors = reports.iter().map(|(minor, _)| *minor).collect();
    if all == Minors::only(newest) {
        return merged;
    }
    let said = |remark: &ObjectRemark| (remark.what, remark.path.clone(), remark.message.clone());
    let mut on: Vec<Vec<Minors>> = merged.iter().map(|object| vec![Minors::only(newest); object.remarks.len()]).collect();
    for (minor, older) in answers {
        for ((object, minors), before) in merged.iter_mut().zip(&mut on).zip(older) {
            let mut known = HashMap::new();
            for (index, remark) in object.remarks.iter().enumerate() {
                known.entry(said(remark)).or_insert(index);
            }
            for remark in before.remarks {
                match known.entry(said(&remark)) {
                    Entry::Occupied(known) => minors.get_mut(*known.get()).into_iter().for_each(|on| *on = on.and(Minors::only(minor))),
                    Entry::Vacant(new) => {
                        new.insert(object.remarks.len());
                        object.remarks.push(remark);
                        minors.push(Minors::only(minor));
                    }
                }
            }
        }
    }
    for (object, minors) in merged.iter_mut().zip(on) {
        for (remark, minors) in object.remarks.iter_mut().zip(minors).filter(|(_, minors)| *minors != all) {
            remark.kubernetes = Some(minors);
            remark.message.push_str(&format!(" (only on Kubernetes {minors})"));
        }
    }
    merged
}

fn is_skipped(report: &ObjectReport) -> bool {
    matches!(report.verdict, ObjectVerdict::OtherGroup)
}

/// Objects that were not judged, by their kind.
pub fn skipped(reports: &[ObjectReport]) -> Vec<Skipped> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for report in reports.iter().filter(|report| is_skipped(report)) {
        *kinds.entry(format!("kind {} of {}", report.kind, report.api_version)).or_default() += 1;
    }
    let skipped = |(what, count)| Skipped::counted(what, "the inputs have no CRD for its group", count);
    kinds.into_iter().map(skipped).collect()
}

fn one(report: &ObjectReport, documents: &Documents) -> JudgedObject {
    let spot = |place: Place| {
        documents.shown_place(place).map_or_else(|| (String::new(), 1, 1), |(name, at)| (name.to_owned(), at.line, at.column))
    };
    let mut remarks = Vec::new();
    let mut bare = Vec::new();
    let mut say = |what: &'static str, place: Place, path: String, message: String| {
        let (file, line, column) = spot(place);
        remarks.push(ObjectRemark { what, path, message, file, line, column, kubernetes: None, place: Some(place), bare: None });
    };
    match &report.verdict {
        ObjectVerdict::Unreadable(kind) => say("unknown", report.place, String::new(), kind.to_string()),
        ObjectVerdict::OtherGroup | ObjectVerdict::UnknownKind => {
            say("unknown", report.place, String::new(), no_crd(&report.kind, &report.api_version));
        }
        ObjectVerdict::UnknownVersion(versions) => {
            let known = versions.join(", ");
            say("rejected", report.place, String::new(), format!("the CRD has no version `{}`; it has {known}", report.api_version));
        }
        ObjectVerdict::NotServed => say("rejected", report.place, String::new(), format!("{} is not served", report.api_version)),
        ObjectVerdict::NoSchema => say("unknown", report.place, String::new(), "the version has no schema".to_owned()),
        ObjectVerdict::TooLarge(bytes) => {
            let words = format!("the request has {bytes} bytes; the server takes at most {MAX_REQUEST}");
            say("rejected", report.place, String::new(), words);
        }
        ObjectVerdict::NoSubresource(subresource) => {
            let words = format!("{} has no {} subresource", report.api_version, subresource.name());
            say("rejected", report.place, String::new(), words);
        }
        ObjectVerdict::NoPrevious => {
            let words = "no previous object has its kind, namespace and name; a subresource needs an existing object";
            say("unknown", report.place, String::new(), words.to_owned());
        }
        ObjectVerdict::Converted { from } => {
            let words = format!("the previous object is of version {from}, and a webhook converts it; pass it as {}", report.api_version);
            say("undecided", report.place, String::new(), words);
        }
        ObjectVerdict::Checked(checked) => {
            // Errors come first, then tolerated errors.
            bare.extend(checked.errors.iter().map(|error| error.what.without_value()));
            bare.extend(checked.tolerated.iter().map(|tolerated| tolerated.what.error.without_value()));
            for error in &checked.errors {
                say("rejected", error.place, error.what.path.dotted(), format!("{}: {}", error.what.field, error.what.message));
            }
            for tolerated in &checked.tolerated {
                let (error, because) = (&tolerated.what.error, &tolerated.what.because);
                let words = format!("{}: {}; tolerated, because {because}", error.field, error.message);
                say("tolerated", tolerated.place, error.path.dotted(), words);
            }
            for (pruned, similar) in checked.pruned.iter().zip(&checked.similar) {
                let words = format!("`{}` is unknown and dropped{similar}", pruned.what.dotted());
                say("pruned", pruned.place, pruned.what.dotted(), words);
            }
            for null in &checked.nulls {
                say(
                    "null",
                    null.place,
                    null.what.dotted(),
                    format!("`{}` is null, which its schema doesn't allow: it is dropped", null.what.dotted()),
                );
            }
            for open in &checked.undecided {
                say("undecided", open.place, open.what.0.dotted(), open.what.1.clone());
            }
            for defaulted in &checked.defaulted {
                let (path, value) = &defaulted.what;
                let words = format!("`{}` gets its default {}", path.dotted(), shorten(&value.to_string(), SHOWN));
                say("defaulted", defaulted.place, path.dotted(), words);
            }
        }
    }
    if let Some(Upgrade::Changed(paths)) = &report.upgrade {
        let list = paths.iter().take(5).map(|path| format!("`{}`", path.dotted())).collect::<Vec<_>>().join(", ");
        say("changed", report.place, String::new(), format!("stored with different values than under the old CRDs: {list}"));
    }
    if report.upgrade == Some(Upgrade::Gone) {
        say("gone", report.place, String::new(), "its kind or version no longer exists".to_owned());
    }
    if let (ObjectVerdict::Checked(checked), Some(first)) = (&report.verdict, remarks.first_mut())
        && checked.left_out > 0
    {
        let _ = write!(first.message, " ({} more about this object are not listed, because there are too many)", checked.left_out);
    }
    for (remark, bare) in remarks.iter_mut().zip(bare) {
        remark.bare = Some(bare);
    }
    let (file, line, _) = spot(report.place);
    let name = match (&report.namespace, report.name.as_str()) {
        (_, "") => "without a name".to_owned(),
        (Some(namespace), name) if is_cluster(documents, report.place) => format!("{namespace}/{name}"),
        (_, name) => name.to_owned(),
    };
    JudgedObject {
        object: format!("{} {name}", if report.kind.is_empty() { "an object" } else { &report.kind }),
        file,
        line,
        request: match report.request {
            Request::Create => "create",
            Request::Update(None) => "update",
            Request::Update(Some(Subresource::Status)) => "update status",
            Request::Update(Some(Subresource::Scale)) => "update scale",
        },
        crd: report.crd.as_ref().map(|(name, _)| name.clone()),
        broken_by_upgrade: report.upgrade.as_ref().map(Upgrade::is_break),
        remarks,
    }
}

/// Renders remarks; `unhurt` objects are only counted. `servers` are those that were checked, if they should be named.
pub fn render(
    (judged, servers): (&[JudgedObject], Option<Minors>),
    unhurt: usize,
    skipped: &[Skipped],
    documents: &Documents,
    style: &Style,
    all: bool,
) -> String {
    let mut out = remarks(judged, documents, style, all);
    let servers = servers.map_or_else(String::new, |minors| format!(" · Kubernetes {}", server_lines::named(minors)));
    let _ = writeln!(out, "{}{servers}", summary(judged, unhurt));
    for skipped in skipped {
        let _ = writeln!(out, "skipped: {}: {}", visible(&skipped.what), skipped.why);
    }
    out
}

/// Renders the remarks about objects, each at its place.
pub(super) fn remarks(judged: &[JudgedObject], documents: &Documents, style: &Style, all: bool) -> String {
    let mut out = String::new();
    for object in judged {
        let counts = object.broken_by_upgrade.is_none() || object.fails();
        for remark in object.remarks.iter().filter(|remark| all || (counts && remark.shown_by_default())) {
            let file = remark.place.and_then(|place| documents.file(place.file));
            let excerpt = file
                .zip(remark.place)
                .map(|(file, place)| Excerpt::new(&remark.file, &file.text, place.span.range(), remark.line, remark.column));
            let shown = Diagnostic {
                message: visible(&format!("{}: {}: {}", remark.what, object.object, remark.message)).into_owned(),
                help: None,
                severity: if remark.fails() { miette::Severity::Error } else { miette::Severity::Advice },
                excerpts: Excerpts(excerpt.into_iter().collect()),
            };
            out.push_str(&snippet::draw(style, &shown));
        }
    }
    out
}

/// Whether an object comes from a cluster, where no file name distinguishes two objects of the same name.
fn is_cluster(documents: &Documents, place: Place) -> bool {
    documents.file(place.file).is_some_and(|file| file.origin == Origin::Cluster)
}

/// Summarises how many objects were checked, and how many fail.
fn summary(judged: &[JudgedObject], unhurt: usize) -> String {
    let failed = judged.iter().filter(|object| object.fails()).count();
    let word = if judged.iter().any(|object| object.broken_by_upgrade.is_some()) {
        "broken by the upgrade"
    } else {
        "rejected, pruned or changed"
    };
    let tolerated = judged.iter().flat_map(|object| &object.remarks).filter(|remark| remark.what == "tolerated").count();
    let tolerated = if tolerated == 0 { String::new() } else { format!("; {} tolerated by ratcheting", plural(tolerated, "error")) };
    format!("objects: {} checked, {failed} {word}{tolerated}", judged.len() + unhurt)
}

/// Describes each kind of remark.
pub(super) const ABOUT: &[(&str, &str)] = &[
    ("rejected", "The server rejects the object"),
    ("tolerated", "An error that the update didn't touch is tolerated"),
    ("pruned", "A field is unknown and dropped"),
    ("null", "A null that the schema doesn't allow is dropped"),
    ("lost", "A downgrade drops a field"),
    ("changed", "The object is stored with different values than before the upgrade"),
    ("gone", "The kind or version no longer exists"),
    ("unknown", "The object could not be judged"),
    ("undecided", "crdwise can't run a check that the server makes"),
];

pub(super) fn annotations(judged: &[JudgedObject]) -> Vec<Annotation> {
    let remark = |object: &JudgedObject, fails: bool, remark: &ObjectRemark| Annotation {
        rule: remark.what,
        severity: if fails && remark.fails() { Severity::Error } else { Severity::Info },
        place: remark.place,
        message: format!("{}: {}", object.object, remark.message),
    };
    let is_shown = |object: &&JudgedObject| object.broken_by_upgrade != Some(false);
    judged
        .iter()
        .filter(is_shown)
        .flat_map(|object| {
            let fails = object.fails();
            object.remarks.iter().filter(|one| one.shown_by_default()).map(move |one| remark(object, fails, one))
        })
        .collect()
}

pub fn github(judged: &[JudgedObject], unhurt: usize, anchors: &Anchors<'_>) -> String {
    annotation::github(&annotations(judged), anchors, &summary(judged, unhurt))
}

pub fn sarif(judged: &[JudgedObject], anchors: &Anchors<'_>, complete: bool) -> String {
    annotation::sarif("validate", &annotations(judged), anchors, ABOUT, complete)
}

/// Writes one case per object, in a suite per file.
pub fn junit(judged: &[JudgedObject], complete: bool) -> String {
    let cases: Vec<TestCase> = judged.iter().map(|object| object.test_case("validate", &object.file)).collect();
    junit::written("validate", &cases, complete)
}

pub fn json(judged: &[JudgedObject], skipped: &[Skipped], kubernetes: Minors) -> String {
    let tool = crate::judge::report::TOOL;
    let report = serde_json::json!({ "schema": SCHEMA, "tool": tool, "kubernetes": kubernetes, "objects": judged, "skipped": skipped });
    super::json::indented(&report)
}

/// The line about objects without a CRD.
fn no_crd(kind: &str, api_version: &str) -> String {
    match (kind, api_version) {
        ("", _) | (_, "") => "not a Kubernetes object: `apiVersion` or `kind` is missing".to_owned(),
        _ => format!("the inputs have no CRD for {kind} of {api_version}"),
    }
}
