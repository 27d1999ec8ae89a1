//! Shortens a proof to the relevant line.

use serde_json::Value;

use crate::input::shorten;
use crate::judge::finding::Finding;
use crate::model::fact::{Outcome, Witness};

/// How many characters of a value are shown.
const VALUE: usize = 60;

/// What an object proves: its relevant line, and what the server does with it.
pub(super) struct Proof {
    /// `spec.receivers[0].name: ""`, or `None` if the message says enough.
    pub line: Option<String>,
    /// "was accepted and is now rejected: should be at least 1 chars long".
    pub outcome: String,
    /// Whether an update to the object shows it, and not the object alone.
    is_update: bool,
}

impl Proof {
    pub fn of(finding: &Finding) -> Option<Self> {
        let witness = finding.witness.as_ref()?;
        let Witness { object, new, because, previous, .. } = witness;
        let named = || because.split_once(": ").filter(|(path, _)| is_path(path));
        let (path, reason) = without_place(because).or_else(named).unwrap_or(("", because));
        let dropped = because.strip_suffix(" is dropped");
        let stored = because.split_once(" is stored as ");
        let (path, reason) = match (dropped, stored) {
            (Some(path), _) if is_path(path) => (path, ""),
            (_, Some((path, _))) if is_path(path) => (path, because.as_str()),
            _ => (path, reason),
        };
        // The server repeats the path inside its message.
        let reason = match reason.split_once(&format!("{path} in body ")) {
            Some((_, rest)) if !path.is_empty() => rest,
            _ => reason,
        };
        // The object can't show a field that it lacks.
        let reason = if reason == "Required value" { because.as_str() } else { without_value(reason) };
        let outcome = match new {
            Outcome::Rejected | Outcome::Accepted => format!("was accepted and is now rejected: {reason}"),
            Outcome::Pruned if reason.is_empty() => "was kept and is now dropped".to_owned(),
            // A conversion is to blame, not a server.
            Outcome::Pruned => format!("changes when it is converted back and forth: {reason}"),
            Outcome::Changed if stored.is_none() => format!("changes: {reason}"),
            Outcome::Changed => format!("was accepted and now has a different effect: {reason}"),
        };
        let is_update = previous.is_some() && *new != Outcome::Pruned;
        // One of two equal items shows nothing without the other.
        let is_double = reason.starts_with("Duplicate value") && path.ends_with(']');
        let shown = path.rsplit_once('[').filter(|_| is_double).map_or(path, |(list, _)| list);
        Some(Proof { line: line(object, shown), outcome, is_update })
    }

    /// The proof in one sentence.
    pub fn text(&self) -> String {
        let outcome = &self.outcome;
        match (&self.line, self.is_update) {
            (Some(line), false) => format!("`{line}` {outcome}"),
            (Some(line), true) => format!("an update to `{line}` {outcome}"),
            (None, false) => format!("an object {outcome}"),
            (None, true) => format!("an update {outcome}"),
        }
    }
}

/// Finds the field in a message that the server gives no place: `"spec.a" must …` or `… in spec.a`.
fn without_place(because: &str) -> Option<(&str, &str)> {
    let said = because.strip_prefix("<nil>: Invalid value: \"\": ")?;
    let quoted = said.strip_prefix('"').and_then(|rest| rest.split_once("\" "));
    let (path, said) = quoted.or_else(|| said.rsplit_once(" in ").map(|(said, path)| (path, said)))?;
    is_path(path).then_some((path, said))
}

/// Removes the value from the server's message, because the object is shown anyway.
fn without_value(reason: &str) -> &str {
    let Some(rest) = reason.strip_prefix("Invalid value: ") else { return reason };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let is_value = matches!(values.next(), Some(Ok(_)));
    rest.get(values.byte_offset()..).filter(|_| is_value).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(reason)
}

fn is_path(text: &str) -> bool {
    !text.is_empty() && !text.contains(' ') && text.trim_start_matches('.').starts_with(|c: char| c.is_alphabetic())
}

/// The part of the object at a path, or its nearest existing parent, on one line.
fn line(object: &Value, path: &str) -> Option<String> {
    let mut value = object;
    let mut shown = String::new();
    let mut rest = path.trim_start_matches('.');
    while !rest.is_empty() {
        let (next, segment, tail) = match rest.strip_prefix('[') {
            Some(inner) => {
                let (index, tail) = inner.split_once(']')?;
                let index: usize = index.parse().ok()?;
                (value.get(index), format!("[{index}]"), tail)
            }
            None => {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (name, tail) = rest.split_at(end);
                let dot = if shown.is_empty() { "" } else { "." };
                (value.get(name), format!("{dot}{name}"), tail)
            }
        };
        let Some(next) = next else { break };
        value = next;
        shown.push_str(&segment);
        rest = tail.strip_prefix('.').unwrap_or(tail);
    }
    let text = shorten(&value.to_string(), VALUE).into_owned();
    (!shown.is_empty()).then(|| format!("{shown}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::sample;
    use serde_json::json;

    fn said(object: Value, new: Outcome, because: &str) -> String {
        let witness = Some(Witness { previous: None, object, old: Outcome::Accepted, new, because: because.into() });
        Proof::of(&Finding { witness, ..sample::finding() }).unwrap().text()
    }

    #[test]
    fn only_the_relevant_line_is_shown() {
        let object = json!({"spec": {"list": [{"name": ""}], "size": 3}});
        let because = "spec.list[0].name: Invalid value: \"\": spec.list[0].name in body should be at least 1 chars long";
        let expected = "`spec.list[0].name: \"\"` was accepted and is now rejected: should be at least 1 chars long";
        assert_eq!(said(object.clone(), Outcome::Rejected, because), expected);
        assert_eq!(said(object.clone(), Outcome::Pruned, "spec.size is dropped"), "`spec.size: 3` was kept and is now dropped");
        let required = said(object.clone(), Outcome::Rejected, "spec.list[0].kind: Required value");
        assert_eq!(required, "`spec.list[0]: {\"name\":\"\"}` was accepted and is now rejected: spec.list[0].kind: Required value");
        let out_of_range = "<nil>: Invalid value: \"\": Checked value must be of type integer with format int32 in spec.size";
        let expected = "`spec.size: 3` was accepted and is now rejected: Checked value must be of type integer with format int32";
        assert_eq!(said(object.clone(), Outcome::Rejected, out_of_range), expected);
        let several = "<nil>: Invalid value: \"\": \"spec.size\" must validate one and only one schema (oneOf). Found none valid";
        let expected = "`spec.size: 3` was accepted and is now rejected: must validate one and only one schema (oneOf). Found none valid";
        assert_eq!(said(object.clone(), Outcome::Rejected, several), expected);
        let twice = json!({"spec": {"list": ["a", "a"]}});
        let expected = "`spec.list: [\"a\",\"a\"]` was accepted and is now rejected: Duplicate value: \"a\"";
        assert_eq!(said(twice, Outcome::Rejected, "spec.list[1]: Duplicate value: \"a\""), expected);
        let converted = said(object.clone(), Outcome::Pruned, "`spec.size` was 1 and is 0");
        assert_eq!(converted, "an object changes when it is converted back and forth: `spec.size` was 1 and is 0");
        assert!(said(object, Outcome::Rejected, "it is too large").starts_with("an object was accepted"));
    }
}
