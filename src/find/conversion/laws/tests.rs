//! For each sort of step, schemas under which it keeps every law, and schemas under which it breaks one.

use super::{Trial, Verdict};
use crate::find::conversion::manifest::Direction;
use crate::find::conversion::testing::{conversions, ground};

struct Laws {
    valid: Verdict,
    valid_back: Verdict,
    returns: Verdict,
    returns_back: Verdict,
    idempotent: Verdict,
    blind: Verdict,
}

fn laws(old: &str, new: &str, steps: &str, rest: &str) -> Laws {
    let (old, new) = (ground(old, "v1"), ground(new, "v2"));
    let conversions = conversions(steps, rest);
    let trial = Trial::new(&conversions.manifests[0], &old, &new);
    Laws {
        valid: trial.validity(Direction::Forward),
        valid_back: trial.validity(Direction::Back),
        returns: trial.round_trip(Direction::Forward),
        returns_back: trial.round_trip(Direction::Back),
        idempotent: trial.idempotence(),
        blind: trial.blindness(),
    }
}

/// `p` proved, `t` tested, `x` broken, `-` undecided; in the order of [`Laws`].
fn short(laws: &Laws) -> String {
    let letter = |verdict: &Verdict| match verdict {
        Verdict::Proved => 'p',
        Verdict::Tested { .. } => 't',
        Verdict::Broken(_) => 'x',
        Verdict::Undecided(_) => '-',
    };
    [&laws.valid, &laws.valid_back, &laws.returns, &laws.returns_back, &laws.idempotent, &laws.blind].map(letter).iter().collect()
}

fn because(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Broken(broken) => broken.because.clone(),
        other => format!("{other:?}"),
    }
}

#[track_caller]
fn check(old: &str, new: &str, steps: &str, rest: &str, expected: &str) -> Laws {
    let laws = laws(old, new, steps, rest);
    let told = [&laws.valid, &laws.valid_back, &laws.returns, &laws.returns_back, &laws.idempotent, &laws.blind].map(because);
    assert_eq!(short(&laws), expected, "{steps}\n{}", told.join("\n"));
    laws
}

#[test]
fn rename() {
    let (old, new) = ("{a: {type: string}, c: {type: integer}}", "{b: {type: string}, c: {type: integer}}");
    check(old, new, "- rename: {from: spec.a, to: spec.b}", "", "pppppp");
    // The old name got another meaning.
    let reused = "{a: {type: string}, b: {type: string}, c: {type: integer}}";
    let laws = check(old, reused, "- rename: {from: spec.a, to: spec.b}", "", "pxpxpx");
    assert!(because(&laws.blind).contains("it is valid before and after"), "{}", because(&laws.blind));
    // The old name takes other types now, so that nothing is confused.
    check("{a: {type: string}}", "{a: {type: integer}, b: {type: string}}", "- rename: {from: spec.a, to: spec.b}", "", "pxpxpp");
    // Narrower at its new place.
    let laws = check("{a: {type: string}}", "{b: {type: string, maxLength: 3}}", "- rename: {from: spec.a, to: spec.b}", "", "xppppp");
    assert!(because(&laws.valid).contains("spec.b"), "{}", because(&laws.valid));
}

#[test]
fn moves() {
    check(
        "{a: {type: string}}",
        "{x: {type: object, properties: {a: {type: string}}}}",
        "- move: {from: spec.a, to: spec.x.a}",
        "",
        "pppxpp",
    );
    let always = "{x: {type: object, required: [a], properties: {a: {type: string}}}}";
    check("{a: {type: string}}", always, "- move: {from: spec.a, to: spec.x.a}", "", "pppppp");
}

#[test]
fn drop_and_add() {
    let (old, new) = ("{a: {type: string}, k: {type: string}}", "{k: {type: string}}");
    let laws = check(old, new, "- drop: {path: spec.a}", "", "ppxppp");
    assert!(because(&laws.returns).starts_with("`spec.a` is lost"));
    check(old, new, "- drop: {path: spec.a}", "preserve: {annotation: shop.example.com/kept}", "pppppp");
    // Without a step the server drops it all the same.
    check(old, new, "", "", "ppxppp");
    let laws = check(new, old, "- add: {path: spec.a}", "", "pppxpp");
    assert!(because(&laws.returns_back).starts_with("`spec.a` is lost"));
    check(new, old, "- add: {path: spec.a}", "preserve: {annotation: shop.example.com/kept}", "pppppp");
}

#[test]
fn units() {
    let seconds = "{timeoutSeconds: {type: integer, minimum: 0, maximum: 3600}}";
    let scale = "- scale: {from: spec.timeoutSeconds, to: spec.timeoutMilliseconds, multiply: 1000}";
    // In place the same number means two things.
    let laws = check(
        "{timeout: {type: integer, minimum: 0, maximum: 3600}}",
        "{timeout: {type: integer, minimum: 0, maximum: 3600000}}",
        "- scale: {path: spec.timeout, multiply: 1000}",
        "",
        "pppxxx",
    );
    assert!(because(&laws.blind).contains("spec.timeout"), "{}", because(&laws.blind));
    // With its name it passes forward; the way back loses remainders ….
    let any = "{timeoutMilliseconds: {type: integer, minimum: 0, maximum: 3600000}}";
    let laws = check(seconds, any, scale, "", "pppxpp");
    assert!(because(&laws.returns_back).contains("spec.timeoutMilliseconds"));
    // … unless there are none, or they are kept.
    let whole = "{timeoutMilliseconds: {type: integer, minimum: 0, maximum: 3600000, multipleOf: 1000}}";
    check(seconds, whole, scale, "", "pppppp");
    check(seconds, any, scale, "preserve: {annotation: shop.example.com/kept}", "pppppp");
}

#[test]
fn large_numbers_are_not_proved() {
    let scale = "- scale: {from: spec.s, to: spec.ms, multiply: 1000}";
    for old in [
        "{s: {type: integer}}",
        "{s: {type: integer, format: int64, minimum: 0}}",
        "{s: {type: integer, minimum: 0, maximum: 9223372036854775807}}",
    ] {
        let laws = check(old, "{ms: {type: integer}}", scale, "", if old.contains("minimum") { "txtxpp" } else { "tptxpp" });
        assert!(because(&laws.valid).contains("values above 9223372036854775 can't be converted"), "{}", because(&laws.valid));
    }
    let number = "{s: {type: number, minimum: 0, maximum: 1000000000000000000}}";
    let laws = laws(number, "{ms: {type: number}}", scale, "");
    assert!(matches!(laws.valid, Verdict::Tested { .. }), "{}", because(&laws.valid));
    check("{s: {type: integer, format: int32}}", "{ms: {type: integer}}", scale, "", "pxpxpp");
}

#[test]
fn values() {
    let (old, new) = ("{m: {type: string, enum: [Never, Auto, Full]}}", "{m: {type: string, enum: [Disabled, Auto, Full]}}");
    check(old, new, "- mapValues: {path: spec.m, values: {Never: Disabled}}", "", "pppppp");
    // Two become one.
    check(old, "{m: {type: string, enum: [Auto, Full]}}", "- mapValues: {path: spec.m, values: {Never: Auto}}", "", "ppxppp");
    // A swap means two things.
    check(old, old, "- mapValues: {path: spec.m, values: {Auto: Full, Full: Auto}}", "", "ppppxx");
    // A value that is refused, and none becomes another.
    check(old, new, "", "", "xxpppp");
}

#[test]
fn defaults_and_constants() {
    // A required field that only the new version has.
    check(
        "{k: {type: string}}",
        "required: [m], {m: {type: string, enum: [x]}, k: {type: string}}",
        "- set: {path: spec.m, value: x}",
        "",
        "pppppp",
    );
    // Absence means something else now.
    let laws =
        check("{m: {type: string, default: a}}", "{m: {type: string, default: b}}", "- default: {path: spec.m, value: a}", "", "pppxpx");
    assert!(because(&laws.blind).contains("spec.m"));
}

#[test]
fn lists() {
    let (old, new) = (
        "required: [ref], {ref: {type: string}}",
        "required: [refs], {refs: {type: array, minItems: 1, maxItems: 16, items: {type: string}}}",
    );
    let laws = check(old, new, "- wrap: {from: spec.ref, to: spec.refs}", "", "pppxpp");
    assert!(because(&laws.returns_back).contains("spec.refs"));
    check(old, new, "- wrap: {from: spec.ref, to: spec.refs}", "preserve: {annotation: shop.example.com/kept}", "pppppp");
    let single = "required: [refs], {refs: {type: array, minItems: 1, maxItems: 1, items: {type: string}}}";
    check(old, single, "- wrap: {from: spec.ref, to: spec.refs}", "", "pppppp");
    check(single, old, "- unwrap: {from: spec.refs, to: spec.ref}", "", "pppppp");
    check(
        "{ref: {type: string}}",
        "{ref: {type: array, minItems: 1, maxItems: 1, items: {type: string}}}",
        "- wrap: {from: spec.ref, to: spec.ref}",
        "",
        "pppppp",
    );
}

#[test]
fn keyed_lists() {
    let map = "{m: {type: object, additionalProperties: {type: object, properties: {x: {type: integer}}}}}";
    let list = "{m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], \
                properties: {name: {type: string}, x: {type: integer}}}}}";
    check(map, list, "- mapToList: {from: spec.m, to: spec.m, key: name}", "", "pppppp");
    check(list, map, "- listToMap: {from: spec.m, to: spec.m, key: name}", "", "pppppp");
    let atomic = "{m: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, x: {type: integer}}}}}";
    check(atomic, map, "- listToMap: {from: spec.m, to: spec.m, key: name}", "", "xpxppp");
}

#[test]
fn texts() {
    let one = "{at: {type: string, pattern: '^[a-z.]+:[0-9]+$'}}";
    let two = "{host: {type: string}, port: {type: string}}";
    let split = "- split: {from: spec.at, template: '{host}:{port}', into: {host: spec.host, port: spec.port}}";
    let laws = check(one, two, split, "", "pxptpp");
    assert!(because(&laws.valid_back).contains("spec.at"), "{}", because(&laws.valid_back));
    let merge = "- merge: {from: {host: spec.host, port: spec.port}, template: '{host}:{port}', to: spec.at}";
    let parts = "required: [host, port], {host: {type: string, pattern: '^[a-z.]*$'}, port: {type: string}}";
    let whole = "required: [at], {at: {type: string, pattern: ':'}}";
    check(parts, whole, merge, "", "pxpppp");
    let loose = "required: [host, port], {host: {type: string}, port: {type: string}}";
    check(loose, whole, merge, "", "ppxppp");
}

#[test]
fn types() {
    let (number, text) = ("{p: {type: integer}}", "{p: {type: string, maxLength: 18, pattern: '^(0|-?[1-9][0-9]*)$'}}");
    check(
        "{p: {type: integer, minimum: 0, maximum: 99}}",
        "{p: {type: string}}",
        "- retype: {path: spec.p, was: integer, becomes: string}",
        "",
        "pxptpp",
    );
    check(text, number, "- retype: {path: spec.p, was: string, becomes: integer}", "", "pxpppp");
}

#[test]
fn fractions_are_not_cut_off() {
    let retype = "- retype: {path: spec.a, was: number, becomes: integer}";
    let laws = check("{a: {type: number}}", "{a: {type: integer}}", retype, "", "xptppp");
    let Verdict::Broken(broken) = &laws.valid else { panic!("{:?}", laws.valid) };
    assert_eq!(broken.object["spec"]["a"], serde_json::json!(0.5));
    // One level down, between bounds.
    let old = "{l: {type: array, items: {type: object, properties: {a: {type: number, minimum: 3, maximum: 4}}}}}";
    let new = "{l: {type: array, items: {type: object, properties: {b: {type: integer, minimum: 3, maximum: 4}}}}}";
    check(old, new, "- retype: {from: 'spec.l[].a', to: 'spec.l[].b', was: number, becomes: integer}", "", "xptppp");
}

#[test]
fn expressions_are_tested() {
    let cel = "- cel: {from: spec.a, to: spec.b, forward: \"self + '!'\", back: 'self.substring(0, self.size() - 1)'}";
    check("{a: {type: string}}", "{b: {type: string, minLength: 1}}", cel, "", "tttxpp");
}

#[test]
fn a_field_that_keeps_values_must_have_room_for_them() {
    let keep = "preserve: {field: spec.kept}";
    let drop = "- drop: {path: spec.a}";
    let room = "kept: {type: object, x-kubernetes-preserve-unknown-fields: true}";
    let old = format!("{{a: {{type: string}}, k: {{type: string}}, {room}}}");
    check(&old, &format!("{{k: {{type: string}}, {room}}}"), drop, keep, "pppppp");
    // The new version prunes it ….
    let laws = check(&old, "{k: {type: string}}", drop, keep, "tpxppp");
    assert!(because(&laws.returns).starts_with("`spec.a` is lost"), "{}", because(&laws.returns));
    // … or refuses it.
    let laws = check(&old, "{k: {type: string}, kept: {type: string}}", drop, keep, "xtxppp");
    assert!(because(&laws.valid).contains("spec.kept"), "{}", because(&laws.valid));
}

mod made_up {
    use proptest::prelude::*;
    use proptest::sample::select;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    use serde_json::{Value, json};

    use crate::find::conversion::convert::Converter;
    use crate::find::conversion::laws::{Trial, Verdict};
    use crate::find::conversion::manifest::Direction;
    use crate::find::conversion::schema_endpoint::Ground;
    use crate::find::conversion::testing::{conversions, ground};

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

    /// Old and new fields of `spec`, the step between them, and what stands beside it.
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
    fn violation(trial: &Trial<'_>, ways: [&Option<Converter<'_>>; 2], grounds: [&Ground; 2], proved: &mut usize) -> Option<String> {
        let convert = |way: &Option<Converter<'_>>, object: &Value| way.as_ref()?.converted(object).ok();
        for (index, direction) in [Direction::Forward, Direction::Back].into_iter().enumerate() {
            let (way, back) = (ways[index], ways[1 - index]);
            let (start, end) = (grounds[index], grounds[1 - index]);
            if matches!(trial.validity(direction), Verdict::Proved) {
                *proved += 1;
                let law = |object: &Value| convert(way, object).is_some_and(|converted| end.request(&converted).accepted());
                if let Some(wrong) = broken("validity", start.samples(), law) {
                    return Some(format!("{direction:?}: {wrong}"));
                }
            }
            if matches!(trial.round_trip(direction), Verdict::Proved) {
                *proved += 1;
                // What can't go there at all is told by the first law.
                let law = |object: &Value| {
                    convert(way, object)
                        .is_none_or(|there| convert(back, &there).is_some_and(|returned| start.normal(&returned) == start.normal(object)))
                };
                if let Some(wrong) = broken("the round trip", start.samples(), law) {
                    return Some(format!("{direction:?}: {wrong}"));
                }
            }
        }
        if matches!(trial.idempotence(), Verdict::Proved) {
            *proved += 1;
            let law = |object: &Value| {
                // What is kept for the way back is no part of the object.
                let once = convert(ways[0], object);
                once.is_none_or(|once| convert(ways[0], &once).is_some_and(|twice| twice["spec"] == once["spec"]))
            };
            return broken("idempotence", grounds[0].samples(), law);
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
            let (before, after) = (ground(&old, "v1"), ground(&new, "v2"));
            let manifest = &conversions.manifests[0];
            let trial = Trial::new(manifest, &before, &after);
            let way = |direction| Converter::new(manifest, direction).ok();
            let mut laws = proved.get();
            let wrong = violation(&trial, [&way(Direction::Forward), &way(Direction::Back)], [&before, &after], &mut laws);
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
