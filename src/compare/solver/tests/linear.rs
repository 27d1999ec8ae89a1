use serde_json::{Value, json};

use super::super::linear::linear;
use super::super::{Preference, Solver, Term};
use crate::cel::comparison::Operator;
use crate::compare::Budget;

const OPERATORS: [Operator; 5] = [Operator::Equal, Operator::Less, Operator::AtMost, Operator::More, Operator::AtLeast];

/// What the formulas say about `n * factor + sum` compared with a constant: that it holds, and that it fails.
fn said(n: i64, (factor, sum): (i64, i64), operator: Operator, constant: i64) -> Option<[Option<bool>; 2]> {
    let solver = Solver::new(Preference::Small, &Budget::of_each());
    let truth = linear(&[], (factor, sum), operator, constant)?;
    let value: Value = json!(n);
    Some([truth.holds, truth.fails].map(|formula| solver.evaluator().term(&Term::Formula(formula), &value)))
}

#[test]
fn sums_and_products_are_compared_as_in_arithmetic() {
    let mut decided = 0;
    for factor in (-4..=4).filter(|factor| *factor != 0) {
        for (sum, constant) in (-3..=3).flat_map(|sum| (-7..=7).map(move |constant| (sum, constant))) {
            for (n, operator) in (-9..=9).flat_map(|n| OPERATORS.map(|operator| (n, operator))) {
                let holds = operator.holds((n * factor + sum).cmp(&constant));
                // Bounds that no float can represent aren't decided.
                if let Some(found) = said(n, (factor, sum), operator, constant) {
                    assert_eq!(found, [Some(holds), Some(!holds)], "{n} * {factor} + {sum} {operator:?} {constant}");
                    decided += 1;
                }
            }
        }
    }
    assert!(decided > 10_000, "{decided}");
}

#[test]
fn an_overflow_neither_holds_nor_fails() {
    for (n, factor, sum) in [(i64::MAX, 1, 1), (i64::MIN, 1, -1), (i64::MAX, 2, 0), (i64::MIN, -1, 0), (1 << 62, -4, 0)] {
        for operator in OPERATORS {
            let found = said(n, (factor, sum), operator, 0);
            assert!(found.is_none_or(|found| found == [Some(false); 2]), "{n} * {factor} + {sum} {operator:?}: {found:?}");
        }
    }
    assert_eq!(said(1 << 61, (2, 0), Operator::More, 0), Some([Some(true), Some(false)]));
}
