//! A manifest held against its JSON Schema, each error at the bytes that cause it.

use std::sync::OnceLock;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind as Kind;
use thiserror::Error;

use crate::input::yaml::{Node, Span};

use super::manifest::SCHEMA;

/// Something in a manifest that makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct Malformed {
    pub message: String,
    pub span: Span,
}

impl Malformed {
    pub fn at(node: Node<'_>, message: impl Into<String>) -> Self {
        Malformed { message: message.into(), span: node.span() }
    }
}

fn validator() -> Option<&'static Validator> {
    static VALIDATOR: OnceLock<Option<Validator>> = OnceLock::new();
    VALIDATOR.get_or_init(|| jsonschema::validator_for(&serde_json::from_str(SCHEMA).ok()?).ok()).as_ref()
}

/// Everything that the schema says against the document.
pub(super) fn check(root: Node<'_>) -> Vec<Malformed> {
    let value = root.to_json();
    let Some(validator) = validator() else { return Vec::new() };
    validator
        .iter_errors(&value)
        .flat_map(|error| explain(root, error.instance_path().as_str(), error.kind(), &error.to_string()))
        .collect()
}

fn explain(root: Node<'_>, pointer: &str, kind: &Kind, text: &str) -> Vec<Malformed> {
    let node = locate(root, pointer);
    match kind {
        Kind::AdditionalProperties { unexpected } => {
            let known: Vec<String> = known_keys(pointer);
            unexpected
                .iter()
                .map(|name| {
                    let key = node.entry(name).map_or(node, |entry| entry.key);
                    let hint = crate::input::json_schema_check::nearest(name, known.iter().map(String::as_str));
                    Malformed::at(key, format!("unknown key `{name}`{hint}"))
                })
                .collect()
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![Malformed { message: format!("`{name}` is missing"), span: first(node) }]
        }
        // The alternative that goes furthest is the one that was meant.
        Kind::OneOfNotValid { context } | Kind::AnyOf { context } => {
            let deepest = context.iter().max_by_key(|errors| errors.iter().map(|error| error.instance_path().as_str().len()).max());
            match deepest.filter(|errors| errors.iter().any(|error| error.instance_path().as_str().len() > pointer.len())) {
                Some(errors) => errors
                    .iter()
                    .flat_map(|error| explain(root, error.instance_path().as_str(), error.kind(), &error.to_string()))
                    .collect(),
                None => vec![Malformed { message: "this has none of the forms that are known here".into(), span: first(node) }],
            }
        }
        _ => vec![Malformed { message: shorten(text), span: first(node) }],
    }
}

/// A long value is not repeated: its place is shown.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 160;
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= LONGEST {
        return line.to_owned();
    }
    let tail: Vec<char> = line.chars().rev().take(80).collect();
    format!("…{}", tail.iter().rev().collect::<String>())
}

/// The first key of a mapping stands for it: a whole document underlined shows nothing.
pub(super) fn first(node: Node<'_>) -> Span {
    node.entry_at(0).map_or(node.span(), |entry| entry.key.span())
}

fn locate<'t>(root: Node<'t>, pointer: &str) -> Node<'t> {
    pointer.split('/').skip(1).fold(root, |node, step| {
        let name = step.replace("~1", "/").replace("~0", "~");
        let item = || name.parse::<usize>().ok().and_then(|index| node.items().nth(index));
        node.entry(&name).map(|entry| entry.value).or_else(item).unwrap_or(node)
    })
}

/// What may stand at a place, for "did you mean".
fn known_keys(pointer: &str) -> Vec<String> {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap_or_default();
    let mut node = &schema;
    for step in pointer.split('/').skip(1) {
        let next =
            if step.bytes().all(|b| b.is_ascii_digit()) { node.get("items") } else { node.get("properties").and_then(|all| all.get(step)) };
        let Some(next) = next else { return Vec::new() };
        node = resolve(&schema, next);
    }
    node.get("properties").and_then(|all| all.as_object()).map(|all| all.keys().cloned().collect()).unwrap_or_default()
}

fn resolve<'s>(schema: &'s serde_json::Value, node: &'s serde_json::Value) -> &'s serde_json::Value {
    let target = node.get("$ref").and_then(|reference| schema.pointer(reference.as_str()?.strip_prefix('#')?));
    target.unwrap_or(node)
}
