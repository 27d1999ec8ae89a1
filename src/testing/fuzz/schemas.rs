//! Schemas chosen by bytes, and changes of them.

use serde_json::{Map, Value, json};

use super::choices::Choices;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const TEXTS: [&str; 6] = ["", "a", "b", "ab", "abc", "é"];
const PATTERNS: [&str; 9] = ["^a", "b$", "^[ab]*$", "^(a|b|ab)$", "^a?b?$", "^.{1,2}$", "^[^a]", "(?i)^A", "^\\d+$"];
const FORMATS: [&str; 8] = ["date", "date-time", "byte", "ipv4", "uri", "duration", "uuid", "email"];
const RULES: [&str; 10] = [
    "self.size() < 3",
    "self.size() > 0",
    "has(self.a)",
    "!has(self.a) || has(self.b)",
    "self > 1",
    "self == oldSelf",
    "self != 'ab'",
    "self.all(x, x.size() > 0)",
    "self in ['a', 'b']",
    "self % 2 == 0",
];

type Keywords = Map<String, Value>;

fn put(map: &mut Keywords, word: &str, value: impl Into<Value>) {
    map.insert(word.to_owned(), value.into());
}

fn text_conditions(choices: &mut Choices<'_>, map: &mut Keywords) {
    match choices.below(8) {
        1 => put(map, "minLength", choices.below(4)),
        2 => put(map, "maxLength", choices.below(4)),
        3 => put(map, "enum", json!(choices.some(&TEXTS))),
        4 => put(map, "pattern", *choices.pick(&PATTERNS)),
        5 => put(map, "format", *choices.pick(&FORMATS)),
        6 => {
            put(map, "minLength", choices.below(3));
            put(map, "maxLength", 1 + choices.below(4));
        }
        _ => {}
    }
}

fn number(choices: &mut Choices<'_>, fractions: bool) -> Value {
    let whole = i64::from(choices.byte() as i8) / 16;
    if fractions && choices.once_in(3) { json!(whole as f64 + 0.5) } else { json!(whole) }
}

fn number_conditions(choices: &mut Choices<'_>, map: &mut Keywords, fractions: bool) {
    match choices.below(8) {
        1 => put(map, "minimum", number(choices, fractions)),
        2 => put(map, "maximum", number(choices, fractions)),
        3 => {
            let list: Vec<Value> = (0..=choices.below(3)).map(|_| number(choices, fractions)).collect();
            put(map, "enum", list);
        }
        4 => put(map, "multipleOf", 1 + choices.below(4)),
        5 | 6 => {
            for (word, strict) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
                put(map, word, number(choices, fractions));
                if choices.once_in(3) {
                    put(map, strict, true);
                }
            }
        }
        _ => {}
    }
}

fn counts(choices: &mut Choices<'_>, map: &mut Keywords, least: &str, most: &str) {
    if choices.once_in(4) {
        put(map, least, choices.below(3));
    }
    if choices.once_in(4) {
        put(map, most, choices.below(4));
    }
}

/// `allOf`, `anyOf`, `oneOf` and `not` over conditions of one kind.
fn clauses(choices: &mut Choices<'_>, map: &mut Keywords, conditions: &dyn Fn(&mut Choices<'_>, &mut Keywords)) {
    if !choices.once_in(4) {
        return;
    }
    let clause = |choices: &mut Choices<'_>| {
        let mut clause = Map::new();
        conditions(choices, &mut clause);
        Value::Object(clause)
    };
    match *choices.pick(&["allOf", "anyOf", "oneOf", "not"]) {
        "not" => {
            let one = clause(choices);
            put(map, "not", one);
        }
        word => {
            let list: Vec<Value> = (0..=choices.below(3)).map(|_| clause(choices)).collect();
            put(map, word, list);
        }
    }
}

fn required(choices: &mut Choices<'_>, map: &mut Keywords) {
    if choices.once_in(3) {
        put(map, "required", json!(choices.some(&NAMES)));
    }
}

/// A schema of at most this many levels.
pub(super) fn node(choices: &mut Choices<'_>, depth: usize) -> Value {
    let mut map = Map::new();
    let kinds = if depth == 0 { 5 } else { 9 };
    match choices.below(kinds) {
        0 => {
            put(&mut map, "type", "string");
            text_conditions(choices, &mut map);
            clauses(choices, &mut map, &text_conditions);
        }
        1 => {
            put(&mut map, "type", "integer");
            number_conditions(choices, &mut map, false);
            clauses(choices, &mut map, &|choices, map| number_conditions(choices, map, false));
        }
        2 => {
            put(&mut map, "type", "number");
            number_conditions(choices, &mut map, true);
            clauses(choices, &mut map, &|choices, map| number_conditions(choices, map, true));
        }
        3 => put(&mut map, "type", "boolean"),
        4 => {
            put(&mut map, "x-kubernetes-int-or-string", true);
            if choices.once_in(2) {
                put(&mut map, "anyOf", json!([{"type": "integer"}, {"type": "string"}]));
            }
            text_conditions(choices, &mut map);
        }
        5 => {
            put(&mut map, "type", "array");
            let items = node(choices, depth - 1);
            put(&mut map, "items", items);
            counts(choices, &mut map, "minItems", "maxItems");
            if choices.once_in(4) {
                put(&mut map, "x-kubernetes-list-type", *choices.pick(&["set", "atomic"]));
            }
        }
        6 => {
            put(&mut map, "type", "object");
            let values = node(choices, depth - 1);
            put(&mut map, "additionalProperties", values);
            counts(choices, &mut map, "minProperties", "maxProperties");
        }
        _ => {
            put(&mut map, "type", "object");
            let names = choices.some(&NAMES);
            let properties: Keywords = names.into_iter().map(|name| ((*name).to_owned(), node(choices, depth - 1))).collect();
            put(&mut map, "properties", properties);
            required(choices, &mut map);
            counts(choices, &mut map, "minProperties", "maxProperties");
            clauses(choices, &mut map, &required);
            if choices.once_in(6) {
                put(&mut map, "x-kubernetes-preserve-unknown-fields", true);
            }
        }
    }
    if choices.once_in(6) {
        put(&mut map, "nullable", true);
    }
    if choices.once_in(6) {
        put(&mut map, "x-kubernetes-validations", json!([{"rule": choices.pick(&RULES)}]));
    }
    Value::Object(map)
}

/// A schema of an object with the field `x`, and another one that is mostly the same.
pub(super) fn pair(choices: &mut Choices<'_>) -> (Value, Value) {
    let root = |x: &Value, y: &Value| json!({"type": "object", "properties": {"x": x, "y": y}});
    // Small schemas show most mistakes, and large ones take most of the time.
    let depth = *choices.pick(&[1, 1, 1, 2, 2, 3]);
    let (x, y) = (node(choices, depth), node(choices, 1));
    let new = if choices.once_in(3) { node(choices, depth) } else { changed(choices, &x) };
    (root(&x, &y), root(&new, &y))
}

/// Replaces a node of the schema, or drops or adds a keyword.
fn changed(choices: &mut Choices<'_>, schema: &Value) -> Value {
    let mut schema = schema.clone();
    let mut at = &mut schema;
    for _ in 0..choices.below(4) {
        let below = match at.get("type").and_then(Value::as_str) {
            Some("array") => vec!["/items".to_owned()],
            _ if at.get("additionalProperties").is_some() => vec!["/additionalProperties".to_owned()],
            _ => at["properties"].as_object().into_iter().flatten().map(|(name, _)| format!("/properties/{name}")).collect(),
        };
        if below.is_empty() {
            break;
        }
        let pointer = choices.pick(&below);
        if at.pointer(pointer).is_none() {
            break;
        }
        at = at.pointer_mut(pointer).expect("it was there");
    }
    match choices.below(3) {
        0 => {
            let words: Vec<String> =
                at.as_object().into_iter().flatten().map(|(word, _)| word.clone()).filter(|word| !states_type(word)).collect();
            if let (Some(map), false) = (at.as_object_mut(), words.is_empty()) {
                map.remove(choices.pick(&words));
            }
        }
        1 => {
            if let (Value::Object(more), Some(map)) = (node(choices, 0), at.as_object_mut()) {
                map.extend(more.into_iter().filter(|(word, _)| !states_type(word)));
            }
        }
        _ => *at = node(choices, 1),
    }
    schema
}

/// Whether a keyword states the type of a node. The server refuses a schema with none of them, or with both.
fn states_type(word: &str) -> bool {
    word == "type" || word == "x-kubernetes-int-or-string"
}

/// A value of any type.
pub(super) fn value(choices: &mut Choices<'_>, depth: usize) -> Value {
    match choices.below(if depth == 0 { 5 } else { 7 }) {
        0 => json!(choices.pick(&TEXTS)),
        1 => number(choices, false),
        2 => number(choices, true),
        3 => json!(choices.once_in(2)),
        4 => Value::Null,
        5 => (0..choices.below(4)).map(|_| value(choices, depth - 1)).collect(),
        _ => {
            let names = choices.some(&NAMES);
            Value::Object(names.into_iter().map(|name| ((*name).to_owned(), value(choices, depth - 1))).collect())
        }
    }
}
