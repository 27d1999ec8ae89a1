use serde_json::{Value, json};

use super::*;
use crate::testing::{decl, shape};

fn sizes(schema: Value) -> (u64, i64) {
    let decl = decl(&schema);
    (decl.max_size, decl.min_bytes)
}

#[test]
fn sizes_are_the_servers() {
    assert_eq!(sizes(json!({"type": "string"})), (3_145_726, 2));
    assert_eq!(sizes(json!({"type": "string", "maxLength": 5})), (20, 2));
    assert_eq!(sizes(json!({"type": "string", "enum": ["a", "long"]})), (4, 2));
    assert_eq!(sizes(json!({"type": "string", "format": "byte", "maxLength": 5})), (5, 2));
    assert_eq!(sizes(json!({"type": "string", "format": "date-time", "maxLength": 5})), (32, 21));
    assert_eq!(sizes(json!({"type": "string", "format": "duration"})), (32, 3));
    assert_eq!(sizes(json!({"type": "integer"})), (0, 1));
    assert_eq!(sizes(json!({"x-kubernetes-int-or-string": true})), (3_145_726, 1));
    assert_eq!(sizes(json!({"x-kubernetes-int-or-string": true, "maxLength": 3})), (12, 1));
    assert_eq!(sizes(json!({"type": "array", "items": {"type": "boolean"}})), (629_145, 2));
    assert_eq!(sizes(json!({"type": "array", "items": {"type": "boolean"}, "maxItems": -1})), (0, 2));
    assert_eq!(sizes(json!({"type": "object", "additionalProperties": {"type": "integer"}})), (449_389, 2));
    let object = json!({"type": "object", "required": ["a", "b", "c"], "properties": {
        "a": {"type": "string"}, "b": {"type": "integer", "default": 1}, "c": {"x-kubernetes-preserve-unknown-fields": true}}});
    assert_eq!(sizes(object), (0, 2 + 1 + 2 + 4));
}

#[test]
fn visible_fields() {
    let object = json!({"type": "object", "properties": {"metadata": {"type": "object"}, "spec": {"type": "object"},
        "any": {"x-kubernetes-preserve-unknown-fields": true}, "list": {"type": "array", "items": {"x-kubernetes-preserve-unknown-fields": true}}}});
    let root = Decl::of(&shape(&object), true);
    let DeclKind::Object(fields) = &root.kind else { panic!("an object") };
    let seen = |name: &str| fields.field(name).is_some();
    assert!(seen("kind") && seen("apiVersion") && seen("metadata") && seen("spec"));
    assert!(!seen("any") && !seen("list"));
    let metadata = root.named("@self", "@self.metadata").expect("metadata");
    assert!(matches!(&metadata.kind, DeclKind::Object(o) if o.fields.keys().eq(["generateName", "name"])));
    assert!(!decl(&json!({"type": "array"})).exposed());
}
