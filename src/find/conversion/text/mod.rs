//! Rewrites the text of an object into its converted form, with as few changes as possible.
//!
//! Keys and comments stay where they are. Parts that can't be changed in place (flow collections, aliases, JSON) are reformatted
//! and reported. Edited text is parsed again before it is returned.

mod emit;
mod patch;
mod patched;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::input::yaml::{Data, Entry, Node};

use super::graph::Leg;
use super::manifest::Direction;
pub(crate) use emit::Order;
use patch::TextPatch;

/// The text of a converted object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The bytes of the file that the text replaces.
    pub range: std::ops::Range<usize>,
    pub text: String,
    /// The API version of the object after conversion.
    pub api_version: String,
    /// The object couldn't be changed in place, so its comments are lost.
    pub reformatted: bool,
}

/// Pairs of old and new field names.
pub(crate) type Renames = Vec<(String, String)>;

/// The field renames of all manifests on a route.
pub(crate) fn rename_pairs(legs: &[Leg<'_>]) -> Renames {
    let mut found = Renames::new();
    for leg in legs {
        for step in &leg.manifest.steps {
            let Some(ends) = step.op.ends().filter(|ends| ends.from != ends.to) else { continue };
            let (Some(old), Some(new)) = (ends.from.name(), ends.to.name()) else { continue };
            let pair = if leg.direction == Direction::Forward { (old, new) } else { (new, old) };
            found.push((pair.0.to_owned(), pair.1.to_owned()));
        }
    }
    found
}

/// Writes a generated object as YAML that every parser reads the same way.
pub fn as_yaml(object: &Value) -> String {
    emit::block(object, &Order::usual(), 0)
}

/// Rewrites the part of a file that one object occupies. `node` is the object there, and `target` its new value. If `fields` are
/// given, only those fields are rewritten.
pub(crate) fn rewrite(
    file: &str,
    node: Node<'_>,
    target: Map<String, Value>,
    renames: &Renames,
    fields: Option<&BTreeSet<&str>>,
) -> Rewritten {
    let order = Order::of(node, renames);
    let api_version = target.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
    let patch = TextPatch::new(file, renames, &order);
    let range = node.span().range().start..patch.end(node);
    if !node.tree().is_json()
        && let Some(patched) = patch.apply(node, &target, fields)
        && patched.reads_as(node, &target, fields)
    {
        return Rewritten { range: patched.range, text: patched.text, api_version, reformatted: false };
    }
    let mut target = target;
    for entry in others(node, fields) {
        target.insert(entry.name().to_owned(), entry.value.to_json());
    }
    let target = Value::Object(target);
    let indent = column(file, range.start);
    let text =
        if node.tree().is_json() { emit::json(&target, &order, indent) } else { emit::block(&target, &order, indent).trim().to_owned() };
    Rewritten { range, text, api_version, reformatted: true }
}

/// The fields of an object that aren't rewritten.
fn others<'n>(node: Node<'n>, fields: Option<&BTreeSet<&str>>) -> impl Iterator<Item = Entry<'n>> {
    node.entries().filter(move |entry| fields.is_some_and(|fields| !fields.contains(entry.name())))
}

/// The number of characters before a position on its line.
fn column(text: &str, at: usize) -> usize {
    let line = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    text.get(line..at).map_or(0, |lead| lead.chars().count())
}

/// Whether the given fields of an object have exactly these values.
pub(crate) fn equal_fields(node: Node<'_>, target: &Map<String, Value>, fields: Option<&BTreeSet<&str>>) -> bool {
    let mut count = 0;
    let same = node.entries().filter(|entry| fields.is_none_or(|fields| fields.contains(entry.name()))).all(|entry| {
        count += 1;
        target.get(entry.name()).is_some_and(|value| equal(entry.value, value))
    });
    same && node.is_map() && count == target.len()
}

/// Whether a node has this value.
pub(crate) fn equal(node: Node<'_>, value: &Value) -> bool {
    match (node.data(), value) {
        (Data::Null, Value::Null) => true,
        (Data::Bool(a), Value::Bool(b)) => a == *b,
        (Data::Int(a), Value::Number(b)) => b.as_i64() == Some(a),
        (Data::Float(a), Value::Number(b)) => b.as_f64() == Some(a),
        (Data::Str(a), Value::String(b)) => a == b,
        (Data::Seq, Value::Array(items)) => node.len() == items.len() && node.items().zip(items).all(|(a, b)| equal(a, b)),
        (Data::Map, Value::Object(map)) => {
            node.len() == map.len() && node.entries().all(|entry| map.get(entry.name()).is_some_and(|value| equal(entry.value, value)))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
