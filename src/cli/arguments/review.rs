//! Arguments of `review`, `lint` and `baseline`: one or two bundles, and how they are judged.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::model::kubernetes::Minors;

use super::{Judging, LimitFlags, Output};

#[derive(Debug, Args)]
pub struct BaselineArguments {
    #[command(subcommand)]
    pub command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub enum BaselineCommand {
    /// Accept all current findings of a lint run, or of a review with --against
    #[command(after_help = "Examples:\n  crdwise baseline write config/crd\n  crdwise baseline write config/crd --against v1.2.0")]
    Write(BaselineRun),
    /// Remove entries that no longer match a finding
    Prune(BaselineRun),
    /// List the accepted findings
    List(BaselineList),
}

#[derive(Debug, Args)]
pub struct BaselineRun {
    /// CRDs to check
    #[arg(value_name = "INPUT", required = true)]
    pub inputs: Vec<OsString>,

    /// Compare with the same paths at this revision, or with this path
    #[arg(long, value_name = "REV|PATH")]
    pub against: Option<OsString>,

    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub limits: LimitFlags,
}

impl BaselineRun {
    pub fn as_lint(&self) -> Lint {
        Lint {
            inputs: self.inputs.clone(),
            crds_only: false,
            judging: self.judging.clone(),
            output: Output::default(),
            limits: self.limits.clone(),
        }
    }

    pub fn as_review(&self) -> Review {
        Review {
            sides: ChangeSides { inputs: self.inputs.clone(), against: self.against.clone(), ..ChangeSides::default() },
            judging: self.judging.clone(),
            limits: self.limits.clone(),
            ..Review::default()
        }
    }
}

#[derive(Debug, Args)]
pub struct BaselineList {
    /// File with the accepted findings [default: crdwise-baseline.json]
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
}

/// The side whose configuration applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ConfigSide {
    Old,
    New,
}

#[derive(Debug, Default, Args)]
pub struct Review {
    #[command(flatten)]
    pub sides: ChangeSides,

    /// Compare staged files with HEAD; without INPUT, all staged files that contain CRDs
    #[arg(long, conflicts_with_all = ["against", "against_tag"], help_heading = "Sides")]
    pub staged: bool,

    /// Instead of comparing, show what an upgrade of the cluster changes for these CRDs, such as 1.35..1.36
    #[arg(long, value_name = "FROM..TO", conflicts_with_all = ["against", "against_tag", "staged", "kubernetes"], help_heading = "Sides")]
    pub upgrade: Option<Minors>,

    /// Conversion manifests [default: `conversions/` beside NEW or in the current directory]
    #[arg(long, value_name = "INPUT", help_heading = "Judging")]
    pub conversions: Option<OsString>,

    /// Existing objects, to list those that each break affects: files, dumps of `kubectl get -o yaml`, or `kube:`; names are reported,
    /// values only with --object-values
    #[arg(long, value_name = "INPUT", help_heading = "Judging")]
    pub objects: Vec<OsString>,

    /// With --objects: also report the affected values. They appear in every output, so don't use this where the output is public
    #[arg(long, requires = "objects", help_heading = "Judging")]
    pub object_values: bool,

    /// Accept an OLD without any CRD
    #[arg(long, help_heading = "Sides")]
    pub old_may_be_empty: bool,

    /// Last release: a break in something that it doesn't contain is only a note; `auto` is the highest release tag that is not newer
    /// than OLD, `none` counts everything as released [default: auto for git inputs]
    #[arg(long, value_name = "REV|auto|none", help_heading = "Sides")]
    pub released: Option<String>,

    /// Earlier releases, oldest first: inputs, or revisions to read the same paths from
    #[arg(long, value_name = "REV|INPUT", num_args = 1.., help_heading = "Sides")]
    pub history: Vec<OsString>,

    /// Side whose configuration applies; `old` ignores changes to the configuration [default: new]
    #[arg(long, value_name = "SIDE", help_heading = "Judging")]
    pub config_from: Option<ConfigSide>,

    /// Write the object that proves each break to this directory
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub witnesses: Option<PathBuf>,

    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub limits: LimitFlags,
}

impl Review {
    /// The arguments that name the same two sides, each after a space.
    pub fn change_words(&self) -> String {
        let mut words: Vec<String> = self.sides.inputs.iter().map(|input| input.to_string_lossy().into_owned()).collect();
        let against =
            self.sides.against.as_ref().map(|rev| rev.to_string_lossy().into_owned()).or_else(|| self.staged.then(|| "HEAD".to_owned()));
        if self.staged && words.is_empty() {
            return String::new();
        }
        words.extend(against.into_iter().flat_map(|rev| ["--against".to_owned(), rev]));
        words.extend(self.sides.against_tag.iter().flat_map(|tag| ["--against-tag".to_owned(), tag.clone()]));
        words.extend(self.sides.merge_base.then(|| "--merge-base".to_owned()));
        shell_words(&words)
    }

    /// The arguments for `baseline write` that name the same two sides, each after a space.
    pub fn baseline_words(&self) -> String {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let against = |inputs: &[OsString], old: &OsString| {
            let words: Vec<String> = inputs.iter().map(text).chain(["--against".to_owned(), text(old)]).collect();
            shell_words(&words)
        };
        match (&*self.sides.inputs, &self.sides.against) {
            ([old, new], None) if self.sides.against_tag.is_none() && !self.staged => against(std::slice::from_ref(new), old),
            (inputs, Some(old)) if !self.sides.merge_base => against(inputs, old),
            _ => " --against REV".to_owned(),
        }
    }
}

/// Quotes words for a shell, each after a space.
fn shell_words(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "./:_-~^@=+,%".contains(c);
    let quoted = |word: &String| if word.chars().all(plain) { format!(" {word}") } else { format!(" '{}'", word.replace('\'', "'\\''")) };
    words.iter().map(quoted).collect()
}

/// The two bundles of a change, as in `review`.
#[derive(Debug, Clone, Default, Args)]
pub struct ChangeSides {
    /// OLD and NEW; if a flag names the old side, every input is NEW [default: the CRDs of this repository, compared with HEAD, or with
    /// the merge base in a pull-request job]
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<OsString>,

    /// Compare with the same paths at this revision, or with this path
    #[arg(long, value_name = "REV|PATH", help_heading = "Sides")]
    pub against: Option<OsString>,

    /// With --against: compare with the merge base
    #[arg(long, requires = "against", help_heading = "Sides")]
    pub merge_base: bool,

    /// Compare with the newest reachable tag that matches, such as 'v*'
    #[arg(long, value_name = "GLOB", conflicts_with = "against", help_heading = "Sides")]
    pub against_tag: Option<String>,

    /// Whether this is a CI job that doesn't say what it builds, so that HEAD may be the change itself.
    #[arg(skip)]
    pub base_is_unknown: bool,

    #[command(flatten)]
    pub versions: Versions,
}

impl ChangeSides {
    /// The arguments for reviewing the same change.
    pub fn as_review(&self, conversions: Option<&OsString>, judging: &Judging, limits: &LimitFlags) -> Review {
        Review {
            sides: self.clone(),
            conversions: conversions.cloned(),
            judging: judging.clone(),
            limits: limits.clone(),
            ..Review::default()
        }
    }
}

#[derive(Debug, Clone, Default, Args)]
pub struct Versions {
    /// Version of the old bundle, if its CRDs don't declare one
    #[arg(long, value_name = "SEMVER", help_heading = "Sides")]
    pub old_version: Option<String>,

    /// Version of the new bundle, if its CRDs don't declare one
    #[arg(long, value_name = "SEMVER", help_heading = "Sides")]
    pub new_version: Option<String>,
}

#[derive(Debug, Args)]
pub struct Lint {
    /// CRDs to check [default: the CRDs of this repository]
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<OsString>,

    /// Ignore files that contain no CRD, even unreadable ones; finding no CRD is fine
    #[arg(long, help_heading = "Input")]
    pub crds_only: bool,

    #[command(flatten)]
    pub judging: Judging,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub limits: LimitFlags,
}
