//! Options for what is printed, and where.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Output format, with `=FILE` to write it to a file; may be repeated
    #[arg(long, value_name = "NAME[=FILE]", default_value = "human", value_parser = FormatParser(OutputFormat::value_variants()))]
    pub format: Vec<FormatFlag>,

    /// Show everything: every place, documentation changes, pre-existing and waived findings
    #[arg(long)]
    pub all: bool,

    /// Show the whole example object of each proof
    #[arg(long)]
    pub proof: bool,

    /// Show only findings that fail the run, and nothing if there are none
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatFlag {
    pub format: OutputFormat,
    pub file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    Human,
    /// One line for each group of findings
    Short,
    Json,
    Github,
    Sarif,
    Gitlab,
    Junit,
    Markdown,
    /// Markdown for release notes: changes by CRD, with what users have to do
    Changelog,
    /// A self-contained review page that works offline
    Html,
    /// Review minutes to fill in
    Minutes,
    /// `key=value` lines: verdict, bump and counts
    Env,
}

impl OutputFormat {
    /// Whether the format names files by their path in the repository, as platforms do.
    pub fn needs_repository_paths(self) -> bool {
        match self {
            OutputFormat::Human | OutputFormat::Short | OutputFormat::Changelog | OutputFormat::Json | OutputFormat::Env => false,
            OutputFormat::Github
            | OutputFormat::Sarif
            | OutputFormat::Gitlab
            | OutputFormat::Junit
            | OutputFormat::Markdown
            | OutputFormat::Html
            | OutputFormat::Minutes => true,
        }
    }
}

/// Parses `NAME[=FILE]` and lists the names for help and completions.
#[derive(Debug, Clone)]
pub(super) struct FormatParser(pub(super) &'static [OutputFormat]);

/// Formats for the results of `validate` and `test`.
pub(super) const OBJECT_FORMATS: &[OutputFormat] =
    &[OutputFormat::Human, OutputFormat::Json, OutputFormat::Github, OutputFormat::Sarif, OutputFormat::Junit];

impl clap::builder::TypedValueParser for FormatParser {
    type Value = FormatFlag;

    fn parse_ref(&self, command: &clap::Command, argument: Option<&clap::Arg>, value: &OsStr) -> Result<FormatFlag, clap::Error> {
        let formats = self.0;
        let parse = move |text: &str| FormatFlag::parse(text, formats);
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().filter_map(ValueEnum::to_possible_value)))
    }
}

impl FormatFlag {
    fn parse(text: &str, formats: &[OutputFormat]) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) if !file.is_empty() => (name, Some(PathBuf::from(file))),
            Some(_) => return Err("a file name must follow `=`".into()),
            None => (text, None),
        };
        let known = || formats.iter().filter_map(|format| format.to_possible_value());
        let format = formats.iter().copied().find(|format| format.to_possible_value().is_some_and(|value| value.get_name() == name));
        let format = format.ok_or_else(|| {
            let names: Vec<String> = known().map(|value| value.get_name().to_owned()).collect();
            let hint = crate::input::json_schema_check::nearest(name, names.iter().map(String::as_str));
            format!("unknown format `{name}`{hint}; use one of {}", names.join(", "))
        })?;
        Ok(FormatFlag { format, file })
    }
}
