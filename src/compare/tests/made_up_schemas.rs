//! Generated pairs of schemas: the comparison is checked against objects, and against an independent validator.

use crate::compare::{Budget, around, filled, order_roots, smallest};
use crate::server::object::Compiled;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

use crate::testing::contradiction::{body, contradiction, has_null, whole};
use crate::testing::shape;

const PAIRS: u32 = 300;

fn maybe(word: &'static str, value: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Vec<(&'static str, Value)>> {
    prop_oneof![2 => Just(Vec::new()), 1 => value.prop_map(move |value| vec![(word, value)])].boxed()
}

fn number(range: std::ops::Range<i64>) -> impl Strategy<Value = Value> {
    range.prop_map(Value::from)
}

fn join(base: Value, parts: Vec<Vec<(&'static str, Value)>>) -> Value {
    let mut map: Map<String, Value> = base.as_object().cloned().unwrap_or_default();
    map.extend(parts.into_iter().flatten().map(|(word, value)| (word.to_owned(), value)));
    Value::Object(map)
}

/// Conditions on a string, for a node or a clause.
fn text() -> impl Strategy<Value = Vec<Vec<(&'static str, Value)>>> {
    let values = subsequence(vec!["", "a", "b", "ab", "abc"], 1..4).prop_map(|list| json!(list));
    let patterns = select(vec!["^a", "b$", "^[ab]*$", "^(a|b|ab)$", "^a?b?$"]).prop_map(|text| json!(text));
    (maybe("minLength", number(0..3)), maybe("maxLength", number(1..4)), maybe("enum", values), maybe("pattern", patterns))
        .prop_map(|(a, b, c, d)| vec![a, b, c, d])
}

fn integer() -> impl Strategy<Value = Vec<Vec<(&'static str, Value)>>> {
    let values = subsequence(vec![-1, 0, 1, 2, 3, 6], 1..4).prop_map(|list| json!(list));
    let bounds = (maybe("minimum", number(-2..4)), maybe("maximum", number(0..7)), any::<bool>(), any::<bool>());
    (bounds, maybe("multipleOf", number(1..4)), maybe("enum", values)).prop_map(|((low, high, above, below), multiple, values)| {
        let strict = |bound: &Vec<_>, word, strict: bool| if strict && !bound.is_empty() { vec![(word, json!(true))] } else { vec![] };
        vec![strict(&low, "exclusiveMinimum", above), strict(&high, "exclusiveMaximum", below), low, high, multiple, values]
    })
}

fn clauses(
    conditions: impl Strategy<Value = Vec<Vec<(&'static str, Value)>>> + Clone + 'static,
) -> BoxedStrategy<Vec<(&'static str, Value)>> {
    let clause = conditions.prop_map(|parts| join(json!({}), parts));
    let list = prop::collection::vec(clause.clone(), 1..3).prop_map(Value::Array);
    prop_oneof![
        4 => Just(Vec::new()),
        1 => (select(vec!["allOf", "anyOf", "oneOf"]), list).prop_map(|(word, list)| vec![(word, list)]),
        1 => clause.prop_map(|clause| vec![("not", clause)]),
    ]
    .boxed()
}

fn node() -> BoxedStrategy<Value> {
    let null = || maybe("nullable", Just(json!(true)));
    let texts = (text(), clauses(text().boxed()), null()).prop_map(|(mut parts, clauses, null)| {
        parts.extend([clauses, null]);
        join(json!({"type": "string"}), parts)
    });
    let integers = (integer(), clauses(integer().boxed()), null()).prop_map(|(mut parts, clauses, null)| {
        parts.extend([clauses, null]);
        join(json!({"type": "integer"}), parts)
    });
    let leaf = prop_oneof![3 => texts, 3 => integers, 1 => Just(json!({"type": "boolean"}))].boxed();
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let counts = |least, most| (maybe(least, number(0..3)), maybe(most, number(1..4)));
        let lists = (inner.clone(), counts("minItems", "maxItems"))
            .prop_map(|(items, (least, most))| join(json!({"type": "array", "items": items}), vec![least, most]));
        let names = || subsequence(vec!["a", "b", "c"], 0..3);
        let demanded = clauses(
            names()
                .prop_filter("a clause says something", |names| !names.is_empty())
                .prop_map(|n| vec![vec![("required", json!(n))]])
                .boxed(),
        );
        let open = maybe("x-kubernetes-preserve-unknown-fields", Just(json!(true)));
        let objects = (prop::collection::vec(inner.clone(), 3), names(), names(), counts("minProperties", "maxProperties"), demanded, open)
            .prop_map(|(nodes, declared, required, (least, most), clauses, open)| {
                let properties: Map<String, Value> = declared.into_iter().zip(nodes).map(|(name, node)| (name.to_owned(), node)).collect();
                let required = if required.is_empty() { vec![] } else { vec![("required", json!(required))] };
                join(json!({"type": "object", "properties": properties}), vec![required, least, most, clauses, open])
            });
        let maps = (inner, counts("minProperties", "maxProperties"))
            .prop_map(|(values, (least, most))| join(json!({"type": "object", "additionalProperties": values}), vec![least, most]));
        prop_oneof![1 => lists, 2 => objects, 1 => maps]
    })
    .boxed()
}

/// Two schemas, the second usually the first with one field changed.
fn pair() -> impl Strategy<Value = (Value, Value)> {
    let root = |x: &Value, y: &Value| json!({"type": "object", "properties": {"x": x, "y": y}});
    (node(), node(), node()).prop_map(move |(x, y, z)| (root(&x, &y), root(&x, &z)))
}

/// The schema in JSON Schema draft 4. Undeclared keys are allowed there; the server prunes them first.
fn translated(schema: &Value) -> Value {
    let Value::Object(map) = schema else { return schema.clone() };
    let mut out = Map::new();
    for (word, value) in map {
        let value = match (word.as_str(), value) {
            ("nullable", _) => continue,
            (word, _) if word.starts_with("x-kubernetes") => continue,
            ("properties", Value::Object(children)) => {
                children.iter().map(|(name, child)| (name.clone(), translated(child))).collect::<Map<_, _>>().into()
            }
            ("allOf" | "anyOf" | "oneOf", Value::Array(list)) => list.iter().map(translated).collect(),
            ("items" | "additionalProperties" | "not", child) => translated(child),
            (_, value) => value.clone(),
        };
        out.insert(word.clone(), value);
    }
    match map.get("nullable") {
        Some(Value::Bool(true)) => json!({"anyOf": [{"enum": [null]}, out]}),
        _ => Value::Object(out),
    }
}

/// The other validator's verdict on an object that ours calls lost; `None` if it doesn't know a concept, such as a dropped null or
/// key.
fn agrees(old: &Value, new: &Value, after: &Compiled, body: &Value) -> Option<bool> {
    let response = after.request(whole(body));
    if has_null(body) || response.accepted() || !response.pruned.is_empty() {
        return None;
    }
    let takes = |schema: &Value| Some(jsonschema::draft4::new(&translated(schema)).ok()?.is_valid(body));
    Some(takes(old)? && !takes(new)?)
}

#[test]
fn no_object_contradicts_the_comparison_of_generated_schemas() {
    let pairs = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(PAIRS);
    let config = Config { cases: pairs, max_shrink_iters: 2_000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let counts = std::cell::RefCell::new(std::collections::BTreeMap::<String, usize>::new());
    let count = |what: String| *counts.borrow_mut().entry(what).or_default() += 1;
    let outcome = runner.run(&pair(), |(old, new)| {
        let (a, b) = (shape(&old), shape(&new));
        let (before, after) = (Compiled::new(&a), Compiled::new(&b));
        let order = order_roots(&a, &b, &Budget::of_each());
        count(format!("{:?}", order.relation));
        let mut objects = around(&a, 1);
        objects.extend(around(&b, 1));
        objects.extend([&a, &b].into_iter().flat_map(|shape| [smallest(shape), filled(shape)]).flatten());
        let wrong = contradiction(&order, &before, &after, &objects);
        prop_assert!(wrong.is_none(), "{}\n{old}\n{new}", wrong.unwrap_or_default());
        for (first, second, judge, sample) in [(&old, &new, &after, &order.lost), (&new, &old, &before, &order.gained)] {
            let Some(shown) = body(sample) else { continue };
            if let Some(agreed) = agrees(first, second, judge, shown) {
                count("confirmed by another validator".to_owned());
                prop_assert!(agreed, "another validator takes {shown} otherwise\n{first}\n{second}");
            }
        }
        Ok(())
    });
    println!("{:?}", counts.borrow());
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
