//! Manifests as their authors would write them, forward and back.

use serde_json::{Value, json};

use super::convert::Converter;
use super::manifest::Direction;
use super::testing::{both_ways, conversions as manifest, object};
use super::*;

#[test]
fn steps_are_done_for_each_item() {
    both_ways(
        "- forEach: {path: 'spec.rules[]', steps: [{rename: {from: a, to: b}}, {retype: {path: b, was: integer, becomes: string}}]}",
        "",
        json!({"rules": [{"a": 1}, {"a": 2}]}),
        json!({"rules": [{"b": "1"}, {"b": "2"}]}),
    );
}

#[test]
fn preserved_values_never_undo_an_edit() {
    let conversions = manifest("- unwrap: {from: spec.refs, to: spec.ref}", "preserve: {annotation: shop.example.com/v1}");
    let there = Converter::new(&conversions.manifests[0], Direction::Forward).unwrap();
    let back = Converter::new(&conversions.manifests[0], Direction::Back).unwrap();
    let mut new = there.converted(&object("v1", json!({"refs": [1, 2]}))).unwrap();
    new["spec"]["ref"] = json!(9);
    assert_eq!(back.converted(&new).unwrap(), object("v1", json!({"refs": [9]})));
}

#[test]
fn preserved_values_follow_their_list_items() {
    let conversions = manifest("- drop: {path: 'spec.rules[].ns'}", "preserve: {annotation: shop.example.com/v1}");
    let there = Converter::new(&conversions.manifests[0], Direction::Forward).unwrap();
    let back = Converter::new(&conversions.manifests[0], Direction::Back).unwrap();
    let mut new = there.converted(&object("v1", json!({"rules": [{"name": "a", "ns": "1"}, {"name": "b", "ns": "2"}]}))).unwrap();
    new["spec"]["rules"].as_array_mut().unwrap().reverse();
    let old = back.converted(&new).unwrap();
    assert_eq!(old["spec"]["rules"], json!([{"name": "b", "ns": "2"}, {"name": "a", "ns": "1"}]));
}

#[test]
fn preserved_values_follow_items_without_a_name() {
    let conversions = manifest("- drop: {path: 'spec.l[].a'}", "preserve: {annotation: shop.example.com/v1}");
    let there = Converter::new(&conversions.manifests[0], Direction::Forward).unwrap();
    let back = Converter::new(&conversions.manifests[0], Direction::Back).unwrap();
    let converted = there.converted(&object("v1", json!({"l": [{"k": 1, "v": 0, "a": "x"}, {"k": 2, "v": 0, "a": "y"}]}))).unwrap();
    let mut new = converted.clone();
    new["spec"]["l"].as_array_mut().unwrap().reverse();
    let swapped = json!([{"k": 2, "v": 0, "a": "y"}, {"k": 1, "v": 0, "a": "x"}]);
    assert_eq!(back.converted(&new).unwrap()["spec"]["l"], swapped);
    // An item without a key can't be recognised once it changed ….
    let mut changed = new.clone();
    changed["spec"]["l"][0]["v"] = json!(1);
    let mut old = changed.clone();
    let notes = back.convert(&mut old).unwrap();
    assert_eq!(old["spec"]["l"], json!([{"k": 2, "v": 1}, {"k": 1, "v": 0, "a": "x"}]));
    assert_eq!(notes.len(), 1);
    assert!(notes[0].to_string().starts_with("the preserved value \"y\" can't be restored"), "{}", notes[0]);
    // … unless the schema declares its key.
    let shape = "{l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], \
                 properties: {k: {type: integer}, v: {type: integer}}}}}";
    let mut keys = address::ListKeys::default();
    keys.add_schema(&testing::endpoint(shape, "v2").shape);
    let keys = std::sync::Arc::new(keys);
    let mut new = there.clone().with_keys(&keys).converted(&object("v1", json!({"l": [{"k": 1, "a": "x"}, {"k": 2, "a": "y"}]}))).unwrap();
    new["spec"]["l"] = json!([{"k": 2, "v": 1}, {"k": 1}]);
    // The labels remember the key that the schema declared.
    assert_eq!(back.converted(&new).unwrap()["spec"]["l"], json!([{"k": 2, "v": 1, "a": "y"}, {"k": 1, "a": "x"}]));
}

#[test]
fn an_object_with_both_fields_follows_the_conflict_rule() {
    let both = object("v1", json!({"a": 1, "b": 2}));
    let run = |conflict: &str| {
        let conversions = manifest(&format!("- rename: {{from: spec.a, to: spec.b}}\n  conflict: {conflict}"), "");
        Converter::new(&conversions.manifests[0], Direction::Forward).unwrap().converted(&both).map(|object| object["spec"].clone())
    };
    assert_eq!(run("prefer-new"), Ok(json!({"b": 2})));
    assert_eq!(run("prefer-old"), Ok(json!({"b": 1})));
    assert!(run("error").unwrap_err().to_string().starts_with("spec.a: the old and the new field"));
}

#[test]
fn errors_in_a_manifest_are_underlined() {
    let underlined = |text: &str| -> Vec<(String, String)> {
        let conversions = Conversions::of_text("m.yaml", text);
        let file = conversions.file(catalogue::FIRST_FILE).unwrap();
        conversions.invalid().iter().map(|bad| (file.text[bad.place.span.range()].to_owned(), bad.message.clone())).collect()
    };
    let head = "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nresource: {group: g.example.com, kind: K}\nfrom: {version: v1}\n";
    let cases = [
        ("to: {version: v2}\nsteps: [{renam: {from: spec.a, to: spec.b}}]", "renam", "unknown key `renam` (did you mean `rename`?)"),
        ("to: {version: v2}\nsteps: [{rename: {from: spec.a}}]", "from", "`to` is missing"),
        ("to: {version: v2}\nsteps: [{rename: {from: spec..a, to: spec.b}}]", "spec..a", "not a field path"),
        ("to: {version: v2}\nsteps: [{rename: {from: spec.a, to: spec.x.b}}]", "spec.x.b", "`rename` keeps the parent of a field"),
        ("to: {version: v2}\nsteps: [{move: {from: 'spec.a[].x', to: spec.b}}]", "", "`[]` and `{}` may only be"),
        ("to: {version: v2}\nsteps: [{drop: {path: metadata.name}}]", "metadata.name", "a conversion can't change `apiVersion`"),
        ("to: {version: v1}\nsteps: []", "to", "`from` and `to` are the same version; use `bundle` to distinguish releases of one version"),
        ("to: {version: v2}\nsteps: [{cel: {from: spec.a, forward: 'self +'}}]", "", "not a CEL expression"),
        ("to: {version: v2}\nreverse: {none: short}\nsteps: []", "short", "needs at least 10 characters"),
    ];
    for (rest, at, message) in cases {
        let found = underlined(&format!("{head}{rest}\n"));
        assert!(found.iter().any(|(text, said)| said.starts_with(message) && text.contains(at)), "{rest}: {found:?}");
    }
}

#[test]
fn older_objects_are_canonicalised_and_newer_ones_ignored() {
    let conversions = manifest("- rename: {from: spec.a, to: spec.b}", "");
    let canonical =
        |current: &str, object: &Value| Canonicaliser::new(&conversions, "shop.example.com", "Widget", current).canonicalise(object);
    let old = object("v1", json!({"a": 1}));
    assert_eq!(canonical("v2", &old), Canonical::Converted(object("v2", json!({"b": 1}))));
    assert_eq!(canonical("v2", &object("v2", json!({"b": 1}))), Canonical::AlreadyCurrent);
    assert!(matches!(canonical("v1", &object("v2", json!({}))), Canonical::NotSupported(_)));
    assert!(matches!(canonical("v2", &object("v3", json!({}))), Canonical::NotSupported(_)));
}

/// Returns the remarks about a file of objects, each with its line, and the converted file.
fn remarks(conversions: &Conversions, to: &str, text: &str) -> (Vec<(usize, String)>, String) {
    let converter = convert_files::FileConverter::new(conversions, convert_files::ConversionTarget { to: to.to_owned(), from: None });
    let outcome = converter.convert(&text.into());
    let line = |at: u32| text[..at as usize].lines().count().max(1) + usize::from(text[..at as usize].ends_with('\n'));
    (outcome.remarks.iter().map(|remark| (line(remark.span.start), remark.message.clone())).collect(), outcome.text)
}

#[test]
fn values_that_converting_back_does_not_restore_are_reported() {
    let head = "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n";
    let cases = [
        (
            "- unwrap: {from: spec.l, to: spec.b}",
            "",
            "  l: [p, q]\n",
            5,
            "`spec.l` is changed by a round trip: [\"p\",\"q\"] becomes [\"p\"]",
        ),
        (
            "- scale: {from: spec.ms, to: spec.s, divide: 1000}",
            "",
            "  k: 1\n  ms: 1500\n",
            6,
            "`spec.ms` is changed by a round trip: 1500 becomes 1000",
        ),
        (
            "- drop: {path: spec.a}",
            "reverse: {none: nobody needs it any more}",
            "  a: 1\n",
            5,
            "`spec.a` is lost: converting back doesn't restore 1",
        ),
        (
            "- rename: {from: spec.a, to: spec.b}\n- drop: {path: spec.b.c}",
            "",
            "  a:\n    c: 1\n    d: 2\n",
            6,
            "`spec.b.c` is lost: converting back doesn't restore 1",
        ),
        (
            "- drop: {path: spec.a}",
            "reverse: {steps: [{set: {path: spec.a, value: 3}}]}",
            "  a: 1\n",
            5,
            "`spec.a` is changed by a round trip: 1 becomes 3",
        ),
    ];
    for (steps, rest, spec, line, message) in cases {
        let conversions = manifest(steps, rest);
        assert_eq!(remarks(&conversions, "v2", &format!("{head}{spec}")).0, [(line, message.to_owned())], "{steps}");
    }
    // No remarks if every value is restored or preserved.
    let quiet = [
        ("- unwrap: {from: spec.l, to: spec.b}", "preserve: {annotation: shop.example.com/v1}", "  l: [p, q]\n"),
        ("- unwrap: {from: spec.l, to: spec.b}", "", "  l: [p]\n"),
        ("- default: {path: spec.n, value: 3}", "", "  n: 3\n"),
    ];
    for (steps, rest, spec) in quiet {
        let conversions = manifest(steps, rest);
        assert_eq!(remarks(&conversions, "v2", &format!("{head}{spec}")).0, [], "{steps}");
    }
    // The same when converting back.
    let conversions = manifest("- wrap: {from: spec.ref, to: spec.refs}", "");
    let text = "apiVersion: shop.example.com/v2\nkind: Widget\nmetadata: {name: w}\nspec:\n  refs:\n  - name: a\n  - name: b\n";
    let (said, _) = remarks(&conversions, "v1", text);
    assert!(said[0].1.starts_with("`spec.refs` is changed by a round trip"), "{said:?}");
}

#[test]
fn objects_are_converted_back_within_one_api_version() {
    let text = "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {name: widget}\n\
                resource: {group: shop.example.com, kind: Widget}\nfrom: {version: v1, bundle: v1.0.0}\n\
                to: {version: v1, bundle: v1.1.0}\nsteps:\n- rename: {from: spec.a, to: spec.b}\n";
    let conversions = Conversions::of_text("widget.yaml", text);
    let old = "apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  a: v\n";
    let new = old.replace("a: v", "b: v");
    assert_eq!(remarks(&conversions, "v1.0.0", &new), (Vec::new(), old.to_owned()));
    assert_eq!(remarks(&conversions, "v1.0.0", old), (Vec::new(), old.to_owned()));
    assert_eq!(remarks(&conversions, "v1.1.0", old).1, new);
    assert_eq!(remarks(&conversions, "v1", old).1, new);
    assert_eq!(remarks(&conversions, "v1", &new).1, new);
}

#[test]
fn examples_may_leave_out_what_the_manifest_says() {
    let conversions = manifest("- rename: {from: spec.a, to: spec.b}", "examples: [{old: {spec: {a: 1}}, new: {spec: {b: 1}}}]");
    let example = &conversions.manifests[0].examples[0];
    let converter = Converter::new(&conversions.manifests[0], Direction::Forward).unwrap();
    assert_eq!(converter.converted(&example.old).unwrap(), example.new);
    assert_eq!(example.old["apiVersion"], "shop.example.com/v1");
}

#[test]
fn manifests_have_limits() {
    let manifest = |name: &str, steps: String| {
        format!(
            "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: {name}}}\nresource: {{group: a.example.com, kind: A}}\n\
             from: {{version: v1}}\nto: {{version: v2}}\nsteps:\n{steps}---\n"
        )
    };
    let renames = |count: usize| (0..count).map(|n| format!("- rename: {{from: spec.a{n}, to: spec.b{n}}}\n")).collect::<String>();
    let errors =
        |text: &str| Conversions::of_text("m.yaml", text).invalid().iter().map(|invalid| invalid.message.clone()).collect::<Vec<_>>();
    assert_eq!(errors(&manifest("a", renames(500))), [""; 0]);
    assert!(errors(&manifest("a", renames(501)))[0].starts_with("more than 500 steps"));
    let many = |count: usize| (0..count).map(|n| manifest(&format!("m{n}"), renames(1))).collect::<String>();
    assert_eq!(errors(&many(200)), [""; 0]);
    assert_eq!(errors(&many(205)), ["more than 200 manifests of one kind; this manifest and those after it aren't read"]);
    let values: String = (0..1_001).map(|n| format!("a{n}: b{n}, ")).collect();
    assert_eq!(errors(&manifest("a", format!("- mapValues: {{path: spec.a, values: {{{values}}}}}\n"))), ["more than 1000 values"]);
}
