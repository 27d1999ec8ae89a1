use serde_json::{Value, json};

use super::super::{Search, UndecidedReason};
use super::{accepted, equal, open, refused, ruled, sat, stored_differently, unsat};

fn list(items: Value, more: Value) -> Value {
    let mut schema = json!({"type": "array", "items": items});
    schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    schema
}

fn length(value: &Value) -> usize {
    value.as_array().unwrap().len()
}

#[test]
fn items_are_counted() {
    let most = |n: u64| list(json!({"type": "integer"}), json!({"maxItems": n}));
    let least = |n: u64| list(json!({"type": "integer"}), json!({"minItems": n}));
    assert_eq!(length(&sat(refused(&most(3), &most(2)))), 3);
    assert_eq!(length(&sat(refused(&least(2), &least(3)))), 2);
    unsat(refused(&most(2), &most(3)));
    unsat(accepted(&list(json!({"type": "integer"}), json!({"minItems": 2, "maxItems": 1}))));
}

#[test]
fn a_list_of_impossible_items_is_empty() {
    let nothing = json!({"type": "integer", "minimum": 2, "maximum": 1});
    assert_eq!(sat(accepted(&list(nothing.clone(), json!({})))), json!([]));
    unsat(accepted(&list(nothing.clone(), json!({"minItems": 1}))));
    equal(&list(nothing, json!({})), &list(json!({"type": "integer"}), json!({"maxItems": 0})));
}

#[test]
fn distinct_items_run_out() {
    let set = |n: u64| list(json!({"type": "boolean"}), json!({"x-kubernetes-list-type": "set", "minItems": n}));
    assert_eq!(length(&sat(accepted(&set(2)))), 2);
    unsat(accepted(&set(3)));
}

#[test]
fn distinct_items_are_tried_in_both_orders() {
    // If the item for either of the values comes first, it may take the only value of the other item.
    let set = |rules: [&str; 2], most: u64| {
        ruled(list(json!({"type": "string", "enum": ["a", "b"]}), json!({"x-kubernetes-list-type": "set", "maxItems": most})), &rules)
    };
    for one in ["a", "b"] {
        let (one, either) = (format!("self.exists(x, x == '{one}')"), "self.exists(x, x in ['a', 'b'])");
        for rules in [[&*one, either], [either, &*one]] {
            for most in [1, 2] {
                sat(accepted(&set(rules, most)));
            }
        }
    }
    let both = ["self.exists(x, x == 'a')", "self.exists(x, x == 'b')"];
    assert_eq!(length(&sat(accepted(&set(both, 2)))), 2);
    assert!(!matches!(accepted(&set(both, 1)), Search::Found(_)));
}

#[test]
fn a_set_refuses_a_repeat_and_a_map_a_repeated_key() {
    let plain = list(json!({"type": "string"}), json!({}));
    let twice = sat(refused(&plain, &list(json!({"type": "string"}), json!({"x-kubernetes-list-type": "set"}))));
    assert!(length(&twice) > 1 && twice[0] == twice[1], "{twice}");
    let item = json!({"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "x": {"type": "integer"}}});
    let keyed = json!({"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]});
    let twice = sat(refused(&list(item.clone(), json!({})), &list(item.clone(), keyed.clone())));
    assert!(length(&twice) > 1 && twice[0]["name"] == twice[1]["name"], "{twice}");
    // Two items with the same name that differ in something else aren't searched for yet, but aren't excluded either.
    let differ = list(item.clone(), json!({"x-kubernetes-list-type": "set"}));
    let found = refused(&differ, &list(item, keyed));
    assert!(!matches!(found, Search::Impossible), "{found:?}");
}

#[test]
fn an_item_that_is_null_becomes_its_default() {
    let items = |default: i64| list(json!({"type": "integer", "default": default}), json!({}));
    assert_eq!(sat(stored_differently(&items(1), &items(2))), json!([null]));
    unsat(stored_differently(&items(1), &items(1)));
}

#[test]
fn more_items_than_can_be_built_are_undecided() {
    for (most, keywords) in [(5_000, json!({})), (300, json!({"x-kubernetes-list-type": "set"}))] {
        let of = |least: u64| {
            let mut keywords = keywords.clone();
            keywords["minItems"] = least.into();
            list(json!({"type": "integer"}), keywords)
        };
        assert_eq!(open(accepted(&of(most + 1))), UndecidedReason::Budget);
        sat(accepted(&of(most)));
    }
}
