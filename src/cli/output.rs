//! Writes output to stdout, stderr or files. Files are written atomically.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use crate::cli::arguments::{self, Color, FormatFlag, OutputFormat};
use crate::input::{File, Origin, is_manifest};
use crate::judge::finding::{Severity, Spot};
use crate::judge::report::Report;
use crate::judge::review::Side;
use crate::render::human::{self, Style, Texts};
use crate::render::{Anchors, View, changelog, env, github, gitlab, html, json, junit, markdown, minutes, sarif, short, visible};

use super::check_run::JudgedRun;
use super::input::InputReader;
use super::progress::Progress;
use super::write_file::replace;
use super::{Exit, Stop};

/// The two streams of the program. Output to a closed pipe is silently lost.
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
    /// Whether the cursor can be moved, so that a line can be erased.
    pub moves: bool,
}

/// The width without a terminal; review tools and CI logs show this without wrapping.
const PLAIN_WIDTH: usize = 80;

impl<'w> Streams<'w> {
    pub fn standard() -> Self {
        let terminal = Terminal {
            out: io::stdout().is_terminal(),
            err: io::stderr().is_terminal(),
            width: terminal_width().unwrap_or(PLAIN_WIDTH).clamp(40, 120),
            unicode: true,
            moves: std::env::var_os("TERM").is_some_and(|term| term != "dumb"),
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
            // Git's pager is connected to a terminal.
            Color::Auto => (allowed && (self.terminal.out || std::env::var_os("GIT_PAGER_IN_USE").is_some()), allowed && self.terminal.err),
        };
    }

    pub fn out_style(&self) -> Style {
        Style { color: self.color.0, unicode: self.terminal.unicode, width: self.terminal.width }
    }

    pub fn err_style(&self) -> Style {
        Style { color: self.color.1, unicode: self.terminal.unicode, width: self.terminal.width }
    }

    /// Starts a progress indicator for long work, if someone is watching.
    pub(super) fn progress(&self, stage: &'static str) -> Progress {
        Progress::start(self.terminal.err && self.terminal.moves, stage)
    }

    pub(super) fn write(&mut self, text: &str) -> Result<(), Stop> {
        self.write_with(|out| out.write_all(text.as_bytes()))
    }

    /// Writes what may be too large to be in memory at once.
    fn write_with(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Stop> {
        if self.closed {
            return Ok(());
        }
        match write(&mut self.out).and_then(|()| self.out.flush()) {
            // The reader closed the pipe; they still get the exit code.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            result => result.map_err(Stop::from),
        }
    }

    /// Writes an error message to stderr; each line is escaped.
    pub(super) fn error(&mut self, message: &str) {
        self.say("error: ", message);
    }

    pub(super) fn note(&mut self, message: &str) {
        self.say("note: ", message);
    }

    pub(super) fn warning(&mut self, message: &str) {
        self.say("warning: ", message);
    }

    fn say(&mut self, prefix: &str, message: &str) {
        // Lines start with a bar, so that a CI log can't take them for commands, whatever a file is called.
        let lines: Vec<_> = message.lines().map(visible).collect();
        let _ = writeln!(self.err, "{prefix}{}", lines.join("\n  │ "));
    }

    pub(super) fn raw_error(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes());
    }
}

fn terminal_width() -> Option<usize> {
    // The user's setting takes precedence over the terminal's.
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    given.or_else(|| terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0)))
}

/// The source texts of both sides, for the human format.
pub(super) struct TwoSides<'s, 't> {
    pub old: Option<&'s Side<'t>>,
    pub new: &'s Side<'t>,
    pub conversions: Option<&'s crate::find::conversion::Conversions>,
}

impl TwoSides<'_, '_> {
    fn commits(&self) -> html::Commits {
        let of = |side: &Side<'_>| {
            side.documents.files.iter().find_map(|file| match &file.origin {
                Origin::Git { commit, .. } => Some(commit.clone()),
                _ => None,
            })
        };
        html::Commits { old: self.old.and_then(of), new: of(self.new) }
    }
}

impl Texts for TwoSides<'_, '_> {
    fn text(&self, spot: &Spot, old: bool) -> Option<&str> {
        Some(&self.file(spot, old)?.text)
    }

    fn shown_line(&self, spot: &Spot, old: bool, line: usize) -> usize {
        self.file(spot, old).map_or(line, |file| file.shown_line(line))
    }
}

impl TwoSides<'_, '_> {
    fn file(&self, spot: &Spot, old: bool) -> Option<&File> {
        let side = if old { self.old? } else { self.new };
        let file = spot.place?.file;
        let manifest = || self.conversions.filter(|_| !old).and_then(|conversions| conversions.file(file));
        side.documents.file(file).or_else(manifest)
    }
}

/// Refuses an output that would overwrite an input, or two formats for the same file, before doing any work.
pub(super) fn check(output: &arguments::Output, inputs: &[OsString]) -> Result<(), Stop> {
    check_formats(&output.format, inputs)
}

pub(super) fn check_formats(formats: &[FormatFlag], inputs: &[OsString]) -> Result<(), Stop> {
    let mut to_stdout = 0;
    let mut taken: Vec<&Path> = Vec::new();
    for flag in formats {
        let Some(file) = &flag.file else {
            to_stdout += 1;
            continue;
        };
        if taken.contains(&file.as_path()) {
            return Err(Stop::usage(format!("two formats can't both be written to {}", file.display())));
        }
        taken.push(file);
        if let Ok(target) = file.canonicalize()
            && inputs.iter().any(|input| contains_file(input, &target))
        {
            return Err(Stop::usage(format!("{} is an input; choose another file for the output", file.display())));
        }
    }
    if to_stdout > 1 {
        return Err(Stop::usage("only one format can go to standard output; name a file for the others with `=`"));
    }
    Ok(())
}

/// Whether an existing file is part of an input.
fn contains_file(input: &OsString, target: &Path) -> bool {
    let Ok(input) = Path::new(input).canonicalize() else { return false };
    input == *target || (target.starts_with(&input) && target.is_file() && is_manifest(&target.to_string_lossy()))
}

/// Writes every format. If one can't be written, the others still are.
pub(super) fn write(
    judged: &JudgedRun<'_, '_>,
    reader: &InputReader,
    gate: Option<Severity>,
    output: &arguments::Output,
    streams: &mut Streams<'_>,
) -> Result<(), Stop> {
    let sides = &TwoSides { old: judged.old, new: judged.new, conversions: judged.judgement.conversions.now };
    let anchors = if output.format.iter().any(|flag| flag.format.needs_repository_paths()) {
        Anchors::new(sides.old.map(|side| side.documents), sides.new.documents, reader.loader.repository().ok())
    } else {
        Anchors::default()
    };
    let view = View {
        report: &judged.report,
        book: judged.judgement.book,
        anchors: &anchors,
        all: output.all,
        gate,
        complete: judged.exit == Exit::Clean && judged.old.is_none_or(|old| old.unread.is_empty()),
    };
    write_formats(&output.format, streams, |format, style| match format {
        OutputFormat::Human => human::render(
            view.report,
            sides,
            &human::Options {
                style: *style,
                all: output.all,
                proof: output.proof,
                quiet: output.quiet.then_some(gate.unwrap_or(Severity::Error)),
                incomplete: !view.complete,
                gate,
            },
        )
        .into(),
        OutputFormat::Short => short::render(&view, style.color).into(),
        OutputFormat::Json => Rendered::Json(view.report),
        OutputFormat::Github => github::render(&view).into(),
        OutputFormat::Sarif => sarif::render(&view).into(),
        OutputFormat::Gitlab => gitlab::render(&view).into(),
        OutputFormat::Junit => junit::render(&view).into(),
        OutputFormat::Changelog => changelog::render(&view).into(),
        OutputFormat::Markdown => markdown::render(&view).into(),
        OutputFormat::Env => env::render(&view).into(),
        OutputFormat::Minutes => minutes::render(&view, &sides.commits()).into(),
        OutputFormat::Html => html::render(&view, sides, &sides.commits()).into(),
    })
}

/// What one format shows: a text, or a report that is written as JSON piece by piece.
pub(super) enum Rendered<'r> {
    Text(String),
    Json(&'r Report),
}

impl From<String> for Rendered<'_> {
    fn from(text: String) -> Self {
        Rendered::Text(text)
    }
}

/// Writes each format to its destination.
pub(super) fn write_formats<'r, R: Into<Rendered<'r>>>(
    formats: &[FormatFlag],
    streams: &mut Streams<'_>,
    render: impl Fn(OutputFormat, &Style) -> R,
) -> Result<(), Stop> {
    let mut outcome = Ok(());
    for flag in formats {
        let style = if flag.file.is_some() { Style { color: false, ..streams.out_style() } } else { streams.out_style() };
        let written = match (render(flag.format, &style).into(), &flag.file) {
            (Rendered::Text(text), Some(file)) => replace(file, &text),
            (Rendered::Text(text), None) => streams.write(&text),
            (Rendered::Json(report), Some(file)) => replace(file, &json::render(report)),
            (Rendered::Json(report), None) => streams.write_with(|out| json::write(report, out)),
        };
        outcome = outcome.and(written);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_cannot_inject_log_commands() {
        let mut said = Vec::new();
        let terminal = Terminal { out: false, err: false, width: 80, unicode: true, moves: false };
        Streams::new(Box::new(io::sink()), Box::new(&mut said), terminal).error("`a\n::error::x\r\n  ::stop-commands::y` is not a file");
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("::stop-commands::y"), "{said}");
        assert!(said.lines().all(|line| !line.trim_start().starts_with("::")), "{said}");
    }
}
