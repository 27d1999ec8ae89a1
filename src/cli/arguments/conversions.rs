//! Arguments of `conversions` and its subcommands.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{ChangeSides, Judging, LimitFlags, Output};

#[derive(Debug, Subcommand)]
pub enum ConversionsCommand {
    /// Check the manifests against the schemas they convert between
    Check(Box<ConversionsCheck>),
    /// Draft the manifests that a change needs
    Scaffold(ConversionsScaffold),
    /// Print the sequence of releases that leads from OLD to NEW without losing an object; with more inputs, check that sequence
    Plan(ConversionsPlan),
    /// Set the release version in manifests that convert to `next`
    Release(ConversionsRelease),
    /// Write code that converts objects to their newest form
    #[command(subcommand)]
    Generate(ConversionsGenerate),
}

#[derive(Debug, Subcommand)]
pub enum ConversionsGenerate {
    /// Write a Go package for each kind, with tests: standard library only, objects as map[string]any
    Go(ConversionsGenerateGo),
}

#[derive(Debug, Args)]
pub struct ConversionsGenerateGo {
    /// Conversion manifests [default: `conversions/` beside the CRDs or in the current directory]
    #[arg(long, value_name = "INPUT")]
    pub conversions: Option<OsString>,

    /// CRDs to generate test objects from; may be repeated
    #[arg(long, value_name = "INPUT")]
    pub crd: Vec<OsString>,

    /// Directory to write the packages to, one directory each
    #[arg(long, short, value_name = "DIR")]
    pub output: PathBuf,

    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
pub struct ConversionsCheck {
    #[command(flatten)]
    pub sides: ChangeSides,

    /// Conversion manifests [default: `conversions/` beside NEW or in the current directory]
    #[arg(long, value_name = "INPUT")]
    pub conversions: Option<OsString>,

    /// Check a conversion webhook instead, with generated objects of all versions of the CRDs in INPUT: plain HTTP on loopback, or a
    /// command that reads a ConversionReview and prints it with the response
    #[arg(long, value_name = "COMMAND|http://LOOPBACK", conflicts_with_all = ["conversions", "against", "against_tag"])]
    pub webhook: Option<String>,

    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
pub struct ConversionsPlan {
    #[command(flatten)]
    pub sides: ChangeSides,

    /// Directory to write the CRD of each step to
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Conversion manifests [default: `conversions/` beside NEW or in the current directory]
    #[arg(long, value_name = "INPUT")]
    pub conversions: Option<OsString>,

    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
pub struct ConversionsRelease {
    /// Version of the release, such as 1.1.0 [default: the one that a review since the last release recommends]
    #[arg(value_name = "VERSION")]
    pub version: Option<String>,

    /// Without VERSION: compare with this revision or path [default: the tag of the last release, or HEAD]
    #[arg(long, value_name = "REV|PATH", conflicts_with = "version")]
    pub against: Option<OsString>,

    /// Conversion manifests [default: `conversions/` beside the CRDs or in the current directory]
    #[arg(long, value_name = "PATH")]
    pub conversions: Option<OsString>,

    #[command(flatten)]
    pub limits: LimitFlags,
}

#[derive(Debug, Args)]
pub struct ConversionsScaffold {
    #[command(flatten)]
    pub sides: ChangeSides,

    /// Directory to write the drafts to, one file each; existing files are left unchanged
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,

    /// Skip what these manifests already define [default: `conversions/` beside NEW or in the current directory]
    #[arg(long, value_name = "INPUT")]
    pub conversions: Option<OsString>,

    #[command(flatten)]
    pub limits: LimitFlags,
}
