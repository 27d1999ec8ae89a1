//! Arguments of the commands for rules, policies and their pages.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::Args;

use crate::judge::policy::Policy;
use crate::judge::rule::{Book, Family};

pub(super) fn policies() -> Vec<&'static str> {
    Policy::names().collect()
}

fn families() -> Vec<&'static str> {
    Family::ALL.iter().map(|family| family.name()).collect()
}

/// Everything that has a page: rules and policies.
pub fn pages() -> Vec<&'static str> {
    Book::builtin().ids().chain(Policy::names()).collect()
}

/// Accepts any text, and suggests these values for completion.
#[derive(Clone)]
pub(super) struct SuggestedValues(pub(super) fn() -> Vec<&'static str>);

impl clap::builder::TypedValueParser for SuggestedValues {
    type Value = String;

    fn parse_ref(&self, command: &clap::Command, argument: Option<&clap::Arg>, value: &OsStr) -> Result<String, clap::Error> {
        clap::builder::StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        Some(Box::new(self.0().into_iter().map(clap::builder::PossibleValue::new)))
    }
}

#[derive(Debug, Args)]
pub struct RulesArguments {
    /// Only rules of this family: change, server, guideline, hazard, convention, conversion
    #[arg(long, value_parser = SuggestedValues(families), hide_possible_values = true)]
    pub family: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub own: OwnPagesArguments,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// Rule id or policy name
    #[arg(value_parser = SuggestedValues(pages), hide_possible_values = true)]
    pub id: String,
    #[command(flatten)]
    pub own: OwnPagesArguments,
}

#[derive(Debug, Clone, Args)]
pub struct OwnPagesArguments {
    /// Directory with your own rules [default: `rules` in the configuration]
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    /// Directory with your own policies [default: `policies` in the configuration]
    #[arg(long, value_name = "DIR")]
    pub policies: Option<PathBuf>,
}
