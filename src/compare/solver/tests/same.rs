use serde_json::{Value, json};

use super::super::ReadBy;
use super::super::same::Same;
use super::{ruled, shape};

fn same(a: Value, b: Value) -> bool {
    Same::default().shapes(&shape(&a), &shape(&b))
}

/// Whether both prune, drop nulls and apply defaults the same way.
fn read_alike(a: Value, b: Value) -> bool {
    let (a, b) = (shape(&a), shape(&b));
    Same::default().readers(ReadBy::shape_of(&a), ReadBy::shape_of(&b))
}

fn field(child: Value) -> Value {
    json!({"type": "object", "properties": {"a": child}})
}

#[test]
fn documentation_makes_no_difference_and_every_keyword_does() {
    assert!(same(field(json!({"type": "string", "description": "x"})), field(json!({"type": "string", "title": "y"}))));
    for other in [
        json!({"type": "string", "maxLength": 1}),
        json!({"type": "string", "nullable": true}),
        json!({"type": "string", "default": ""}),
        json!({"type": "string", "format": "uuid"}),
        json!({"type": "string", "not": {"maxLength": 1}}),
        ruled(json!({"type": "string"}), &["self != ''"]),
    ] {
        assert!(!same(field(json!({"type": "string"})), field(other.clone())), "{other}");
    }
}

#[test]
fn nodes_apart_from_their_children() {
    let mut same = Same::default();
    let (a, b) = (shape(&field(json!({"type": "string"}))), shape(&field(json!({"type": "integer"}))));
    assert!(same.local(&a, &b) && !same.shapes(&a, &b));
}

#[test]
fn accepted_values_do_not_affect_how_values_are_read() {
    assert!(read_alike(field(json!({"type": "string"})), field(json!({"type": "string", "maxLength": 1}))));
    assert!(!read_alike(field(json!({"type": "string"})), field(json!({"type": "string", "default": "a"}))));
    assert!(!read_alike(field(json!({"type": "string"})), field(json!({"type": "string", "nullable": true}))));
    assert!(!read_alike(field(json!({"type": "string"})), json!({"type": "object"})));
    let kept = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    assert!(!read_alike(field(kept), field(json!({"type": "object"}))));
}

#[test]
fn small_clauses_are_compared_again_instead_of_remembered() {
    let clauses: Vec<_> = (0..50).map(|number| shape(&json!({"properties": {"a": {"maximum": number}}}))).collect();
    let mut same = Same::default();
    for a in &clauses {
        assert_eq!(clauses.iter().filter(|b| same.shapes(a, b)).count(), 1);
    }
    assert_eq!(same.remembered(), 0);
    let wide = json!({"type": "object", "properties": (0..30).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect::<serde_json::Map<_, _>>()});
    assert!(same.shapes(&shape(&wide), &shape(&wide)) && same.remembered() == 1);
}
