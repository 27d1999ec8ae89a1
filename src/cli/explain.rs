//! What the tool tells about itself: rules, their pages, and the schemas of its formats.

use std::fmt::Write as _;
use std::path::Path;

use crate::cli::arguments::{self, SchemaName};
use crate::input::{File, Origin};
use crate::judge::policy::Policy;
use crate::judge::rule::{Book, Family, Rule};

use super::setting::refuse;
use super::{Exit, Stop, Streams};

/// Rules of `--rules DIR`, beside the built-in ones.
pub(super) fn own_rules(dir: Option<&Path>, streams: &mut Streams<'_>) -> Result<Option<Book>, Stop> {
    let Some(dir) = dir else { return Ok(None) };
    let fail = |error: std::io::Error| Stop::usage(format!("--rules {}: {error}", dir.display()));
    let mut files: Vec<_> = std::fs::read_dir(dir).map_err(fail)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.sort();
    let mut pages = Vec::new();
    for file in files {
        let page = File::new(file.display().to_string(), std::fs::read_to_string(&file).map_err(fail)?, Origin::Path(file));
        let faults = Rule::faults(&page.text);
        if !faults.is_empty() {
            return Err(refuse(&page, &faults, streams));
        }
        pages.push((page.name, page.text.to_string()));
    }
    if pages.is_empty() {
        streams.warning(&format!("--rules {}: there is no page (`*.md`) in it", dir.display()));
    }
    Book::with(pages).map(Some).map_err(|error| Stop::usage(error.to_string()))
}

pub(super) fn rules(arguments: &arguments::Rules, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    let own = own_rules(arguments.rules.as_deref(), streams)?;
    let book = own.as_ref().unwrap_or_else(|| Book::builtin());
    let only = match &arguments.family {
        None => None,
        Some(name) => Some(Family::parse(name).ok_or_else(|| {
            let names: Vec<&str> = Family::ALL.iter().map(|family| family.name()).collect();
            let hint = crate::judge::rule::nearest(name, names.iter().copied());
            Stop::usage(format!("no family `{name}`{hint}; there are {}", names.join(", ")))
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
        let text = serde_json::to_string_pretty(&list).unwrap_or_default();
        streams.write(&format!("{text}\n"))?;
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
    let own = own_rules(arguments.rules.as_deref(), streams)?;
    let book = own.as_ref().unwrap_or_else(|| Book::builtin());
    if let Some(rule) = book.get(&arguments.id) {
        let mut out = format!("# {}\n\n{}. Family {}, kind {}", rule.id, rule.title, rule.family, rule.kind);
        if let Some(class) = rule.class {
            let _ = write!(out, ", class {class}");
        }
        if !rule.aliases.is_empty() {
            let _ = write!(out, ", formerly {}", rule.aliases.join(", "));
        }
        let _ = write!(out, ".\n{}", rule.body);
        streams.write(&out)?;
        return Ok(Exit::Clean);
    }
    if let Some(policy) = Policy::find(&arguments.id) {
        streams.write(&format!("# {}\n\n{}.\n\n{}", policy.id, policy.title, policy.body))?;
        return Ok(Exit::Clean);
    }
    let mut known: Vec<&str> = book.ids().collect();
    for name in Policy::names() {
        known.push(name);
    }
    let hint = crate::judge::rule::nearest(&arguments.id, known.into_iter());
    Err(Stop::usage(format!("no rule or policy `{}`{hint}", arguments.id)))
}

pub(super) fn schema(which: SchemaName, streams: &mut Streams<'_>) -> Result<Exit, Stop> {
    streams.write(match which {
        SchemaName::Report => include_str!("../judge/report.schema.json"),
        SchemaName::Config => crate::cli::config::SCHEMA,
        SchemaName::Rule => crate::judge::rule::SCHEMA,
        SchemaName::Baseline => crate::judge::baseline::SCHEMA_TEXT,
        SchemaName::Conversion => crate::find::conversion::manifest::SCHEMA,
    })?;
    Ok(Exit::Clean)
}
