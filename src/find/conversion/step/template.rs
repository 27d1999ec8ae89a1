//! Templates such as `{host}:{port}` that combine fields into a string, for `split` and `merge`.

use serde_json::Value;

use crate::find::conversion::generate::quoted;
use crate::model::FieldPath;

use super::parse::{PathRole, StepNode};
use super::reason::StepFailure;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Part(usize),
}

/// A template, with the names of its parts in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: String,
    pieces: Vec<Piece>,
    pub names: Vec<String>,
}

impl Template {
    /// Parses a template. `{{` and `}}` are literal braces; there must be text between two parts, or a string couldn't be split.
    pub fn parse(source: &str) -> Result<Template, String> {
        let mut pieces = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut text = String::new();
        let mut chars = source.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    text.push(c);
                }
                '{' => {
                    let mut name = String::new();
                    loop {
                        match chars.next() {
                            Some('}') => break,
                            Some(c) => name.push(c),
                            None => return Err("a `{` has no matching `}`".into()),
                        }
                    }
                    if text.is_empty() && matches!(pieces.last(), Some(Piece::Part(_))) {
                        return Err(format!("strings can't be split: there is no text between `{{{name}}}` and the part before it"));
                    }
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    if names.contains(&name) {
                        return Err(format!("the template has the part `{{{name}}}` twice"));
                    }
                    pieces.push(Piece::Part(names.len()));
                    names.push(name);
                }
                '}' => return Err("a `}` has no matching `{`".into()),
                c => text.push(c),
            }
        }
        if !text.is_empty() {
            pieces.push(Piece::Text(text));
        }
        if names.is_empty() {
            return Err("the template has no part such as `{name}`".into());
        }
        Ok(Template { source: source.to_owned(), pieces, names })
    }

    pub fn source(&self) -> &str {
        &self.source
    }

    pub fn join(&self, parts: &[String]) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Part(index) => parts.get(*index).cloned().unwrap_or_default(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Splits a string. Each part ends at the first occurrence of the text after it; the last part takes the rest.
    pub fn split(&self, text: &str) -> Result<Vec<String>, StepFailure> {
        let wrong = || StepFailure::Form { text: text.to_owned(), template: self.source.clone() };
        let mut parts = vec![String::new(); self.names.len()];
        let mut rest = text;
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Text(fixed) => rest = rest.strip_prefix(fixed.as_str()).ok_or_else(wrong)?,
                Piece::Part(index) => {
                    let end = match self.pieces.get(at + 1) {
                        Some(Piece::Text(fixed)) if at + 2 == self.pieces.len() => rest.strip_suffix(fixed.as_str()).map(str::len),
                        Some(Piece::Text(fixed)) => rest.find(fixed.as_str()),
                        _ => Some(rest.len()),
                    };
                    let (part, after) = rest.split_at_checked(end.ok_or_else(wrong)?).ok_or_else(wrong)?;
                    if let Some(slot) = parts.get_mut(*index) {
                        part.clone_into(slot);
                    }
                    rest = after;
                }
            }
        }
        if rest.is_empty() { Ok(parts) } else { Err(wrong()) }
    }

    /// A regular expression that matches every string the template can produce.
    pub fn pattern(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => regex_syntax::escape(text),
            Piece::Part(_) => "(?s:.*)".to_owned(),
        };
        format!("^{}$", self.pieces.iter().map(piece).collect::<String>())
    }

    /// For each part, the text that ends it if another part follows. The part must not contain that text.
    pub fn delimiters(&self) -> Vec<Option<&str>> {
        let mut delimiters = vec![None; self.names.len()];
        for (at, pair) in self.pieces.windows(2).enumerate() {
            if let [Piece::Part(index), Piece::Text(text)] = pair
                && at + 2 < self.pieces.len()
                && let Some(delimiter) = delimiters.get_mut(*index)
            {
                *delimiter = Some(text.as_str());
            }
        }
        delimiters
    }
}

/// The type of the field for a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PartType {
    #[default]
    String,
    Integer,
}

/// A template and the type of each of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedTemplate {
    pub template: Template,
    pub types: Vec<PartType>,
}

impl TypedTemplate {
    /// Parses the template, and the field of each part from the map at `key`.
    pub fn parse(step: &mut StepNode<'_, '_>, key: &str) -> Option<(TypedTemplate, Vec<FieldPath>)> {
        let at = step.node.get("template")?;
        let template = match Template::parse(at.as_str()?) {
            Ok(template) => template,
            Err(message) => {
                step.wrong(at, message);
                return None;
            }
        };
        let fields = step.node.get(key)?;
        for entry in fields.entries().filter(|entry| !template.names.iter().any(|name| name == entry.name())) {
            step.wrong(entry.key, format!("the template has no part `{{{}}}`", entry.name()));
        }
        let (mut paths, mut types) = (Vec::new(), Vec::new());
        for name in &template.names {
            let Some(field) = fields.get(name) else {
                step.wrong(at, format!("the template part `{{{name}}}` has no field"));
                return None;
            };
            paths.push(step.path_at(field.get("path").unwrap_or(field), PathRole::Field)?);
            let integer = field.text("type") == Some("integer");
            types.push(if integer { PartType::Integer } else { PartType::String });
        }
        Some((TypedTemplate { template, types }, paths))
    }

    /// The pieces of the template as a Go literal.
    pub fn go(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => format!("{{text: {}, part: -1}}", quoted(text)),
            Piece::Part(index) => match self.types.get(*index) {
                Some(PartType::Integer) => format!("{{part: {index}, integer: true}}"),
                _ => format!("{{part: {index}}}"),
            },
        };
        format!("[]piece{{{}}}", self.template.pieces.iter().map(piece).collect::<Vec<_>>().join(", "))
    }

    /// Parses the text of a part into its value.
    pub fn read(&self, index: usize, text: String) -> Result<Value, StepFailure> {
        match self.types.get(index).copied().unwrap_or_default() {
            PartType::String => Ok(Value::String(text)),
            PartType::Integer => text.parse::<i64>().map(Value::from).map_err(|_| StepFailure::Unreadable(text, "an integer")),
        }
    }

    /// Formats the value of a part as text.
    pub fn write(&self, index: usize, value: &Value) -> Result<String, StepFailure> {
        match (self.types.get(index).copied().unwrap_or_default(), value) {
            (PartType::String, Value::String(text)) => Ok(text.clone()),
            (PartType::Integer, Value::Number(number)) if number.is_i64() => Ok(number.to_string()),
            (PartType::String, other) => Err(StepFailure::ty("a string", other)),
            (PartType::Integer, other) => Err(StepFailure::ty("an integer", other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_merged_and_split() {
        let template = Template::parse("{scheme}://{host}:{port}/").unwrap();
        let parts = template.split("http://a:80/").unwrap();
        assert_eq!(parts, ["http", "a", "80"]);
        assert_eq!(template.join(&parts), "http://a:80/");
        assert_eq!(template.delimiters(), [Some("://"), Some(":"), None]);
        assert!(template.split("http://a").is_err());
        assert_eq!(Template::parse("{a}{b}").unwrap_err().split(' ').next(), Some("strings"));
        assert_eq!(Template::parse("{{{a}}}").unwrap().join(&["x".into()]), "{x}");
    }

    #[test]
    fn the_last_part_takes_the_rest() {
        let template = Template::parse("{a}-{b}").unwrap();
        assert_eq!(template.split("x-y-z").unwrap(), ["x", "y-z"]);
    }
}
