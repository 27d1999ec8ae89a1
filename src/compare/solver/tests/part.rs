use std::rc::Rc;

use serde_json::{Value, json};

use super::super::part::{Part, Parts, reads};
use super::super::{Formula, Kind, RuleCache};
use super::shape;
use crate::compare::Budget;

/// How many conditions a schema has for values of a kind; `None` if it accepts none of them.
fn parts(schema: Value, kind: Kind) -> Option<usize> {
    let (shape, rules) = (shape(&schema), RuleCache::within(&Budget::of_each()));
    Parts { pair: None, rules: &rules }.of_shape(&shape, kind, true, true).ok().map(|parts| parts.len())
}

/// Whether a formula restricts a kind; `Err` if it can't hold.
fn says(formula: Formula, kind: Kind) -> Result<bool, ()> {
    let rules = RuleCache::within(&Budget::of_each());
    Parts { pair: None, rules: &rules }.of_formula(&Rc::new(formula), kind).map(|part| part.is_some()).map_err(|_| ())
}

#[test]
fn a_keyword_applies_only_to_its_kinds() {
    let schema = json!({"x-kubernetes-int-or-string": true, "minLength": 2, "maximum": 5});
    assert_eq!(parts(schema.clone(), Kind::Bool), None);
    assert_eq!(parts(schema.clone(), Kind::String), Some(1));
    assert_eq!(parts(schema, Kind::Int), Some(1));
    assert_eq!(parts(json!({"type": "string", "minLength": 0}), Kind::String), Some(0));
}

#[test]
fn list_types_and_rules_count_only_where_a_node_is_declared() {
    let schema = json!({"type": "array", "x-kubernetes-list-type": "set", "x-kubernetes-validations": [{"rule": "size(self) < 3"}]});
    let (shape, rules) = (shape(&schema), RuleCache::within(&Budget::of_each()));
    let parts = |declared: bool| Parts { pair: None, rules: &rules }.of_shape(&shape, Kind::Array, declared, true).ok().unwrap().len();
    assert_eq!((parts(true), parts(false)), (2, 0));
}

#[test]
fn a_formula_about_another_kind_is_false() {
    assert_eq!(says(Formula::MinSize(0), Kind::String), Ok(false));
    assert_eq!(says(Formula::MinSize(1), Kind::String), Ok(true));
    assert_eq!(says(Formula::MinSize(1), Kind::Int), Err(()));
    assert_eq!(says(Formula::Equals(json!(1.5)), Kind::Int), Err(()));
    assert_eq!(says(Formula::Equals(json!(1)), Kind::Float), Ok(true));
    assert_eq!(says(Formula::Has("a".into()), Kind::Array), Err(()));
}

#[test]
fn the_keys_read_by_a_clause_are_known_only_by_name() {
    let keys = |schema: Value| {
        let shape = shape(&schema);
        reads(&Part::AnyOf(&shape.any_of)).map(|keys| keys.into_iter().collect::<Vec<_>>())
    };
    let named = json!({"anyOf": [{"required": ["a"]}, {"not": {"required": ["b"]}}, {"properties": {"c": {"minimum": 1}}}]});
    assert_eq!(keys(named), Some(vec!["a".to_owned(), "b".to_owned(), "c".to_owned()]));
    assert_eq!(keys(json!({"anyOf": [{"minProperties": 1}]})), None);
}
