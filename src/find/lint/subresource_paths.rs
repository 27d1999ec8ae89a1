//! Finds paths of printer columns and of the scale subresource that the schema doesn't declare, so that cells stay empty and
//! scaling fails.

use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::schema::{Schema, is_meta};
use crate::server::crd::{VersionEntry, VersionList};
use crate::server::key_fate::Pruning;

pub(super) fn check<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>) {
    for version in &versions.entries {
        let Some(schema) = &version.schema else { continue };
        scale(collector, version, schema);
        columns(collector, version, schema);
        status(collector, version, schema);
    }
    if !versions.entries.is_empty() && versions.entries.iter().all(|version| !version.served) {
        let at = collector.crd.spec.entry("versions").map_or(collector.crd.name_node, |entry| entry.key);
        collector.note((Subject::Crd, Aspect::Served, Effect::Missing), at);
    }
}

fn scale<'t>(collector: &mut FactCollector<'t>, version: &VersionEntry<'t>, schema: &Schema<'t>) {
    let Some(scale) = version.subresources.and_then(|node| node.get("scale")) else { return };
    for (name, wanted) in [("specReplicasPath", "integer"), ("statusReplicasPath", "integer"), ("labelSelectorPath", "string")] {
        let Some(node) = scale.get(name) else { continue };
        let Some(path) = node.as_str().filter(|path| path.starts_with('.')) else { continue };
        let found = follow(path, schema);
        let fault = match &found {
            PathTarget::Lost(at) => format!("nothing is declared at `{at}`"),
            PathTarget::Unclear | PathTarget::Open => continue,
            PathTarget::Schema(target) => match target.ty() {
                Some(ty) if ty != wanted => format!("its type is {ty}, but the scale subresource needs {wanted}"),
                _ => continue,
            },
        };
        let fact = collector.note((Subject::Version, Aspect::ScaleSubresource, Effect::Unresolved), node);
        fact.version = Some(version.name.to_owned());
        fact.key = Some(name.to_owned());
        fact.words.insert(Word::Name, name.to_owned());
        fact.words.insert(Word::Value, path.to_owned());
        fact.words.insert(Word::Reason, fault);
    }
}

fn columns<'t>(collector: &mut FactCollector<'t>, version: &VersionEntry<'t>, schema: &Schema<'t>) {
    for column in version.columns.into_iter().flat_map(Node::items) {
        let text = |key: &str| column.text(key).unwrap_or_default();
        let Some(node) = column.get("jsonPath") else { continue };
        let path = text("jsonPath");
        let mut say = |effect, node, reason: String| {
            let fact = collector.note((Subject::Version, Aspect::PrinterColumn, effect), node);
            fact.version = Some(version.name.to_owned());
            fact.key = Some(text("name").to_owned());
            fact.words.insert(Word::Name, text("name").to_owned());
            fact.words.insert(Word::Value, path.to_owned());
            fact.words.insert(Word::Reason, reason);
        };
        match follow(path, schema) {
            PathTarget::Lost(at) => say(Effect::Unresolved, node, format!("nothing is declared at `{at}`")),
            PathTarget::Schema(target) if !path.contains('[') => {
                let (own, theirs) = (text("type"), target.ty().unwrap_or_default());
                let clash = match own {
                    "integer" => matches!(theirs, "string" | "boolean" | "array" | "object"),
                    "number" => matches!(theirs, "string" | "boolean" | "array" | "object"),
                    "boolean" => matches!(theirs, "string" | "integer" | "number" | "array" | "object"),
                    "date" => matches!(theirs, "integer" | "number" | "boolean" | "array" | "object"),
                    _ => false,
                } && !target.is_int_or_string();
                if clash {
                    say(
                        Effect::Mismatched,
                        column.get("type").unwrap_or(node),
                        format!("the field is of type {theirs}, the column of type {own}"),
                    );
                }
            }
            _ => {}
        }
    }
}

fn status<'t>(collector: &mut FactCollector<'t>, version: &VersionEntry<'t>, schema: &Schema<'t>) {
    let what = |effect| (Subject::Version, Aspect::StatusSubresource, effect);
    let field = schema.property("status");
    let fact = match (field, version.has_status()) {
        // Nobody writes through a version that isn't served.
        (Some((entry, _)), false) if version.served => collector.note(what(Effect::Missing), entry.key),
        (None, true) if !Pruning::of(schema.clone()).keeps_undeclared_keys() => {
            let at = version.subresources.and_then(|node| node.entry("status")).map_or_else(|| version.anchor(), |entry| entry.key);
            collector.note(what(Effect::Unused), at)
        }
        _ => return,
    };
    fact.version = Some(version.name.to_owned());
}

enum PathTarget<'t> {
    Schema(Schema<'t>),
    /// Somewhere below a node that accepts any key.
    Open,
    /// The part of the path that the schema doesn't declare.
    Lost(String),
    /// Written in a notation that isn't supported here.
    Unclear,
}

/// Follows the plain parts of a JSON path: names, indexes, filters and wildcards on lists.
fn follow<'t>(path: &str, root: &Schema<'t>) -> PathTarget<'t> {
    let Some(steps) = steps(path) else { return PathTarget::Unclear };
    let mut schema = root.clone();
    let mut walked = String::new();
    for (index, step) in steps.iter().enumerate() {
        match step {
            JsonPathStep::Each => {
                walked.push_str("[]");
                let Some(items) = schema.items() else {
                    return if schema.ty() == Some("array") || Pruning::of(schema.clone()).keeps_undeclared_keys() {
                        PathTarget::Open
                    } else {
                        PathTarget::Lost(walked)
                    };
                };
                schema = items;
            }
            JsonPathStep::Name(name) => {
                walked.push('.');
                walked.push_str(name);
                if index == 0 && is_meta(name) {
                    return PathTarget::Open;
                }
                let embedded = schema.flag(crate::model::schema::Keyword::EmbeddedResource);
                if embedded && is_meta(name) {
                    return PathTarget::Open;
                }
                match schema.property(name) {
                    Some((_, child)) => schema = child,
                    None => match schema.values() {
                        Some(values) => schema = values,
                        None if schema.additional_flag().is_some() || schema.preserves_unknown() => return PathTarget::Open,
                        None if schema.ty() == Some("array") => return PathTarget::Unclear,
                        None => return PathTarget::Lost(walked),
                    },
                }
            }
        }
    }
    PathTarget::Schema(schema)
}

enum JsonPathStep {
    Name(String),
    Each,
}

/// Splits `.a.b[0].c`, `.a[?(@.type=="x")].b`, `.a['b.c']` and `.a\.b`; other notations aren't supported.
fn steps(path: &str) -> Option<Vec<JsonPathStep>> {
    let mut steps = Vec::new();
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '.' => {
                let mut name = String::new();
                while let Some(&next) = chars.peek() {
                    match next {
                        '.' | '[' => break,
                        '\\' => {
                            chars.next();
                            name.push(chars.next()?);
                        }
                        '*' | '{' | '}' | '@' | '$' | '(' | ')' => return None,
                        _ => {
                            chars.next();
                            name.push(next);
                        }
                    }
                }
                if name.is_empty() && chars.peek() != Some(&'[') {
                    return None;
                }
                if !name.is_empty() {
                    steps.push(JsonPathStep::Name(name));
                }
            }
            '[' => {
                let (mut inner, mut depth, mut quote) = (String::new(), 1, None);
                while depth > 0 {
                    let next = chars.next()?;
                    match (quote, next) {
                        (Some(open), _) if next == open => quote = None,
                        (Some(_), _) => {}
                        (None, '\'' | '"') => quote = Some(next),
                        (None, '[') => depth += 1,
                        (None, ']') => depth -= 1,
                        _ => {}
                    }
                    inner.push(next);
                }
                inner.pop();
                let quoted = ['\'', '"'].iter().find_map(|q| inner.strip_prefix(*q)?.strip_suffix(*q));
                match quoted {
                    Some(name) => steps.push(JsonPathStep::Name(name.replace("\\.", "."))),
                    None => steps.push(JsonPathStep::Each),
                }
            }
            _ => return None,
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_are_split() {
        let cut = |path| {
            steps(path).map(|steps| {
                steps
                    .iter()
                    .map(|step| if let JsonPathStep::Name(name) = step { name.clone() } else { "[]".into() })
                    .collect::<Vec<_>>()
                    .join("|")
            })
        };
        assert_eq!(cut(".spec.a").as_deref(), Some("spec|a"));
        assert_eq!(cut(".status.conditions[?(@.type==\"Ready\")].status").as_deref(), Some("status|conditions|[]|status"));
        assert_eq!(cut(".metadata.labels['a.b/c']").as_deref(), Some("metadata|labels|a.b/c"));
        assert_eq!(cut(".a\\.b").as_deref(), Some("a.b"));
        assert_eq!(cut(".a..b"), None);
        assert_eq!(cut("x"), None);
    }
}
