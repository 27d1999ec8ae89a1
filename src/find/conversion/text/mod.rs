//! Rewrites the text of an object into its converted form, with as few changes as possible.
//!
//! Keys keep their order and comments their places. What can't be changed in place (flow collections, aliases, JSON) is
//! reformatted, and reported. Every result is parsed again before it is returned.

mod emit;
mod patch;

use serde_json::Value;

use crate::input::Text;
use crate::input::yaml::{self, Budget, Data, Node};

use super::graph::Leg;
use super::manifest::Direction;
pub(crate) use emit::Order;
use patch::Patch;

/// The text of a converted object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The bytes of the file that the text replaces.
    pub range: std::ops::Range<usize>,
    pub text: String,
    /// The version of the object now.
    pub api_version: String,
    /// The object could not be changed in place, so its comments are gone.
    pub reformatted: bool,
}

/// Pairs of old and new field names.
pub(crate) type Renames = Vec<(String, String)>;

/// Fields that are renamed by the manifests of a route.
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

/// A generated object as YAML that every parser reads as the same object.
pub fn as_yaml(object: &Value) -> String {
    emit::block(object, &Order::usual(), 0)
}

/// Rewrites the part of a file that one object occupies. `node` is the object there.
pub(crate) fn rewrite(file: &str, node: Node<'_>, target: &Value, renames: &Renames) -> Rewritten {
    let order = Order::of(node, renames);
    let api_version = target.get("apiVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
    let patch = Patch::new(file, renames, &order);
    let range = node.span().range().start..patch.end(node);
    if !node.tree().is_json()
        && let Some((range, text)) = patch.apply(node, target)
        && reads_as(&text, target, column(file, range.start))
    {
        return Rewritten { range, text, api_version, reformatted: false };
    }
    let indent = column(file, range.start);
    let text =
        if node.tree().is_json() { emit::json(target, &order, indent) } else { emit::block(target, &order, indent).trim().to_owned() };
    Rewritten { range, text, api_version, reformatted: true }
}

/// Whether a text contains exactly this object.
fn reads_as(text: &str, target: &Value, indent: usize) -> bool {
    let text: Text = format!("{}{text}", " ".repeat(indent)).into();
    let documents = yaml::parse(&text, &Budget::default());
    match documents.as_slice() {
        [document] => document.tree.as_ref().is_ok_and(|tree| equal(tree.root(), target)),
        _ => false,
    }
}

/// Characters before a position on its line.
fn column(text: &str, at: usize) -> usize {
    let line = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    text.get(line..at).map_or(0, |lead| lead.chars().count())
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
