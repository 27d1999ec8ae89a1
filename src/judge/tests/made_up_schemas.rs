//! Generates schemas.

use serde_json::{Map, Value, json};

use crate::compare::Random;

pub(super) const NAMES: [&str; 3] = ["a", "b", "c"];
pub(super) const TEXTS: [&str; 14] = ["", "a", "b", "ab", "abc", "B", "1", "é", "10.0.0.1", "2020-01-01", "1h", "a@b.c", "YQ==", "a.b/c"];
const PATTERNS: [&str; 7] = ["^a", "b$", "^[ab]*$", "^(a|b|ab)$", "^.{1,2}$", "^[^a]", "^\\d+$"];
const FORMATS: [&str; 7] = ["date", "byte", "ipv4", "uri", "duration", "email", "unknown-format"];

pub(super) type Keywords = Map<String, Value>;

pub(super) fn put(map: &mut Keywords, word: &str, value: impl Into<Value>) {
    map.insert(word.to_owned(), value.into());
}

fn some_of<'n>(random: &mut Random, names: &[&'n str]) -> Vec<&'n str> {
    let mut some: Vec<&str> = names.iter().copied().filter(|_| random.below(2) == 0).collect();
    if some.is_empty() {
        some.push(random.one_of(names));
    }
    some
}

fn number(random: &mut Random, ty: &str) -> Value {
    let whole = random.one_of(&[-1, 0, 1, 2, 3, 5, 10]);
    if ty == "number" && random.below(3) == 0 { json!(f64::from(whole) + 0.5) } else { json!(whole) }
}

/// Conditions on values of a type.
pub(super) fn conditions(random: &mut Random, ty: &str, map: &mut Keywords) {
    match (ty, random.below(7)) {
        ("string", 0) => put(map, "minLength", random.below(3)),
        ("string", 1) => put(map, "maxLength", random.below(4)),
        ("string", 2) => put(map, "enum", json!(some_of(random, &TEXTS[..6]))),
        ("string", 3) => put(map, "pattern", random.one_of(&PATTERNS)),
        ("string", 4) => put(map, "format", random.one_of(&FORMATS)),
        ("integer" | "number", n @ (0 | 1)) => {
            let (word, strict) = [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")][n];
            put(map, word, number(random, ty));
            if random.below(3) == 0 {
                put(map, strict, true);
            }
        }
        ("integer" | "number", 2) => put(map, "multipleOf", 1 + random.below(4)),
        ("integer" | "number", 3) => {
            let mut list: Vec<Value> = Vec::new();
            for _ in 0..3 {
                let one = number(random, ty);
                if !list.contains(&one) {
                    list.push(one);
                }
            }
            put(map, "enum", list);
        }
        ("integer", 4) => put(map, "format", random.one_of(&["int32", "int64"])),
        ("array", 0) => put(map, "minItems", random.below(3)),
        ("array", 1) => put(map, "maxItems", random.below(4)),
        ("map", 0) => put(map, "minProperties", random.below(3)),
        ("map", 1) => put(map, "maxProperties", random.below(4)),
        ("object", 0 | 1) => put(map, "required", json!(some_of(random, &NAMES))),
        ("object", 2) => put(map, "minProperties", random.below(3)),
        ("object", 3) => put(map, "maxProperties", 1 + random.below(3)),
        _ => {}
    }
}

/// A CEL rule for a node of a type.
fn condition_rule(random: &mut Random, ty: &str, node: &Keywords) -> Option<String> {
    let (n, text) = (random.below(4), random.one_of(&TEXTS[..6]));
    let (p, q) = (random.one_of(&NAMES), random.one_of(&NAMES));
    let op = random.one_of(&["<", "<=", ">", ">=", "==", "!="]);
    let type_of = |schema: &Value| schema["type"].as_str().unwrap_or_default().to_owned();
    let about = |value: &str, ty: &str| match ty {
        "string" => format!("{value} != '{text}'"),
        "integer" => format!("{value} {op} {n}"),
        "number" => format!("{value} {op} {n}.5"),
        "boolean" => value.to_owned(),
        "array" => format!("{value}.size() {op} {n}"),
        _ => format!("{value} == {value}"),
    };
    let each = node.get("items").map(|items| about("x", &type_of(items))).unwrap_or_default();
    let child = node.get("properties").map(|fields| about(&format!("self.{p}"), &type_of(&fields[p]))).unwrap_or_default();
    Some(match (ty, random.below(6)) {
        ("string", 0) => format!("self.size() {op} {n}"),
        ("string", 1) => format!("self != '{text}'"),
        ("string", 2) => format!("self in ['{text}', 'a', 'ab']"),
        ("string", _) => format!("self.startsWith('{text}')"),
        ("integer", 0) => "self % 2 == 0".to_owned(),
        ("integer", 1) => format!("self in [{n}, 5]"),
        ("integer", _) => format!("self {op} {n}"),
        ("number", _) => format!("self {op} {n}.5"),
        ("array" | "map", 0) => format!("self.size() {op} {n}"),
        ("array", 1) => format!("self.exists(x, {each})"),
        ("array", 2) => "self.all(x, self.exists_one(y, y == x))".to_owned(),
        ("array", _) => format!("self.all(x, {each})"),
        ("map", 1) => format!("!('{p}' in self)"),
        ("map", _) => format!("self.all(k, k.size() {op} {n})"),
        ("object", 0) => format!("has(self.{p})"),
        ("object", 1) => format!("!has(self.{p}) || has(self.{q})"),
        ("object", 2) => format!("!(has(self.{p}) && has(self.{q}))"),
        ("object", 3) => format!("has(self.{p}) != has(self.{q})"),
        ("object", 4) => format!("!has(self.{p}) || {child}"),
        ("object", _) => child,
        _ => return None,
    })
}

/// A CEL rule about updates of a node of a type; `old` is the previous value.
fn transition_rule(random: &mut Random, ty: &str, old: &str) -> Option<String> {
    let p = random.one_of(&NAMES);
    let op = random.one_of(&["<", "<=", ">", ">=", "==", "!="]);
    Some(match (ty, random.below(3)) {
        ("string" | "boolean" | "array" | "map", 0) => format!("self == {old}"),
        ("string", _) => format!("self.size() {op} {old}.size()"),
        ("integer" | "number", _) => format!("self {op} {old}"),
        ("array" | "map", 1) => format!("self.size() {op} {old}.size()"),
        ("array" | "map", _) => format!("{old}.all(x, x in self)"),
        ("object", 0) => format!("has(self.{p}) == has({old}.{p})"),
        ("object", 1) => format!("!has({old}.{p}) || has(self.{p})"),
        ("object", _) => format!("!has(self.{p}) || !has({old}.{p}) || self.{p} == {old}.{p}"),
        _ => return None,
    })
}

/// An entry of `x-kubernetes-validations` for a node of a type.
pub(super) fn rule(random: &mut Random, ty: &str, node: &Keywords) -> Option<Value> {
    Some(match random.below(6) {
        0 => json!({"rule": transition_rule(random, ty, "oldSelf")?}),
        1 => {
            let (text, other) = (transition_rule(random, ty, "oldSelf.value()")?, condition_rule(random, ty, node)?);
            let text = match random.below(3) {
                0 => format!("!oldSelf.hasValue() || {text}"),
                1 => format!("oldSelf.hasValue() ? {text} : {other}"),
                _ => format!("oldSelf.hasValue() || ({other})"),
            };
            json!({"rule": text, "optionalOldSelf": true})
        }
        _ => json!({"rule": condition_rule(random, ty, node)?}),
    })
}

/// `allOf`, `anyOf`, `oneOf` or `not` over conditions of a type.
pub(super) fn clauses(random: &mut Random, ty: &str, map: &mut Keywords) {
    let clause = |random: &mut Random| {
        let mut clause = Map::new();
        conditions(random, ty, &mut clause);
        if ty == "object" && random.below(3) == 0 {
            put(&mut clause, "not", json!({"required": [random.one_of(&NAMES)]}));
        }
        // Formats without a type mean something else.
        clause.remove("format");
        Value::Object(clause)
    };
    let (word, count) = (random.one_of(&["allOf", "anyOf", "oneOf", "not"]), 1 + random.below(3));
    let list: Vec<Value> = (0..count).map(|_| clause(random)).collect();
    match word {
        "not" => put(map, "not", list[0].clone()),
        word => put(map, word, list),
    }
}

fn leaf(random: &mut Random) -> (&'static str, Keywords) {
    let mut map = Map::new();
    let ty = random.one_of(&["string", "string", "integer", "integer", "number", "boolean", "int-or-string"]);
    match ty {
        "int-or-string" => put(&mut map, "x-kubernetes-int-or-string", true),
        ty => put(&mut map, "type", ty),
    }
    (ty, map)
}

/// The schema of a node with at most this many levels below it.
pub(super) fn schema(random: &mut Random, depth: usize) -> Value {
    // The root of a generated schema is always an object.
    let kind = if depth == 3 { 6 } else { random.below(if depth == 0 { 4 } else { 10 }) };
    let (ty, mut map) = match kind {
        0..4 => leaf(random),
        4 => {
            let below = schema(random, depth - 1);
            let scalar = below["type"] == "string" || below["type"] == "integer";
            let mut map = Map::new();
            if scalar && random.below(3) == 0 {
                put(&mut map, "x-kubernetes-list-type", random.one_of(&["set", "atomic"]));
            }
            put(&mut map, "maxItems", 5);
            put(&mut map, "items", below);
            put(&mut map, "type", "array");
            ("array", map)
        }
        5 => {
            let items = json!({"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}, "v": schema(random, 0)}});
            let map = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["k"], "items": items});
            ("array", map.as_object().cloned().unwrap_or_default())
        }
        7 => {
            let values = schema(random, depth - 1);
            let map = json!({"type": "object", "additionalProperties": values});
            ("map", map.as_object().cloned().unwrap_or_default())
        }
        8 => {
            let mut map = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            if random.below(3) == 0 {
                map = json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true});
            } else if random.below(2) == 0 {
                map["properties"] = json!({"a": schema(random, 0)});
            }
            ("", map.as_object().cloned().unwrap_or_default())
        }
        _ => {
            let properties: Keywords = NAMES.iter().map(|name| ((*name).to_owned(), schema(random, depth - 1))).collect();
            let map = json!({"type": "object", "properties": properties});
            ("object", map.as_object().cloned().unwrap_or_default())
        }
    };
    for _ in 0..random.below(3) {
        conditions(random, ty, &mut map);
    }
    if random.below(4) == 0 {
        clauses(random, ty, &mut map);
    }
    if random.below(4) == 0
        && let Some(rule) = rule(random, ty, &map)
    {
        put(&mut map, "x-kubernetes-validations", json!([rule]));
    }
    if depth < 3 && random.below(8) == 0 {
        put(&mut map, "nullable", true);
    }
    if depth < 3 && random.below(10) == 0 {
        let value = default(random, ty);
        put(&mut map, "default", value);
    }
    Value::Object(map)
}

/// A default for a node of a type, which may not meet its conditions.
pub(super) fn default(random: &mut Random, ty: &str) -> Value {
    match ty {
        "string" | "int-or-string" => random.one_of(&TEXTS[..6]).into(),
        "integer" | "number" => json!(random.one_of(&[0, 1, 2, 4])),
        "boolean" => true.into(),
        "array" => json!([]),
        _ => json!({}),
    }
}

/// What a node is generated as: its type, `map` for an object with arbitrary keys, or `int-or-string`.
pub(super) fn kind_of(node: &Keywords) -> &'static str {
    if node.get("x-kubernetes-int-or-string") == Some(&json!(true)) {
        return "int-or-string";
    }
    match node.get("type").and_then(Value::as_str) {
        Some("object") if node.contains_key("properties") => "object",
        Some("object") if node.contains_key("additionalProperties") => "map",
        Some(ty) => ["string", "integer", "number", "boolean", "array"].into_iter().find(|known| *known == ty).unwrap_or(""),
        None => "",
    }
}

/// The schema of whole objects: `spec`, and sometimes `status`.
pub(super) fn root(random: &mut Random) -> Value {
    let mut properties = json!({"spec": schema(random, 3)});
    if random.below(5) == 0 {
        properties["status"] = schema(random, 2);
    }
    json!({"type": "object", "properties": properties})
}
