//! Where text goes: standard output, standard error, or files that appear whole or not at all.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::cli::{self, Color, Format};
use crate::finding::Spot;
use crate::render::human::{self, Style, Texts};
use crate::render::{json, visible};
use crate::report::Report;
use crate::review::Side;

use super::{Exit, Stop};

/// The two streams of the program. A closed pipe is remembered, and ends the run without a word.
pub struct Streams<'w> {
    pub out: Box<dyn Write + 'w>,
    pub err: Box<dyn Write + 'w>,
    terminal: Terminal,
    color: (bool, bool),
    closed: bool,
}

/// What the streams are connected to.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    pub out: bool,
    pub err: bool,
    pub width: usize,
    pub unicode: bool,
}

/// Width where there is no terminal: what reviewers' screens and CI logs show without wrapping.
const PLAIN_WIDTH: usize = 80;

impl<'w> Streams<'w> {
    pub fn standard() -> Self {
        let terminal = Terminal {
            out: io::stdout().is_terminal(),
            err: io::stderr().is_terminal(),
            width: terminal_width().unwrap_or(PLAIN_WIDTH).clamp(40, 120),
            unicode: true,
        };
        Streams::new(Box::new(io::BufWriter::new(io::stdout())), Box::new(io::stderr()), terminal)
    }

    pub fn new(out: Box<dyn Write + 'w>, err: Box<dyn Write + 'w>, terminal: Terminal) -> Self {
        Streams { out, err, terminal, color: (false, false), closed: false }
    }

    pub(super) fn choose_color(&mut self, color: Color) {
        let allowed =
            std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        self.color = match color {
            Color::Always => (true, true),
            Color::Never => (false, false),
            Color::Auto => (allowed && self.terminal.out, allowed && self.terminal.err),
        };
    }

    pub fn out_style(&self) -> Style {
        Style { color: self.color.0, unicode: self.terminal.unicode, width: self.terminal.width }
    }

    pub fn err_style(&self) -> Style {
        Style { color: self.color.1, unicode: self.terminal.unicode, width: self.terminal.width }
    }

    pub fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn write(&mut self, text: &str) -> Result<(), Stop> {
        let result = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        if let Err(error) = &result
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            self.closed = true;
        }
        result.map_err(Stop::from)
    }

    /// One line of trouble on stderr; each line of text from outside is escaped.
    pub(super) fn error(&mut self, message: &str) {
        self.say("error: ", message);
    }

    pub(super) fn note(&mut self, message: &str) {
        self.say("note: ", message);
    }

    fn say(&mut self, prefix: &str, message: &str) {
        let lines: Vec<_> = message.lines().map(visible).collect();
        let _ = writeln!(self.err, "{prefix}{}", lines.join("\n"));
    }

    pub(super) fn raw_error(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes());
    }
}

fn terminal_width() -> Option<usize> {
    // The shell's own word where it gives one; asking the terminal is clap's and miette's business.
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Both sides as the human format reads their texts.
pub(super) struct TwoSides<'s, 't> {
    pub old: Option<&'s Side<'t>>,
    pub new: &'s Side<'t>,
}

impl Texts for TwoSides<'_, '_> {
    fn text(&self, spot: &Spot, old: bool) -> Option<&str> {
        let side = if old { self.old? } else { self.new };
        Some(&side.documents.file(spot.place?.file)?.text)
    }
}

/// Refuses an output that would overwrite an input, and two formats for one stream, before any work is done.
pub(super) fn check(output: &cli::Output, inputs: &[OsString]) -> Result<(), Stop> {
    let mut to_stdout = 0;
    for flag in &output.format {
        let Some(file) = &flag.file else {
            to_stdout += 1;
            continue;
        };
        let target = file.canonicalize().ok();
        if target.is_some() && inputs.iter().any(|input| Path::new(input).canonicalize().ok() == target) {
            return Err(Stop::usage(format!("{} is an input; choose another file for the output", file.display())));
        }
    }
    if to_stdout > 1 {
        return Err(Stop::usage("only one format can go to standard output; name a file for the others with `=`"));
    }
    Ok(())
}

pub(super) fn write(
    report: &Report,
    sides: &TwoSides<'_, '_>,
    output: &cli::Output,
    incomplete: bool,
    streams: &mut Streams<'_>,
) -> Result<(), Stop> {
    for flag in &output.format {
        let style = if flag.file.is_some() { Style { color: false, ..streams.out_style() } } else { streams.out_style() };
        let text = match flag.format {
            Format::Human => human::render(report, sides, &human::Options { style, all: output.all, quiet: output.quiet, incomplete }),
            Format::Json => json::render(report),
        };
        match &flag.file {
            Some(file) => replace(file, &text)?,
            None => streams.write(&text)?,
        }
    }
    Ok(())
}

/// Writes a file beside its place and moves it there.
pub(super) fn replace(file: &Path, text: &str) -> Result<(), Stop> {
    let fail = |error: io::Error| Stop { exit: Exit::Internal, message: format!("can't write {}: {error}", file.display()) };
    let name = file.file_name().ok_or_else(|| Stop::usage(format!("{} is no file name", file.display())))?;
    let mut part = name.to_owned();
    part.push(format!(".{}.part", std::process::id()));
    let part = file.with_file_name(part);
    let written = std::fs::File::create_new(&part).and_then(|mut target| {
        target.write_all(text.as_bytes())?;
        target.sync_all()?;
        if let Ok(before) = std::fs::metadata(file) {
            if before.permissions().readonly() {
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
            }
            std::fs::set_permissions(&part, before.permissions())?;
        }
        std::fs::rename(&part, file)
    });
    written.map_err(|error| {
        let _ = std::fs::remove_file(&part);
        fail(error)
    })
}
