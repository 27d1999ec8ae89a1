//! `scale`: converts a number to another unit, such as seconds to milliseconds.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, lost, lost_by};
use crate::find::conversion::search::Wanted;
use crate::find::conversion::shape_edit::declared;
use crate::input::yaml::Node;
use crate::model::FieldPath;
use crate::model::number::as_sent;
use crate::model::schema::Shape;
use crate::model::schema::shape::{NumberBounds, Type};
use crate::server::object::only_listed;

use super::parse::StepNode;
use super::value_change::{change_schema, change_value, lossless_if, noop_if, only_type, succeeds_if};
use super::{Conflict, Ends, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
struct Scale {
    ends: Ends,
    factor: Factor,
}

/// How to round a remainder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Round {
    /// Towards zero.
    #[default]
    Down,
    /// Away from zero.
    Up,
    /// Half away from zero.
    Nearest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Factor {
    multiply: i64,
    /// Never zero.
    divide: i64,
    round: Round,
}

impl Factor {
    fn inverse(self) -> Factor {
        Factor { multiply: self.divide, divide: self.multiply, round: self.round }
    }

    fn apply(self, value: &Value) -> Result<Value, StepFailure> {
        let Value::Number(number) = value else {
            return if value.is_null() { Ok(Value::Null) } else { Err(StepFailure::ty("a number", value)) };
        };
        let overflow = || StepFailure::Overflow(value.clone());
        if let Some(whole) = number.as_i64() {
            let product = i128::from(whole) * i128::from(self.multiply);
            let divisor = i128::from(self.divide);
            let (quotient, rest) = (product / divisor, product % divisor);
            let away = if (product < 0) == (divisor < 0) { 1 } else { -1 };
            let quotient = match self.round {
                Round::Up if rest != 0 => quotient + away,
                Round::Nearest if rest.abs() * 2 >= divisor.abs() => quotient + away,
                _ => quotient,
            };
            return i64::try_from(quotient).map(Value::from).map_err(|_| overflow());
        }
        let float = number.as_f64().ok_or_else(overflow)?;
        let scaled = float * self.multiply as f64 / self.divide as f64;
        serde_json::Number::from_f64(scaled).map(Value::Number).ok_or_else(overflow)
    }
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let number = |key: &str| step.node.get(key).and_then(Node::as_int).filter(|number| *number > 0).unwrap_or(1);
    let round = match step.text("round") {
        Some("up") => Round::Up,
        Some("nearest") => Round::Nearest,
        _ => Round::Down,
    };
    let factor = Factor { multiply: number("multiply"), divide: number("divide"), round };
    Some(Arc::new(Scale { ends: step.ends_or_path()?, factor }))
}

/// The step in Go.
const GO: &str = r#"
func scaleValue(c any, inner []path, conflict conflictRule, multiply, divide int64, round string) (any, error) {
	return changeValue(c, inner, conflict, func(value any) (any, error) {
		switch known := value.(type) {
		case nil:
			return nil, nil
		case float64:
			scaled := known * float64(multiply) / float64(divide)
			if math.IsInf(scaled, 0) || math.IsNaN(scaled) {
				return nil, fmt.Errorf("%v is too large", known)
			}
			return scaled, nil
		case int64:
			product := new(big.Int).Mul(big.NewInt(known), big.NewInt(multiply))
			quotient, rest := new(big.Int).QuoRem(product, big.NewInt(divide), new(big.Int))
			twice := new(big.Int).Mul(new(big.Int).Abs(rest), big.NewInt(2))
			up := round == "up" && rest.Sign() != 0
			nearest := round == "nearest" && twice.Cmp(big.NewInt(divide)) >= 0
			if up || nearest {
				away := int64(1)
				if product.Sign() < 0 {
					away = -1
				}
				quotient.Add(quotient, big.NewInt(away))
			}
			if !quotient.IsInt64() {
				return nil, fmt.Errorf("%d is too large for 64 bits after scaling", known)
			}
			return quotient.Int64(), nil
		}
		return nil, fmt.Errorf("expected a number, found %v", value)
	})
}
"#;

impl StepKind for Scale {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Scale { ends: self.ends.swapped(), factor: self.factor.inverse() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        change_value(container, inner, conflict, |value| self.factor.apply(value))
    }

    fn go(&self) -> Result<GoStep, String> {
        let Factor { multiply, divide, round } = self.factor;
        let round = match round {
            Round::Down => "down",
            Round::Up => "up",
            Round::Nearest => "nearest",
        };
        Ok(GoStep { source: GO, call: format!("scaleValue(c, INNER, CONFLICT, {multiply}, {divide}, \"{round}\")") })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |child| Some((self.factor.scaled(&child)?, true)))
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        lossless_if(&self.ends, shape, container, |child| self.values_survive_round_trip(child))
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        let number = matches!(only_type(declared(shape, &self.ends.from)), Some(Type::Integer | Type::Number));
        let fits = |child: Option<&Shape>| child.is_some_and(|child| self.factor.fits(child));
        succeeds_if(&self.ends, shape, conflict, fits).map_err(|reason| if number { self.too_large() } else { reason })
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        noop_if(&self.ends, shape, |_| false)
    }

    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        let changes = self.ends.in_place() && self.factor.multiply != self.factor.divide;
        vec![(&self.ends.from, if changes { Wanted::Nonzero } else { Wanted::Sent })]
    }
}

impl Scale {
    /// Why values may not fit after scaling.
    fn too_large(&self) -> String {
        let limit = i128::from(i64::MAX) * i128::from(self.factor.divide) / i128::from(self.factor.multiply.max(1));
        format!("`{}` has no maximum, and values above {limit} can't be converted", self.ends.from)
    }

    /// Proves that no value is rounded or becomes too large.
    fn values_survive_round_trip(&self, child: &Shape) -> Result<(), Obstacle> {
        let (at, factor) = (&self.ends.from, self.factor);
        if let Some(values) = only_listed(child) {
            let changes = |value: &&Value| factor.apply(value).and_then(|scaled| factor.inverse().apply(&scaled)).as_ref() != Ok(*value);
            return match values.iter().find(changes) {
                None => Ok(()),
                Some(value) => lost(format!("{value} at `{at}` is not restored")),
            };
        }
        if child.ty != Some(Type::Integer) || child.int_or_string {
            return lost(format!("`{at}` is not an integer, and fractions are rounded"));
        }
        if factor.multiply % factor.divide == 0 {
            return if factor.fits(child) { Ok(()) } else { lost(self.too_large()) };
        }
        let step = child.bounds.multiple_of.filter(|step| step.fract() == 0.0 && *step < 9.0e15).map_or(1, |step| step as i64);
        let whole = step.checked_mul(factor.multiply).is_some_and(|step| step % factor.divide == 0);
        // The smallest allowed value that leaves a remainder.
        let least = child.bounds.minimum.filter(|bound| bound.abs() < 9.0e15).map_or(0, |bound| bound.ceil() as i64);
        let odd =
            (least..least.saturating_add(factor.divide).saturating_add(2)).find(|value| value % step == 0 && value % factor.divide != 0);
        let reason = format!("the remainder of `{at}` divided by {} is lost", factor.divide);
        match odd {
            _ if whole => Ok(()),
            Some(odd) => lost_by(at, odd, reason),
            None => lost(reason),
        }
    }
}

impl Factor {
    /// The schema of scaled values.
    fn scaled(self, child: &Shape) -> Option<Shape> {
        let bound = |bound: Option<f64>| self.apply(&as_sent(bound?)).ok()?.as_f64();
        let whole_factor = self.multiply % self.divide == 0;
        let step = child.bounds.multiple_of.or((child.ty == Some(Type::Integer)).then_some(1.0));
        let multiple_of = step.filter(|_| whole_factor).map(|step| step * (self.multiply / self.divide) as f64);
        // Whole values of a `number` are divided like integers, and fractions are multiplied inexactly.
        let rounds = child.ty != Some(Type::Integer);
        if rounds && !whole_factor {
            return Some(Shape { ty: child.ty, nullable: child.nullable, ..Shape::default() });
        }
        let bounds = NumberBounds {
            minimum: bound(child.bounds.minimum),
            maximum: bound(child.bounds.maximum),
            exclusive_minimum: child.bounds.exclusive_minimum && whole_factor && !rounds,
            exclusive_maximum: child.bounds.exclusive_maximum && whole_factor && !rounds,
            multiple_of: multiple_of.filter(|_| !rounds),
        };
        let each = |values: &[Value]| values.iter().filter_map(|value| self.apply(value).ok()).collect::<Vec<_>>();
        let enum_values = only_listed(child).map(each);
        // No value can be converted.
        if enum_values.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        let default = child.default.as_ref().and_then(|default| self.apply(default).ok());
        Some(Shape { ty: child.ty, nullable: child.nullable, enum_values, default, bounds, ..Shape::default() })
    }

    /// Whether every value of the schema still fits into 64 bits after scaling.
    fn fits(self, child: &Shape) -> bool {
        if let Some(values) = only_listed(child) {
            return values.iter().all(|value| self.apply(value).is_ok());
        }
        let times = self.multiply as f64 / self.divide as f64;
        if !matches!(child.ty, Some(Type::Integer | Type::Number)) {
            return false;
        }
        // A `number` that is whole is scaled as an integer too.
        let largest = i64::MAX as f64;
        let below = |bound: Option<f64>| bound.is_some_and(|bound| bound.abs() < largest / times);
        let small = child.format.as_deref() == Some("int32") && child.ty == Some(Type::Integer) && times < f64::from(u32::MAX);
        times <= 1.0 || small || (below(child.bounds.minimum) && below(child.bounds.maximum))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::find::conversion::laws::LawVerdict;
    use crate::find::conversion::testing::{PRESERVE, because, both_ways, check_laws, laws};

    #[test]
    fn remainders_are_rounded_as_configured() {
        let by = |round| Factor { multiply: 1, divide: 1000, round };
        assert_eq!(by(Round::Down).apply(&json!(1999)), Ok(json!(1)));
        assert_eq!(by(Round::Up).apply(&json!(1001)), Ok(json!(2)));
        assert_eq!(by(Round::Nearest).apply(&json!(-1500)), Ok(json!(-2)));
        assert_eq!(by(Round::Down).inverse().apply(&json!(3)), Ok(json!(3000)));
        assert!(by(Round::Down).inverse().apply(&json!(i64::MAX)).is_err());
        assert_eq!(by(Round::Down).apply(&json!(1.5)), Ok(json!(0.0015)));
    }

    #[test]
    fn it_is_applied_and_undone() {
        both_ways(
            "- scale: {from: spec.timeoutSeconds, to: spec.timeoutMilliseconds, multiply: 1000}",
            "",
            json!({"timeoutSeconds": 5}),
            json!({"timeoutMilliseconds": 5000}),
        );
    }

    #[test]
    fn lost_values_are_preserved() {
        both_ways("- scale: {from: spec.a, to: spec.b, divide: 1000}", PRESERVE, json!({"a": 1500}), json!({"b": 1}));
    }

    #[test]
    fn units_change_the_name() {
        let seconds = "{timeoutSeconds: {type: integer, minimum: 0, maximum: 3600}}";
        let scale = "- scale: {from: spec.timeoutSeconds, to: spec.timeoutMilliseconds, multiply: 1000}";
        // In place, the same number has two meanings.
        let laws = check_laws(
            "{timeout: {type: integer, minimum: 0, maximum: 3600}}",
            "{timeout: {type: integer, minimum: 0, maximum: 3600000}}",
            "- scale: {path: spec.timeout, multiply: 1000}",
            "",
            "pppxxx",
        );
        assert!(because(&laws.blind).contains("spec.timeout"), "{}", because(&laws.blind));
        // With a new name it is lossless forward; converting back loses remainders ….
        let any = "{timeoutMilliseconds: {type: integer, minimum: 0, maximum: 3600000}}";
        let laws = check_laws(seconds, any, scale, "", "pppxpp");
        assert!(because(&laws.returns_back).contains("spec.timeoutMilliseconds"));
        // … unless there are none, or they are preserved.
        let whole = "{timeoutMilliseconds: {type: integer, minimum: 0, maximum: 3600000, multipleOf: 1000}}";
        check_laws(seconds, whole, scale, "", "pppppp");
        check_laws(seconds, any, scale, "preserve: {annotation: shop.example.com/kept}", "pppppp");
    }

    #[test]
    fn large_numbers_are_not_proved() {
        let scale = "- scale: {from: spec.s, to: spec.ms, multiply: 1000}";
        for old in [
            "{s: {type: integer}}",
            "{s: {type: integer, format: int64, minimum: 0}}",
            "{s: {type: integer, minimum: 0, maximum: 9223372036854775807}}",
        ] {
            let laws = check_laws(old, "{ms: {type: integer}}", scale, "", if old.contains("minimum") { "txtxpp" } else { "tptxpp" });
            assert!(because(&laws.valid).contains("values above 9223372036854775 can't be converted"), "{}", because(&laws.valid));
        }
        let number = "{s: {type: number, minimum: 0, maximum: 1000000000000000000}}";
        let laws = laws(number, "{ms: {type: number}}", scale, "");
        assert!(matches!(laws.valid, LawVerdict::Tested { .. }), "{}", because(&laws.valid));
        check_laws("{s: {type: integer, format: int32}}", "{ms: {type: integer}}", scale, "", "pxpxpp");
    }
}
