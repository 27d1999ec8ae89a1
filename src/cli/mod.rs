//! The command line: parses arguments, reads files, runs the stages in order, writes the output, and returns an exit code.

pub mod arguments;
mod baseline;
mod check_run;
mod chosen_servers;
pub mod config;
mod conversion_check;
mod conversion_generate;
mod conversion_plan;
mod conversion_release;
mod conversion_scaffold;
mod convert;
mod default_inputs;
mod driver;
mod existing_objects;
mod explain;
mod fixtures;
mod init;
mod input;
mod man_pages;
mod manifests;
mod moved;
mod objects;
mod output;
mod own_pages;
mod progress;
mod released;
mod run_settings;
mod sides;
mod suites;
mod webhook;
mod write_file;

use std::ffi::OsString;
use std::io::Write;

use clap::Parser;

use crate::judge::finding::Severity;
use crate::judge::report::Report;
use arguments::{Cli, Command};

use check_run::CheckRun;
use input::InputReader;
pub use output::{Streams, Terminal};

/// Exit codes that other people's CI relies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Clean = 0,
    Findings = 1,
    Usage = 2,
    Unread = 3,
    Internal = 4,
}

impl Exit {
    fn rank(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::Unread => 2,
            Exit::Usage => 3,
            Exit::Internal => 4,
        }
    }

    /// The more severe of two exit codes: internal, usage, unread, findings, clean.
    pub fn or(self, other: Exit) -> Exit {
        if other.rank() > self.rank() { other } else { self }
    }

    pub fn code(self) -> u8 {
        self as u8
    }
}

/// An error that ends the run immediately.
#[derive(Debug)]
pub struct Stop {
    pub exit: Exit,
    pub message: String,
}

impl Stop {
    fn usage(message: impl Into<String>) -> Self {
        Stop { exit: Exit::Usage, message: message.into() }
    }

    fn internal(error: &std::io::Error) -> Self {
        Stop { exit: Exit::Internal, message: format!("can't write: {error}") }
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::internal(&error)
    }
}

/// Runs the whole program. The streams are parameters so that tests can call it.
pub fn main(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> Exit {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, streams),
    };
    streams.choose_color(cli.color);
    match dispatch(cli, streams) {
        Ok(exit) => exit,
        Err(stop) => {
            streams.error(&stop.message);
            stop.exit
        }
    }
}

fn usage(error: &clap::Error, streams: &mut Streams<'_>) -> Exit {
    let text = error.render().to_string();
    if error.use_stderr() {
        let _ = streams.err.write_all(text.as_bytes());
        Exit::Usage
    } else {
        let _ = streams.out.write_all(text.as_bytes());
        Exit::Clean
    }
}

fn dispatch(cli: Cli, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    match cli.command {
        Command::Review(arguments) => review(&default_inputs::review(*arguments, streams)?, streams),
        Command::Lint(arguments) => lint(&default_inputs::lint(arguments, streams)?, streams),
        Command::Validate(arguments) => objects::validate(&arguments, streams),
        Command::Test(arguments) => suites::test(&arguments, streams),
        Command::Fixtures(arguments) => objects::fixtures(&arguments, streams),
        Command::Convert(arguments) => convert::convert(&arguments, streams),
        Command::Conversions(arguments::ConversionsCommand::Check(arguments)) => conversion_check::check(&arguments, streams),
        Command::Conversions(arguments::ConversionsCommand::Scaffold(arguments)) => conversion_scaffold::scaffold(&arguments, streams),
        Command::Conversions(arguments::ConversionsCommand::Plan(arguments)) => conversion_plan::plan(&arguments, streams),
        Command::Conversions(arguments::ConversionsCommand::Generate(arguments::ConversionsGenerate::Go(arguments))) => {
            conversion_generate::go(&arguments, streams)
        }
        Command::Conversions(arguments::ConversionsCommand::Release(arguments)) => conversion_release::release(&arguments, streams),
        Command::Rules(arguments) => explain::rules(&arguments, streams),
        Command::Explain(arguments) => explain::explain(&arguments, streams),
        Command::Schema { which } => explain::schema(which, streams),
        Command::Baseline(arguments) => baseline::baseline(&arguments.command, streams),
        Command::Init => init::init(streams),
        Command::GitDiffDriver { arguments } => driver::diff(&arguments, streams),
        Command::Completions { shell } => man_pages::completions(shell, streams),
        Command::Man(arguments) => man_pages::manual(&arguments, streams),
    }
}

fn review(arguments: &arguments::Review, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    output::check(&arguments.output, &arguments.sides.inputs)?;
    let reader = InputReader::new(&arguments.limits);
    let Some(run) = CheckRun::review(&reader, arguments, true, streams)? else { return Ok(Exit::Clean) };
    run.judge(streams, |judged, streams| {
        if let Some(dir) = &arguments.witnesses {
            let written = objects::witnesses(&judged.report, dir)?;
            streams.note(&format!("{written} example objects written to {}", dir.display()));
        }
        output::write(judged, &reader, run.settings.gate, &arguments.output, streams)?;
        Ok(judged.exit.or(gate(run.settings.gate, &arguments.judging, &judged.report)))
    })
}

fn lint(arguments: &arguments::Lint, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    output::check(&arguments.output, &arguments.inputs)?;
    let reader = InputReader::new(&arguments.limits);
    let run = CheckRun::lint(&reader, arguments, true, streams)?;
    run.judge(streams, |judged, streams| {
        output::write(judged, &reader, run.settings.gate, &arguments.output, streams)?;
        Ok(judged.exit.or(gate(run.settings.gate, &arguments.judging, &judged.report)))
    })
}

fn gate(level: Option<Severity>, judging: &arguments::Judging, report: &Report) -> Exit {
    match level {
        Some(level) if report.fails(level) && !judging.exit_zero => Exit::Findings,
        _ => Exit::Clean,
    }
}

/// Fails a run that found too few CRDs, because a run that checked nothing must not pass.
fn enough_crds(min_crds: usize, report: &Report, streams: &mut Streams<'_>) -> Exit {
    let found = report.new.crds;
    if found >= min_crds {
        return Exit::Clean;
    }
    // Unreadable files are reported separately.
    let beside = report.new.skipped.iter().skip(report.new.unread).take(10);
    let beside: Vec<String> = beside.map(|skipped| format!("{} ({})", skipped.what, skipped.why)).collect();
    let beside = if beside.is_empty() { String::new() } else { format!("; there is {}", beside.join(", ")) };
    let what = match found {
        0 => "no CRD was found".to_owned(),
        1 => format!("only 1 CRD was found, {min_crds} expected"),
        _ => format!("only {found} CRDs were found, {min_crds} expected"),
    };
    streams.error(&format!("{what} in {}{beside}", report.new.source));
    Exit::Unread
}

#[cfg(test)]
mod tests;
