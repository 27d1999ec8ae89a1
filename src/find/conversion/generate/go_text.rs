//! Values, paths and strings as Go source.

use serde_json::Value;

use crate::find::conversion::address::NamePath;

/// The Go code of a kind of step.
#[derive(Debug)]
pub(crate) struct GoStep {
    /// The functions that the kind needs.
    pub source: &'static str,
    /// An expression of type `(any, error)`: the container `c` after the step. `INNER` and `CONFLICT` stand for the step's paths inside
    /// the container and its conflict rule.
    pub call: String,
}

/// Writes a string as a Go literal. JSON escapes work because Go knows all of them.
pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Writes a JSON value as a Go expression that creates a new value each time.
pub(crate) fn go_literal(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) if number.is_i64() => format!("int64({number})"),
        Value::Number(number) => format!("float64({number})"),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[]any{{{}}}", items.iter().map(go_literal).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entries: Vec<String> = map.iter().map(|(key, value)| format!("{}: {}", quoted(key), go_literal(value))).collect();
            format!("map[string]any{{{}}}", entries.join(", "))
        }
    }
}

/// Writes a path inside a container.
pub(crate) fn path(names: &NamePath) -> String {
    format!("path{}", name_list(names))
}

/// Writes the paths of a step inside its container.
pub(crate) fn paths(inner: &[NamePath]) -> String {
    format!("[]path{{{}}}", inner.iter().map(name_list).collect::<Vec<_>>().join(", "))
}

fn name_list(names: &NamePath) -> String {
    format!("{{{}}}", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
}
