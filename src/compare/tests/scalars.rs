//! Every scalar of the recorded objects, judged by its keywords alone, compared with a running server.

use crate::compare::Budget;
use crate::compare::strings::TextDomain;
use crate::go::regexp::Pattern;
use crate::go::strfmt::Format;
use crate::model::number::{NumberDomain, NumberFormat, NumberKind, Value as Numeric};
use crate::model::relation::Comparison;
use serde_json::{Number, Value};

use crate::testing::recorded::records;

/// Whether the scalar satisfies the node's keywords and compositions; `None` if something else matters.
fn verdict(schema: &Value, value: &Value) -> Option<bool> {
    let right_type = match schema.get("type").and_then(Value::as_str) {
        None => schema.get("x-kubernetes-int-or-string").is_none() && (value.is_string() || value.is_number()),
        Some("string") => value.is_string(),
        Some("integer" | "number") => value.is_number(),
        Some(_) => false,
    };
    if !right_type || schema.get("x-kubernetes-validations").is_some() {
        return None;
    }
    let branches = |key: &str| -> Option<Option<Vec<bool>>> {
        let Some(list) = schema.get(key).and_then(Value::as_array) else {
            return Some(None);
        };
        let verdicts: Option<Vec<bool>> = list.iter().map(|branch| verdict(branch, value)).collect();
        Some(Some(verdicts?))
    };
    let all = branches("allOf")?.is_none_or(|list| list.iter().all(|accepted| *accepted));
    let any = branches("anyOf")?.is_none_or(|list| list.contains(&true));
    let one = branches("oneOf")?.is_none_or(|list| list.iter().filter(|accepted| **accepted).count() == 1);
    let not = match schema.get("not") {
        Some(not) => !verdict(not, value)?,
        None => true,
    };
    Some(keywords(schema, value) && all && any && one && not)
}

fn keywords(schema: &Value, value: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str);
    let members = schema.get("enum").and_then(Value::as_array);
    // An empty list restricts nothing.
    let members = members.filter(|members| !members.is_empty());
    let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let flag = |key: &str| schema.get(key).and_then(Value::as_bool).unwrap_or(false);
    let format = schema.get("format").and_then(Value::as_str).unwrap_or("");
    match value {
        Value::String(text) => {
            let pattern = schema.get("pattern").and_then(Value::as_str);
            let pattern = pattern.map(|text| Pattern::new(text).expect("the server took it"));
            let domain = TextDomain {
                min_length: limit("minLength").unwrap_or(0),
                max_length: limit("maxLength"),
                patterns: pattern.iter().collect(),
                formats: Format::of(format).into_iter().collect(),
                allowed: members.map(|members| members.iter().filter_map(Value::as_str).collect()),
            };
            domain.accepts(text)
        }
        Value::Number(number) => {
            let kind = match kind {
                Some("integer") => NumberKind::Integer,
                Some(_) => NumberKind::Number,
                None => NumberKind::Untyped,
            };
            let domain = NumberDomain {
                kind,
                minimum: bound("minimum"),
                exclusive_minimum: flag("exclusiveMinimum"),
                maximum: bound("maximum"),
                exclusive_maximum: flag("exclusiveMaximum"),
                multiple_of: bound("multipleOf"),
                format: NumberFormat::of(kind, format),
            };
            let numbers =
                members.map(|members| -> Vec<Number> { members.iter().filter_map(|member| member.as_number().cloned()).collect() });
            domain.accepts(number) && numbers.is_none_or(|numbers| Numeric::of(number).is_in(&numbers))
        }
        _ => false,
    }
}

/// Whether a node restricts what is below it.
fn reaches_down(schema: &Value) -> bool {
    let keys = ["allOf", "anyOf", "oneOf", "not", "x-kubernetes-validations"];
    keys.iter().any(|key| schema.get(key).is_some())
}

fn walk(schema: &Value, value: &Value, path: &str, seen: &mut dyn FnMut(&str, &Value, &Value)) {
    if !(value.is_object() || value.is_array()) {
        seen(path, schema, value);
    } else if reaches_down(schema) {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let declared = schema.get("properties").and_then(|properties| properties.get(name));
                let rest = schema.get("additionalProperties").filter(|rest| rest.is_object());
                if let Some(schema) = declared {
                    let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    walk(schema, value, &path, seen);
                } else if let Some(schema) = rest {
                    walk(schema, value, &format!("{path}.{name}"), seen);
                }
            }
        }
        Value::Array(items) => {
            // Duplicates in a set are reported at the item.
            let set = schema.get("x-kubernetes-list-type").and_then(Value::as_str) == Some("set");
            if let Some(schema) = schema.get("items").filter(|_| !set) {
                for (i, value) in items.iter().enumerate() {
                    walk(schema, value, &format!("{path}[{i}]"), seen);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn scalars_are_judged_as_the_server_did() {
    let records = records("compat");
    let (mut judged, mut wrong) = (0, Vec::new());
    for record in records {
        for side in ["old", "new"] {
            let schema = &record[side]["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            for object in record["objects"].as_array().into_iter().flatten() {
                let errors: Vec<&str> = object[side]["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                walk(schema, &object["object"], "", &mut |path, schema, value| {
                    let Some(accepted) = verdict(schema, value) else {
                        return;
                    };
                    judged += 1;
                    // A value outside its format's range is reported without its path.
                    let expected = if accepted { !errors.contains(&path) } else { errors.contains(&path) || errors.contains(&"<nil>") };
                    if !expected {
                        wrong.push(format!("{} {side} {path}: {value} under {schema}; errors {errors:?}", record["id"]));
                    }
                });
            }
        }
    }
    for line in wrong.iter().take(20) {
        println!("{line}");
    }
    println!("{judged} scalars judged, {} differently", wrong.len());
    assert!(judged > 0 && wrong.is_empty());
}

/// Compares patterns of one node before and after edits that change nothing, and all patterns with each other.
#[test]
fn patterns_compare_as_the_server_matched() {
    let records = records("compat");
    let (mut rewritten, mut all) = (Vec::new(), Vec::new());
    for record in records {
        let schema = |side: &str| record[side]["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
        let (old, new) = (schema("old"), schema("new"));
        let mutations = record["mutations"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let same = mutations.clone().all(|name| name.starts_with("eq:"));
        if same && mutations.clone().any(|name| name == "eq:pattern-equivalent") {
            differing(&old, &new, &mut rewritten);
        }
        patterns(&old, &mut all);
    }
    all.sort();
    all.dedup();
    for (old, new) in &rewritten {
        let (a, b) = (Pattern::new(old).unwrap(), Pattern::new(new).unwrap());
        assert_eq!(of(&a).order(&of(&b), &Budget::of_each()), Comparison::equal(), "{old} and {new}");
    }
    assert!(!rewritten.is_empty() && !all.is_empty());
    println!("{} rewrites, {} patterns", rewritten.len(), all.len());
    let all: Vec<Pattern> = all.iter().map(|text| Pattern::new(text).unwrap()).collect();
    for (i, a) in all.iter().enumerate() {
        for b in all.iter().skip(i).step_by(3) {
            let outside = |text: &str, a: &Pattern, b: &Pattern| assert!(a.is_match(text) && !b.is_match(text));
            let order = of(a).order(&of(b), &Budget::of_each());
            assert!(order.reason.is_none(), "{a:?} and {b:?}: {order:?}");
            if let Some(lost) = &order.lost {
                outside(lost, a, b);
            }
            if let Some(gained) = &order.gained {
                outside(gained, b, a);
            }
        }
    }
}

fn of(pattern: &Pattern) -> TextDomain<'_> {
    TextDomain { patterns: vec![pattern], ..TextDomain::default() }
}

fn patterns(schema: &Value, found: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("pattern", Value::String(text)) => found.push(text.clone()),
                    _ => patterns(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| patterns(item, found)),
        _ => {}
    }
}

fn differing(old: &Value, new: &Value, found: &mut Vec<(String, String)>) {
    match (old, new) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, old) in a {
                match (key.as_str(), old, b.get(key)) {
                    ("pattern", Value::String(old), Some(Value::String(new))) if old != new => {
                        found.push((old.clone(), new.clone()));
                    }
                    (_, old, Some(new)) => differing(old, new, found),
                    _ => {}
                }
            }
        }
        (Value::Array(a), Value::Array(b)) => a.iter().zip(b).for_each(|(a, b)| differing(a, b, found)),
        _ => {}
    }
}
