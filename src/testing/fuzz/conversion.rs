//! Conversion manifests: any text is read or refused, a manifest converts any object or says why not, and proved laws hold.

use serde_json::{Value, json};

use super::choices::Choices;
use super::schemas::{node, value};
use super::text;
use crate::find::conversion::Conversions;
use crate::find::conversion::convert::Converter;
use crate::find::conversion::laws::violation::violation;
use crate::find::conversion::manifest::{Direction, Manifest};
use crate::find::conversion::schema_endpoint::SchemaEndpoint;
use crate::testing::shape;

const STEPS: [&str; 24] = [
    "rename: {from: spec.a, to: spec.b}",
    "rename: {from: spec.c, to: spec.d}",
    "move: {from: spec.a, to: spec.o.a}",
    "move: {from: spec.b.a, to: spec.c}",
    "copy: {from: spec.a, to: spec.c}",
    "drop: {path: spec.a}",
    "drop: {path: 'spec.c[].a'}",
    "add: {path: spec.d, value: ab}",
    "set: {path: spec.b, value: 2}",
    "default: {path: spec.a, value: ab}",
    "default: {path: spec.b, value: 1}",
    "mapValues: {path: spec.a, values: {a: b, b: a}}",
    "mapValues: {path: spec.a, values: {a: b, ab: b}}",
    "wrap: {from: spec.a, to: spec.c}",
    "unwrap: {from: spec.c, to: spec.a}",
    "mapToList: {from: spec.d, to: spec.l, key: name, value: value}",
    "listToMap: {from: spec.c, to: spec.m, key: a, value: b}",
    "scale: {from: spec.b, to: spec.b, multiply: 2}",
    "scale: {from: spec.b, to: spec.n, multiply: 1000}",
    "retype: {path: spec.b, was: integer, becomes: string}",
    "retype: {path: spec.a, was: string, becomes: integer}",
    "split: {from: spec.a, template: '{x}:{y}', into: {x: spec.b, y: spec.c}}",
    "merge: {from: {x: spec.a, y: spec.b}, template: '{x} {y}', to: spec.c}",
    "listToMap: {from: spec.c, to: spec.c, key: a}",
];
const REST: [&str; 3] = ["", "reverse: auto\n", "reverse: auto\npreserve: {annotation: shop.example.com/kept}\n"];

/// Fuzzes manifests: steps and schemas chosen by bytes, or any text.
pub fn conversion(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    if choices.once_in(2) {
        let rest = choices.rest();
        let Some(text) = text(rest) else { return };
        let conversions = Conversions::of_text("manifest.yaml", text);
        let object = json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "spec": {"a": "x", "b": 1, "c": [{"a": 1}]}});
        conversions.manifests.iter().for_each(|manifest| convert(manifest, &object));
        return;
    }
    let steps: String = (0..=choices.below(3)).map(|_| format!("  - {}\n", choices.pick(&STEPS))).collect();
    let text = format!(
        "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: widget}}\n\
         resource: {{group: shop.example.com, kind: Widget}}\nfrom: {{version: v1}}\nto: {{version: v2}}\n{}steps:\n{steps}",
        choices.pick(&REST)
    );
    let conversions = Conversions::of_text("manifest.yaml", &text);
    let Some(manifest) = conversions.manifests.first() else { return };
    let object = json!({"apiVersion": "shop.example.com/v1", "kind": "Widget", "spec": value(&mut choices, 3)});
    convert(manifest, &object);
    let schemas = [spec(&mut choices), spec(&mut choices)];
    let [old, new] = [(&schemas[0], "v1"), (&schemas[1], "v2")]
        .map(|(schema, version)| SchemaEndpoint::new(shape(schema), "shop.example.com", version, "Widget"));
    let (_, wrong) = violation(manifest, &old, &new);
    assert!(wrong.is_none(), "{}\n{text}\n{}\n{}", wrong.unwrap_or_default(), schemas[0], schemas[1]);
}

fn spec(choices: &mut Choices<'_>) -> Value {
    let mut fields = serde_json::Map::new();
    for name in ["a", "b", "c", "d"] {
        if !choices.once_in(3) {
            fields.insert(name.to_owned(), node(choices, 2));
        }
    }
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}})
}

/// Converts in both directions; an object that is refused must be unchanged.
fn convert(manifest: &Manifest, object: &Value) {
    for direction in [Direction::Forward, Direction::Back] {
        let Ok(converter) = Converter::new(manifest, direction) else { continue };
        let Ok(converted) = converter.converted(object) else { continue };
        let Ok(opposite) = Converter::new(manifest, direction.opposite()) else { continue };
        let _ = opposite.converted(&converted);
    }
}
