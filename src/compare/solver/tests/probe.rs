use std::rc::Rc;

use serde_json::{Value, json};

use super::super::probe::probes;
use super::super::{Formula, UndecidedReason};
use super::{accepted, open, refused, ruled, sat, shape};

fn guesses(schema: Value, rule: &str) -> Vec<Rc<Formula>> {
    let shape = shape(&ruled(schema, &[rule]));
    probes(&shape.rules[0], &shape)
}

#[test]
fn literals_and_their_neighbours_are_tried() {
    let tried = guesses(json!({"type": "integer"}), "self * self == 16");
    for value in [15, 16, 17] {
        assert!(tried.contains(&Rc::new(Formula::Equals(json!(value)))), "{value}");
    }
    let tried = guesses(json!({"type": "string"}), "self.indexOf('abc') == 0");
    assert!(tried.contains(&Rc::new(Formula::Equals(json!("abcx")))));
}

#[test]
fn fields_are_tried_present_and_absent() {
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let tried = guesses(object, "has(self.a) == has(self.b)");
    let has = |key: &str| Rc::new(Formula::Has(key.into()));
    for (a, b) in [(has("a"), has("b")), (has("a").negated(), has("b")), (has("a").negated(), has("b").negated())] {
        assert!(tried.contains(&Formula::all([a, b])), "{tried:?}");
    }
}

#[test]
fn guesses_are_limited_and_invalid_rules_have_none() {
    let many: Vec<String> = (0..100).map(|n| format!("self == {n}")).collect();
    assert!(guesses(json!({"type": "integer"}), &many.join(" || ")).len() <= 48);
    assert!(guesses(json!({"type": "integer"}), "self +").is_empty());
}

#[test]
fn a_guess_that_satisfies_a_rule_is_an_answer() {
    let found = sat(accepted(&ruled(json!({"type": "string"}), &["self.indexOf('abc') == 1"])));
    assert_eq!(found.as_str().unwrap().find("abc"), Some(1), "{found}");
}

#[test]
fn without_a_successful_guess_the_answer_is_undecided() {
    let text = json!({"type": "string"});
    let reason = open(accepted(&ruled(text.clone(), &["self.substring(2) == 'abc'"])));
    assert_eq!(reason, UndecidedReason::Rule("self.substring(2) == 'abc'".to_owned()));
    // Every value violates a rule that can't hold, so any value shows it.
    let never = ruled(text.clone(), &["self.substring(2) == 'abc' && self.substring(2) == 'abd'"]);
    sat(refused(&text, &never));
}
