//! `crdwise baseline`: accepts today's findings, prunes entries that no longer match, or lists them.

use std::fmt::Write as _;

use crate::cli::arguments::{self, BaselineCommand};
use crate::judge::baseline::Baseline;
use crate::judge::finding::{Finding, Status};
use crate::judge::review;
use crate::judge::rule::Book;
use crate::model::fact::Subject;
use crate::render::visible;

use super::check_run::{CheckRun, JudgedRun};
use super::input::InputReader;
use super::write_file::replace;
use super::{Exit, Stop, Streams};

pub(super) fn baseline(command: &BaselineCommand, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    match command {
        BaselineCommand::Write(arguments) => change(arguments, streams, |judged, before| {
            let accepted = |finding: &&Finding| finding.status == Status::New && !is_about_config(finding, judged.judgement.book);
            let scope = review::scope(judged.old, judged.new, judged.judgement.book);
            before.replace(judged.report.findings.iter().filter(accepted), &scope)
        }),
        BaselineCommand::Prune(arguments) => change(arguments, streams, |judged, before| {
            before.prune(&judged.report.findings, &review::scope(judged.old, judged.new, judged.judgement.book))
        }),
        BaselineCommand::List(arguments) => list(arguments, streams),
    }
}

/// Findings about waivers and the baseline itself can't be accepted by a baseline.
fn is_about_config(finding: &Finding, book: &Book) -> bool {
    book.get(&finding.rule).is_some_and(|rule| rule.matches.subjects.contains(&Subject::Config))
}

/// Runs like `lint` or `review` but without the baseline, and writes a new baseline.
fn change(
    arguments: &arguments::BaselineRun,
    streams: &mut Streams<'_>,
    make: impl FnOnce(&JudgedRun<'_, '_>, &Baseline) -> Baseline,
) -> Result<Exit, Stop> {
    let reader = InputReader::new(&arguments.limits);
    let run = match &arguments.against {
        None => CheckRun::lint(&reader, &arguments.as_lint(), false, streams)?,
        Some(_) => match CheckRun::review(&reader, &arguments.as_review(), false, streams)? {
            Some(run) => run,
            None => return Ok(Exit::Clean),
        },
    };
    let file = &run.settings.baseline_file;
    let before = match std::fs::read_to_string(file) {
        Ok(text) => Baseline::parse(&text).map_err(|fault| Stop::usage(format!("{}: {fault}", file.display())))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Baseline::default(),
        // Writing a new baseline would lose the old entries.
        Err(error) => return Err(Stop::usage(format!("can't read {}: {error}", file.display()))),
    };
    let (after, exit) = run.judge(streams, |judged, _| Ok((make(judged, &before), judged.exit)))?;
    if exit != Exit::Clean {
        // A baseline from only half of the findings would report the other half as new.
        streams.error(&format!("{} was left unchanged, because some inputs could not be read", file.display()));
        return Ok(exit);
    }
    replace(file, &after.render())?;
    let (more, less) = (after.count_not_in(&before), before.count_not_in(&after));
    let name = file.display().to_string();
    streams.write(&format!("{}: {} ({more} more, {less} less)\n", visible(&name), accepted(&after)))?;
    Ok(Exit::Clean)
}

fn accepted(baseline: &Baseline) -> String {
    match baseline.entries().len() {
        1 => "1 finding accepted".to_owned(),
        count => format!("{count} findings accepted"),
    }
}

fn list(arguments: &arguments::BaselineList, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let name = arguments.baseline.clone().unwrap_or_else(|| crate::judge::baseline::FILE.into());
    let shown = name.display().to_string();
    let text =
        std::fs::read_to_string(&name).map_err(|error| Stop { exit: Exit::Unread, message: format!("can't read {shown}: {error}") })?;
    let baseline = Baseline::parse(&text).map_err(|fault| Stop::usage(format!("{shown}: {fault}")))?;
    let mut out = String::new();
    let mut section = None;
    for entry in baseline.entries() {
        let here = (&entry.crd, &entry.version);
        if section != Some(here) {
            let crd = if entry.crd.is_empty() { "the bundle" } else { &entry.crd };
            let version = if entry.version.is_empty() { String::new() } else { format!(" · {}", entry.version) };
            let _ = writeln!(out, "{}{}", visible(crd), visible(&version));
            section = Some(here);
        }
        let command = entry.command.map_or("", |command| command.name());
        let line = format!("  {command:<6} {:<34} {}", visible(&entry.rule), visible(&entry.path));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out, "{} in {}", accepted(&baseline), visible(&shown));
    streams.write(&out)?;
    Ok(Exit::Clean)
}
