use std::rc::Rc;

use serde_json::{Value, json};

use super::super::translate::translate;
use super::super::{Formula, Preference, Solver};
use super::{ruled, sat, shape};
use crate::compare::Budget;

fn formula(schema: &Value, rule: &str) -> Option<Rc<Formula>> {
    let shape = shape(&ruled(schema.clone(), &[rule]));
    translate(&shape.rules[0], &shape)
}

/// Compares the formula of a rule with evaluating the rule itself, for some values.
#[track_caller]
fn check(schema: &Value, rule: &str, values: &[(Value, bool)]) {
    let shape = shape(&ruled(schema.clone(), &[rule]));
    let formula = translate(&shape.rules[0], &shape).unwrap_or_else(|| panic!("{rule} is not translated"));
    let solver = Solver::new(Preference::Small, &Budget::of_each());
    for (value, expected) in values {
        assert_eq!(solver.evaluator().formula(&formula, value), Some(*expected), "{rule} of {value}");
        assert_eq!(solver.rules.verdict(&shape.rules[0], &shape, value), Some(*expected), "{rule} run on {value}");
    }
}

fn object() -> Value {
    let inner = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    json!({"type": "object", "properties": {"a": {"type": "integer"}, "s": {"type": "string"}, "o": inner}})
}

#[test]
fn comparisons() {
    let integer = json!({"type": "integer"});
    check(&integer, "self >= 3", &[(json!(3), true), (json!(2), false)]);
    check(&integer, "3 > self", &[(json!(3), false), (json!(2), true)]);
    check(&integer, "self != 3", &[(json!(3), false), (json!(2), true)]);
    check(&integer, "self % 2 == 0", &[(json!(4), true), (json!(3), false)]);
    check(&integer, "self in [1, 2]", &[(json!(1), true), (json!(3), false)]);
    let text = json!({"type": "string"});
    check(&text, "size(self) > 1", &[(json!("äö"), true), (json!("ä"), false)]);
    check(&text, "self.matches('^a')", &[(json!("ab"), true), (json!("ba"), false)]);
    check(&text, "self.startsWith('a.')", &[(json!("a.b"), true), (json!("axb"), false)]);
}

#[test]
fn a_field_that_is_missing_is_an_error_and_an_error_never_holds() {
    check(&object(), "self.a > 1", &[(json!({"a": 2}), true), (json!({"a": 1}), false), (json!({}), false)]);
    check(&object(), "!(self.a > 1)", &[(json!({"a": 2}), false), (json!({"a": 1}), true), (json!({}), false)]);
    check(&object(), "!has(self.a) || self.a > 1", &[(json!({"a": 2}), true), (json!({"a": 1}), false), (json!({}), true)]);
    // Whichever side is true decides, even if the other is an error.
    check(&object(), "self.a > 1 || self.s == 'x'", &[(json!({"s": "x"}), true), (json!({"s": "y"}), false)]);
    check(&object(), "has(self.o.x)", &[(json!({"o": {"x": 1}}), true), (json!({"o": {}}), false), (json!({}), false)]);
    check(&object(), "!has(self.o.x)", &[(json!({"o": {}}), true), (json!({}), false)]);
}

#[test]
fn conditionals_evaluate_only_one_side() {
    check(
        &object(),
        "has(self.a) ? self.a > 1 : has(self.s)",
        &[(json!({"a": 2}), true), (json!({"a": 1, "s": ""}), false), (json!({"s": ""}), true), (json!({}), false)],
    );
}

#[test]
fn quantifiers() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    check(&list, "self.all(x, x > 1)", &[(json!([]), true), (json!([2, 3]), true), (json!([2, 1]), false)]);
    check(&list, "self.exists(x, x > 1)", &[(json!([]), false), (json!([1, 2]), true), (json!([1]), false)]);
}

#[test]
fn quantifiers_over_a_list_of_conditions() {
    let (none, one, both) = (json!({}), json!({"a": 1}), json!({"a": 1, "s": ""}));
    for (quantifier, expected) in [("all", [false, false, true]), ("exists", [false, true, true]), ("exists_one", [false, true, false])] {
        let cases: Vec<_> = [&none, &one, &both].into_iter().cloned().zip(expected).collect();
        check(&object(), &format!("[has(self.a), has(self.s)].{quantifier}(x, x)"), &cases);
    }
}

#[test]
fn transition_rules_do_not_run_on_create() {
    assert_eq!(formula(&json!({"type": "integer"}), "self >= oldSelf"), Some(Rc::new(Formula::Const(true))));
    let optional = json!({"type": "integer", "x-kubernetes-validations": [{"rule": "oldSelf.orValue(1) < self", "optionalOldSelf": true}]});
    let optional = shape(&optional);
    assert_eq!(translate(&optional.rules[0], &optional), None);
    // A string isn't a reference.
    check(&json!({"type": "string"}), "self != 'oldSelf'", &[(json!("oldSelf"), false), (json!("a"), true)]);
}

#[test]
fn rules_that_a_formula_cannot_express_are_not_translated() {
    let text = json!({"type": "string"});
    for rule in ["isURL(self)", "self.substring(2) == 'a'", "self +", "self.indexOf('a') > 1"] {
        assert_eq!(formula(&text, rule), None, "{rule}");
    }
    // In CEL this is a duration.
    assert_eq!(formula(&json!({"type": "string", "format": "duration"}), "self != ''"), None);
    assert_eq!(formula(&object(), "self.a < self.o.x"), None, "two fields are compared");
}

#[test]
fn a_list_under_a_format_is_neither_there_nor_absent() {
    let schema = json!({"type": "object", "properties": {"e": {"type": "string", "format": "email"}}});
    let required = json!({"type": "object", "required": ["e"], "properties": schema["properties"]});
    for (rule, absent) in [("has(self.e)", false), ("!has(self.e)", true), ("self.?e.orValue('') == ''", true)] {
        check(&schema, rule, &[(json!({"e": []}), false), (json!({}), absent)]);
        sat(super::refused(&required, &ruled(schema.clone(), &[rule])));
    }
    assert_eq!(sat(super::refused(&required, &ruled(schema, &["has(self.e)"]))), json!({"e": []}));
}
