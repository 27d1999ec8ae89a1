//! Generates objects close to what generated schemas accept, and updates of them.

use serde_json::{Map, Value, json};

use crate::compare::Random;

use super::made_up_schemas::{TEXTS, put};

/// Texts and numbers that the conditions of two schemas mention.
#[derive(Default)]
pub(super) struct Literals {
    texts: Vec<String>,
    numbers: Vec<i64>,
}

impl Literals {
    pub(super) fn of(schemas: &[&Value]) -> Self {
        let mut found = Literals::default();
        schemas.iter().for_each(|schema| found.read(schema, false));
        found
    }

    fn read(&mut self, value: &Value, rule: bool) {
        match value {
            Value::String(text) if rule => self.read_rule(text),
            Value::Array(list) => list.iter().for_each(|item| self.read(item, rule)),
            Value::Object(map) => map.iter().for_each(|(word, child)| match (word.as_str(), child) {
                ("enum", Value::Array(list)) => self.texts.extend(list.iter().filter_map(Value::as_str).map(str::to_owned)),
                ("rule", child) => self.read(child, true),
                (_, child) => self.read(child, rule),
            }),
            _ => {}
        }
    }

    fn read_rule(&mut self, text: &str) {
        for (index, part) in text.split(['\'', '"']).enumerate() {
            if index % 2 == 1 {
                self.texts.push(part.to_owned());
            } else {
                let digits = part.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<i64>().ok());
                self.numbers.extend(digits.flat_map(|n| [n, -n]));
            }
        }
    }

    fn text(&self, random: &mut Random) -> String {
        match self.texts.len() {
            count if count > 0 && random.below(2) == 0 => {
                let one = self.texts[random.below(count)].clone();
                match random.below(6) {
                    0 => one + &self.texts[random.below(count)],
                    1 => one + random.one_of(&TEXTS),
                    _ => one,
                }
            }
            _ => random.one_of(&TEXTS).to_owned(),
        }
    }

    fn number(&self, random: &mut Random) -> Option<i64> {
        let count = self.numbers.len();
        (count > 0 && random.below(2) == 0).then(|| self.numbers[random.below(count)] + random.one_of(&[-1, 0, 0, 1]))
    }
}

/// A value for a node: mostly of the right type, and near its conditions.
pub(super) fn value(random: &mut Random, schema: &Value, words: &Literals) -> Value {
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
            if let Some(n) = words.number(random) {
                return n.into();
            }
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
                list.push(again.unwrap_or_else(|| value(random, &schema["items"], words)));
            }
            list.into()
        }
        Some("object") => {
            let mut map = Map::new();
            for (name, child) in schema["properties"].as_object().into_iter().flatten() {
                let required = schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
                if random.below(if required { 12 } else { 2 }) > 0 {
                    map.insert(name.clone(), value(random, child, words));
                }
            }
            let extra = &schema["additionalProperties"];
            if extra.is_object() {
                for _ in 0..near(random, ["minProperties", "maxProperties"], 4).min(5) {
                    let name = if random.below(2) == 0 {
                        words.text(random)
                    } else {
                        random.one_of(&["a", "b", "ab", "abc", "k", "z"]).to_owned()
                    };
                    map.insert(name, value(random, extra, words));
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
            if random.below(3) == 0 { "ab".repeat(3)[..length.min(6)].into() } else { words.text(random).into() }
        }
    }
}

/// An object close to what a schema accepts.
pub(super) fn object(random: &mut Random, schema: &Value, words: &Literals) -> Value {
    let mut object = json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "a"}});
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        if name == "spec" || random.below(2) == 0 {
            object[name] = value(random, child, words);
        }
    }
    object
}

/// A value with one part changed: replaced, removed, added or repeated.
fn altered_value(random: &mut Random, schema: &Value, old: &Value, words: &Literals) -> Value {
    let deeper = random.below(5) > 0;
    match old {
        Value::Object(map) if deeper && !map.is_empty() => {
            let names: Vec<&String> = map.keys().collect();
            let name = names[random.below(names.len())];
            let child = schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]);
            let mut map = map.clone();
            match random.below(6) {
                0 => {
                    map.remove(name);
                }
                1 => {
                    let names: Vec<(&String, &Value)> = schema["properties"].as_object().into_iter().flatten().collect();
                    match names.get(random.below(names.len())) {
                        Some((name, child)) => map.insert((*name).clone(), value(random, child, words)),
                        None => map.insert(words.text(random), value(random, &schema["additionalProperties"], words)),
                    };
                }
                _ => {
                    let changed = altered_value(random, child, &old[name], words);
                    map.insert(name.clone(), changed);
                }
            }
            map.into()
        }
        Value::Array(list) if deeper && !list.is_empty() => {
            let (mut list, at) = (list.clone(), random.below(list.len()));
            match random.below(6) {
                0 => {
                    list.remove(at);
                }
                1 => list.push(value(random, &schema["items"], words)),
                2 => list.reverse(),
                _ => list[at] = altered_value(random, &schema["items"], &old[at], words),
            }
            list.into()
        }
        _ => value(random, schema, words),
    }
}

/// What a client sends to change a stored object.
pub(super) fn altered(random: &mut Random, schema: &Value, old: &Value, words: &Literals) -> Value {
    let mut object = old.clone();
    let parts: Vec<&str> = ["spec", "status"].into_iter().filter(|name| schema["properties"].get(name).is_some()).collect();
    let name = random.one_of(&parts);
    object[name] = altered_value(random, &schema["properties"][name], &old[name], words);
    object
}
