//! Tests of the laws on whole manifests: where lost values are preserved, and that no object violates a proved law.

use crate::find::conversion::testing::{because, check_laws};

#[test]
fn a_field_that_keeps_values_must_have_room_for_them() {
    let keep = "preserve: {field: spec.kept}";
    let drop = "- drop: {path: spec.a}";
    let room = "kept: {type: object, x-kubernetes-preserve-unknown-fields: true}";
    let old = format!("{{a: {{type: string}}, k: {{type: string}}, {room}}}");
    check_laws(&old, &format!("{{k: {{type: string}}, {room}}}"), drop, keep, "pppppp");
    // The new version prunes it ….
    let laws = check_laws(&old, "{k: {type: string}}", drop, keep, "tpxppp");
    assert!(because(&laws.returns).starts_with("`spec.a` is lost"), "{}", because(&laws.returns));
    // … or refuses it.
    let laws = check_laws(&old, "{k: {type: string}, kept: {type: string}}", drop, keep, "xtxppp");
    assert!(because(&laws.valid).contains("spec.kept"), "{}", because(&laws.valid));
}

mod made_up {
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    use serde_json::{Value, json};

    use crate::find::conversion::laws::violation::violation;
    use crate::find::conversion::testing::{conversions, endpoint};

    const MANIFESTS: u32 = 400;

    fn field() -> impl Strategy<Value = Value> {
        let text = json!({"type": "string"});
        select(vec![
            text.clone(),
            json!({"type": "string", "maxLength": 3}),
            json!({"type": "string", "minLength": 1, "nullable": true}),
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "default": "a"}),
            json!({"type": "integer"}),
            json!({"type": "integer", "minimum": 0, "maximum": 10}),
            json!({"type": "integer", "multipleOf": 2, "maximum": 100, "minimum": -100}),
            json!({"type": "number", "minimum": 0}),
            json!({"type": "boolean"}),
            json!({"type": "array", "items": text, "maxItems": 2}),
            json!({"type": "object", "properties": {"p": text, "q": {"type": "integer"}}, "required": ["p"]}),
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
        ])
    }

    /// Generates the old and new fields of `spec`, the step between them, and the other keys of the manifest.
    fn manifest() -> impl Strategy<Value = (String, String, String, String)> {
        let other = json!({"type": "string"});
        let rest = select(vec!["reverse: auto", "reverse: auto\npreserve: {annotation: shop.example.com/kept}"]);
        (field(), field(), 0..8_usize, any::<bool>(), rest).prop_map(move |(a, b, step, same, rest)| {
            let b = if same { a.clone() } else { b };
            let (new, step) = match step {
                0 => (json!({"b": b, "k": other}), "- rename: {from: spec.a, to: spec.b}"),
                1 => (json!({"o": {"type": "object", "properties": {"b": b}}, "k": other}), "- move: {from: spec.a, to: spec.o.b}"),
                2 => (json!({"b": {"type": "array", "items": b}, "k": other}), "- wrap: {from: spec.a, to: spec.b}"),
                3 => (json!({"b": {"type": "array", "items": b, "maxItems": 1}, "k": other}), "- wrap: {from: spec.a, to: spec.b}"),
                4 => (json!({"k": other}), "- drop: {path: spec.a}"),
                5 => (json!({"a": a, "b": b, "k": other}), "- copy: {from: spec.a, to: spec.b}"),
                6 => (json!({"b": b, "k": other}), "- scale: {from: spec.a, to: spec.b, multiply: 2}"),
                _ => (json!({"a": b, "k": other}), "- mapValues: {path: spec.a, values: {a: b, b: a}}"),
            };
            (json!({"a": a, "k": other}).to_string(), new.to_string(), step.to_owned(), rest.to_owned())
        })
    }

    #[test]
    fn no_object_violates_a_proved_law() {
        let count = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(MANIFESTS);
        let config = Config { cases: count, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let proved = std::cell::Cell::new(0);
        let outcome = runner.run(&manifest(), |(old, new, steps, rest)| {
            let conversions = conversions(&steps, &rest);
            let (before, after) = (endpoint(&old, "v1"), endpoint(&new, "v2"));
            let (laws, wrong) = violation(&conversions.manifests[0], &before, &after);
            proved.set(proved.get() + laws);
            prop_assert!(wrong.is_none(), "{}\n{old}\n{new}\n{steps}\n{rest}", wrong.unwrap_or_default());
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{error}");
        }
        assert!(proved.get() > count as usize, "{} laws proved", proved.get());
    }
}
