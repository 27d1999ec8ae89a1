//! Shows an object that proves a break, with the offending line marked and the server's message under it.

use serde::Serialize;
use serde_json::Value;

use crate::find::conversion::text::as_yaml;
use crate::model::fact::{Outcome, Witness};

use super::super::escape::visible;
use super::outline::Outline;

/// How many lines of an object are shown; the offending line is always among them.
const LINES: usize = 30;

#[derive(Debug, Serialize)]
pub(super) struct ProofCard {
    pub old: &'static str,
    pub new: &'static str,
    /// The stored object that an update replaces, if only updates break.
    pub previous: Option<String>,
    pub lines: Vec<ProofLine>,
    pub more: usize,
    /// The server's message, without the path of the marked line.
    pub message: String,
    /// The path, if no line could be marked for it.
    pub at: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct ProofLine {
    pub text: String,
    pub marked: bool,
}

pub(super) fn proof(witness: &Witness) -> ProofCard {
    let yaml = as_yaml(&witness.object);
    let outline = Outline::new(&yaml);
    let Located { line, path, missing } = locate(&witness.object, &outline, &witness.because);
    let message = message(&witness.because, &path, &missing);
    let total = yaml.lines().count();
    let first = line.map_or(0, |line| (line + 1).saturating_sub(LINES));
    let shown = yaml.lines().enumerate().skip(first).take(LINES);
    let lines: Vec<ProofLine> = shown.map(|(at, text)| ProofLine { text: visible(text).into_owned(), marked: Some(at) == line }).collect();
    ProofCard {
        old: word(witness.old),
        new: word(witness.new),
        previous: witness.previous.as_ref().map(|object| harmless(&as_yaml(object))),
        more: total - lines.len(),
        lines,
        at: line.is_none().then(|| visible(&path).into_owned()).filter(|path| !path.is_empty()),
        message: visible(&message).into_owned(),
    }
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Accepted => "accepted",
        Outcome::Rejected => "rejected",
        Outcome::Pruned => "loses values",
        Outcome::Changed => "is stored with different values",
    }
}

fn harmless(yaml: &str) -> String {
    yaml.lines().map(visible).collect::<Vec<_>>().join("\n")
}

/// The place that a message starts with.
struct Located {
    /// The index of its line, if the object has one.
    line: Option<usize>,
    /// As written in the message.
    path: String,
    /// The end of the path that the object doesn't have.
    missing: String,
}

fn locate(object: &Value, outline: &Outline<'_>, because: &str) -> Located {
    let (mut value, mut rest) = (object, because);
    let mut line = None;
    loop {
        let step = match value {
            Value::Object(map) => {
                let text = rest.strip_prefix('.').unwrap_or(rest);
                let after = |key: &String| text.strip_prefix(key.as_str()).filter(|tail| ends(tail));
                let quoted = |key: &String| text.strip_prefix(&*format!("[{}]", Value::String(key.clone())));
                let found = map.iter().filter_map(|(key, value)| Some((key, value, after(key).or_else(|| quoted(key))?)));
                found.max_by_key(|(key, ..)| key.len()).map(|(key, value, rest)| (key_line(outline, line, key), value, rest))
            }
            Value::Array(list) => rest.strip_prefix('[').and_then(|tail| tail.split_once(']')).and_then(|(index, rest)| {
                let index: usize = index.parse().ok()?;
                Some((element_line(outline, line, index), list.get(index)?, rest))
            }),
            _ => None,
        };
        let Some((Some(found), next, tail)) = step else { break };
        (line, value, rest) = (Some(found), next, tail);
    }
    // A missing field is named after its deepest existing parent.
    let missing = rest.get(..rest.find([':', ' ']).unwrap_or(rest.len())).unwrap_or_default();
    let path = because.get(..because.len() - rest.len() + missing.len()).unwrap_or_default();
    let is_path = line.is_some() || path.starts_with("spec") || path.starts_with("status");
    let kept = |text: &str| if is_path { text.to_owned() } else { String::new() };
    Located { line, path: kept(path), missing: kept(missing.trim_start_matches('.')) }
}

fn ends(tail: &str) -> bool {
    tail.is_empty() || tail.starts_with(['.', '[', ':', ' '])
}

/// The children of a line, or the top-level lines.
fn under<'o>(outline: &'o Outline<'_>, line: Option<usize>) -> Box<dyn Iterator<Item = usize> + 'o> {
    match line {
        Some(line) => Box::new(outline.children(line)),
        None => Box::new(outline.roots()),
    }
}

fn key_line(outline: &Outline<'_>, line: Option<usize>, key: &str) -> Option<usize> {
    // The first key of a list element is on the line of its dash.
    let on_dash = line.filter(|line| outline.line(*line).trim_start().strip_prefix("- ").is_some_and(|text| is_key(text, key)));
    on_dash.or_else(|| under(outline, line).find(|child| is_key(outline.line(*child).trim_start(), key)))
}

fn is_key(text: &str, key: &str) -> bool {
    let name = text.split_once(": ").map_or_else(|| text.trim_end_matches(':'), |(name, _)| name);
    name.trim_matches(['"', '\'']) == key
}

fn element_line(outline: &Outline<'_>, line: Option<usize>, index: usize) -> Option<usize> {
    let elements = under(outline, line).filter(|child| outline.key(*child) == "-");
    let elements: Vec<usize> = elements.take(index + 1).collect();
    // An empty or inline list is on the line of its key.
    elements.get(index).copied().or(line)
}

/// Removes the path before the message if a line is marked for it, and the copy of it that the server repeats.
fn message(because: &str, path: &str, missing: &str) -> String {
    if path.is_empty() {
        return because.to_owned();
    }
    let rest = because.strip_prefix(path).unwrap_or(because).trim_start_matches(':').trim_start();
    let rest = rest.replacen(&format!("{path} in body "), "", 1);
    if missing.is_empty() { rest } else { format!("{missing}: {rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn shown(object: Value, because: &str) -> String {
        let made = proof(&Witness { previous: None, object, old: Outcome::Accepted, new: Outcome::Rejected, because: because.into() });
        let marked: Vec<&str> = made.lines.iter().filter(|line| line.marked).map(|line| line.text.trim()).collect();
        format!("{} < {}", marked.join("|"), made.message)
    }

    #[test]
    fn the_offending_line_is_marked() {
        let object =
            || json!({"kind": "A", "spec": {"a.b": 1, "list": [{"name": "x", "size": -1}, {"name": "z", "in": {"deep": ""}}], "none": []}});
        let said = |because: &str| shown(object(), because);
        assert_eq!(
            said("spec.list[0].size: Invalid value: -1: spec.list[0].size in body should be at least 0"),
            "size: -1 < Invalid value: -1: should be at least 0"
        );
        assert_eq!(said("spec.list[1].name: Duplicate value: \"z\""), "name: z < Duplicate value: \"z\"");
        assert_eq!(said("spec.list[1].in.deep: Required value"), "deep: \"\" < Required value");
        assert_eq!(said("spec.list[0].missing: Required value"), "- name: x < missing: Required value");
        assert_eq!(said("spec.a.b is dropped"), "a.b: 1 < is dropped");
        assert_eq!(said("spec: Invalid value: {}: rule"), "spec: < Invalid value: {}: rule");
        assert_eq!(said("no place at all"), " < no place at all");
    }

    #[test]
    fn a_long_object_is_shown_around_the_offending_line() {
        let list: Vec<Value> = (0..100).map(|n| json!({"size": n})).collect();
        let witness = Witness {
            previous: None,
            object: json!({"spec": {"list": list}}),
            old: Outcome::Accepted,
            new: Outcome::Pruned,
            because: "spec.list[90].size is dropped".into(),
        };
        let made = proof(&witness);
        assert_eq!((made.lines.len(), made.more), (LINES, 102 - LINES));
        assert!(made.lines.iter().any(|line| line.marked && line.text.contains("size: 90")));
    }
}
