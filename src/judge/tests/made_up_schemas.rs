//! Generates schemas, changes to them, and objects close to what they accept.

use serde_json::{Map, Value, json};

use super::rule_pairs::Random;

const NAMES: [&str; 3] = ["a", "b", "c"];
const TEXTS: [&str; 14] = ["", "a", "b", "ab", "abc", "B", "1", "é", "10.0.0.1", "2020-01-01", "1h", "a@b.c", "YQ==", "a.b/c"];
const PATTERNS: [&str; 7] = ["^a", "b$", "^[ab]*$", "^(a|b|ab)$", "^.{1,2}$", "^[^a]", "^\\d+$"];
const FORMATS: [&str; 7] = ["date", "byte", "ipv4", "uri", "duration", "email", "unknown-format"];
const WORDS_OF_NUMBERS: [&str; 3] = ["minimum", "maximum", "multipleOf"];

type Keywords = Map<String, Value>;

fn put(map: &mut Keywords, word: &str, value: impl Into<Value>) {
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
fn conditions(random: &mut Random, ty: &str, map: &mut Keywords) {
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
fn rule(random: &mut Random, ty: &str, items: &str) -> Option<String> {
    let (n, text) = (random.below(4), random.one_of(&TEXTS[..6]));
    let (p, q) = (random.one_of(&NAMES), random.one_of(&NAMES));
    let op = random.one_of(&["<", "<=", ">", ">=", "==", "!="]);
    let choice = random.below(4);
    let each = match items {
        "string" => format!("x != '{text}'"),
        "integer" => format!("x {op} {n}"),
        _ => "x == x".to_owned(),
    };
    Some(match (ty, choice) {
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
        ("object", _) => format!("has(self.{p}) != has(self.{q})"),
        _ => return None,
    })
}

/// `allOf`, `anyOf`, `oneOf` or `not` over conditions of a type.
fn clauses(random: &mut Random, ty: &str, map: &mut Keywords) {
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
    let mut items = "";
    let (ty, mut map) = match kind {
        0..4 => leaf(random),
        4 => {
            let below = schema(random, depth - 1);
            items = if below["type"] == "string" {
                "string"
            } else if below["type"] == "integer" {
                "integer"
            } else {
                ""
            };
            let mut map = Map::new();
            if !items.is_empty() && random.below(3) == 0 {
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
        && let Some(rule) = rule(random, ty, items)
    {
        put(&mut map, "x-kubernetes-validations", json!([{"rule": rule}]));
    }
    if depth < 3 && random.below(8) == 0 {
        put(&mut map, "nullable", true);
    }
    if depth < 3 && random.below(10) == 0 {
        let default = match ty {
            "string" | "int-or-string" => random.one_of(&TEXTS[..6]).into(),
            "integer" | "number" => json!(random.one_of(&[0, 1, 2, 4])),
            "boolean" => true.into(),
            "array" => json!([]),
            _ => json!({}),
        };
        put(&mut map, "default", default);
    }
    Value::Object(map)
}

/// Pointers to the nodes of a schema.
fn nodes(schema: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        nodes(child, &format!("{at}/properties/{name}"), found);
    }
    for word in ["items", "additionalProperties"].into_iter().filter(|word| schema[word].is_object()) {
        nodes(&schema[word], &format!("{at}/{word}"), found);
    }
}

/// The same condition written differently, if there is another way to write it.
fn reworded(random: &mut Random, node: &mut Keywords) -> Option<String> {
    const CONDITIONS: [&str; 11] = [
        "minLength",
        "maxLength",
        "enum",
        "pattern",
        "minimum",
        "maximum",
        "multipleOf",
        "minItems",
        "minProperties",
        "maxProperties",
        "required",
    ];
    let own: Vec<&str> = CONDITIONS.into_iter().filter(|word| node.contains_key(*word)).collect();
    let word = *own.get(random.below(own.len()))?;
    let value = node.get(word)?.clone();
    // `nullable` and `enum` mean something else at one node than at two.
    if word == "enum" && node.contains_key("nullable") {
        return None;
    }
    let mut clause = Map::new();
    put(&mut clause, word, value.clone());
    let strict = format!("exclusive{}{}", word[..1].to_uppercase(), &word[1..]);
    let exclusive = WORDS_OF_NUMBERS.contains(&word).then(|| node.get(&strict).cloned()).flatten();
    clause.extend(exclusive.clone().map(|exclusive| (strict.clone(), exclusive)));
    let integer = node.get("type") == Some(&json!("integer"));
    let form = random.below(5);
    let rule = match (word, &value) {
        ("minLength" | "minItems" | "minProperties", n) if !node.contains_key("x-kubernetes-embedded-resource") => {
            format!("self.size() >= {n}")
        }
        ("maxLength", n) => format!("self.size() <= {n}"),
        ("minimum", n) if integer => format!("self {} {n}", if exclusive == Some(true.into()) { ">" } else { ">=" }),
        ("maximum", n) if integer => format!("self {} {n}", if exclusive == Some(true.into()) { "<" } else { "<=" }),
        ("multipleOf", n) if integer => format!("self % {n} == 0"),
        ("enum", list) if node.get("type") == Some(&json!("string")) || integer => format!("self in {list}"),
        ("required", names) => {
            let names = names.as_array()?.iter().filter_map(Value::as_str).filter(|name| node["properties"].get(name).is_some());
            names.map(|name| format!("has(self.{name})")).collect::<Vec<_>>().join(" && ")
        }
        _ => String::new(),
    };
    let object = matches!(node.get("type").and_then(Value::as_str), Some("object")) && !node.contains_key("properties");
    if form == 4 && (rule.is_empty() || object || node.contains_key("nullable") || word == "required" && !rule.contains("has")) {
        return None;
    }
    if form < 4 && (node.contains_key("allOf") || node.contains_key("anyOf") || node.contains_key("not") || node.contains_key("oneOf")) {
        return None;
    }
    node.remove(word);
    node.remove(&strict);
    match form {
        0 => put(node, "allOf", json!([clause])),
        1 => put(node, "anyOf", json!([clause])),
        2 => put(node, "oneOf", json!([clause])),
        3 => put(node, "not", json!({"not": clause})),
        _ => {
            let rules = node.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
            rules.as_array_mut()?.push(json!({"rule": rule}));
        }
    }
    Some(format!("equal {word} {form}"))
}

/// A changed schema, and whether it accepts the same, more, or something else.
pub(super) fn changed(random: &mut Random, original: &Value) -> (String, Value) {
    let mut schema = original.clone();
    let mut places = Vec::new();
    nodes(&schema, "", &mut places);
    let place = places[random.below(places.len())].clone();
    let Some(node) = schema.pointer_mut(&place).and_then(Value::as_object_mut) else { return ("nothing".into(), schema) };
    let choice = random.below(12);
    let how = match choice {
        0..4 => reworded(random, node).unwrap_or_else(|| "equal nothing".into()),
        4..7 => {
            let words: Vec<String> = node
                .keys()
                .filter(|word| {
                    !matches!(word.as_str(), "type" | "items" | "properties" | "x-kubernetes-int-or-string" | "x-kubernetes-list-map-keys")
                })
                .cloned()
                .collect();
            let word = words.get(random.below(words.len())).cloned().unwrap_or_default();
            node.remove(&word);
            if word == "x-kubernetes-list-type" {
                node.remove("x-kubernetes-list-map-keys");
            }
            format!("dropped {word}")
        }
        7 | 8 => {
            let ty = match node.get("type").and_then(Value::as_str) {
                Some("object") if node.contains_key("properties") => "object",
                Some("object") => "map",
                Some(ty) => ["string", "integer", "number", "array"].into_iter().find(|known| *known == ty).unwrap_or(""),
                None => "",
            };
            if random.below(2) == 0 {
                conditions(random, ty, node)
            } else {
                clauses(random, ty, node)
            }
            "condition".into()
        }
        9 => {
            put(node, "nullable", true);
            "nullable".into()
        }
        10 if node.contains_key("properties") => {
            let name = random.one_of(&["a", "d"]);
            let below = self::schema(random, 1);
            node.get_mut("properties").and_then(Value::as_object_mut).map(|properties| properties.insert(name.to_owned(), below));
            "property".into()
        }
        _ => {
            let below = self::schema(random, 1);
            if place.is_empty() {
                return ("nothing".into(), original.clone());
            }
            *schema.pointer_mut(&place).expect("it was there") = below;
            "replaced".into()
        }
    };
    (format!("{how} at {place}"), schema)
}

/// A value for a node: mostly of the right type, and near its conditions.
fn value(random: &mut Random, schema: &Value) -> Value {
    match random.below(60) {
        0 => return Value::Null,
        1 => return random.one_of(&TEXTS).into(),
        2 => return json!([]),
        3 => return json!({"a": "a", "z": {"y": 1}}),
        4 => return json!(1.5),
        5 if schema["nullable"] == true => return Value::Null,
        _ => {}
    }
    // Conditions of clauses count like those of the node itself.
    let clauses = ["allOf", "anyOf", "oneOf"].into_iter().flat_map(|word| schema[word].as_array().into_iter().flatten());
    let asked: Vec<&Value> = std::iter::once(schema).chain(clauses).chain([&schema["not"], &schema["not"]["not"]]).collect();
    let asked = asked[random.below(asked.len())];
    if let (Some(list), true) = (asked["enum"].as_array(), random.below(3) > 0) {
        return list[random.below(list.len())].clone();
    }
    let near = |random: &mut Random, words: [&str; 2], usual: usize| -> usize {
        let bound = words.into_iter().filter_map(|word| asked[word].as_u64()).next();
        bound.map_or(random.below(usual), |bound| (usize::try_from(bound).unwrap_or(0) + random.below(3)).saturating_sub(1))
    };
    match schema["type"].as_str() {
        Some("boolean") => (random.below(2) == 0).into(),
        Some("integer" | "number") => {
            let bound = ["minimum", "maximum", "multipleOf"].into_iter().filter_map(|word| asked[word].as_f64()).next();
            let base = bound.unwrap_or(0.0) + f64::from(random.one_of(&[-1, 0, 0, 1, 2, 3, 7]));
            let fraction = schema["type"] == "number" && random.below(3) == 0;
            let x = if fraction { base + 0.5 } else { base };
            match (x.fract() == 0.0, random.below(20)) {
                (_, 0) => 3_000_000_000_i64.into(),
                (true, _) => (x as i64).into(),
                (false, _) if schema["type"] == "number" => x.into(),
                _ => (x.trunc() as i64).into(),
            }
        }
        Some("array") => {
            let mut list: Vec<Value> = Vec::new();
            for _ in 0..near(random, ["minItems", "maxItems"], 4).min(6) {
                let again = if random.below(4) == 0 { list.first().cloned() } else { None };
                list.push(again.unwrap_or_else(|| value(random, &schema["items"])));
            }
            list.into()
        }
        Some("object") => {
            let mut map = Map::new();
            for (name, child) in schema["properties"].as_object().into_iter().flatten() {
                let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                if random.below(if required { 12 } else { 2 }) > 0 {
                    map.insert(name.clone(), value(random, child));
                }
            }
            let extra = &schema["additionalProperties"];
            if extra.is_object() {
                for _ in 0..near(random, ["minProperties", "maxProperties"], 4).min(5) {
                    map.insert(random.one_of(&["a", "b", "ab", "abc", "k", "z"]).to_owned(), value(random, extra));
                }
            }
            let open = schema["x-kubernetes-preserve-unknown-fields"] == true;
            if random.below(if open { 2 } else { 25 }) == 0 {
                let name = random.one_of(&["a", "b", "d", "z"]);
                let loose = [json!("a"), json!(1), json!([]), json!({"z": 1}), json!(true)];
                map.insert(name.to_owned(), loose[random.below(loose.len())].clone());
            }
            if schema["x-kubernetes-embedded-resource"] == true && random.below(12) > 0 {
                put(&mut map, "apiVersion", "v1");
                put(&mut map, "kind", "A");
                if random.below(2) == 0 {
                    put(&mut map, "metadata", json!({"name": "a"}));
                }
            }
            map.into()
        }
        _ if schema["x-kubernetes-int-or-string"] == true && random.below(2) == 0 => json!(random.one_of(&[0, 1, 2, 5])),
        _ => {
            let length = near(random, ["minLength", "maxLength"], 4);
            if random.below(3) == 0 { "ab".repeat(3)[..length.min(6)].into() } else { random.one_of(&TEXTS).into() }
        }
    }
}

/// An object close to what a schema accepts.
pub(super) fn object(random: &mut Random, schema: &Value) -> Value {
    let spec = value(random, &schema["properties"]["spec"]);
    json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": spec})
}
