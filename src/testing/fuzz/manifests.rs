//! Manifests and the schemas of their two versions, chosen by bytes.

use serde_json::{Value, json};

use super::choices::Choices;
use super::schemas::node;
use crate::find::conversion::Conversions;
use crate::find::conversion::laws::LawCheck;
use crate::find::conversion::manifest::{Direction, Manifest};
use crate::find::conversion::schema_endpoint::SchemaEndpoint;
use crate::model::schema::Shape;
use crate::testing::shape;

/// Steps of every kind, on fields of these schemas.
pub const STEPS: [&str; 63] = [
    "rename: {from: spec.a, to: spec.b}",
    "rename: {from: spec.c, to: spec.d}",
    "rename: {from: spec.d.a, to: spec.d.b}",
    "rename: {from: spec.b, to: spec.a}\n    conflict: prefer-new",
    "rename: {from: spec.a, to: spec.e}",
    "rename: {from: spec.e, to: spec.b}",
    "rename: {from: 'spec.c[].a', to: 'spec.c[].b'}",
    "move: {from: spec.a, to: spec.o.a}",
    "move: {from: spec.b, to: spec.o.b}",
    "move: {from: spec.b.a, to: spec.c}",
    "move: {from: spec.d.a, to: spec.c.a}",
    "move: {from: spec.d.a, to: spec.e}",
    "move: {from: spec.a, to: spec.d.b.a}",
    "move: {from: 'spec.c[].a', to: 'spec.c[].b.a'}",
    "copy: {from: spec.a, to: spec.c}",
    "copy: {from: spec.a, to: spec.e}",
    "copy: {from: spec.a, to: spec.d.a}",
    "copy: {from: spec.d.a, to: spec.b}\n    conflict: prefer-old",
    "drop: {path: spec.a}",
    "drop: {path: spec.b, restore: 1}",
    "drop: {path: 'spec.c[].a'}",
    "drop: {path: 'spec.d{}.a'}",
    "drop: {path: spec.d.a}",
    "add: {path: spec.d, value: ab}",
    "add: {path: spec.e}",
    "set: {path: spec.b, value: 2}",
    "set: {path: spec.d, value: {a: 1}}",
    "default: {path: spec.a, value: ab}",
    "default: {path: spec.b, value: 1}",
    "default: {path: spec.d.a, value: b}",
    "default: {path: spec.e, value: {a: x}}",
    "default: {path: 'spec.c[].b', value: 1}",
    "mapValues: {path: spec.a, values: {a: b, b: a}}",
    "mapValues: {path: spec.a, values: {a: b, ab: b}}",
    "mapValues: {path: spec.a, values: {a: b, b: ab}, otherwise: error}",
    "mapValues: {path: spec.a, values: [{old: a, new: null}]}",
    "mapValues: {path: spec.b, values: [{old: 1, new: 2}, {old: 0, new: {a: 1}}]}",
    "mapValues: {from: spec.a, to: spec.e, values: {a: ab}}",
    "mapValues: {path: 'spec.c[]', values: {a: b}}",
    "wrap: {from: spec.a, to: spec.c}",
    "wrap: {from: spec.a, to: spec.a}",
    "wrap: {from: spec.b, to: spec.d.b}",
    "unwrap: {from: spec.c, to: spec.a}",
    "unwrap: {from: spec.c, to: spec.c}",
    "mapToList: {from: spec.d, to: spec.l, key: name, value: value}",
    "mapToList: {from: spec.d, to: spec.d, key: a}",
    "listToMap: {from: spec.c, to: spec.m, key: a, value: b}",
    "listToMap: {from: spec.c, to: spec.c, key: a}",
    "listToMap: {from: spec.c, to: spec.e, key: a}",
    "scale: {from: spec.b, to: spec.b, multiply: 2}",
    "scale: {from: spec.b, to: spec.n, multiply: 1000}",
    "scale: {path: spec.b, divide: 3, round: up}",
    "scale: {path: 'spec.c[]', divide: 2}",
    "retype: {path: spec.b, was: integer, becomes: string}",
    "retype: {path: spec.a, was: string, becomes: integer}",
    "retype: {path: spec.b, was: number, becomes: integer}",
    "retype: {from: spec.a, to: spec.e, was: boolean, becomes: string}",
    "split: {from: spec.a, template: '{p}:{q}', into: {p: spec.b, q: spec.c}}",
    "split: {from: spec.a, template: '{p}-{q}', into: {p: spec.o.x, q: {path: spec.o.y, type: integer}}}",
    "merge: {from: {p: spec.a, q: spec.b}, template: '{p} {q}', to: spec.c}",
    "merge: {from: {p: spec.a, q: {path: spec.b, type: integer}}, template: '{p}--{q}', to: spec.e}",
    "cel: {from: spec.b, forward: 'self', back: 'self'}",
    "manual: {path: spec.d, effect: removed, guidance: ask the owner}",
];
const REST: [&str; 7] = [
    "",
    "reverse: auto\n",
    "preserve: {annotation: shop.example.com/kept}\n",
    "reverse: auto\npreserve: {annotation: shop.example.com/kept}\n",
    "preserve: {field: spec.kept}\n",
    "reverse: {none: nobody converts back}\n",
    "reverse: {steps: [{rename: {from: spec.b, to: spec.a}}]}\n",
];

/// A manifest with its text, and the schemas of its two versions.
pub(super) struct MadeUp {
    pub text: String,
    pub conversions: Conversions,
    pub old: SchemaEndpoint,
    pub new: SchemaEndpoint,
    /// The schemas as text.
    pub schemas: String,
}

impl MadeUp {
    pub fn manifest(&self) -> Option<&Manifest> {
        self.conversions.manifests.first()
    }
}

/// Chooses a manifest.
pub(super) fn made_up(choices: &mut Choices<'_>) -> MadeUp {
    let steps: String = (0..=choices.below(4)).map(|_| format!("  - {}\n", choices.pick(&STEPS))).collect();
    let text = format!(
        "apiVersion: crdwise.dev/v1alpha1\nkind: Conversion\nmetadata: {{name: widget}}\n\
         resource: {{group: shop.example.com, kind: Widget}}\nfrom: {{version: v1}}\nto: {{version: v2}}\n{}steps:\n{steps}",
        choices.pick(&REST)
    );
    let conversions = Conversions::of_text("manifest.yaml", &text);
    let endpoint = |shape: Shape, version: &str| SchemaEndpoint::new(shape, "shop.example.com", version, "Widget");
    let old_schema = spec(choices);
    let old = endpoint(shape(&old_schema), "v1");
    let (new, new_schema) = match choices.below(4) {
        0 => {
            let schema = spec(choices);
            (shape(&schema), schema.to_string())
        }
        1 => (old.shape.clone(), "the same".to_owned()),
        // The schema of the results, so that more laws are proved.
        _ => {
            let output =
                conversions.manifests.first().and_then(|manifest| LawCheck::new(manifest, &old, &old).output_schema(Direction::Forward));
            (output.unwrap_or_else(|| old.shape.clone()), "the schema of the results".to_owned())
        }
    };
    MadeUp { text, conversions, new: endpoint(new, "v2"), schemas: format!("{old_schema}\n{new_schema}"), old }
}

fn spec(choices: &mut Choices<'_>) -> Value {
    let mut fields = serde_json::Map::new();
    for name in ["a", "b", "c", "d"] {
        if !choices.once_in(4) {
            fields.insert(name.to_owned(), field(choices, name));
        }
    }
    if choices.once_in(6) {
        fields.insert("kept".to_owned(), json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}));
    }
    let mut spec = json!({"type": "object", "properties": fields});
    for (word, value) in [
        ("required", json!(choices.some(&["a", "b"]))),
        ("maxProperties", json!(3)),
        ("minProperties", json!(1)),
        ("x-kubernetes-preserve-unknown-fields", json!(true)),
        ("x-kubernetes-validations", json!([{"rule": "!has(self.a) || self.a != 'b'"}])),
        ("anyOf", json!([{"required": ["a"]}, {"required": ["c"]}])),
        ("default", json!({"a": "a"})),
    ] {
        if choices.once_in(10) {
            spec[word] = value;
        }
    }
    json!({"type": "object", "properties": {"spec": spec}})
}

/// The schema of a field: often one that the steps can act on.
fn field(choices: &mut Choices<'_>, name: &str) -> Value {
    let text = json!({"type": "string"});
    let mut schema = match (choices.below(4), name) {
        (0, _) => node(choices, 2),
        (1, "a") => choices
            .pick(&[
                text,
                json!({"type": "string", "enum": ["a", "b"]}),
                json!({"type": "string", "enum": ["a", "b", "ab"]}),
                json!({"type": "string", "maxLength": 8, "pattern": "^(0|-?[1-9][0-9]*)$"}),
                json!({"type": "string", "pattern": "^[a-z]*:[a-z]*$"}),
                json!({"type": "string", "pattern": "^[a-z-]*$"}),
                json!({"type": "boolean"}),
            ])
            .clone(),
        (1, "b") => choices
            .pick(&[
                json!({"type": "integer", "minimum": 0, "maximum": 100}),
                json!({"type": "integer", "multipleOf": 3, "minimum": 0, "maximum": 99}),
                json!({"type": "integer", "enum": [0, 1]}),
                json!({"type": "number", "minimum": 0.5, "maximum": 100}),
                json!({"type": "integer"}),
                json!({"type": "object", "properties": {"a": text}, "required": ["a"]}),
                text,
            ])
            .clone(),
        (1, "c") => choices
            .pick(&[
                json!({"type": "array", "items": text, "minItems": 1, "maxItems": 1}),
                json!({"type": "array", "items": text}),
                json!({"type": "array", "items": {"type": "object", "properties": {"a": text, "b": {"type": "integer"}}}}),
                json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
                       "items": {"type": "object", "required": ["a"], "properties": {"a": text, "b": {"type": "integer"}}}}),
                json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"],
                       "items": {"type": "object", "required": ["a", "b"], "properties": {"a": text, "b": {"type": "integer"}}}}),
                json!({"type": "array", "x-kubernetes-list-type": "set", "items": text}),
                json!({"type": "array", "items": {"type": "integer"}}),
            ])
            .clone(),
        (1, _) => choices
            .pick(&[
                json!({"type": "object", "additionalProperties": text}),
                json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"a": text, "b": text}}}),
                json!({"type": "object", "additionalProperties": {"type": "object", "properties": {"x": text}}}),
                json!({"type": "object", "properties": {"a": text, "b": {"type": "integer"}}}),
                json!({"type": "object", "properties": {"a": text, "b": text}, "required": ["b"]}),
                json!({"type": "object", "properties": {"a": {"type": "string", "default": "a"}, "b": text}, "required": ["a"]}),
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
            ])
            .clone(),
        (2, _) => node(choices, 1),
        _ => node(choices, 0),
    };
    if choices.once_in(8) {
        schema["nullable"] = true.into();
    }
    if choices.once_in(6) {
        let default = match schema["type"].as_str() {
            Some("integer" | "number") => json!(choices.pick(&[0, 1, 2])),
            Some("boolean") => json!(true),
            Some("array") => json!(["a"]),
            Some("object") => json!(choices.pick(&[json!({}), json!({"a": "a"})])),
            _ => json!(choices.pick(&["a", "ab", "b"])),
        };
        schema["default"] = default;
    }
    schema
}
