//! The inputs of a lint or review run, and how its findings are judged: both sides, earlier releases, the standard channel, and the
//! settings.

use std::ffi::OsString;

use crate::cli::arguments::{self, ConfigSide};
use crate::find::lint::Release;
use crate::find::review_context::ReviewContext;
use crate::input::{Against, against};
use crate::judge::existing_objects::ObjectTally;
use crate::judge::report::{ChangeArguments, Report};
use crate::judge::review::{self, Judgement, LastRelease, Side};
use crate::model::Bundle;
use crate::model::kubernetes::{Minor, Minors};
use crate::server::object::ImpactChecker;

use super::existing_objects::{ResourceList, each_page};
use super::input::{InputReader, Read, label, without_crd};
use super::manifests::{self, LoadedManifests};
use super::moved;
use super::released::ReleaseSearch;
use super::run_settings::{RunSettings, SettingsInputs};
use super::sides::{InputSides, StagedSides, unread};
use super::{Exit, Stop, Streams};

pub(super) struct CheckRun<'r> {
    pub settings: RunSettings,
    old: Option<Read>,
    new: Read,
    standard: Option<Read>,
    history: Vec<(String, Read)>,
    manifests: LoadedManifests,
    release: Option<ReleaseSearch<'r>>,
    /// Existing objects, and the reader for them.
    objects: Option<ObjectInputs<'r>>,
    /// The run fails if it finds fewer CRDs.
    pub min_crds: usize,
    old_may_be_empty: bool,
    /// The servers before and after an upgrade of the cluster, if that is what is reviewed.
    upgrade: Option<(Minor, Minor)>,
    change: Option<ChangeArguments>,
}

/// A report with both sides of the run.
pub(super) struct JudgedRun<'j, 't> {
    pub report: Report,
    pub old: Option<&'j Side<'t>>,
    pub new: &'j Side<'t>,
    pub judgement: &'j Judgement<'j>,
    /// The exit code as far as reading is concerned.
    pub exit: Exit,
}

impl<'r> CheckRun<'r> {
    /// Prepares a review. Returns `None` if no staged change affects a CRD.
    pub fn review(
        reader: &'r InputReader,
        arguments: &arguments::Review,
        accept: bool,
        streams: &mut Streams<'_>,
    ) -> Result<Option<CheckRun<'r>>, Stop> {
        if let Some(minors) = arguments.upgrade {
            return CheckRun::upgrade(reader, arguments, minors, accept, streams).map(Some);
        }
        let progress = streams.progress("reading");
        let (InputSides { mut old, mut new, base }, min_crds) = if arguments.staged {
            match reader.staged(arguments)? {
                StagedSides::Nothing => return Ok(None),
                // A commit may remove the last CRD of a file; that is a finding, not a mistake in the command.
                StagedSides::Sides(sides) => (*sides, 0),
            }
        } else {
            (reader.sides(arguments)?, 1)
        };
        moved::find(reader, &mut old, &mut new, streams);
        let standard = standard(reader, arguments.judging.standard.as_ref())?;
        let mut history = Vec::new();
        for text in &arguments.history {
            let name = text.to_string_lossy().into_owned();
            let Against { inputs, .. } = against(&reader.loader, text, new.inputs()).map_err(unread)?;
            history.push((name.clone(), reader.read(name, &inputs, None)));
        }
        drop(progress);
        let side = arguments.config_from.unwrap_or(ConfigSide::New);
        let settings =
            RunSettings::new(reader, &arguments.judging, SettingsInputs { old: Some((&mut old, side)), new: &mut new, accept }, streams)?;
        let mut manifests = LoadedManifests::of_review(reader, arguments)?;
        manifests.only_earlier = side == ConfigSide::Old;
        manifests.note_ignored(streams);
        let release = ReleaseSearch::new(reader, arguments, base.as_deref(), new.inputs())?;
        Ok(Some(CheckRun {
            settings,
            old: Some(old),
            new,
            standard,
            history,
            manifests,
            release,
            objects: ObjectInputs::of(reader, arguments),
            min_crds: arguments.judging.min_crds.unwrap_or(min_crds),
            old_may_be_empty: arguments.old_may_be_empty || arguments.staged,
            upgrade: None,
            change: Some(ChangeArguments {
                sides: arguments.change_words(),
                baseline: arguments.baseline_words(),
                conversions: manifests::directory(arguments),
                staged: arguments.staged,
            }),
        }))
    }

    /// Prepares the review of a cluster upgrade: one bundle on two servers.
    fn upgrade(
        reader: &'r InputReader,
        arguments: &arguments::Review,
        minors: Minors,
        accept: bool,
        streams: &mut Streams<'_>,
    ) -> Result<Self, Stop> {
        let (Some(from), Some(to)) = (minors.first(), minors.last().filter(|_| minors.count() > 1)) else {
            return Err(Stop::usage("--upgrade needs two versions, such as 1.35..1.36"));
        };
        let lint = arguments::Lint {
            inputs: arguments.sides.inputs.clone(),
            crds_only: false,
            judging: arguments.judging.clone(),
            output: arguments::Output::default(),
            limits: arguments.limits.clone(),
        };
        let objects = ObjectInputs::of(reader, arguments);
        Ok(CheckRun { upgrade: Some((from, to)), objects, ..CheckRun::lint(reader, &lint, accept, streams)? })
    }

    pub fn lint(reader: &InputReader, arguments: &arguments::Lint, accept: bool, streams: &mut Streams<'_>) -> Result<Self, Stop> {
        let progress = streams.progress("reading");
        let mut new = reader.one(&arguments.inputs, arguments.crds_only)?;
        let standard = standard(reader, arguments.judging.standard.as_ref())?;
        drop(progress);
        let settings = RunSettings::new(reader, &arguments.judging, SettingsInputs { old: None, new: &mut new, accept }, streams)?;
        let min_crds = arguments.judging.min_crds.unwrap_or(usize::from(!arguments.crds_only));
        Ok(CheckRun {
            settings,
            old: None,
            new,
            standard,
            history: Vec::new(),
            manifests: LoadedManifests::default(),
            release: None,
            objects: None,
            min_crds,
            old_may_be_empty: false,
            upgrade: None,
            change: None,
        })
    }

    /// Judges the findings, reports unreadable input, and passes the result to `then`.
    pub fn judge<R>(
        &self,
        streams: &mut Streams<'_>,
        then: impl FnOnce(&JudgedRun<'_, '_>, &mut Streams<'_>) -> Result<R, Stop>,
    ) -> Result<R, Stop> {
        let old = self.old.as_ref().map(Read::side);
        let new = self.new.side();
        let standard = self.standard.as_ref().map(Read::side);
        let past: Vec<(&str, Side<'_>)> = self.history.iter().map(|(name, read)| (&**name, read.side())).collect();
        let releases: Vec<Release<'_>> = past.iter().map(|(name, side)| Release { name, bundle: &side.bundle }).collect();
        let judgement = self.settings.judgement();
        let context = ReviewContext { standard: standard.as_ref().map(|side| &side.bundle), ..judgement.context };
        let last_release = self.release.as_ref().map(|release| release as &dyn LastRelease);
        let judgement = Judgement { context, history: &releases, conversions: self.manifests.manifests(), last_release, ..judgement };
        let progress = streams.progress(if old.is_some() { "comparing" } else { "checking" });
        let mut report = match (&old, self.upgrade) {
            (None, Some(minors)) => review::upgrade(&new, minors, &judgement),
            (Some(old), _) => Report { change: self.change.clone(), ..review::review(old, &new, &judgement) },
            (None, None) => review::lint(&new, &judgement),
        };
        drop(progress);
        self.release.iter().for_each(|release| release.report(streams));
        let mut exit = self.manifests.problems(streams);
        if judgement.book.is_cut() {
            streams.error("the conditions of your rules and policies, or the patterns of your waivers, take too long for this many changes, so not all were applied");
            exit = exit.or(Exit::Usage);
        }
        if let Some(objects) = &self.objects {
            let on_servers = self.upgrade.map(|(from, to)| (new.bundle.on(from), new.bundle.on(to)));
            let changed = match (&on_servers, &old) {
                // The server changes, so all CRDs count as changed.
                (Some((from, to)), _) => Some((from, to, from.crds.iter().filter_map(ResourceList::of).collect())),
                (None, Some(old)) => Some((&old.bundle, &new.bundle, ResourceList::changed(&old.bundle, &new.bundle))),
                (None, None) => None,
            };
            if let Some((before, after, resources)) = changed {
                exit = exit.or(existing_objects(objects, (before, after), &resources, &mut report, streams)?);
            }
        }
        let read = [(&self.new, &new)].into_iter().chain(self.standard.iter().zip(&standard));
        let read = read.chain(self.history.iter().map(|(_, read)| read).zip(past.iter().map(|(_, side)| side)));
        for (read, side) in read {
            exit = exit.or(read.problems(side, streams)?);
        }
        if let Some((read, side)) = self.old.as_ref().zip(old.as_ref()) {
            exit = exit.or(self.old_side(read, side, exit, streams)?);
        }
        if let Some(side) = &standard {
            exit = exit.or(without_crd(side, streams));
        }
        if !report.findings.is_empty() {
            self.new.note_patches(streams);
            self.new.note_templates(streams);
        }
        // A change may remove the last CRD of a project, but if neither side has a CRD the path is probably wrong.
        let all_removed = self.new.is_absent() && old.as_ref().is_some_and(|old| !old.bundle.crds.is_empty());
        if !all_removed {
            exit = exit.or(super::enough_crds(self.min_crds, &report, streams));
        }
        then(&JudgedRun { report, old: old.as_ref(), new: &new, judgement: &judgement, exit }, streams)
    }
}

/// Existing objects, the reader for them, and whether their values are reported.
struct ObjectInputs<'r> {
    reader: &'r InputReader,
    inputs: Vec<OsString>,
    keeps_values: bool,
}

impl<'r> ObjectInputs<'r> {
    fn of(reader: &'r InputReader, arguments: &arguments::Review) -> Option<Self> {
        let given = || ObjectInputs { reader, inputs: arguments.objects.clone(), keeps_values: arguments.object_values };
        (!arguments.objects.is_empty()).then(given)
    }
}

/// Counts the existing objects that findings affect.
fn existing_objects(
    objects: &ObjectInputs<'_>,
    (old, new): (&Bundle<'_>, &Bundle<'_>),
    resources: &[ResourceList],
    report: &mut Report,
    streams: &mut Streams<'_>,
) -> Result<Exit, Stop> {
    let progress = streams.progress("checking objects");
    let checker = ImpactChecker::new(old, new).keeping_values(objects.keeps_values);
    let mut tally = ObjectTally::new(checker, &report.findings);
    let exit = each_page(objects.reader, &objects.inputs, resources, streams, |documents| {
        tally.add(documents);
        progress.done(tally.checked());
    })?;
    drop(progress);
    tally.finish(label(&objects.inputs)).write(report);
    Ok(exit)
}

impl CheckRun<'_> {
    /// Reports problems with the old side. A change may fix files that can't be read there, but with a mistyped path everything in
    /// the bundle would look new.
    fn old_side(&self, read: &Read, side: &Side<'_>, new: Exit, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
        let exit = read.problems(side, streams)?;
        if exit != Exit::Clean && new == Exit::Clean && !read.is_missing() {
            streams.note(&format!("{} can't be read completely: CRDs that it lacks are checked, but not compared", side.source));
            return Ok(Exit::Clean);
        }
        let empty = side.bundle.crds.is_empty() && exit == Exit::Clean;
        if !empty || read.is_absent() || self.old_may_be_empty {
            return Ok(exit);
        }
        let help = "if there was none before, add --old-may-be-empty";
        streams.error(&format!("no CRD was found in {}, so there is nothing to compare with\n  help: {help}", side.source));
        Ok(Exit::Unread)
    }
}

fn standard(reader: &InputReader, input: Option<&OsString>) -> Result<Option<Read>, Stop> {
    let Some(input) = input else { return Ok(None) };
    let inputs = reader.parse(std::slice::from_ref(input))?;
    Ok(Some(reader.read(label(std::slice::from_ref(input)), &inputs, None)))
}
