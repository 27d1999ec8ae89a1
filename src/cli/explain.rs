//! Documentation of the tool itself: rules, their pages, and the schemas of its formats.

use std::fmt::Write as _;

use crate::cli::arguments::{self, SchemaName};
use crate::judge::rule::{Family, Rule};

use super::own_pages::OwnPages;
use super::run_settings::own_pages_for_current_dir;
use super::{Exit, Stop, Streams};

fn own_pages(own: &arguments::OwnPagesArguments, streams: &mut Streams<'_>) -> Result<OwnPages, Stop> {
    let arguments::OwnPagesArguments { rules, policies } = own.clone();
    own_pages_for_current_dir(&arguments::Judging { rules, policies, ..arguments::Judging::default() }, streams)
}

pub(super) fn rules(arguments: &arguments::RulesArguments, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let own = own_pages(&arguments.own, streams)?;
    let book = own.book();
    let only = match &arguments.family {
        None => None,
        Some(name) => Some(Family::parse(name).ok_or_else(|| {
            let names: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
            let hint = crate::judge::rule::nearest(name, names.iter().copied());
            Stop::usage(format!("unknown family `{name}`{hint}; use one of {}", names.join(", ")))
        })?),
    };
    let chosen = || book.rules().filter(|rule| only.is_none_or(|family| rule.family == family));
    if arguments.json {
        let list: Vec<_> = chosen()
            .map(|rule| {
                serde_json::json!({
                    "id": rule.id, "aliases": rule.aliases, "title": rule.title, "family": rule.family, "kind": rule.kind, "class": rule.class,
                    "severity": rule.severity, "conversion": rule.conversion, "since": rule.since,
                })
            })
            .collect();
        streams.write(&crate::render::json::indented(&list))?;
        return Ok(Exit::Clean);
    }
    let mut out = String::new();
    for family in Family::ALL {
        let rules: Vec<&Rule> = chosen().filter(|rule| rule.family == *family).collect();
        if rules.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{family} ({})", rules.len());
        for rule in rules {
            let _ = writeln!(out, "  {:<34} {}", rule.id, rule.title);
        }
        out.push('\n');
    }
    out.push_str("`crdwise explain ID` shows a rule's page.\n");
    streams.write(&out)?;
    Ok(Exit::Clean)
}

pub(super) fn explain(arguments: &arguments::Explain, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let own = own_pages(&arguments.own, streams)?;
    let book = own.book();
    if let Some(rule) = book.get(&arguments.id) {
        let mut out = format!("# {}\n\n{}. Family {}, kind {}", rule.id, rule.title, rule.family, rule.kind);
        if let Some(class) = rule.class {
            let _ = write!(out, ", class {class}");
        }
        if !rule.aliases.is_empty() {
            let _ = write!(out, ", formerly {}", rule.aliases.join(", "));
        }
        let _ = write!(out, ".\n{}", rule.body.text());
        streams.write(&out)?;
        return Ok(Exit::Clean);
    }
    if let Some(policy) = own.policy(&arguments.id) {
        streams.write(&format!("# {}\n\n{}.\n\n{}", policy.id, policy.title, policy.body.text()))?;
        return Ok(Exit::Clean);
    }
    let hint = crate::judge::rule::nearest(&arguments.id, book.ids().chain(own.policy_names()));
    Err(Stop::usage(format!("unknown rule or policy `{}`{hint}", arguments.id)))
}

pub(super) fn schema(which: SchemaName, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    streams.write(match which {
        SchemaName::Report => include_str!("../judge/report.schema.json"),
        SchemaName::Config => crate::cli::config::SCHEMA,
        SchemaName::Rule => crate::judge::rule::SCHEMA,
        SchemaName::Policy => crate::judge::policy::SCHEMA,
        SchemaName::Baseline => crate::judge::baseline::SCHEMA_TEXT,
        SchemaName::Suite => crate::judge::suite::SCHEMA,
        SchemaName::Conversion => crate::find::conversion::manifest::SCHEMA,
    })?;
    Ok(Exit::Clean)
}
