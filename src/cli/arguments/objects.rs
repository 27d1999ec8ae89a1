//! Arguments of the commands for objects: `validate`, `test`, `fixtures` and `convert`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::model::kubernetes::Minors;

use super::output::{FormatParser, OBJECT_FORMATS};
use super::{FormatFlag, LimitFlags};

#[derive(Debug, Args)]
pub struct Validate {
    /// Files with custom resources
    #[arg(value_name = "OBJECT", required = true)]
    pub objects: Vec<OsString>,
    /// CRDs to validate against
    #[arg(long, value_name = "INPUT", required = true)]
    pub crd: Vec<OsString>,
    /// CRDs before the upgrade: only objects that the upgrade breaks fail the run
    #[arg(long, value_name = "INPUT")]
    pub old: Vec<OsString>,
    /// Objects that are stored: each OBJECT is checked as an update of the one with its kind, namespace and name
    #[arg(long, value_name = "OBJECT", conflicts_with = "old")]
    pub previous: Vec<OsString>,
    /// Servers to check for: 1.33, 1.30..1.36, 1.31.. or >=1.31 [default: from the configuration, that of kube:, or the newest release]
    #[arg(long, value_name = "RANGE")]
    pub kubernetes: Option<Minors>,
    /// With --previous: write to this subresource. For `scale`, OBJECT can be a Scale
    #[arg(long, value_name = "NAME", requires = "previous")]
    pub subresource: Option<SubresourceName>,
    /// Output format, with `=FILE` to write it to a file; may be repeated
    #[arg(long, value_name = "NAME[=FILE]", default_value = "human", value_parser = FormatParser(OBJECT_FORMATS))]
    pub format: Vec<FormatFlag>,
    /// Also show defaulted fields
    #[arg(long)]
    pub all: bool,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
pub struct Test {
    #[command(subcommand)]
    pub command: Option<TestCommand>,
    /// Suites, and directories with suites and CRDs [default: the current directory]
    #[arg(value_name = "PATH")]
    pub paths: Vec<OsString>,
    /// CRDs to test [default: those in PATH, or in the directory of each suite]
    #[arg(long, value_name = "INPUT")]
    pub crd: Vec<OsString>,
    /// Servers that cases must hold on: 1.33, 1.30..1.36, 1.31.. or >=1.31; a suite's `kubernetes` takes precedence [default: the newest
    /// release]
    #[arg(long, value_name = "RANGE")]
    pub kubernetes: Option<Minors>,
    /// Show which constraints no case passes or breaks, as a table or as lines of the CRDs
    #[arg(long, value_name = "VIEW", num_args = 0..=1, default_missing_value = "table", require_equals = true)]
    pub coverage: Option<CoverageDetail>,
    /// Fail if fewer constraints are covered
    #[arg(long, value_name = "PERCENT")]
    pub min_coverage: Option<f64>,
    /// CRDs of an earlier release: objects of this release must be accepted by them too; fields that they lose are listed
    #[arg(long, value_name = "INPUT")]
    pub downgrade: Option<OsString>,
    /// Output format, with `=FILE` to write it to a file; may be repeated
    #[arg(long, value_name = "NAME[=FILE]", default_value = "human", value_parser = FormatParser(OBJECT_FORMATS))]
    pub format: Vec<FormatFlag>,
    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CoverageDetail {
    Table,
    Source,
}

#[derive(Debug, Subcommand)]
pub enum TestCommand {
    /// Write the missing cases: one accepted and one rejected object for each constraint
    Generate(TestGenerate),
}

#[derive(Debug, Args)]
pub struct TestGenerate {
    /// CRDs, and directories with CRDs and suites
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,
    /// Directory to write suites to [default: beside each CRD]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SubresourceName {
    Status,
    Scale,
}

#[derive(Debug, Args)]
pub struct Fixtures {
    #[command(subcommand)]
    pub command: FixturesCommand,
}

#[derive(Debug, Subcommand)]
pub enum FixturesCommand {
    /// Write one file for each served version of each CRD
    Write {
        /// CRDs of the release
        #[arg(value_name = "INPUT", required = true)]
        inputs: Vec<OsString>,
        /// Directory to write to
        #[arg(long, value_name = "DIR")]
        dir: PathBuf,
        #[command(flatten)]
        limits: LimitFlags,
    },
}

#[derive(Debug, Args)]
pub struct Convert {
    /// Files or directories with objects, or `-`
    #[arg(value_name = "OBJECT", required = true)]
    pub inputs: Vec<OsString>,

    /// Version to convert to: `v1`, a bundle version such as `1.1.0`, or `v1@1.1.0`
    #[arg(long, value_name = "VERSION")]
    pub to: String,

    /// Version of the objects, if `apiVersion` alone doesn't identify it
    #[arg(long, value_name = "VERSION")]
    pub from: Option<String>,

    /// Conversion manifests [default: `conversions/` beside the objects, in the current directory, or beside the CRDs of this repository]
    #[arg(long, value_name = "INPUT")]
    pub conversions: Option<OsString>,

    /// CRDs to validate the results against; may be repeated
    #[arg(long, value_name = "INPUT")]
    pub crd: Vec<OsString>,

    /// Show what would change, and fail if anything would change
    #[arg(long, conflicts_with_all = ["write", "output"], help_heading = "Output")]
    pub check: bool,

    /// Overwrite the input files, or with -o the files there
    #[arg(long, help_heading = "Output")]
    pub write: bool,

    /// Write to this file or directory; existing files need --write
    #[arg(long, short, value_name = "PATH", help_heading = "Output")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub limits: LimitFlags,
}
