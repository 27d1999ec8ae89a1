use serde_json::json;

use super::*;
use crate::cel::testing::shape;

fn rule(rule: &str) -> CelRule {
    CelRule { rule: rule.into(), message: None, message_expression: None, reason: None, field_path: None, optional_old_self: None }
}

fn errors(rule: CelRule) -> Vec<&'static str> {
    let shape = shape(&json!({"type": "object", "properties": {
        "a": {"type": "object", "properties": {"b": {"type": "string"}, "x.y": {"type": "string"}}},
        "m": {"type": "object", "additionalProperties": {"type": "string"}},
        "l": {"type": "array", "items": {"type": "string"}}}}));
    form_errors(&rule, &shape).iter().map(FormError::member).collect()
}

#[test]
fn blank_and_broken_texts() {
    let none: [&str; 0] = [];
    assert_eq!(errors(rule("true")), none);
    assert_eq!(errors(rule(" ")), ["rule"]);
    assert_eq!(errors(rule("true\n")), none);
    assert_eq!(errors(rule("true\n&& true")), ["message"]);
    assert_eq!(errors(CelRule { message: Some("why".into()), ..rule("true\n&& true") }), none);
    assert_eq!(errors(CelRule { message: Some(" ".into()), ..rule("true") }), ["message"]);
    assert_eq!(errors(CelRule { message: Some("a\nb".into()), ..rule("true") }), ["message"]);
    assert_eq!(errors(CelRule { message_expression: Some(" ".into()), ..rule("true") }), ["messageExpression"]);
    assert_eq!(errors(CelRule { reason: Some("FieldValueInvalid".into()), ..rule("true") }), none);
    assert_eq!(errors(CelRule { reason: Some("Bad".into()), ..rule("true") }), ["reason"]);
}

#[test]
fn field_paths() {
    let valid = |path: &str| errors(CelRule { field_path: Some(path.into()), ..rule("true") }).is_empty();
    for path in [".a", ".a.b", ".a['b']", "['a'].b", ".a['x.y']", ".m.key", ".m['k']", ".l"] {
        assert!(valid(path), "{path}");
    }
    for path in ["a", ".z", ".a.", ".", ".a[b]", ".a['b'", ".l[0]", ".l['0']", ".a.x.y", ".m.k.z", " .a", ".a\n", "..a", ".a.b.c"] {
        assert!(!valid(path), "{path}");
    }
}

#[test]
fn field_paths_of_odd_names() {
    let number = || json!({"type": "number"});
    let schema = shape(&json!({"type": "object", "properties": {
        "foo": {"type": "object", "additionalProperties": {"type": "object", "properties": {"subAdd": number()}}},
        "white space": number(),
        "any": {"type": "object", "additionalProperties": true},
        "'foo'bar": number(),
        "a": {"type": "object", "properties": {
            "foo's": number(), "test\u{7}": number(), "bb[b": number(),
            "bbb": {"type": "object", "properties": {"c": number(), "34": number()}},
            "bbb.c": {"type": "object", "properties": {"a-b.3'4": number()}}}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"a": number(), "a-b.3'4": number()}}}}}));
    let valid = |path: &str| form_errors(&CelRule { field_path: Some(path.into()), ..rule("true") }, &schema).is_empty();
    for path in [
        "['\\'foo\\'bar']",
        ".white space",
        "['white space']",
        ".a['bbb.c']",
        ".foo.subAdd",
        ".foo['subAdd']",
        ".a.foo's",
        ".a['foo\\'s']",
        ".a['test\\a']",
        ".a.bbb.34",
        ".a.bbb['34']",
        ".list",
        ".foo['\\n']",
        ".any.x",
    ] {
        assert!(valid(path), "{path}");
    }
    for path in [
        ".\\'foo\\'bar",
        ". a",
        ".a.bb[b",
        ".a['bbb.c'",
        ".a.foo",
        ".a.bbb[0]",
        ".list[0]",
        ".list. a",
        ".list['a']",
        ".a..b",
        ".list.a-b.34",
        ".foo['\\x']",
        ".any.x.y",
    ] {
        assert!(!valid(path), "{path}");
    }
}
