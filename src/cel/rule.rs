//! The text of a rule apart from CEL: what the server demands of `message`, `reason`, `fieldPath` and the rest.
//!
//! Comes in: a rule as written and the shape it stands at. Goes out: everything that is wrong with its form.

use thiserror::Error;

use crate::schema::Shape;
use crate::schema::shape::{CelRule, Extra};

/// The reasons a rule may give for a violation.
pub const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Something wrong with the form of a rule. [`FormError::member`] says in which part.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FormError {
    #[error("rule is not specified")]
    RuleBlank,
    #[error("message must be non-empty if specified")]
    MessageBlank,
    #[error("message must not contain line breaks")]
    MessageBroken,
    #[error("message must be specified if rule contains line breaks")]
    MessageMissing,
    #[error("messageExpression must be non-empty if specified")]
    MessageExpressionBlank,
    #[error("reason \"{reason}\" is not one of {}", REASONS.join(", "))]
    ReasonUnknown { reason: String },
    #[error("fieldPath must be non-empty if specified")]
    FieldPathBlank,
    #[error("fieldPath must not contain line breaks")]
    FieldPathBroken,
    #[error("fieldPath \"{path}\" is not valid here: {why}")]
    FieldPathInvalid { path: String, why: String },
}

impl FormError {
    /// The member of the rule that is wrong.
    pub fn member(&self) -> &'static str {
        match self {
            FormError::RuleBlank => "rule",
            FormError::MessageBlank | FormError::MessageBroken | FormError::MessageMissing => "message",
            FormError::MessageExpressionBlank => "messageExpression",
            FormError::ReasonUnknown { .. } => "reason",
            FormError::FieldPathBlank | FormError::FieldPathBroken | FormError::FieldPathInvalid { .. } => "fieldPath",
        }
    }
}

/// What is wrong with the form of `rule`, which stands at `shape`.
pub fn form_errors(rule: &CelRule, shape: &Shape) -> Vec<FormError> {
    let mut errors = vec![];
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let (message, expression, path) = (text(&rule.message), text(&rule.message_expression), text(&rule.field_path));
    if rule.rule.trim().is_empty() {
        errors.push(FormError::RuleBlank);
    } else if !message.is_empty() && message.trim().is_empty() {
        errors.push(FormError::MessageBlank);
    } else if broken(message.trim()) {
        errors.push(FormError::MessageBroken);
    } else if broken(rule.rule.trim()) && message.is_empty() {
        errors.push(FormError::MessageMissing);
    }
    if !expression.is_empty() && expression.trim().is_empty() {
        errors.push(FormError::MessageExpressionBlank);
    }
    if let Some(reason) = rule.reason.as_ref().filter(|reason| !REASONS.contains(&reason.as_str())) {
        errors.push(FormError::ReasonUnknown { reason: reason.clone() });
    }
    if !path.is_empty() && path.trim().is_empty() {
        errors.push(FormError::FieldPathBlank);
    }
    if broken(&path) {
        errors.push(FormError::FieldPathBroken);
    }
    if !path.is_empty()
        && let Err(why) = resolve(&path, shape)
    {
        errors.push(FormError::FieldPathInvalid { path, why });
    }
    errors
}

fn broken(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Follows a `fieldPath` (`.a.b['c']`) into the schema.
fn resolve(path: &str, shape: &Shape) -> Result<(), String> {
    let mut shape = Some(shape);
    let tokens = tokens(path);
    let mut tokens = tokens.iter();
    let end = || "unexpected end".to_string();
    while let Some(token) = tokens.next() {
        let name = match *token {
            "." => (*tokens.next().ok_or_else(end)?).to_string(),
            "[" => {
                let quoted = *tokens.next().ok_or_else(end)?;
                let inner = quoted.strip_prefix('\'').and_then(|q| q.strip_suffix('\'')).filter(|_| quoted.len() >= 2);
                let inner = unescaped(inner.ok_or_else(|| format!("expected a quoted name but got {quoted}"))?)?;
                match tokens.next() {
                    Some(&"]") => inner,
                    Some(other) => return Err(format!("expected ] but got {other}")),
                    None => return Err(end()),
                }
            }
            other => return Err(format!("expected [ or . but got: {other}")),
        };
        let child = shape.and_then(|shape| child(shape, &name));
        shape = child.ok_or_else(|| format!("\"{name}\" does not refer to a valid field"))?;
    }
    Ok(())
}

/// The schema of a member, or none where the schema allows any.
fn child<'s>(shape: &'s Shape, name: &str) -> Option<Option<&'s Shape>> {
    if !shape.properties.is_empty() {
        return shape.property(name).map(Some);
    }
    match &shape.extra {
        Extra::Values(values) => Some(Some(values)),
        Extra::Any => Some(None),
        Extra::Closed | Extra::Refused => None,
    }
}

/// The name that stands between quotes.
fn unescaped(text: &str) -> Result<String, String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next() } else { None };
        out.push(match escaped {
            None => c,
            Some('a') => '\u{7}',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('v') => '\u{b}',
            Some(same @ ('\'' | '\\')) => same,
            Some(other) => return Err(format!("invalid escape \\{other}")),
        });
    }
    Ok(out)
}

/// Delimiters and what stands between them; a quoted string is one token.
fn tokens(path: &str) -> Vec<&str> {
    let mut out = vec![];
    let mut rest = path;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '.' | '[' | ']' => 1,
            '\'' => closing_quote(rest),
            _ => rest.find(['.', '[', ']']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        out.push(token);
        rest = after;
    }
    out
}

fn closing_quote(text: &str) -> usize {
    let bytes = text.as_bytes();
    let closes = |i: &usize| bytes.get(*i) == Some(&b'\'') && bytes.get(i - 1) != Some(&b'\\');
    (1..bytes.len()).find(closes).map_or(bytes.len(), |i| i + 1)
}

#[cfg(test)]
#[path = "rule_tests.rs"]
mod tests;
