//! A document and the JSON Schema of its form come in; what is wrong with it, with the bytes it is about, goes out.

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;

use crate::input::yaml::{Node, Span};

/// Something wrong in a file that the tool itself reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    pub message: String,
    pub span: Span,
}

impl Fault {
    pub fn new(message: impl Into<String>, span: Span) -> Self {
        Fault { message: message.into(), span }
    }
}

/// The form that a file of this tool must have.
pub struct Form {
    schema: Value,
    validator: Option<jsonschema::Validator>,
}

impl Form {
    /// From the text of a schema that is compiled in; tests hold that each of them can be used.
    pub fn new(schema: &str) -> Self {
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        let validator = jsonschema::validator_for(&schema).ok();
        Form { schema, validator }
    }

    pub fn is_usable(&self) -> bool {
        self.validator.is_some()
    }

    /// What is wrong, in the order of the file.
    pub fn check(&self, root: Node<'_>) -> Vec<Fault> {
        let value = root.to_json();
        let Some(validator) = &self.validator else { return Vec::new() };
        let mut faults: Vec<Fault> = validator.iter_errors(&value).flat_map(|error| self.faults(&error, root)).collect();
        faults.sort_by(|a, b| a.span.cmp(&b.span).then_with(|| a.message.cmp(&b.message)));
        faults.dedup();
        faults
    }

    fn faults(&self, error: &jsonschema::ValidationError<'_>, root: Node<'_>) -> Vec<Fault> {
        let node = follow(root, error.instance_path());
        let shown = || cut(node.source());
        let one = |message: String| vec![Fault::new(message, node.span())];
        match error.kind() {
            Kind::AdditionalProperties { unexpected } => {
                let known = self.properties(error.schema_path());
                let fault = |name: &String| {
                    let key = node.entry(name).map_or(node, |entry| entry.key);
                    let hint = nearest(name, known.iter().map(String::as_str));
                    let list = if hint.is_empty() { format!("; there are {}", known.join(", ")) } else { hint };
                    Fault::new(format!("unknown key `{}`{list}", cut(name)), key.span())
                };
                unexpected.iter().map(fault).collect()
            }
            Kind::Required { property } => one(format!("`{}` is missing", property.as_str().unwrap_or_default())),
            Kind::Enum { options } => {
                let words: Vec<&str> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let hint = node.as_str().map(|text| nearest(text, words.iter().copied())).unwrap_or_default();
                one(format!("`{}` is none of {}{hint}", shown(), words.join(", ")))
            }
            Kind::Type { kind } => one(format!("must be {}", types(kind))),
            Kind::MinLength { .. } | Kind::MinItems { .. } | Kind::MinProperties { .. } => one("must not be empty".to_owned()),
            Kind::Pattern { pattern } => one(format!("`{}` doesn't have the form `{pattern}`", shown())),
            _ => one(error.to_string()),
        }
    }

    /// Names that the schema beside an `additionalProperties` declares.
    fn properties(&self, at: &Location) -> Vec<String> {
        let pointer = at.as_str();
        let around = pointer.rsplit_once('/').map_or("", |(around, _)| around);
        let properties = self.schema.pointer(around).and_then(|schema| schema.get("properties"));
        properties.and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }
}

fn follow<'t>(root: Node<'t>, path: &Location) -> Node<'t> {
    let mut node = root;
    for segment in path {
        let next = match segment {
            LocationSegment::Property(name) => node.entry(&name).map(|entry| entry.value),
            LocationSegment::Index(index) => node.items().nth(index),
        };
        match next {
            Some(next) => node = next,
            None => break,
        }
    }
    node
}

fn types(kind: &TypeKind) -> String {
    let name = |ty: jsonschema::JsonType| match ty {
        jsonschema::JsonType::Object => "a mapping",
        jsonschema::JsonType::Array => "a list",
        jsonschema::JsonType::String => "a string",
        jsonschema::JsonType::Integer => "an integer",
        jsonschema::JsonType::Number => "a number",
        jsonschema::JsonType::Boolean => "true or false",
        jsonschema::JsonType::Null => "null",
    };
    match kind {
        TypeKind::Single(ty) => name(*ty).to_owned(),
        TypeKind::Multiple(set) => set.iter().map(name).collect::<Vec<_>>().join(" or "),
    }
}

/// So much of a value is shown in a message.
const SHOWN: usize = 60;

fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() > SHOWN { line.chars().take(SHOWN).chain(['…']).collect() } else { line.to_owned() }
}

/// " (did you mean `x`?)" for the nearest known word, if any is near.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    known
        .map(|candidate| (f64::from(similar::TextDiff::from_chars(word, candidate).ratio()), candidate))
        .filter(|(score, _)| *score >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| format!(" (did you mean `{candidate}`?)"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{Budget, parse};

    fn check(text: &str) -> Vec<(String, String)> {
        let form = Form::new(
            r##"{"type": "object", "additionalProperties": false, "properties": {
                "colour": {"enum": ["red", "green", false]}, "list": {"type": "array", "items": {"$ref": "#/$defs/one"}}},
                "$defs": {"one": {"type": "object", "additionalProperties": false, "required": ["name"], "properties": {"name": {"type": "string"}}}}}"##,
        );
        let documents = parse(&text.into(), &Budget::default());
        let tree = documents[0].tree.as_ref().unwrap();
        form.check(tree.root()).into_iter().map(|fault| (fault.message, text[fault.span.range()].to_owned())).collect()
    }

    #[test]
    fn faults_stand_at_what_they_speak_of() {
        let found = check("color: red\nlist:\n  - {nam: x}\n  - {name: 1}\n");
        let found: Vec<(&str, &str)> = found.iter().map(|(message, at)| (&**message, &**at)).collect();
        assert_eq!(
            found,
            [
                ("unknown key `color` (did you mean `colour`?)", "color"),
                ("`name` is missing", "{nam: x}"),
                ("unknown key `nam` (did you mean `name`?)", "nam"),
                ("must be a string", "1"),
            ]
        );
        assert_eq!(check("colour: gren\n")[0].0, "`gren` is none of red, green (did you mean `green`?)");
        assert_eq!(check("colour: off\n"), []);
    }
}
