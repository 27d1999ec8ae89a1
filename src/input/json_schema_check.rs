//! Checks a file of this tool against its JSON Schema, and reports each error at the bytes that cause it.

use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use serde_json::Value;
use std::borrow::Cow;

use crate::input::shorten;
use crate::input::yaml::{Node, Span};

/// An error in a file that the tool itself reads: configuration, rule, baseline or conversion manifest.
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

    pub fn at(node: Node<'_>, message: impl Into<String>) -> Self {
        Fault::new(message, node.span())
    }
}

/// How many errors of one document are reported.
const MAX_FAULTS: usize = 200;

/// The JSON Schema of a file that the tool reads.
pub struct FileSchema {
    schema: Value,
    validator: Option<jsonschema::Validator>,
}

impl FileSchema {
    /// Compiles a built-in schema; tests make sure that each of them is valid.
    pub fn new(schema: &str) -> Self {
        let schema: Value = serde_json::from_str(schema).unwrap_or_default();
        let validator = jsonschema::validator_for(&schema).ok();
        FileSchema { schema, validator }
    }

    #[cfg(test)]
    pub fn is_usable(&self) -> bool {
        self.validator.is_some()
    }

    /// Returns all errors of a document, in the order of the file.
    pub fn check(&self, root: Node<'_>) -> Vec<Fault> {
        let value = root.to_json();
        let Some(validator) = &self.validator else { return Vec::new() };
        let mut errors = validator.iter_errors(&value);
        let mut faults: Vec<Fault> = errors.by_ref().take(MAX_FAULTS).flat_map(|error| self.faults(&error, root)).collect();
        if errors.next().is_some() || faults.len() > MAX_FAULTS {
            faults.push(Fault::at(root, format!("more than {MAX_FAULTS} errors; these are the first")));
        }
        faults.sort_by(|a, b| a.span.cmp(&b.span).then_with(|| a.message.cmp(&b.message)));
        faults.dedup();
        faults
    }

    fn faults(&self, error: &ValidationError<'_>, root: Node<'_>) -> Vec<Fault> {
        let node = follow(root, error.instance_path());
        let shown = || cut(node.source());
        let one = |message: String| vec![Fault::at(node, message)];
        let shortest = |limit: &u64, unit: &str| match limit {
            1 => "must not be empty".to_owned(),
            limit => format!("needs at least {limit} {unit}"),
        };
        match error.kind() {
            Kind::AdditionalProperties { unexpected } => {
                let known = self.properties(error.schema_path());
                let fault = |name: &String| {
                    let key = node.entry(name).map_or(node, |entry| entry.key);
                    let hint = nearest(name, known.iter().map(String::as_str));
                    let list = if hint.is_empty() { format!("; use one of {}", known.join(", ")) } else { hint };
                    Fault::at(key, format!("unknown key `{}`{list}", cut(name)))
                };
                unexpected.iter().take(MAX_FAULTS + 1).map(fault).collect()
            }
            Kind::PropertyNames { error } => {
                let name = error.instance().as_str().unwrap_or_default();
                let known: Vec<&str> = match error.kind() {
                    Kind::Enum { options } => options.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
                    _ => Vec::new(),
                };
                let hint = nearest(name, known.iter().copied());
                let list = if hint.is_empty() { format!("; use one of {}", known.join(", ")) } else { hint };
                vec![Fault::at(node.entry(name).map_or(node, |entry| entry.key), format!("unknown key `{}`{list}", cut(name)))]
            }
            Kind::Required { property } => one(format!("`{}` is missing", property.as_str().unwrap_or_default())),
            Kind::Enum { options } => {
                let words: Vec<&str> = options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let hint = node.as_str().map(|text| nearest(text, words.iter().copied())).unwrap_or_default();
                one(format!("unknown value `{}`{hint}; use one of {}", shown(), words.join(", ")))
            }
            Kind::Constant { expected_value } => one(format!("must be {expected_value}")),
            Kind::Type { kind } => one(format!("must be {}", types(kind))),
            Kind::MinLength { limit } => one(shortest(limit, "characters")),
            Kind::MinItems { limit } => one(shortest(limit, "items")),
            Kind::MinProperties { limit } => one(shortest(limit, "keys")),
            Kind::MaxProperties { limit } => one(format!("must have at most {limit} {}", if *limit == 1 { "key" } else { "keys" })),
            Kind::Pattern { pattern } => one(format!("`{}` doesn't match the pattern `{pattern}`", shown())),
            Kind::AnyOf { context } if missing_keys(context).is_some() => {
                one(format!("`{}` is missing", missing_keys(context).unwrap_or_default().join("` or `")))
            }
            Kind::OneOfNotValid { context } | Kind::AnyOf { context } => match nearest_alternative(context, error.instance_path()) {
                Some(errors) => errors.iter().flat_map(|error| self.faults(error, root)).collect(),
                None => one("has none of the allowed forms".to_owned()),
            },
            Kind::OneOfMultipleValid { .. } => one("mixes several of the allowed forms".to_owned()),
            _ => one(error.masked().to_string()),
        }
    }

    /// The properties declared by the schema that has this `additionalProperties`.
    fn properties(&self, at: &Location) -> Vec<String> {
        let pointer = at.as_str();
        let parent = pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        let properties = self.schema.pointer(parent).and_then(|schema| schema.get("properties"));
        properties.and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
    }
}

/// The errors of the alternative that was probably meant: the one that matches deepest into the document.
fn nearest_alternative<'e, 'v>(context: &'e [Vec<ValidationError<'v>>], at: &Location) -> Option<&'e Vec<ValidationError<'v>>> {
    let depth = |errors: &Vec<ValidationError<'_>>| errors.iter().map(|error| error.instance_path().as_str().len()).max();
    context.iter().max_by_key(|errors| depth(errors)).filter(|errors| depth(errors) > Some(at.as_str().len()))
}

/// The keys of which a mapping needs one, if every alternative only requires a key.
fn missing_keys<'e>(context: &'e [Vec<ValidationError<'_>>]) -> Option<Vec<&'e str>> {
    let key = |errors: &'e Vec<ValidationError<'_>>| match errors.as_slice() {
        [error] => match error.kind() {
            Kind::Required { property } => property.as_str(),
            _ => None,
        },
        _ => None,
    };
    context.iter().map(key).collect()
}

fn follow<'t>(root: Node<'t>, path: &Location) -> Node<'t> {
    let mut node = root;
    for segment in path {
        let next = match segment {
            LocationSegment::Property(name) => node.entry(&name).map(|entry| entry.value),
            LocationSegment::Index(index) => node.item_at(index),
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

/// How much of a value a message repeats; the report shows its place anyway.
const SHOWN: usize = 60;

fn cut(text: &str) -> Cow<'_, str> {
    shorten(text.lines().next().unwrap_or_default(), SHOWN)
}

/// How similar a word must be to be suggested.
const SIMILAR: f64 = 0.6;

/// " (did you mean `x`?)" with the known word that is most similar, or nothing if none is.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let length = word.chars().count();
    // Even if all characters of the shorter one match, the two are too different.
    let can_match = |candidate: &&str| {
        let other = candidate.chars().count();
        2.0 * length.min(other) as f64 >= SIMILAR * (length + other) as f64
    };
    known
        .filter(can_match)
        .map(|candidate| (f64::from(similar::TextDiff::from_chars(word, candidate).ratio()), candidate))
        .filter(|(score, _)| *score >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)))
        .map(|(_, candidate)| format!(" (did you mean `{candidate}`?)"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::yaml::{YamlBudget, parse};

    #[test]
    fn long_words_get_no_suggestion() {
        assert_eq!(nearest("colour", ["color", "size"].into_iter()), " (did you mean `color`?)");
        assert_eq!(nearest(&"color".repeat(100_000), ["color", "size"].into_iter()), "");
    }

    #[test]
    fn the_first_of_many_unknown_keys_are_reported() {
        let schema = FileSchema::new(r#"{"type": "object", "properties": {"size": {}}, "additionalProperties": false}"#);
        let faults = |count: usize| {
            let text: String = (0..count).map(|number| format!("k{number}: 1\n")).collect();
            let documents = parse(&text.into(), &YamlBudget::default());
            schema.check(documents[0].tree.as_ref().expect("a document").root())
        };
        assert_eq!(faults(MAX_FAULTS).len(), MAX_FAULTS);
        let many = faults(20_000);
        assert!(many.len() <= MAX_FAULTS + 2 && many.iter().any(|fault| fault.message.starts_with("more than")), "{}", many.len());
    }

    fn check(text: &str) -> Vec<(String, String)> {
        let schema = FileSchema::new(
            r##"{"type": "object", "additionalProperties": false, "properties": {
                "when": {"oneOf": [{"const": "always"}, {"type": "object", "properties": {"day": {"type": "integer"}}}]},
                "reason": {"type": "string", "minLength": 10}, "colour": {"enum": ["red", "green", false]}, "list": {"type": "array", "items": {"$ref": "#/$defs/one"}}},
                "$defs": {"one": {"type": "object", "additionalProperties": false, "required": ["name"], "properties": {"name": {"type": "string"}}}}}"##,
        );
        let documents = parse(&text.into(), &YamlBudget::default());
        let tree = documents[0].tree.as_ref().unwrap();
        schema.check(tree.root()).into_iter().map(|fault| (fault.message, text[fault.span.range()].to_owned())).collect()
    }

    #[test]
    fn errors_are_at_the_bytes_that_cause_them() {
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
        assert_eq!(check("colour: gren\n")[0].0, "unknown value `gren` (did you mean `green`?); use one of red, green");
        assert_eq!(check("colour: off\n"), []);
    }

    #[test]
    fn the_alternative_that_matches_deepest_is_explained() {
        assert_eq!(check("when: {day: x}\n"), [("must be an integer".to_owned(), "x".to_owned())]);
        assert_eq!(check("when: never\n"), [("has none of the allowed forms".to_owned(), "never".to_owned())]);
        assert_eq!(check("when: always\n"), []);
    }

    #[test]
    fn limits_are_named() {
        assert_eq!(check("reason: short\n")[0].0, "needs at least 10 characters");
        assert_eq!(check("shape: x\n")[0].0, "unknown key `shape`; use one of colour, list, reason, when");
    }

    #[test]
    fn errors_are_reported_up_to_a_limit() {
        let items = "  - {nam: x}\n".repeat(3 * MAX_FAULTS);
        let found = check(&format!("list:\n{items}"));
        assert!(found.len() <= 2 * MAX_FAULTS + 1, "{}", found.len());
        assert!(found.iter().any(|(message, _)| message.contains("more than 200 errors")));
    }
}
