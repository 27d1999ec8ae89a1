//! The command line as it is typed. `cli` turns it into what a run needs.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::judge::finding::Severity;
use crate::judge::policy::Policy;
use crate::judge::rule::{Book, Family};
use crate::model::kubernetes::Minors;

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
        after_help = "INPUT is a file, a directory, an archive (.tar, .tgz, .zip), `-`, `REV:path` of the git repository around you,\n\
        or `kube:[CONTEXT]`: the CRDs of a cluster, through kubectl.\n\n\
        Examples:\n  crdwise review v1.2.0:config/crd config/crd\n  crdwise review kube: config/crd                      what does applying this change here?\n  \
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
    Conversions(Conversions),
    /// List the rules
    Rules(Rules),
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
    Man(Manual),
}

#[derive(Debug, Args)]
pub struct Manual {
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
            output: Output { format: Vec::new(), all: false, proof: false, quiet: false },
            limits: self.limits.clone(),
        }
    }

    pub fn as_review(&self) -> Review {
        let Lint { inputs, judging, output, limits, .. } = self.as_lint();
        Review {
            inputs,
            against: self.against.clone(),
            merge_base: false,
            against_tag: None,
            upgrade: None,
            staged: false,
            versions: Versions::default(),
            old_may_be_empty: false,
            released: None,
            objects: Vec::new(),
            object_values: false,
            history: Vec::new(),
            config_from: None,
            witnesses: None,
            conversions: None,
            judging,
            output,
            limits,
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

#[derive(Debug, Args)]
pub struct Review {
    /// OLD and NEW; with --against, --against-tag or --staged, every input is NEW [default: the CRDs of this repository, compared with
    /// HEAD, or with the merge base in a pull-request job]
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

    /// Compare staged files with HEAD; without INPUT, all staged files that contain CRDs
    #[arg(long, conflicts_with_all = ["against", "against_tag"], help_heading = "Sides")]
    pub staged: bool,

    /// Instead of comparing, show what an upgrade of the cluster changes for these CRDs, such as 1.35..1.36
    #[arg(long, value_name = "FROM..TO", conflicts_with_all = ["against", "against_tag", "staged", "kubernetes"], help_heading = "Sides")]
    pub upgrade: Option<Minors>,

    /// Conversion manifests [default: `conversions/` beside NEW or in the current directory]
    #[arg(long, value_name = "INPUT", help_heading = "Judging")]
    pub conversions: Option<OsString>,

    /// Existing objects: which of them each break hits. Files, dumps of `kubectl get -o yaml`, or `kube:`; names are reported, values only with
    /// --object-values
    #[arg(long, value_name = "INPUT", help_heading = "Judging")]
    pub objects: Vec<OsString>,

    /// With --objects: also report the values that a break hits. They end up in every output, so don't ask for them where these are public
    #[arg(long, requires = "objects", help_heading = "Judging")]
    pub object_values: bool,

    #[command(flatten)]
    pub versions: Versions,

    /// Accept an OLD without any CRD
    #[arg(long, help_heading = "Sides")]
    pub old_may_be_empty: bool,

    /// Last release: a break of what it doesn't contain is a note; `auto` is the highest release tag that is not newer than OLD,
    /// `none` counts everything as released [default: auto for git inputs]
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
    /// The words that name the same two sides, each after a blank.
    pub fn change_words(&self) -> String {
        let mut words: Vec<String> = self.inputs.iter().map(|input| input.to_string_lossy().into_owned()).collect();
        let against =
            self.against.as_ref().map(|rev| rev.to_string_lossy().into_owned()).or_else(|| self.staged.then(|| "HEAD".to_owned()));
        if self.staged && words.is_empty() {
            return String::new();
        }
        words.extend(against.into_iter().flat_map(|rev| ["--against".to_owned(), rev]));
        words.extend(self.against_tag.iter().flat_map(|tag| ["--against-tag".to_owned(), tag.clone()]));
        words.extend(self.merge_base.then(|| "--merge-base".to_owned()));
        shell_words(&words)
    }

    /// The words by which `baseline write` looks at the same two sides, each after a blank.
    pub fn baseline_words(&self) -> String {
        let text = |word: &OsString| word.to_string_lossy().into_owned();
        let against = |inputs: &[OsString], old: &OsString| {
            let words: Vec<String> = inputs.iter().map(text).chain(["--against".to_owned(), text(old)]).collect();
            shell_words(&words)
        };
        match (&*self.inputs, &self.against) {
            ([old, new], None) if self.against_tag.is_none() && !self.staged => against(std::slice::from_ref(new), old),
            (inputs, Some(old)) if !self.merge_base => against(inputs, old),
            _ => " --against REV".to_owned(),
        }
    }
}

/// Words as a shell takes them, each after a blank.
fn shell_words(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "./:_-~^@=+,%".contains(c);
    let quoted = |word: &String| if word.chars().all(plain) { format!(" {word}") } else { format!(" '{}'", word.replace('\'', "'\\''")) };
    words.iter().map(quoted).collect()
}

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
    /// Servers that cases must hold on: 1.33, 1.30..1.36, 1.31.. or >=1.31; a suite's `kubernetes` counts more [default: the newest release]
    #[arg(long, value_name = "RANGE")]
    pub kubernetes: Option<Minors>,
    /// Show which constraints no case passes or breaks, as a table or as lines of the CRDs
    #[arg(long, value_name = "VIEW", num_args = 0..=1, default_missing_value = "table", require_equals = true)]
    pub coverage: Option<CoverageView>,
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
pub enum CoverageView {
    Table,
    Source,
}

#[derive(Debug, Subcommand)]
pub enum TestCommand {
    /// Write the cases that are missing: for each constraint an object that is accepted and one that is rejected
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

#[derive(Debug, Subcommand)]
pub enum Conversions {
    /// Check the manifests against the schemas they convert between
    Check(Box<ConversionsCheck>),
    /// Draft the manifests that a change needs
    Scaffold(ConversionsScaffold),
    /// Print the sequence of releases that leads from OLD to NEW without losing an object; with more inputs, check that sequence
    Plan(ConversionsPlan),
    /// Name the release of manifests that convert to the next one
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

/// The two bundles of a change, as `review` takes them.
#[derive(Debug, Clone, Args)]
pub struct ChangeSides {
    /// OLD and NEW; with --against or --against-tag, every input is NEW [default: the CRDs of this repository, compared with HEAD, or
    /// with the merge base in a pull-request job]
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

    #[command(flatten)]
    pub versions: Versions,
}

impl ChangeSides {
    /// The review of the same change.
    pub fn as_review(&self, conversions: Option<&OsString>, judging: &Judging, limits: &LimitFlags) -> Review {
        Review {
            inputs: self.inputs.clone(),
            against: self.against.clone(),
            merge_base: self.merge_base,
            upgrade: None,
            against_tag: self.against_tag.clone(),
            staged: false,
            versions: self.versions.clone(),
            old_may_be_empty: false,
            objects: Vec::new(),
            object_values: false,
            released: None,
            history: Vec::new(),
            config_from: None,
            witnesses: None,
            conversions: conversions.cloned(),
            judging: judging.clone(),
            output: Output { format: Vec::new(), all: false, proof: false, quiet: false },
            limits: limits.clone(),
        }
    }
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

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Judging")]
pub struct Judging {
    /// Policy: recommended, guidelines, gep-922, kustomize, kubevirt, kubernetes or your own [default: from the configuration, or recommended]
    #[arg(long, value_name = "NAME", value_parser = Offered(policies), hide_possible_values = true)]
    pub policy: Option<String>,

    /// Configuration file [default: crdwise.yaml beside the inputs or above, up to the repository root]
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
    pub fail_on: Option<Level>,

    /// Exit with 0 even if there are findings; unreadable input still fails
    #[arg(long)]
    pub exit_zero: bool,

    /// Fail if fewer CRDs are found [default: 1]
    #[arg(long, value_name = "N")]
    pub min_crds: Option<usize>,
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
    /// Output format, with `=FILE` to write it to a file; may be repeated
    #[arg(long, value_name = "NAME[=FILE]", default_value = "human", value_parser = FormatParser(Format::value_variants()))]
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
    pub format: Format,
    pub file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
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

/// Parses `NAME[=FILE]` and lists the names for help and completions.
#[derive(Debug, Clone)]
struct FormatParser(&'static [Format]);

/// Formats for what `validate` and `test` find.
const OBJECT_FORMATS: &[Format] = &[Format::Human, Format::Json, Format::Github, Format::Sarif, Format::Junit];

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

fn policies() -> Vec<&'static str> {
    Policy::names().collect()
}

fn families() -> Vec<&'static str> {
    Family::ALL.iter().map(|family| family.name()).collect()
}

/// Everything that has a page: rules and policies.
pub fn pages() -> Vec<&'static str> {
    Book::builtin().ids().chain(Policy::names()).collect()
}

/// Takes any text, and offers these words to completions.
#[derive(Clone)]
struct Offered(fn() -> Vec<&'static str>);

impl clap::builder::TypedValueParser for Offered {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, argument: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(self.0().into_iter().map(clap::builder::PossibleValue::new)))
    }
}

impl FormatFlag {
    fn parse(text: &str, formats: &[Format]) -> Result<Self, String> {
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

#[derive(Debug, Args)]
pub struct Rules {
    /// Only rules of this family: change, server, guideline, hazard, convention, conversion
    #[arg(long, value_parser = Offered(families), hide_possible_values = true)]
    pub family: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub own: OwnPages,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Rule id or policy name
    #[arg(value_parser = Offered(pages), hide_possible_values = true)]
    pub id: String,
    #[command(flatten)]
    pub own: OwnPages,
}

#[derive(Debug, Clone, Args)]
pub struct OwnPages {
    /// Directory with your own rules [default: `rules` in the configuration]
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// Directory with your own policies [default: `policies` in the configuration]
    #[arg(long, value_name = "DIR")]
    pub policies: Option<PathBuf>,
}
