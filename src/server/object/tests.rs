//! Tests of requests with small schemas, one behaviour per test.

use serde_json::{Value, json};

use crate::input::yaml::YamlBudget;
use crate::input::{File, Origin};
use crate::model::schema::Shape;
use crate::model::{Bundle, Documents};

use super::error::FieldErrorType;
use super::*;

/// The shape of a root whose `spec` has these properties (or, with `type`, is this schema), in flow style.
fn shape(spec: &str) -> Shape {
    let spec = if spec.starts_with("{type") { spec.to_owned() } else { format!("{{type: object, properties: {spec}}}") };
    let text = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: widgets.shop.example.com}}\nspec:\n  group: \
         shop.example.com\n  names: {{plural: widgets, kind: Widget}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    \
         storage: true\n    schema: {{openAPIV3Schema: {{type: object, properties: {{spec: {spec}}}}}}}\n"
    );
    let documents = Documents::parse(vec![File::new("crd.yaml", text, Origin::Stdin)], &YamlBudget::default());
    let bundle = Bundle::read(&documents);
    assert!(bundle.problems.is_empty(), "{:?}", bundle.problems);
    Shape::of(bundle.crds[0].versions[0].schema.as_ref().unwrap())
}

fn request(schema: &str, spec: Value) -> Response {
    Compiled::new(&shape(schema)).request(json!({ "spec": spec }))
}

fn stored(schema: &str, spec: Value) -> Value {
    let outcome = request(schema, spec);
    assert!(outcome.accepted(), "{:?}", outcome.errors);
    outcome.stored["spec"].clone()
}

fn fields(outcome: &Response) -> Vec<&str> {
    outcome.errors.iter().map(|error| error.field.as_str()).collect()
}

#[test]
fn unknown_fields_are_pruned_and_preserving_ends_at_the_next_declared_field() {
    let schema =
        "{a: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {b: {type: object, properties: {c: {type: string}}}}}}";
    let outcome = request(schema, json!({"x": 1, "a": {"y": {"z": 1}, "b": {"c": "c", "d": 1}}}));
    assert_eq!(outcome.stored, json!({"spec": {"a": {"y": {"z": 1}, "b": {"c": "c"}}}}));
    let pruned: Vec<String> = outcome.pruned.iter().map(ObjectPath::to_string).collect();
    assert_eq!(pruned, ["spec.a.b.d", "spec.x"]);
}

#[test]
fn a_bare_object_keeps_nothing_and_additional_true_empties_nested_maps() {
    assert_eq!(stored("{a: {type: object}}", json!({"a": {"x": 1}})), json!({"a": {}}));
    let free = "{a: {type: object, additionalProperties: true}}";
    assert_eq!(stored(free, json!({"a": {"x": {"y": 1}, "l": [{"z": 1}, 2]}})), json!({"a": {"x": {}, "l": [{}, 2]}}));
}

#[test]
fn items_of_lists_that_preserve_unknown_fields_preserve_them_too() {
    let schema = "{a: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {b: {type: object}}}}}";
    assert_eq!(stored(schema, json!({"a": [{"x": 1, "b": {"y": 1}}]})), json!({"a": [{"x": 1, "b": {}}]}));
}

#[test]
fn the_root_keeps_its_metadata_and_an_embedded_resource_its_own() {
    let schema = "{a: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}}";
    let compiled = Compiled::new(&shape(schema));
    let object = json!({
        "apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "w", "labels": {"a": "b"}},
        "spec": {"a": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "colour": "red"}, "other": 1}},
    });
    let outcome = compiled.request(object);
    assert!(outcome.accepted(), "{:?}", outcome.errors);
    assert_eq!(outcome.stored["metadata"]["labels"], json!({"a": "b"}));
    assert_eq!(outcome.stored["spec"]["a"], json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}));
    let bad = compiled.request(json!({"spec": {"a": {"kind": "1", "metadata": {"name": "a/b"}}}}));
    assert_eq!(fields(&bad), ["spec.a.apiVersion", "spec.a.kind", "spec.a.metadata.name"]);
    let unread = compiled.request(json!({"spec": {"a": {"apiVersion": 1, "kind": "Pod"}}}));
    assert_eq!(fields(&unread), ["spec.a.apiVersion"]);
}

#[test]
fn null_is_dropped_defaulted_or_kept() {
    let schema = "{a: {type: string}, b: {type: string, default: x}, c: {type: string, nullable: true, default: q}, d: {type: array, items: {type: string}}}";
    assert_eq!(stored(schema, json!({"a": null, "b": null, "c": null})), json!({"b": "x", "c": null}));
    assert_eq!(fields(&request(schema, json!({"d": [null]}))), ["spec.d[0]"]);
}

#[test]
fn defaults_need_their_parent() {
    let schema = "{a: {type: object, properties: {b: {type: integer, default: 1}}}, m: {type: object, additionalProperties: {type: object, properties: {c: {type: integer, default: 2}}}}, l: {type: array, items: {type: object, properties: {d: {type: integer, default: 3}}}}}";
    assert_eq!(stored(schema, json!({})), json!({}));
    let outcome = request(schema, json!({"a": {}, "m": {"k": {}}, "l": [{}, {"d": 5}]}));
    assert_eq!(outcome.stored["spec"], json!({"a": {"b": 1}, "m": {"k": {"c": 2}}, "l": [{"d": 3}, {"d": 5}]}));
    let filled: Vec<String> = outcome.defaulted.iter().map(|path| path.general().to_string()).collect();
    assert_eq!(filled, ["spec.a.b", "spec.l[].d", "spec.m{}.c"]);
}

#[test]
fn a_negative_maximum_accepts_nothing() {
    let schema =
        "{a: {type: array, maxItems: -1, items: {type: string}}, m: {type: object, maxProperties: -1}, s: {type: string, maxLength: -1}}";
    let errors = |spec: Value| {
        request(schema, spec).errors.iter().map(|error| format!("{}: {}", error.field, error.server_message())).collect::<Vec<_>>()
    };
    assert_eq!(errors(json!({"a": []})), ["spec.a: Too many: 0: has too many items"]);
    assert_eq!(errors(json!({"m": {}})), ["spec.m: Too many: 0: has too many items"]);
    assert_eq!(errors(json!({"s": ""})), ["spec.s: Too long: value is too long"]);
}

#[test]
fn defaults_are_pruned_before_they_are_applied() {
    let size =
        "{type: object, maxProperties: 2, default: {a: x, unknown: y}, properties: {a: {type: string}, b: {type: string, default: q}}}";
    let schema = format!("{{m: {{type: object, additionalProperties: {{type: object, properties: {{size: {size}}}}}}}}}");
    assert_eq!(stored(&schema, json!({"m": {"k": {}}})), json!({"m": {"k": {"size": {"a": "x", "b": "q"}}}}));
}

#[test]
fn a_default_inside_a_default_is_applied_and_reported_once() {
    let schema = "{a: {type: object, default: {}, properties: {b: {type: integer, default: 1}}}}";
    let outcome = request(schema, json!({}));
    assert_eq!(outcome.stored["spec"], json!({"a": {"b": 1}}));
    assert_eq!(outcome.defaulted.len(), 1);
}

#[test]
fn keywords_apply_only_to_their_own_type() {
    let schema = "{a: {x-kubernetes-preserve-unknown-fields: true, minLength: 3, minimum: 5, minItems: 1, minProperties: 1}}";
    for value in [json!(true), json!("abc"), json!(5), json!([1]), json!({"x": 1})] {
        assert!(request(schema, json!({ "a": value })).accepted(), "{value}");
    }
    for value in [json!("ab"), json!(4), json!([]), json!({})] {
        assert_eq!(fields(&request(schema, json!({ "a": value }))), ["spec.a"], "{value}");
    }
}

#[test]
fn lengths_are_counted_in_code_points() {
    let schema = "{a: {type: string, maxLength: 2}}";
    assert!(request(schema, json!({"a": "éé"})).accepted());
    let outcome = request(schema, json!({"a": "ééé"}));
    assert_eq!((outcome.errors[0].kind, outcome.errors[0].reason), (FieldErrorKind::MaxLength, FieldErrorType::TooLong));
}

#[test]
fn null_passes_an_enum_only_inside_a_clause() {
    assert_eq!(fields(&request("{a: {type: string, nullable: true, enum: [x]}}", json!({"a": null}))), ["spec.a"]);
    assert!(request("{a: {type: string, nullable: true, allOf: [{enum: [x]}]}}", json!({"a": null})).accepted());
}

#[test]
fn a_list_is_accepted_for_a_string_with_a_known_format() {
    assert!(request("{a: {type: string, format: date}}", json!({"a": ["x"]})).accepted());
    assert_eq!(fields(&request("{a: {type: string, format: colour}}", json!({"a": ["x"]}))), ["spec.a"]);
}

#[test]
fn the_clause_that_passed_the_most_checks_is_reported() {
    let schema = "{type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [a, b], properties: {b: {minLength: 3}}}]}";
    let none = request(schema, json!({"b": "x"}));
    assert_eq!(fields(&none), ["<nil>", "spec.b", "spec.a"]);
    assert_eq!(none.errors[0].kind, FieldErrorKind::OneOf);
    assert_eq!(none.errors[0].path.to_string(), "spec");
    let both = request(schema, json!({"a": "x", "b": "xyz"}));
    assert_eq!(
        both.errors[0].message,
        "Invalid value: \"\": \"spec\" must validate one and only one schema (oneOf). Found 2 valid alternatives"
    );
}

#[test]
fn sets_and_maps_have_no_duplicates() {
    let schema = "{s: {type: array, x-kubernetes-list-type: set, items: {type: string}}, m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer}}}}}";
    let outcome = request(schema, json!({"s": ["a", "b", "a", "a"], "m": [{"k": "x", "v": 1}, {"k": "x", "v": 2}, {}]}));
    assert_eq!(fields(&outcome), ["spec.m[1]", "spec.s[2]"]);
    assert_eq!(outcome.errors[0].message, "Duplicate value: {\"k\":\"x\"}");
}

#[test]
fn errors_in_unchanged_values_are_tolerated() {
    let schema = "{a: {type: string, maxLength: 2}, b: {type: object, properties: {c: {type: integer, maximum: 3}}, required: [d]}, l: {type: array, items: {type: integer, maximum: 3}}, m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: integer, maximum: 3}}}}}";
    let compiled = Compiled::new(&shape(schema));
    let old = json!({"spec": {"a": "long", "b": {"c": 9}, "l": [9], "m": [{"k": "x", "v": 9}]}});
    let same = compiled.request_update(&old, old.clone());
    assert!(same.accepted());
    assert_eq!(same.warnings.len(), 5);
    let mut new = old.clone();
    new["spec"]["b"]["c"] = json!(8);
    new["spec"]["l"] = json!([9, 1]);
    new["spec"]["m"] = json!([{"k": "y", "v": 1}, {"k": "x", "v": 9}]);
    let outcome = compiled.request_update(&old, new);
    assert_eq!(fields(&outcome), ["spec.b.c", "spec.b.d", "spec.l[0]"]);
}

#[test]
fn a_list_that_had_duplicates_is_not_checked_again() {
    let compiled = Compiled::new(&shape("{s: {type: array, x-kubernetes-list-type: set, items: {type: string}}}"));
    let broken = json!({"spec": {"s": ["a", "a"]}});
    assert!(!compiled.request(broken.clone()).accepted());
    assert!(compiled.request_update(&broken, json!({"spec": {"s": ["a", "a", "a"]}})).accepted());
    assert!(!compiled.request_update(&json!({"spec": {"s": ["a"]}}), broken).accepted());
}

#[test]
fn a_default_is_checked_as_written() {
    let default = |schema: &str| {
        let shape = shape(&format!("{{a: {schema}}}"));
        default_of_schema(&shape.properties["spec"].properties["a"]).into_iter().map(|error| error.kind).collect::<Vec<_>>()
    };
    assert!(default("{type: string, default: x}").is_empty());
    assert_eq!(default("{type: integer, default: x}"), [FieldErrorKind::Type]);
    assert_eq!(
        default("{type: object, default: {}, required: [b], properties: {b: {type: string, default: x}}}"),
        [FieldErrorKind::Required]
    );
    assert_eq!(default("{type: object, default: {z: 1}, properties: {b: {type: string}}}"), [FieldErrorKind::Unknown]);
    assert!(default("{type: array, x-kubernetes-list-type: set, items: {type: string}, default: [a, a]}").is_empty());
    assert!(default("{x-kubernetes-int-or-string: true, default: {}}").is_empty());
    assert_eq!(
        default("{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}], default: true}"),
        [FieldErrorKind::AnyOf, FieldErrorKind::Type]
    );
}

#[test]
fn the_deepest_schema_that_can_be_read_is_walked() {
    let mut schema = "{type: string, minLength: 2}".to_owned();
    let mut value = json!("x");
    for level in 0..45 {
        schema = match level % 3 {
            0 => format!("{{type: object, properties: {{a: {schema}}}}}"),
            1 => format!("{{type: array, items: {schema}, allOf: [{{minItems: 1}}]}}"),
            _ => format!("{{type: object, additionalProperties: {schema}, anyOf: [{{maxProperties: 9}}]}}"),
        };
        value = if level % 3 == 1 { json!([value]) } else { json!({ "a": value }) };
    }
    let outcome = request(&schema, value);
    assert_eq!((outcome.errors.len(), outcome.errors[0].kind, outcome.errors[0].path.steps().len()), (1, FieldErrorKind::MinLength, 46));
}

#[test]
fn rules_see_the_old_value_and_report_their_message() {
    let schema = "{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: 'self == oldSelf', message: fixed}]}, m: {type: object, additionalProperties: {type: integer, x-kubernetes-validations: [{rule: self < 5, messageExpression: '\"not \" + string(self)', reason: FieldValueForbidden}]}}}, x-kubernetes-validations: [{rule: '!has(self.m) || size(self.m) < 2', fieldPath: .m}]}";
    let compiled = Compiled::new(&shape(schema));
    let old = json!({"spec": {"a": "x", "m": {"k": 7}}});
    assert_eq!(fields(&compiled.request(old.clone())), ["spec.m[k]"]);
    let same = compiled.request_update(&old, old.clone());
    assert_eq!((same.accepted(), same.warnings[0].error.message.as_str()), (true, "Forbidden: not 7"));
    let moved = compiled.request_update(&old, json!({"spec": {"a": "y", "m": {"k": 7, "l": 1}}}));
    let told: Vec<_> = moved.errors.iter().map(|error| (error.field.as_str(), error.message.as_str())).collect();
    assert_eq!(
        told,
        [("spec.m", "Invalid value: failed rule: !has(self.m) || size(self.m) < 2"), ("spec.a", "Invalid value: \"y\": fixed"),]
    );
    assert_eq!(moved.warnings.len(), 1, "spec.m[k] itself is unchanged");
}

#[test]
fn rules_are_not_run_after_a_type_or_required_error() {
    let schema = "{a: {type: string, maxLength: 2}, b: {type: integer, minimum: 3, x-kubernetes-validations: [{rule: self > 9}]}}";
    assert_eq!(fields(&request(schema, json!({"a": "long", "b": 1}))), ["spec.a", "spec.b", "<nil>"]);
    assert_eq!(fields(&request(schema, json!({"b": 1}))), ["spec.b", "spec.b"]);
}

#[test]
fn messages_are_those_of_the_server() {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {
        "n": {"type": "integer", "enum": [0, 2]}, "t": {"type": "boolean", "enum": [false]},
        "e": {"type": "object", "x-kubernetes-embedded-resource": true},
        "q": {"type": "string", "maxLength": 9, "x-kubernetes-validations": [{"rule": "quantity(self).isInteger()"}]}}}}});
    let compiled = Compiled::new(&crate::testing::shape(&schema));
    for (spec, said) in [
        (json!({"n": 3}), "spec.n: Unsupported value: 3: supported values: \"0\", \"2\""),
        (json!({"t": true}), "spec.t: Unsupported value: true: supported values: \"false\""),
        (json!({"e": {"apiVersion": "", "kind": "X"}}), "spec.e.apiVersion: Invalid value: \"\": must not be empty"),
        (json!({"e": {"kind": "X"}}), "spec.e.apiVersion: Required value"),
        (
            json!({"q": "x"}),
            "spec.q: Invalid value: \"string\": quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$' evaluating rule: quantity(self).isInteger()",
        ),
    ] {
        let object = json!({"apiVersion": "example.com/v1", "kind": "Example", "metadata": {"name": "a"}, "spec": spec});
        let errors: Vec<String> =
            compiled.request(object).errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
        assert_eq!(errors.first().map(String::as_str), Some(said));
    }
}

#[test]
fn a_request_has_a_limit_of_steps_and_says_so() {
    // Every item is checked against every clause: 3,000 × 3,000.
    let clauses: Vec<String> = (0..3_000).map(|number| format!("{{enum: [v{number}]}}")).collect();
    let schema = format!("{{a: {{type: array, items: {{type: string, anyOf: [{}]}}}}}}", clauses.join(", "));
    let outcome = request(&schema, json!({"a": vec!["v2999"; 3_000]}));
    assert!(outcome.accepted());
    assert_eq!(outcome.undecided.len(), 1);
    assert!(outcome.undecided[0].1.contains("steps"), "{}", outcome.undecided[0].1);
}

#[test]
fn errors_are_listed_up_to_a_limit() {
    let outcome =
        request("{a: {type: array, items: {type: integer, maximum: 5}}}", json!({"a": (0..20_000).map(|n| n + 6).collect::<Vec<_>>()}));
    assert_eq!(outcome.errors.len(), 10_000);
    assert_eq!(outcome.undecided.len(), 1);
}

#[test]
fn defaults_that_multiply_are_refused() {
    let many: Vec<usize> = (0..3_000).collect();
    let schema = format!(
        "{{a: {{type: array, items: {{type: object, properties: {{x: {{type: array, items: {{type: integer}}, default: {many:?}}}}}}}}}}}"
    );
    assert!(request(&schema, json!({"a": [{}, {}]})).accepted());
    let outcome = request(&schema, json!({"a": vec![json!({}); 1_000]}));
    assert_eq!(outcome.errors.len(), 1);
    assert_eq!(outcome.errors[0].kind, FieldErrorKind::Size);
}

#[test]
fn items_of_a_long_map_list_are_matched_by_their_keys() {
    let schema = "{a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], \
                  properties: {k: {type: string}, v: {type: integer, maximum: 5}}}}}";
    let compiled = Compiled::new(&shape(schema));
    let item = |number: usize| json!({"k": format!("k{number}"), "v": number});
    let old = json!({"spec": {"a": (0..100).map(item).collect::<Vec<_>>()}});
    let mut items: Vec<Value> = (0..100).rev().map(item).collect();
    assert!(compiled.request_update(&old, json!({"spec": {"a": items.clone()}})).accepted(), "each is what it was, in another place");
    items[0]["v"] = json!(200);
    let outcome = compiled.request_update(&old, json!({"spec": {"a": items}}));
    assert_eq!(fields(&outcome), ["spec.a[0].v"]);
}
