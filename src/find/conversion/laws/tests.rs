//! Tests of the laws on whole manifests: where lost values are preserved, and that no object violates a proved law.

use serde_json::json;

use crate::find::conversion::convert::Converter;
use crate::find::conversion::laws::LawVerdict;
use crate::find::conversion::manifest::Direction;
use crate::find::conversion::testing::{Laws, PRESERVE, because, check_laws, conversions, laws, object};

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

#[track_caller]
fn is_not_proved(law: impl Fn(&Laws) -> &LawVerdict, old: &str, new: &str, steps: &str, rest: &str) {
    let laws = laws(old, new, steps, rest);
    assert!(!matches!(law(&laws), LawVerdict::Proved), "{steps}");
}

#[test]
fn what_a_step_does_not_describe_is_not_proved() {
    let valid = |old: &str, new: &str, steps: &str| is_not_proved(|laws| &laws.valid, old, new, steps, "");
    // A map stays where the step expects a list.
    let map = "{a: {type: string}, c: {type: object, additionalProperties: {type: string}}}";
    let steps = "- listToMap: {from: spec.c, to: spec.c, key: a}\n- copy: {from: spec.a, to: spec.c}\n  conflict: prefer-new";
    valid(map, "{a: {type: string}, c: {type: string}}", steps);
    // A string stays where the step expects an integer.
    let digits = "{a: {type: string, pattern: '^(0|-?[1-9][0-9]*)$'}}";
    valid("{a: {type: string}}", digits, "- retype: {path: spec.a, was: integer, becomes: string}");
    // Half of the number 1 is 0.
    let scale = "- scale: {from: spec.a, to: spec.b, divide: 2}";
    valid("{a: {type: number, minimum: 0.5, maximum: 1}}", "{b: {type: number, minimum: 0.25, maximum: 0.5}}", scale);
}

#[test]
fn values_that_disappear_are_not_proved_valid() {
    let valid = |old: &str, new: &str, steps: &str| is_not_proved(|laws| &laws.valid, old, new, steps, "");
    // Null is removed.
    let (text, list) = ("required: [a], {a: {type: string, nullable: true}}", "required: [b], {b: {type: array, items: {type: string}}}");
    valid(text, list, "- wrap: {from: spec.a, to: spec.b}");
    let listed = "required: [a], {a: {type: string, enum: [a, b]}}";
    valid(listed, listed, "- mapValues: {path: spec.a, values: [{old: a, new: null}]}");
    // A parent is removed although it requires a field, because the field has a default.
    let parent = "{o: {type: object, required: [x], properties: {x: {type: string, default: d}, a: {type: string}}}, b: {type: string}}";
    let required = format!("required: [o], {parent}");
    valid(&required, &required, "- move: {from: spec.o.a, to: spec.b}\n  conflict: prefer-new");
    // The default of a parent has the old name of the field.
    let old = "required: [o], {o: {type: object, required: [a], default: {a: x}, properties: {a: {type: string}}}}";
    let new = "required: [o], {o: {type: object, required: [b], properties: {b: {type: string}}}}";
    valid(old, new, "- rename: {from: spec.o.a, to: spec.o.b}");
}

#[test]
fn items_that_become_equal_are_not_proved_valid() {
    let set = |values: &str| format!("{{l: {{type: array, x-kubernetes-list-type: set, items: {{type: string, enum: {values}}}}}}}");
    is_not_proved(|laws| &laws.valid, &set("[a, b]"), &set("[b]"), "- mapValues: {path: 'spec.l[]', values: {a: b}}", "");
}

#[test]
fn parents_that_are_not_restored_are_not_proved() {
    let returns = |old: &str, new: &str, steps: &str, rest: &str| is_not_proved(|laws| &laws.returns, old, new, steps, rest);
    let parent = |more: &str| format!("o: {{type: object, nullable: true, required: [x], properties: {{x: {{type: string}}{more}}}}}");
    let (old, new) = (format!("{{a: {{type: string}}, {}}}", parent("")), format!("{{{}}}", parent(", a: {type: string}")));
    returns(&old, &new, "- move: {from: spec.a, to: spec.o.a}", "");
    // Preserving null doesn't restore the empty parent.
    let old = "{a: {type: string, nullable: true}, o: {type: object}}";
    let new = "{o: {type: object, properties: {b: {type: array, items: {type: string}}}}}";
    returns(old, new, "- wrap: {from: spec.a, to: spec.o.b}", PRESERVE);
}

#[test]
fn steps_that_restore_a_normal_form_are_not_proved_with_others() {
    let number = |default: &str| format!("{{a: {{type: integer, default: {default}, minimum: 0, maximum: 100}}}}");
    let steps = "- scale: {path: spec.a, divide: 2}\n- default: {path: spec.a, value: 1}";
    is_not_proved(|laws| &laws.returns, &number("2"), &number("1"), steps, PRESERVE);
}

#[test]
fn preserved_values_of_items_that_change_their_name_are_not_proved() {
    let list = |names: &str| {
        format!("{{l: {{type: array, items: {{type: object, required: [name], properties: {{name: {{type: string, enum: {names}}}}}}}}}}}")
    };
    let steps = "- mapValues: {path: 'spec.l[].name', values: {a: b, c: b}}";
    is_not_proved(|laws| &laws.returns, &list("[a, b, c]"), &list("[b]"), steps, PRESERVE);
}

#[test]
fn restored_values_that_do_not_fit_edited_ones_are_not_proved_valid() {
    let back = |old: &str, new: &str, steps: &str| is_not_proved(|laws| &laws.valid_back, old, new, steps, PRESERVE);
    // `b` can be edited after `a` was dropped.
    let one = "maxProperties: 1, {a: {type: string}, b: {type: integer}}";
    back(one, "{b: {type: integer}}", "- drop: {path: spec.a}");
    // The second step preserves `a` and `b` under the name that the first one uses, and `a` moves to `b`.
    let (old, new) = ("{a: {type: string}, b: {type: number, not: {}}}", "{a: {type: string}, e: {type: object}}");
    let rename = "- rename: {from: spec.b, to: spec.a}\n  conflict: prefer-new";
    back(old, new, &format!("{rename}\n- set: {{path: spec.b, value: 2}}\n{rename}"));
}

#[test]
fn nothing_is_restored_in_a_null() {
    let conversions = conversions("- drop: {path: spec.d.a}", PRESERVE);
    let back = Converter::new(&conversions.manifests[0], Direction::Back).unwrap();
    let mut new = object("v2", json!({"d": null}));
    new["metadata"]["annotations"] = json!({"shop.example.com/v1": r#"{"old":{"drop spec.d.a":[["x"]]}}"#});
    assert_eq!(back.converted(&new).unwrap()["spec"], json!({"d": null}));
}

#[test]
fn restored_gaps_that_the_next_conversion_fills_are_not_proved_idempotent() {
    let old = "{a: {type: object, properties: {a: {type: boolean}}}, b: {type: object, properties: {c: {type: integer}}}}";
    let new = "required: [b, e], {b: {type: integer, enum: [2]}, e: {type: object, x-kubernetes-preserve-unknown-fields: true}}";
    let steps = "- rename: {from: spec.a, to: spec.e}\n- set: {path: spec.b, value: 2}\n- default: {path: spec.e, value: {a: x}}\n\
                 - mapValues: {from: spec.a, to: spec.e, values: {a: ab}}";
    is_not_proved(|laws| &laws.idempotent, old, new, steps, PRESERVE);
}

#[test]
fn restored_values_that_fit_are_proved_valid() {
    let proved = |old: &str, new: &str, steps: &str| {
        let laws = laws(old, new, steps, PRESERVE);
        assert_eq!(laws.valid_back, LawVerdict::Proved, "{steps}");
    };
    proved("{a: {type: string, maxLength: 5}, b: {type: integer}}", "{b: {type: integer}}", "- drop: {path: spec.a}");
    proved("{a: {type: string, enum: [a, b]}}", "{a: {type: string, enum: [b]}}", "- mapValues: {path: spec.a, values: {a: b, b: b}}");
    let renamed = "- rename: {from: spec.a, to: spec.b}\n- rename: {from: spec.b, to: spec.c}";
    proved("{a: {type: string, maxLength: 5}}", "{c: {type: string, maxLength: 5}}", renamed);
}

#[test]
fn a_delimiter_that_can_begin_earlier_is_not_proved() {
    let (parts, whole) =
        ("required: [p, q], {p: {type: string, pattern: '^[a-]$'}, q: {type: string}}", "required: [m], {m: {type: string}}");
    let merge = "- merge: {from: {p: spec.p, q: spec.q}, template: '{p}--{q}', to: spec.m}";
    is_not_proved(|laws| &laws.returns, parts, whole, merge, "");
}

#[test]
fn fields_that_no_schema_declares_are_not_proved() {
    let text = "{k: {type: string}}";
    is_not_proved(|laws| &laws.returns, text, text, "- drop: {path: metadata.labels}", "");
    let map = "{m: {type: object, additionalProperties: {type: string}}}";
    is_not_proved(|laws| &laws.blind, map, map, "- drop: {path: spec.m.x}", "");
    is_not_proved(|laws| &laws.blind, text, text, "- mapValues: {path: spec.k, values: {a: a}, otherwise: error}", "");
    // The types differ, but null is valid in both versions.
    let (old, new) = ("{a: {type: string, nullable: true}}", "{a: {type: integer, nullable: true}, b: {type: string, nullable: true}}");
    is_not_proved(|laws| &laws.blind, old, new, "- rename: {from: spec.a, to: spec.b}", "");
    // A step moves a null whatever its type.
    let object = "b: {type: object, nullable: true, additionalProperties: {type: string}}";
    let (old, new) = (format!("{{{object}}}"), format!("{{{object}, n: {{type: object, nullable: true}}}}"));
    is_not_proved(|laws| &laws.blind, &old, &new, "- scale: {from: spec.b, to: spec.n, multiply: 1000}", "");
    // The new version accepts a null and drops it.
    let (old, new) = ("{a: {type: boolean, nullable: true}, b: {type: string}}", "{a: {type: string}, b: {type: string}}");
    is_not_proved(|laws| &laws.blind, old, new, "- rename: {from: spec.a, to: spec.b}", "");
}

#[test]
fn values_that_the_next_step_restores_are_not_proved_idempotent() {
    let number = "{b: {type: integer, minimum: 0, maximum: 9}}";
    let steps = "- scale: {from: spec.b, to: spec.n, multiply: 1000}\n- scale: {from: spec.b, to: spec.b, multiply: 2}";
    is_not_proved(|laws| &laws.idempotent, number, number, steps, PRESERVE);
}

#[test]
fn nulls_that_an_enum_refuses_are_not_proved_valid() {
    let (old, new) = ("{a: {type: boolean, nullable: true}}", "{a: {type: string, nullable: true, enum: ['true', 'false']}}");
    is_not_proved(|laws| &laws.valid, old, new, "- retype: {path: spec.a, was: boolean, becomes: string}", "");
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
            let count = violation(&conversions.manifests[0], &steps, &before, &after);
            proved.set(proved.get() + count.proved);
            prop_assert!(count.wrong.is_none(), "{}\n{old}\n{new}\n{steps}\n{rest}", count.wrong.unwrap_or_default());
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("{error}");
        }
        assert!(proved.get() > count as usize, "{} laws proved", proved.get());
    }
}
