//! What can be typed. `run` turns it into what is meant.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::finding::Severity;

#[derive(Debug, Parser)]
#[command(
    name = "crdwise",
    version,
    about = "Lints CRDs and reviews changes to them, knowing what an API server does",
    after_help = "Examples:\n  crdwise review v1.2.0:config/crd config/crd     compare with a release\n  \
                  crdwise review config/crd --against main        compare with a branch\n  \
                  crdwise lint config/crd                         check one bundle\n\n\
                  Exit codes: 0 clean · 1 findings · 2 usage or configuration · 3 input not readable, or no CRD · 4 internal error",
    disable_help_subcommand = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,

    /// When to colour the output
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, help_heading = "Output")]
    pub color: Color,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare two bundles: what changed, whom it hurts, which version comes next
    #[command(after_help = "INPUT is a file, a directory, `-`, or `REV:path` of the git repository around you.\n\n\
        Examples:\n  crdwise review old/ new/\n  crdwise review v1.2.0:config/crd config/crd\n  crdwise review config/crd --against origin/main")]
    Review(Review),
    /// Check one bundle: what a server refuses, hazards, guidelines
    #[command(
        after_help = "Examples:\n  crdwise lint config/crd\n  crdwise lint --policy kubernetes -\n  crdwise lint HEAD:config/crd --format json"
    )]
    Lint(Lint),
    /// Run the server's request path on objects: what is refused, dropped or defaulted
    #[command(after_help = "Examples:\n  crdwise validate examples/ --crd config/crd\n  \
        crdwise validate examples/ --crd config/crd --old v1.2.0:config/crd    what the upgrade breaks\n  \
        crdwise validate fixtures/release-* --crd config/crd                  fixtures of past releases")]
    Validate(Validate),
    /// Write objects with every field filled, as fixtures for later releases
    Fixtures(Fixtures),
    /// List the rules
    Rules(Rules),
    /// Show the page of a rule or policy
    Explain(Explain),
    /// Print a JSON Schema of a format that this tool reads or writes
    Schema { which: SchemaName },
    /// Print a completion script for a shell
    Completions { shell: clap_complete::Shell },
    /// Print the manual page
    Man,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaName {
    Report,
    Rule,
}

#[derive(Debug, Args)]
pub struct Review {
    /// OLD and NEW; with --against, every input is NEW
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    /// Compare with the same paths at this revision, or with this path
    #[arg(long, value_name = "REV|PATH", help_heading = "Sides")]
    pub against: Option<OsString>,

    /// Version of the old bundle, where its CRDs don't say
    #[arg(long, value_name = "SEMVER", help_heading = "Sides")]
    pub old_version: Option<String>,

    /// Version of the new bundle, where its CRDs don't say
    #[arg(long, value_name = "SEMVER", help_heading = "Sides")]
    pub new_version: Option<String>,

    /// Write the object that proves each break into this directory
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub witnesses: Option<PathBuf>,

    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
pub struct Validate {
    /// Files with custom resources
    #[arg(value_name = "OBJECT", required = true)]
    pub objects: Vec<OsString>,
    /// The CRDs to judge by
    #[arg(long, value_name = "INPUT", required = true)]
    pub crd: Vec<OsString>,
    /// The CRDs of before: only what the upgrade breaks fails the run
    #[arg(long, value_name = "INPUT")]
    pub old: Vec<OsString>,
    /// Also what gets a default
    #[arg(long)]
    pub all: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
pub struct Fixtures {
    #[command(subcommand)]
    pub command: FixturesCommand,
}

#[derive(Debug, Subcommand)]
pub enum FixturesCommand {
    /// One file for each served version of each CRD
    Write {
        /// The CRDs of the release
        #[arg(value_name = "INPUT", required = true)]
        inputs: Vec<OsString>,
        /// Where the files go
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        limits: LimitFlags,
    },
}

#[derive(Debug, Args)]
pub struct Lint {
    /// What to check
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Judging")]
pub struct Judging {
    /// guidelines, gep-922, kustomize, kubevirt or kubernetes
    #[arg(long, value_name = "NAME", default_value = crate::policy::DEFAULT)]
    pub policy: String,

    /// A directory with rules of your own
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,

    /// The severity from which findings fail the run
    #[arg(long, value_name = "LEVEL", default_value = "error")]
    pub fail_on: Level,

    /// Fail when fewer CRDs are found
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub min_crds: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Level {
    Error,
    Warning,
    Info,
    Never,
}

impl Level {
    pub fn severity(self) -> Option<Severity> {
        match self {
            Level::Error => Some(Severity::Error),
            Level::Warning => Some(Severity::Warning),
            Level::Info => Some(Severity::Info),
            Level::Never => None,
        }
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// human or json, to a file with `=`; may be given several times
    #[arg(long, value_name = "NAME[=FILE]", default_value = "human")]
    pub format: Vec<FormatFlag>,

    /// Also show documentation changes, pre-existing and waived findings
    #[arg(long)]
    pub all: bool,

    /// Only what fails, and nothing when all is well
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatFlag {
    pub format: Format,
    pub file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Human,
    Json,
}

impl std::str::FromStr for FormatFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) if !file.is_empty() => (name, Some(PathBuf::from(file))),
            Some(_) => return Err("a file name must follow `=`".into()),
            None => (text, None),
        };
        let known = || Format::value_variants().iter().filter_map(|format| format.to_possible_value());
        let format = <Format as ValueEnum>::from_str(name, false).map_err(|_| {
            let names: Vec<String> = known().map(|value| value.get_name().to_owned()).collect();
            let hint = crate::rule::nearest(name, names.iter().map(String::as_str));
            format!("no format `{name}`{hint}; there are {}", names.join(", "))
        })?;
        Ok(FormatFlag { format, file })
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Bytes of one file
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub max_file_size: Option<u64>,
    /// Bytes of all files of a side
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub max_total_size: Option<u64>,
    /// Files of a side
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_files: Option<usize>,
    /// Directory entries looked at
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_entries: Option<usize>,
    /// Nesting of directories
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_directory_depth: Option<usize>,
    /// Nesting of a document
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_depth: Option<usize>,
    /// Nodes of a document, aliases expanded
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_nodes: Option<usize>,
    /// Documents of a file
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_documents: Option<usize>,
    /// Bytes of one scalar
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub max_scalar: Option<usize>,
}

#[derive(Debug, Args)]
pub struct Rules {
    /// Only rules of this family: change, server, guideline, hazard, convention, conversion
    #[arg(long)]
    pub family: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// A directory with rules of your own
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// A rule's id, or a policy's name
    pub id: String,
    /// A directory with rules of your own
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
}
