//! The command line as typed. `cli` turns it into what a run needs.

mod conversions;
mod judging;
mod objects;
mod output;
mod pages;
mod review;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use conversions::{
    ConversionsCheck, ConversionsCommand, ConversionsGenerate, ConversionsGenerateGo, ConversionsPlan, ConversionsRelease,
    ConversionsScaffold,
};
pub use judging::{Judging, LimitFlags};
pub use objects::{Convert, CoverageDetail, Fixtures, FixturesCommand, SubresourceName, Test, TestCommand, TestGenerate, Validate};
pub use output::{FormatFlag, Output, OutputFormat};
pub use pages::{Explain, OwnPagesArguments, RulesArguments, pages};
pub use review::{BaselineArguments, BaselineCommand, BaselineList, BaselineRun, ChangeSides, ConfigSide, Lint, Review, Versions};

#[derive(Debug, Parser)]
#[command(
    name = "crdwise",
    version,
    about = "Lint CRDs and review changes to them the way an API server would see them",
    after_help = "Examples:\n  crdwise review v1.2.0:config/crd config/crd     compare with a release\n  \
                  crdwise review config/crd --against main        compare with a branch\n  \
                  crdwise lint config/crd                         check one bundle\n\n\
                  Exit codes: 0 clean · 1 findings · 2 usage or configuration · 3 unreadable input or no CRD · 4 internal error",
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
    /// Compare two bundles: what changed, who is affected, which version comes next
    #[command(
        override_usage = "crdwise review [OPTIONS] [OLD NEW]\n       crdwise review [OPTIONS] [NEW]... --against <REV|PATH>",
        after_help = "INPUT is a file, a directory, an archive (.tar, .tgz, .zip), `-`, `REV:path` in the current git repository, \
        or `kube:[CONTEXT]`: the CRDs of a cluster, through kubectl.\n\n\
        Examples:\n  crdwise review v1.2.0:config/crd config/crd\n  crdwise review kube: config/crd                      what does applying it change in the cluster?\n  \
        crdwise review config/crd --against origin/main --merge-base\n  \
        crdwise review config/crd --against-tag 'v*' --format github --format sarif=crdwise.sarif"
    )]
    Review(Box<Review>),
    /// Check one bundle: what an API server rejects, hazards and guidelines
    #[command(
        after_help = "Examples:\n  crdwise lint config/crd\n  crdwise lint --policy kubernetes -\n  crdwise lint HEAD:config/crd --format json"
    )]
    Lint(Lint),
    /// Check objects as an API server would: what is rejected, pruned or defaulted
    #[command(after_help = "Examples:\n  crdwise validate examples/ --crd config/crd\n  \
        crdwise validate examples/ --crd config/crd --old v1.2.0:config/crd    what the upgrade breaks\n  \
        crdwise validate new.yaml --crd config/crd --previous old.yaml         an update\n  \
        crdwise validate fixtures/release-* --crd config/crd                  fixtures of past releases")]
    Validate(Validate),
    /// Run test suites: requests with the answers that an API server should give
    #[command(
        args_conflicts_with_subcommands = true,
        after_help = "A suite is a file `*.crdtest.yaml` (`crdwise schema suite`), or one of OpenShift's with `tests`:\n\n  \
        crd: widgets.shop.example.com\n  \
        cases:\n  \
        - name: size is limited\n    \
        create: {spec: {size: 6}}\n    \
        rejects: should be less than or equal to 5\n  \
        - name: the owner can't change\n    \
        previous: {spec: {owner: ann}}\n    \
        update: {spec: {owner: bob}}\n    \
        accepts: false\n\n\
        Examples:\n  crdwise test                                      suites and CRDs of this directory\n  \
        crdwise test config/crd --coverage                what no case passes or breaks\n  \
        crdwise test config/crd --min-coverage 90 --format junit=tests.xml\n  \
        crdwise test generate config/crd                  write the missing cases"
    )]
    Test(Test),
    /// Write sample objects that set as many fields as possible, as fixtures for later releases
    Fixtures(Fixtures),
    /// Convert objects with the conversion manifests, forward or back
    #[command(after_help = "Examples:\n  crdwise convert examples/ --to v1alpha3 --check\n  \
        crdwise convert examples/ --to v1alpha3 --write --crd config/crd\n  \
        kubectl get widgets -o yaml | crdwise convert - --to v1 --from v1alpha2")]
    Convert(Convert),
    /// Draft, check and release conversion manifests, plan the releases, generate code
    #[command(subcommand)]
    Conversions(ConversionsCommand),
    /// List the rules
    Rules(RulesArguments),
    /// Show the documentation of a rule or policy
    Explain(Explain),
    /// Print the JSON Schema of a format that crdwise reads or writes
    Schema { which: SchemaName },
    /// Accept today's findings, so that only new ones fail
    Baseline(BaselineArguments),
    /// Write a configuration, a workflow and hooks for this repository; existing files are left unchanged
    Init,
    /// Show API changes in `git diff` and `git log -p` (without arguments: how to set it up)
    #[command(name = "git-diff-driver")]
    GitDiffDriver {
        /// Arguments as git passes them: path old-file old-hex old-mode new-file new-hex new-mode
        #[arg(value_name = "ARGUMENT", allow_hyphen_values = true, trailing_var_arg = true)]
        arguments: Vec<OsString>,
    },
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  crdwise completions bash > ~/.local/share/bash-completion/completions/crdwise\n  \
        crdwise completions zsh > ~/.zfunc/_crdwise\n  crdwise completions fish > ~/.config/fish/completions/crdwise.fish")]
    Completions { shell: clap_complete::Shell },
    /// Print the manual page of crdwise or of one command
    Man(ManPage),
}

#[derive(Debug, Args)]
pub struct ManPage {
    /// Command to print the page of
    #[arg(value_name = "COMMAND")]
    pub of: Option<String>,
    /// Write the pages of all commands to this directory
    #[arg(long, value_name = "DIR", conflicts_with = "of")]
    pub dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SchemaName {
    Report,
    Config,
    Rule,
    Policy,
    Baseline,
    Conversion,
    Suite,
}
