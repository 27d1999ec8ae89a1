use serde_json::{Value, json};

use super::super::RuleCache;
use super::{equal, ruled, shape};
use crate::compare::Budget;

fn object(rules: &[&str]) -> crate::model::schema::Shape {
    shape(&ruled(json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}), rules))
}

#[test]
fn a_rule_is_evaluated_and_an_error_counts_as_false() {
    let (rules, shape) = (RuleCache::within(&Budget::of_each()), object(&["self.a > 3"]));
    let verdict = |value: Value| rules.verdict(&shape.rules[0], &shape, &value);
    assert_eq!(verdict(json!({"a": 4})), Some(true));
    assert_eq!(verdict(json!({"a": 3})), Some(false));
    assert_eq!(verdict(json!({})), Some(false));
}

#[test]
fn a_transition_rule_does_not_apply_to_a_new_object() {
    let (rules, shape) = (RuleCache::within(&Budget::of_each()), object(&["self.a > oldSelf.a"]));
    assert_eq!(rules.verdict(&shape.rules[0], &shape, &json!({"a": 1})), Some(true));
}

#[test]
fn equivalent_rules_share_a_normal_form() {
    let (rules, shape) = (RuleCache::within(&Budget::of_each()), object(&["self.a > 3", "3 < self.a", "self.a > 4"]));
    let texts: Vec<_> = shape.rules.iter().map(|rule| rules.canonical(rule, &shape)).collect();
    assert_eq!(texts[0], texts[1]);
    assert!(texts[0].iter().zip(&texts[2]).all(|(a, b)| a != b));
}

#[test]
fn the_keys_that_a_rule_reads_are_known() {
    let (rules, shape) = (RuleCache::within(&Budget::of_each()), object(&["self.a > self.b", "size(self.a) > size(self)", "self +"]));
    let keys = |index: usize| rules.keys(&shape.rules[index], &shape).map(|keys| keys.to_vec());
    assert_eq!(keys(0), Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(keys(1), None, "takes the value as a whole");
    assert_eq!(keys(2), None, "can't be read");
}

#[test]
fn a_rule_and_a_keyword_can_be_equal() {
    let number = json!({"type": "integer"});
    equal(&ruled(number.clone(), &["self >= 3"]), &json!({"type": "integer", "minimum": 3}));
    // In the other direction a `1.0` counts, which an enum accepts and a rule doesn't, though nobody writes it that way.
    super::unsat(super::refused(&ruled(number, &["self in [1, 2]"]), &json!({"type": "integer", "enum": [1, 2]})));
    let list = json!({"type": "array", "items": {"type": "string"}});
    equal(&ruled(list, &["size(self) <= 2"]), &json!({"type": "array", "maxItems": 2, "items": {"type": "string"}}));
}

#[test]
fn an_unchanged_unsupported_rule_is_no_difference() {
    let text = |more: u64| ruled(json!({"type": "string", "maxLength": more}), &["self.substring(2) == 'abc'"]);
    equal(&text(9), &text(9));
    super::unsat(super::refused(&text(8), &text(9)));
}
