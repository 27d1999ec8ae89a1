use serde_json::json;

use super::super::UndecidedReason;
use super::{accepted, equal, open, refused, sat, unsat};

#[test]
fn strings_are_counted_in_code_points() {
    let text = |most: u64| json!({"type": "string", "maxLength": most});
    assert_eq!(sat(refused(&text(5), &text(4))).as_str().unwrap().chars().count(), 5);
    unsat(refused(&text(4), &text(5)));
    unsat(accepted(&json!({"type": "string", "minLength": 3, "maxLength": 2})));
}

#[test]
fn a_pattern_and_an_enum_can_be_equal() {
    let values = json!({"type": "string", "enum": ["a", "b"]});
    equal(&values, &json!({"type": "string", "pattern": "^[ab]$"}));
    equal(&values, &json!({"type": "string", "pattern": "^[a-c]$", "not": {"enum": ["c"]}}));
    assert_eq!(sat(refused(&values, &json!({"type": "string", "enum": ["a"]}))), json!("b"));
}

#[test]
fn patterns_are_solved_together_with_lengths() {
    let word = |most: u64| json!({"type": "string", "pattern": "^(ab)+$", "maxLength": most});
    equal(&word(5), &word(4));
    assert_eq!(sat(refused(&word(6), &word(5))), json!("ababab"));
}

#[test]
fn a_number_meets_all_its_conditions() {
    let schema = json!({"type": "integer", "minimum": 3, "multipleOf": 4, "not": {"enum": [4]}});
    assert_eq!(sat(accepted(&schema)).as_i64().unwrap() % 4, 0);
    unsat(accepted(&json!({"type": "integer", "minimum": 3, "maximum": 4, "not": {"enum": [3, 4]}})));
}

#[test]
fn unsupported_patterns_are_undecided() {
    // Go has no lookahead.
    let reason = open(accepted(&json!({"type": "string", "pattern": "(?=a)b"})));
    assert!(matches!(reason, UndecidedReason::Text(_)), "{reason:?}");
    // Longer than any string that is generated.
    open(accepted(&json!({"type": "string", "minLength": 1_u64 << 40})));
}
