//! `retype`: changes the JSON type of a scalar, such as `80` to `"80"`.

use std::sync::Arc;

use serde_json::{Number, Value};

use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::GoStep;
use crate::find::conversion::lossless::{Obstacle, lost, lost_by};
use crate::find::conversion::search::Wanted;
use crate::model::FieldPath;
use crate::model::relation::Search;
use crate::model::schema::Shape;
use crate::model::schema::shape::{NumberBounds, Type};
use crate::server::object::only_listed;

use super::parse::StepNode;
use super::string_values::{string_longer_than, string_outside};
use super::value_change::{change_schema, change_value, lossless_if, noop_if, only_type, succeeds_if};
use super::{Conflict, Ends, Op, OperationFields, StepFailure, StepKind};

/// Integers in canonical notation.
const INTEGER: &str = "^(0|-?[1-9][0-9]*)$";

#[derive(Debug)]
struct Retype {
    ends: Ends,
    was: Scalar,
    becomes: Scalar,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    String,
    Integer,
    Number,
    Boolean,
}

impl Scalar {
    fn parse(text: &str) -> Option<Scalar> {
        Some(match text {
            "string" => Scalar::String,
            "integer" => Scalar::Integer,
            "number" => Scalar::Number,
            "boolean" => Scalar::Boolean,
            _ => return None,
        })
    }

    fn schema_type(self) -> Type {
        match self {
            Scalar::String => Type::String,
            Scalar::Integer => Type::Integer,
            Scalar::Number => Type::Number,
            Scalar::Boolean => Type::Boolean,
        }
    }

    fn named(self) -> &'static str {
        match self {
            Scalar::String => "a string",
            Scalar::Integer => "an integer",
            Scalar::Number => "a number",
            Scalar::Boolean => "a boolean",
        }
    }

    fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Scalar::String, Value::String(_)) | (Scalar::Boolean, Value::Bool(_)) | (Scalar::Number, Value::Number(_)) => true,
            (Scalar::Integer, Value::Number(number)) => number.is_i64() || number.is_u64(),
            _ => false,
        }
    }
}

/// Converts a scalar. A value that already has the new type is left unchanged.
fn retype(value: &Value, from: Scalar, to: Scalar) -> Result<Value, StepFailure> {
    if value.is_null() || (to.accepts(value) && !(from.accepts(value) && to != Scalar::Number)) {
        return Ok(value.clone());
    }
    if !from.accepts(value) {
        return Err(StepFailure::ty(from.named(), value));
    }
    let unreadable = |text: &str| StepFailure::Unreadable(text.to_owned(), to.named());
    match (value, to) {
        (Value::String(text), Scalar::Integer) => text.parse::<i64>().map(Value::from).map_err(|_| unreadable(text)),
        (Value::String(text), Scalar::Number) => {
            if let Ok(whole) = text.parse::<i64>() {
                return Ok(Value::from(whole));
            }
            let float = text.parse::<f64>().ok().filter(|float| float.is_finite());
            float.and_then(Number::from_f64).map(Value::Number).ok_or_else(|| unreadable(text))
        }
        (Value::String(text), Scalar::Boolean) => text.parse::<bool>().map(Value::Bool).map_err(|_| unreadable(text)),
        (Value::Number(number), Scalar::Integer) => {
            // A fraction isn't cut off, because the inverse couldn't restore it.
            let whole = number.as_f64().filter(|float| float.abs() < 9.0e15 && float.fract() == 0.0).map(|float| float as i64);
            number.as_i64().or(whole).map(Value::from).ok_or_else(|| unreadable(&number.to_string()))
        }
        (Value::Number(number), Scalar::String) => Ok(Value::String(number.to_string())),
        (Value::Number(number), Scalar::Boolean) => match number.as_i64() {
            Some(0) => Ok(Value::Bool(false)),
            Some(1) => Ok(Value::Bool(true)),
            _ => Err(unreadable(&number.to_string())),
        },
        (Value::Bool(flag), Scalar::String) => Ok(Value::String(flag.to_string())),
        (Value::Bool(flag), Scalar::Integer | Scalar::Number) => Ok(Value::from(i64::from(*flag))),
        _ => Ok(value.clone()),
    }
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let (was, becomes) = (Scalar::parse(step.text("was")?)?, Scalar::parse(step.text("becomes")?)?);
    Some(Arc::new(Retype { ends: step.ends_or_path()?, was, becomes }))
}

/// The step in Go.
const GO: &str = r#"
func retypeValue(c any, inner []path, conflict conflictRule, was, becomes string) (any, error) {
	return changeValue(c, inner, conflict, func(value any) (any, error) {
		if value == nil || (isScalar(value, becomes) && !(isScalar(value, was) && becomes != "number")) {
			return value, nil
		}
		if !isScalar(value, was) {
			return nil, fmt.Errorf("expected %s, found %v", was, value)
		}
		unreadable := fmt.Errorf("%v can't be read as %s", value, becomes)
		switch known := value.(type) {
		case string:
			whole, err := strconv.ParseInt(known, 10, 64)
			switch {
			case becomes == "boolean" && (known == "true" || known == "false"):
				return known == "true", nil
			case (becomes == "integer" || becomes == "number") && err == nil:
				return whole, nil
			case becomes == "number":
				float, err := strconv.ParseFloat(known, 64)
				if err == nil && !math.IsInf(float, 0) && !math.IsNaN(float) {
					return float, nil
				}
			}
			return nil, unreadable
		case int64:
			switch becomes {
			case "string":
				return strconv.FormatInt(known, 10), nil
			case "boolean":
				if known == 0 || known == 1 {
					return known == 1, nil
				}
				return nil, unreadable
			}
			return known, nil
		case float64:
			switch becomes {
			case "string":
				return floatText(known), nil
			case "integer":
				if math.Abs(known) < 9.0e15 && known == math.Trunc(known) {
					return int64(known), nil
				}
				return nil, unreadable
			case "boolean":
				return nil, unreadable
			}
			return known, nil
		case bool:
			switch {
			case becomes == "string":
				return strconv.FormatBool(known), nil
			case becomes != "boolean" && known:
				return int64(1), nil
			case becomes != "boolean":
				return int64(0), nil
			}
		}
		return value, nil
	})
}

func isScalar(value any, name string) bool {
	switch value.(type) {
	case string:
		return name == "string"
	case bool:
		return name == "boolean"
	case int64:
		return name == "integer" || name == "number"
	case float64:
		return name == "number"
	}
	return false
}

// floatText writes a number as JSON encoders do: with a fraction, or with an exponent if it is very large or small.
func floatText(value float64) string {
	size := math.Abs(value)
	switch {
	case value == math.Trunc(value) && size < 1e16:
		return strconv.FormatFloat(value, 'f', 1, 64)
	case size >= 1e-5 && size < 1e16:
		return strconv.FormatFloat(value, 'f', -1, 64)
	}
	text := strconv.FormatFloat(value, 'e', -1, 64)
	return strings.Replace(strings.Replace(text, "e+", "e", 1), "e-0", "e-", 1)
}
"#;

impl StepKind for Retype {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(Retype { ends: self.ends.swapped(), was: self.becomes, becomes: self.was }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        change_value(container, inner, conflict, |value| retype(value, self.was, self.becomes))
    }

    fn go(&self) -> Result<GoStep, String> {
        let name = |scalar: Scalar| scalar.schema_type().name();
        Ok(GoStep { source: GO, call: format!("retypeValue(c, INNER, CONFLICT, \"{}\", \"{}\")", name(self.was), name(self.becomes)) })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |child| Some((self.retyped(&child)?, true)))
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        lossless_if(&self.ends, shape, container, |child| self.values_survive_round_trip(child))
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        succeeds_if(&self.ends, shape, conflict, |child| match (child.and_then(|child| child.ty), self.was, self.becomes) {
            (Some(Type::Integer), Scalar::Integer | Scalar::Number, Scalar::String | Scalar::Number) => true,
            (Some(Type::Number), Scalar::Number, Scalar::String) => true,
            (Some(Type::Boolean), Scalar::Boolean, _) => true,
            _ => child.is_some_and(|child| self.values_survive_round_trip(child).is_ok()),
        })
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        let Retype { was, becomes, .. } = self;
        let overlap = matches!((was, becomes), (Scalar::Number, Scalar::Integer) | (Scalar::Integer, Scalar::Number));
        noop_if(&self.ends, shape, |child| {
            let ty = only_type(child);
            let new = ty == Some(becomes.schema_type());
            new && (!overlap || *becomes == Scalar::Number || ty == Some(Type::Integer)) && was != becomes
        })
    }

    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        let from = &self.ends.from;
        let mut wanted = vec![(from, Wanted::Sent)];
        if self.ends.in_place() {
            wanted.extend([1.into(), "1".into(), true.into(), "true".into()].map(|value: Value| (from, Wanted::Value(value))));
        }
        wanted
    }
}

impl Retype {
    fn retyped(&self, child: &Shape) -> Option<Shape> {
        let (was, becomes) = (self.was, self.becomes);
        let each = |values: &[Value]| values.iter().filter_map(|value| retype(value, was, becomes).ok()).collect::<Vec<_>>();
        if child.ty == Some(becomes.schema_type()) && was != Scalar::Number {
            // Its values have the new type already.
            return Some(child.clone());
        }
        // Values that already have the new type stay, so only values of the old type are known better.
        let converted = child.ty == Some(was.schema_type()) && !child.int_or_string;
        let enum_values = match (only_listed(child), was, becomes) {
            (Some(values), _, _) => Some(each(values)),
            (None, Scalar::Boolean, Scalar::String) if converted => Some(vec!["false".into(), "true".into()]),
            (None, Scalar::Boolean, Scalar::Integer | Scalar::Number) if converted => Some(vec![0.into(), 1.into()]),
            _ => None,
        };
        let mut enum_values: Option<Vec<Value>> = enum_values;
        // An enum refuses null unless it lists it.
        if let Some(values) = &mut enum_values
            && child.nullable
            && child.enum_values.is_none()
        {
            values.push(Value::Null);
        }
        // No value can be converted.
        if enum_values.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        let pattern = (converted && was == Scalar::Integer && becomes == Scalar::String && enum_values.is_none()).then(|| INTEGER.into());
        let bounds =
            if converted && was == Scalar::Integer && becomes == Scalar::Number { child.bounds.clone() } else { NumberBounds::default() };
        let default = child.default.as_ref().and_then(|default| retype(default, was, becomes).ok());
        if child.int_or_string {
            return Some(Shape { default, nullable: child.nullable, ..Shape::anything() });
        }
        let ty = Some(becomes.schema_type());
        Some(Shape { ty, nullable: child.nullable, enum_values, pattern, bounds, default, ..Shape::default() })
    }

    /// Proves that every value is already written the way the inverse writes it.
    fn values_survive_round_trip(&self, child: &Shape) -> Result<(), Obstacle> {
        let (at, was, becomes) = (&self.ends.from, self.was, self.becomes);
        if child.int_or_string {
            return lost(format!("`{at}` may be an integer or a string"));
        }
        if let Some(values) = only_listed(child) {
            let changes = |value: &&Value| retype(value, was, becomes).and_then(|new| retype(&new, becomes, was)).as_ref() != Ok(*value);
            return match values.iter().find(changes) {
                None => Ok(()),
                Some(value) => lost(format!("{value} at `{at}` is not restored")),
            };
        }
        match (was, becomes, child.ty) {
            (Scalar::Integer, Scalar::String | Scalar::Number, Some(Type::Integer)) => Ok(()),
            (Scalar::Boolean, _, Some(Type::Boolean)) => Ok(()),
            (Scalar::Number, Scalar::String, Some(Type::Number)) => Ok(()),
            // Numbers of up to eighteen digits always fit into 64 bits.
            (Scalar::String, Scalar::Integer, Some(Type::String)) => {
                match (string_outside(child, INTEGER), string_longer_than(child, 18)) {
                    (Search::Impossible, Search::Impossible) => Ok(()),
                    (Search::Found(text), _) => {
                        let reason = format!("`{text}` at `{at}` is not an integer, or not in its usual form");
                        lost_by(at, text, reason)
                    }
                    (_, Search::Found(_)) => lost(format!("`{at}` has no maxLength, and a very long number doesn't fit into 64 bits")),
                    (Search::Undecided(reason), _) | (_, Search::Undecided(reason)) => lost(reason.to_string()),
                }
            }
            _ => lost(format!("a value of `{at}` may be written in several ways")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::find::conversion::laws::LawVerdict;
    use crate::find::conversion::testing::{PRESERVE, both_ways, check_laws};

    #[test]
    fn scalars_are_converted() {
        let cases = [
            (json!(80), Scalar::Integer, Scalar::String, json!("80")),
            (json!("80"), Scalar::String, Scalar::Integer, json!(80)),
            (json!("80"), Scalar::Integer, Scalar::String, json!("80")),
            (json!(true), Scalar::Boolean, Scalar::String, json!("true")),
            (json!(2.0), Scalar::Number, Scalar::Integer, json!(2)),
            (json!(2), Scalar::Number, Scalar::String, json!("2")),
            (json!(5), Scalar::Integer, Scalar::Number, json!(5)),
        ];
        for (value, from, to, expected) in cases {
            assert_eq!(retype(&value, from, to), Ok(expected), "{value} {from:?} {to:?}");
        }
        assert!(retype(&json!("x"), Scalar::String, Scalar::Integer).is_err());
        assert!(retype(&json!(0.5), Scalar::Number, Scalar::Integer).is_err());
        assert!(retype(&json!([]), Scalar::String, Scalar::Integer).is_err());
    }

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- retype: {path: spec.port, was: integer, becomes: string}", "", json!({"port": 80}), json!({"port": "80"}));
    }

    #[test]
    fn lost_values_are_preserved() {
        both_ways("- retype: {path: spec.p, was: string, becomes: integer}", PRESERVE, json!({"p": "007"}), json!({"p": 7}));
    }

    #[test]
    fn integers_and_strings() {
        let (number, text) = ("{p: {type: integer}}", "{p: {type: string, maxLength: 18, pattern: '^(0|-?[1-9][0-9]*)$'}}");
        check_laws(
            "{p: {type: integer, minimum: 0, maximum: 99}}",
            "{p: {type: string}}",
            "- retype: {path: spec.p, was: integer, becomes: string}",
            "",
            "pxptpp",
        );
        check_laws(text, number, "- retype: {path: spec.p, was: string, becomes: integer}", "", "pxpppp");
    }

    #[test]
    fn fractions_are_not_cut_off() {
        let retype = "- retype: {path: spec.a, was: number, becomes: integer}";
        let laws = check_laws("{a: {type: number}}", "{a: {type: integer}}", retype, "", "xptppp");
        let LawVerdict::Broken(broken) = &laws.valid else { panic!("{:?}", laws.valid) };
        assert_eq!(broken.object["spec"]["a"], json!(0.5));
        // One level down, between bounds.
        let old = "{l: {type: array, items: {type: object, properties: {a: {type: number, minimum: 3, maximum: 4}}}}}";
        let new = "{l: {type: array, items: {type: object, properties: {b: {type: integer, minimum: 3, maximum: 4}}}}}";
        check_laws(old, new, "- retype: {from: 'spec.l[].a', to: 'spec.l[].b', was: number, becomes: integer}", "", "xptppp");
    }

    #[test]
    fn a_fraction_of_a_listed_integer_is_accepted() {
        let steps = "- retype: {path: spec.a, was: integer, becomes: string}";
        check_laws("{a: {type: integer, enum: [1, 2]}}", "{a: {type: string}}", steps, "", "pxptpp");
        // The server accepts 1.5 here, which isn't an integer.
        check_laws("{a: {type: number, enum: [1, 2]}}", "{a: {type: string}}", steps, "", "xxttpp");
    }
}
