use serde_json::{Value, json};

use super::super::Kind;
use super::super::numbers::{accepts, at_least, at_most, divisible, exactly};
use super::{accepted, equal, refused, sat, shape, unsat};
use crate::server::object::number_domains;

#[test]
fn a_formula_compares_exactly_and_a_keyword_as_the_server_does() {
    let least = at_least(Kind::Int, 0.5, false);
    assert!(accepts(&least, &json!(1)) && !accepts(&least, &json!(0)));
    // The server truncates the bound before comparing an integer with it.
    let keyword = shape(&json!({"type": "number", "minimum": 0.5}));
    assert!(number_domains(&keyword).all(|domain| accepts(&domain, &json!(0)) && !accepts(&domain, &json!(0.25))));
}

#[test]
fn strict_bounds_exclude_the_bound() {
    let verdicts = |domain, values: [Value; 3]| values.map(|value| accepts(&domain, &value));
    assert_eq!(verdicts(at_least(Kind::Int, 3.0, true), [json!(2), json!(3), json!(4)]), [false, false, true]);
    assert_eq!(verdicts(at_most(Kind::Int, 3.0, true), [json!(2), json!(3), json!(4)]), [true, false, false]);
    assert_eq!(verdicts(at_most(Kind::Int, 3.5, true), [json!(2), json!(3), json!(4)]), [true, true, false]);
    assert_eq!(verdicts(at_least(Kind::Float, 0.5, true), [json!(0.25), json!(0.5), json!(0.75)]), [false, false, true]);
    assert_eq!(verdicts(at_most(Kind::Float, 0.5, false), [json!(0.25), json!(0.5), json!(0.75)]), [true, true, false]);
    assert_eq!(verdicts(exactly(3.0), [json!(2), json!(3), json!(4)]), [false, true, false]);
    assert_eq!(verdicts(divisible(2), [json!(-2), json!(3), json!(0)]), [true, false, true]);
}

#[test]
fn int_or_string_takes_whole_numbers_only() {
    let shape = shape(&json!({"x-kubernetes-int-or-string": true, "maximum": 5}));
    let takes = |value: Value| number_domains(&shape).all(|domain| accepts(&domain, &value));
    assert!(takes(json!(5)) && !takes(json!(6)) && !takes(json!(1.5)));
}

#[test]
fn equivalent_bounds_are_equal() {
    let integer = |more: Value| {
        let mut schema = json!({"type": "integer"});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    equal(&integer(json!({"minimum": 0})), &integer(json!({"minimum": -1, "exclusiveMinimum": true})));
    equal(&integer(json!({"multipleOf": 6})), &integer(json!({"multipleOf": 2, "allOf": [{"multipleOf": 3}]})));
    let two = sat(refused(&integer(json!({"multipleOf": 2})), &integer(json!({"multipleOf": 4})))).as_i64().unwrap();
    assert!(two % 2 == 0 && two % 4 != 0, "{two}");
    // A fractional bound of an integer refuses every value.
    unsat(accepted(&integer(json!({"minimum": 0.5}))));
}
