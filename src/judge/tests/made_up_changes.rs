//! Changes generated schemas: the same written differently, conditions and fields added, dropped and replaced.

use serde_json::{Map, Value, json};

use crate::compare::Random;

use super::made_up_schemas::{Keywords, clauses, conditions, default, kind_of, put, rule, schema};
use super::rule_pairs::reformulated;

const WORDS_OF_NUMBERS: [&str; 3] = ["minimum", "maximum", "multipleOf"];
const PRESERVE: &str = "x-kubernetes-preserve-unknown-fields";
const RULES: &str = "x-kubernetes-validations";

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

/// Turns a node into one that accepts or keeps other things, by a toggle of one keyword.
fn toggled(random: &mut Random, node: &mut Keywords) -> Option<String> {
    let ty = kind_of(node);
    let word = match (ty, random.below(5)) {
        ("array", 0 | 1) => {
            let set = json!("set");
            match node.get("x-kubernetes-list-type") {
                Some(ty) if *ty == set => put(node, "x-kubernetes-list-type", "atomic"),
                Some(ty) if ty == "atomic" => put(node, "x-kubernetes-list-type", set),
                Some(_) => {
                    node.remove("x-kubernetes-list-map-keys");
                    put(node, "x-kubernetes-list-type", "atomic");
                }
                None if node["items"]["required"].as_array().is_some_and(|names| names.contains(&json!("k"))) => {
                    put(node, "x-kubernetes-list-type", "map");
                    put(node, "x-kubernetes-list-map-keys", json!(["k"]));
                }
                None => put(node, "x-kubernetes-list-type", set),
            }
            "list type"
        }
        ("integer", 0) => {
            put(node, "type", "number");
            node.remove("format");
            "number"
        }
        ("number", 0) => {
            put(node, "type", "integer");
            "integer"
        }
        ("integer" | "string", 1) => {
            node.retain(|word, _| !matches!(word.as_str(), "type" | "format"));
            put(node, "x-kubernetes-int-or-string", true);
            "int-or-string"
        }
        ("int-or-string", 0 | 1) => {
            node.remove("x-kubernetes-int-or-string");
            put(node, "type", random.one_of(&["integer", "string"]));
            "scalar"
        }
        ("object" | "", 0 | 1) if node.get("type") == Some(&json!("object")) => {
            if node.remove(PRESERVE).is_none() {
                put(node, PRESERVE, true);
            } else {
                node.remove("x-kubernetes-embedded-resource");
            }
            PRESERVE
        }
        ("", 2) if node.contains_key(PRESERVE) && node.get("type") == Some(&json!("object")) => {
            if node.remove("x-kubernetes-embedded-resource").is_none() {
                put(node, "x-kubernetes-embedded-resource", true);
            }
            "embedded"
        }
        ("map", 0) => {
            let values = node.remove("additionalProperties")?;
            put(node, "properties", json!({"a": values.clone(), "b": values}));
            "struct"
        }
        ("object", 2) => {
            let values = node.remove("properties")?["a"].clone();
            node.remove("required");
            put(node, "additionalProperties", values);
            "map"
        }
        (ty, 3 | 4) if !ty.is_empty() => {
            let value = default(random, ty);
            put(node, "default", value);
            "default"
        }
        _ => return None,
    };
    Some(format!("toggled {word}"))
}

/// Adds, rewrites or replaces a CEL rule; `others` are rules that a node with these fields could have.
fn with_other_rule(random: &mut Random, node: &mut Keywords, others: &[String]) -> Option<String> {
    let other = match others.len() {
        0 => rule(random, kind_of(node), node)?,
        count => json!({"rule": others[random.below(count)]}),
    };
    let rules = node.entry(RULES).or_insert_with(|| json!([])).as_array_mut()?;
    if rules.is_empty() || random.below(4) == 0 {
        rules.push(other);
        return Some("rule added".into());
    }
    let at = random.below(rules.len());
    let text = rules[at]["rule"].as_str()?.to_owned();
    match other["rule"].as_str() {
        Some(other) if !other.contains("oldSelf") || text.contains("oldSelf") => {
            rules[at]["rule"] = reformulated(random, &text, other).into();
        }
        _ => return None,
    }
    Some("rule".into())
}

/// Makes one change to a schema, and says which.
fn changed_once(random: &mut Random, original: &Value, pool: &RulePool) -> (String, Value) {
    let mut schema = original.clone();
    let mut places = Vec::new();
    for (name, child) in schema["properties"].as_object().into_iter().flatten() {
        nodes(child, &format!("/properties/{name}"), &mut places);
    }
    let ruled: Vec<&String> = places.iter().filter(|place| schema.pointer(place).is_some_and(|node| node.get(RULES).is_some())).collect();
    let by_rule = !ruled.is_empty() && random.below(3) == 0;
    let place = if by_rule { ruled[random.below(ruled.len())].clone() } else { places[random.below(places.len())].clone() };
    let Some(node) = schema.pointer_mut(&place).and_then(Value::as_object_mut) else { return ("nothing".into(), schema) };
    let choice = if by_rule { 13 } else { random.below(18) };
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
            let ty = kind_of(node);
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
            if random.below(4) == 0 {
                let mut required = node.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
                required.retain(|one| one != name);
                required.push(name.into());
                put(node, "required", required);
            }
            node.get_mut("properties").and_then(Value::as_object_mut).map(|properties| properties.insert(name.to_owned(), below));
            "property".into()
        }
        11 if node.contains_key("properties") => {
            let fields = node.get_mut("properties").and_then(Value::as_object_mut);
            fields.map(|properties| properties.remove(random.one_of(&["a", "b", "c"])));
            "removed property".into()
        }
        12 | 13 => {
            let others = pool.for_node(node);
            with_other_rule(random, node, &others).unwrap_or_else(|| "nothing".into())
        }
        14..17 => toggled(random, node).unwrap_or_else(|| "nothing".into()),
        _ => {
            let below = self::schema(random, 1);
            if place.matches('/').count() == 2 {
                return ("nothing".into(), original.clone());
            }
            *schema.pointer_mut(&place).expect("it was there") = below;
            "replaced".into()
        }
    };
    (format!("{how} at {place}"), schema)
}

/// A changed schema, and how it was changed: `equal …` if both accept the same.
pub(super) fn changed(random: &mut Random, original: &Value, pool: &RulePool) -> (String, Value) {
    let (mut how, mut schema) = changed_once(random, original, pool);
    while random.below(3) == 0 {
        let (also, next) = changed_once(random, &schema, pool);
        how = if how.starts_with("equal") { format!("{also}, {how}") } else { format!("{how}, {also}") };
        schema = next;
    }
    (how, schema)
}

/// Rules of recorded schemas, with the fields that they read.
#[derive(Default)]
pub(super) struct RulePool(Vec<(String, Vec<(String, Value)>)>);

/// The names of the fields of `self` that a rule reads.
fn fields_read(text: &str) -> Vec<&str> {
    let ends = |rest: &str| rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let after = |word: &str| -> Vec<&str> {
        text.match_indices(word)
            .map(|(at, _)| &text[at + word.len()..])
            .map(|rest| rest.strip_prefix('?').unwrap_or(rest))
            .map(|rest| &rest[..ends(rest)])
            .collect()
    };
    let mut read = after("self.");
    read.extend(after("oldSelf."));
    read
}

impl RulePool {
    /// Adds the rules of a schema.
    pub(super) fn add(&mut self, schema: &Value) {
        let mut places = Vec::new();
        nodes(schema, "", &mut places);
        for node in places.iter().filter_map(|place| schema.pointer(place)) {
            for text in node[RULES].as_array().into_iter().flatten().filter_map(|rule| rule["rule"].as_str()) {
                let fields =
                    fields_read(text).into_iter().filter_map(|name| Some((name.to_owned(), node["properties"].get(name)?.clone())));
                if !text.contains("optional") && !text.contains("oldSelf") && node["properties"].is_object() {
                    self.0.push((text.to_owned(), fields.collect()));
                }
            }
        }
    }

    /// The rules that read only fields that the node has.
    fn for_node(&self, node: &Keywords) -> Vec<String> {
        let Some(fields) = node.get("properties") else { return Vec::new() };
        let fits = |read: &[(String, Value)]| !read.is_empty() && read.iter().all(|(name, schema)| fields.get(name) == Some(schema));
        self.0.iter().filter(|(_, read)| fits(read)).map(|(text, _)| text.clone()).collect()
    }
}
