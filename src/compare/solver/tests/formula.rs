use std::rc::Rc;

use serde_json::json;

use super::super::formula::{Formula, divisible, equal, size};

fn has(key: &str) -> Rc<Formula> {
    Rc::new(Formula::Has(key.into()))
}

fn constant(holds: bool) -> Rc<Formula> {
    Rc::new(Formula::Const(holds))
}

#[test]
fn constants_and_repetitions_are_simplified() {
    assert_eq!(Formula::all([constant(true), has("a"), has("a")]), has("a"));
    assert_eq!(Formula::all([has("a"), constant(false)]), constant(false));
    assert_eq!(Formula::any([has("a"), constant(true)]), constant(true));
    assert_eq!(Formula::all([]), constant(true));
    assert_eq!(Formula::any([]), constant(false));
    assert_eq!(has("a").negated().negated(), has("a"));
    assert_eq!(constant(true).negated(), constant(false));
}

#[test]
fn numbers_are_equal_by_value_wherever_they_are() {
    assert!(equal(&json!({"a": [1, 2.0]}), &json!({"a": [1.0, 2]})));
    assert!(!equal(&json!([1, 2]), &json!([2, 1])));
    assert!(!equal(&json!(1), &json!("1")));
    // Not by converting to a float, where both are equal.
    assert!(!equal(&json!(9007199254740993_i64), &json!(9007199254740992_i64)));
}

#[test]
fn sizes_and_remainders_are_those_of_cel() {
    assert_eq!(size(&json!("äöü")), Some(3));
    assert_eq!(size(&json!({"a": 1})), Some(1));
    assert_eq!(size(&json!(7)), None);
    assert!(divisible(&json!(-6), 3) && !divisible(&json!(6.0), 3));
    assert!(!divisible(&json!(6), 0), "an error is not true");
}
