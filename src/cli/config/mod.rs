//! Reads `crdwise.yaml` into settings with source positions, given the rules it may refer to.

mod compare;
pub(super) mod folder;
mod read_config;

use std::collections::BTreeMap;

use crate::find::review_context::AssignedMaturity;
use crate::input::glob::Glob;
use crate::input::yaml::Span;
use crate::judge::finding::Severity;
use crate::judge::waiver::Waiver;
use crate::model::Keys;
use crate::model::kubernetes::Minors;

pub use compare::changes;
pub use read_config::own_directories;

/// The file name to look for.
pub const FILE: &str = "crdwise.yaml";
pub const SCHEMA: &str = include_str!("config.schema.json");

/// A value with its position in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    pub value: T,
    pub span: Span,
}

/// The severity that a team gives a rule; `None` switches it off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSeverity {
    pub rule: String,
    pub severity: Option<Severity>,
    pub span: Span,
}

/// How findings are judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgingSettings {
    pub policy: Option<Spanned<String>>,
    /// The lowest severity that fails the run; an inner `None` means never.
    pub fail_on: Option<Spanned<Option<Severity>>>,
    pub rules: Vec<RuleSeverity>,
}

/// Directories with custom pages, relative to the directory of the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnDirectories {
    pub rules: Vec<Spanned<String>>,
    pub policies: Vec<Spanned<String>>,
}

#[derive(Debug, Clone, Default)]
pub struct Config {
    pub judging: JudgingSettings,
    pub profiles: BTreeMap<String, JudgingSettings>,
    pub include: Vec<Glob>,
    pub exclude: Vec<Glob>,
    pub keys: Keys,
    pub maturity: Vec<AssignedMaturity>,
    pub waivers: Vec<Waiver>,
    pub baseline: Option<Spanned<String>>,
    /// The servers to judge for.
    pub kubernetes: Option<Minors>,
}

impl Config {
    /// Whether a file belongs to a bundle, by its path relative to the configuration's directory.
    pub fn takes(&self, path: &str) -> bool {
        let included = self.include.is_empty() || self.include.iter().any(|glob| glob.matches(path));
        included && !self.exclude.iter().any(|glob| glob.matches(path))
    }
}
