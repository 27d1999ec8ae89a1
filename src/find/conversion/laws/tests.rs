//! Laws of whole manifests: where lost values are preserved, and that no object violates a law that is proved.

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

    use crate::find::conversion::convert::Converter;
    use crate::find::conversion::laws::{LawCheck, Verdict};
    use crate::find::conversion::manifest::Direction;
    use crate::find::conversion::schema_endpoint::SchemaEndpoint;
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

    /// Old and new fields of `spec`, the step between them, and the other keys of the manifest.
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

    fn broken(name: &str, samples: &[Value], law: impl Fn(&Value) -> bool) -> Option<String> {
        samples.iter().find(|object| !law(object)).map(|object| format!("{name} is proved, and {object} breaks it"))
    }

    /// Objects of both sides against every law that is proved.
    fn violation(
        law_check: &LawCheck<'_>,
        ways: [&Option<Converter<'_>>; 2],
        endpoints: [&SchemaEndpoint; 2],
        proved: &mut usize,
    ) -> Option<String> {
        let convert = |way: &Option<Converter<'_>>, object: &Value| way.as_ref()?.converted(object).ok();
        for (index, direction) in [Direction::Forward, Direction::Back].into_iter().enumerate() {
            let (way, back) = (ways[index], ways[1 - index]);
            let (start, end) = (endpoints[index], endpoints[1 - index]);
            if matches!(law_check.validity(direction), Verdict::Proved) {
                *proved += 1;
                let law = |object: &Value| convert(way, object).is_some_and(|converted| end.request(&converted).accepted());
                if let Some(wrong) = broken("validity", start.samples(), law) {
                    return Some(format!("{direction:?}: {wrong}"));
                }
            }
            if matches!(law_check.round_trip(direction), Verdict::Proved) {
                *proved += 1;
                // Objects that can't be converted at all break the first law.
                let law = |object: &Value| {
                    convert(way, object).is_none_or(|there| {
                        convert(back, &there).is_some_and(|returned| start.normalised(&returned) == start.normalised(object))
                    })
                };
                if let Some(wrong) = broken("the round trip", start.samples(), law) {
                    return Some(format!("{direction:?}: {wrong}"));
                }
            }
        }
        if matches!(law_check.idempotence(), Verdict::Proved) {
            *proved += 1;
            let law = |object: &Value| {
                // Preserved values aren't part of the object.
                let once = convert(ways[0], object);
                once.is_none_or(|once| convert(ways[0], &once).is_some_and(|twice| twice["spec"] == once["spec"]))
            };
            return broken("idempotence", endpoints[0].samples(), law);
        }
        None
    }

    #[test]
    fn no_object_violates_a_law_that_is_proved() {
        let count = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(MANIFESTS);
        let config = Config { cases: count, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let proved = std::cell::Cell::new(0);
        let outcome = runner.run(&manifest(), |(old, new, steps, rest)| {
            let conversions = conversions(&steps, &rest);
            let (before, after) = (endpoint(&old, "v1"), endpoint(&new, "v2"));
            let manifest = &conversions.manifests[0];
            let law_check = LawCheck::new(manifest, &before, &after);
            let way = |direction| Converter::new(manifest, direction).ok();
            let mut laws = proved.get();
            let wrong = violation(&law_check, [&way(Direction::Forward), &way(Direction::Back)], [&before, &after], &mut laws);
            proved.set(laws);
            prop_assert!(wrong.is_none(), "{}\n{old}\n{new}\n{steps}\n{rest}", wrong.unwrap_or_default());
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{error}");
        }
        assert!(proved.get() > count as usize, "{} laws proved", proved.get());
    }
}
