//! Options for how findings are judged, and limits for reading.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::judge::finding::Severity;
use crate::model::kubernetes::Minors;

use super::pages::{SuggestedValues, policies};

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Judging")]
pub struct Judging {
    /// Policy: recommended, guidelines, gep-922, kustomize, kubevirt, kubernetes or your own [default: from the configuration, or recommended]
    #[arg(long, value_name = "NAME", value_parser = SuggestedValues(policies), hide_possible_values = true)]
    pub policy: Option<String>,

    /// Configuration file [default: crdwise.yaml beside the inputs or in a parent directory, up to the repository root]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Profile from the configuration
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// File with accepted findings [default: crdwise-baseline.json, found like the configuration]
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,

    /// Date used to expire waivers [default: SOURCE_DATE_EPOCH, or today]
    #[arg(long, value_name = "YYYY-MM-DD", hide_short_help = true)]
    pub today: Option<String>,

    /// Servers to judge for: 1.33, 1.30..1.36, 1.31.. or >=1.31 [default: from the configuration, that of kube:, or the newest release]
    #[arg(long, value_name = "RANGE")]
    pub kubernetes: Option<Minors>,

    /// Standard-channel CRDs, if the input is the experimental channel: their fields count as standard
    #[arg(long, value_name = "INPUT")]
    pub standard: Option<OsString>,

    /// Directory with your own rules [default: `rules` in the configuration]
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,

    /// Directory with your own policies [default: `policies` in the configuration]
    #[arg(long, value_name = "DIR")]
    pub policies: Option<PathBuf>,

    /// Lowest severity that fails the run [default: from the configuration, or error]
    #[arg(long, value_name = "LEVEL")]
    pub fail_on: Option<FailOn>,

    /// Exit with 0 even if there are findings; unreadable input still fails
    #[arg(long)]
    pub exit_zero: bool,

    /// Fail if fewer CRDs are found [default: 1]
    #[arg(long, value_name = "N")]
    pub min_crds: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    pub fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Info => Some(Severity::Info),
            FailOn::Never => None,
        }
    }
}

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Limits")]
pub struct LimitFlags {
    /// Render Helm charts and kustomizations first, with `helm template` and with `kustomize build` or `kubectl kustomize`
    #[arg(long, help_heading = "Inputs")]
    pub render: bool,
    /// Largest file, in bytes
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub max_file_size: Option<u64>,
    /// Largest input side, in bytes
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub max_total_size: Option<u64>,
    /// Files per side
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_files: Option<usize>,
    /// Directory entries per side
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_entries: Option<usize>,
    /// Directory depth
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_directory_depth: Option<usize>,
    /// Seconds that a cluster may take for one page of a list
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600), hide_short_help = true)]
    pub kubectl_timeout: Option<u64>,
    /// Nesting depth of a document
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_depth: Option<usize>,
    /// Nodes per document, with aliases expanded
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_nodes: Option<usize>,
    /// Documents per file
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub max_documents: Option<usize>,
    /// Largest scalar, in bytes
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub max_scalar: Option<usize>,
}
