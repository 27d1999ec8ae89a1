//! `mapValues`: replaces values using a table, such as `Disabled: Off`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::NamePath;
use crate::find::conversion::generate::{GoStep, go_literal};
use crate::find::conversion::lossless::{Obstacle, lost, lost_by};
use crate::find::conversion::output_schema::{fits_type, has_only_type};
use crate::find::conversion::search::Wanted;
use crate::find::conversion::shape_edit::literal;
use crate::input::yaml::Node;
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::model::schema::shape::Type;
use crate::server::object::only_listed;

use super::parse::StepNode;
use super::value_change::{change_schema, change_value, lossless_if, may_be_null, noop_if, succeeds_if};
use super::{Conflict, Ends, Op, OperationFields, StepFailure, StepKind, same};

#[derive(Debug)]
struct MapValues {
    ends: Ends,
    table: Table,
}

/// What to do with a value that the table doesn't list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Otherwise {
    Keep,
    Error,
}

/// How many values a table may have. Each is compared with every other.
const MAX_VALUES: usize = 1_000;

#[derive(Debug, Clone)]
struct Table {
    pairs: Vec<(Value, Value)>,
    otherwise: Otherwise,
}

impl Table {
    /// Looks up the new value. A value that is already new stays.
    fn look_up(&self, value: &Value) -> Result<Value, StepFailure> {
        if let Some((_, new)) = self.pairs.iter().find(|(old, _)| same(old, value)) {
            return Ok(new.clone());
        }
        let known = self.otherwise == Otherwise::Keep || self.pairs.iter().any(|(_, new)| same(new, value));
        if known { Ok(value.clone()) } else { Err(StepFailure::Unmapped(value.clone())) }
    }

    fn has_null(&self) -> bool {
        self.pairs.iter().any(|(old, new)| old.is_null() || new.is_null())
    }

    /// Reverses the table. If several values map to the same one, the inverse uses the first of them.
    fn inverse(&self) -> Table {
        let mut pairs: Vec<(Value, Value)> = Vec::new();
        for (old, new) in &self.pairs {
            if !pairs.iter().any(|(known, _)| same(known, new)) {
                pairs.push((new.clone(), old.clone()));
            }
        }
        Table { pairs, otherwise: self.otherwise }
    }
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    let ends = step.ends_or_path()?;
    let values = step.node.get("values")?;
    if values.len() > MAX_VALUES {
        step.wrong(values, format!("more than {MAX_VALUES} values"));
        return None;
    }
    let side = |item: Node<'_>, key: &str| item.entry(key).map(|entry| entry.value.to_json()).unwrap_or_default();
    let pairs: Vec<(Node<'_>, Value, Value)> = if values.is_seq() {
        values.items().map(|item| (item, side(item, "old"), side(item, "new"))).collect()
    } else {
        values.entries().map(|entry| (entry.key, entry.key.to_json(), entry.value.to_json())).collect()
    };
    for (index, (at, old, _)) in pairs.iter().enumerate() {
        if pairs.iter().take(index).any(|(_, earlier, _)| same(earlier, old)) {
            step.wrong(*at, "duplicate value");
        }
    }
    let otherwise = if step.text("otherwise") == Some("error") { Otherwise::Error } else { Otherwise::Keep };
    let table = Table { pairs: pairs.into_iter().map(|(_, old, new)| (old, new)).collect(), otherwise };
    Some(Arc::new(MapValues { ends, table }))
}

/// The step in Go.
const GO: &str = r#"
func mapValues(c any, inner []path, conflict conflictRule, strict bool, table [][2]any) (any, error) {
	return changeValue(c, inner, conflict, func(value any) (any, error) {
		known := !strict
		for _, pair := range table {
			if same(pair[0], value) {
				return pair[1], nil
			}
		}
		for _, pair := range table {
			known = known || same(pair[1], value)
		}
		if !known {
			return nil, fmt.Errorf("no entry for %v", value)
		}
		return value, nil
	})
}
"#;

impl StepKind for MapValues {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(MapValues { ends: self.ends.swapped(), table: self.table.inverse() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        change_value(container, inner, conflict, |value| self.table.look_up(value))
    }

    fn go(&self) -> Result<GoStep, String> {
        let pairs: Vec<String> =
            self.table.pairs.iter().map(|(old, new)| format!("{{{}, {}}}", go_literal(old), go_literal(new))).collect();
        let strict = self.table.otherwise == Otherwise::Error;
        Ok(GoStep { source: GO, call: format!("mapValues(c, INNER, CONFLICT, {strict}, [][2]any{{{}}})", pairs.join(", ")) })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |child| Some((self.mapped(child)?, true)))
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        lossless_if(&self.ends, shape, container, |child| self.values_survive_round_trip(child))
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        succeeds_if(&self.ends, shape, conflict, |child| {
            self.table.otherwise == Otherwise::Keep || child.is_some_and(|child| self.values_survive_round_trip(child).is_ok())
        })
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        let moves_nothing_back = |value: &Value| self.table.look_up(value).is_ok_and(|new| new == *value);
        let nulls = |child: Option<&Shape>| may_be_null(child) && (self.table.has_null() || self.table.otherwise == Otherwise::Error);
        noop_if(&self.ends, shape, |child| {
            !nulls(child) && child.and_then(all_values).is_some_and(|values| values.iter().all(moves_nothing_back))
        })
    }

    fn triggers(&self) -> Vec<(&FieldPath, Wanted)> {
        let from = &self.ends.from;
        // A value that isn't listed is an error.
        if !self.ends.in_place() || self.table.otherwise == Otherwise::Error {
            return vec![(from, Wanted::Sent)];
        }
        let changed = self.table.pairs.iter().filter(|(old, new)| old != new);
        changed.map(|(old, _)| (from, Wanted::Value(old.clone()))).collect()
    }
}

/// Returns every value that a schema accepts, if it lists them.
fn all_values(child: &Shape) -> Option<Vec<Value>> {
    match (only_listed(child), child.ty) {
        (Some(values), _) => Some(values.to_vec()),
        (None, Some(Type::Boolean)) => Some(vec![false.into(), true.into()]),
        _ => None,
    }
}

impl MapValues {
    fn mapped(&self, child: Shape) -> Option<Shape> {
        let table = &self.table;
        // Null is removed, and the schema can't list objects.
        if table.has_null() {
            return None;
        }
        let Some(values) = all_values(&child) else {
            // Values that the table doesn't list stay; its new values are added.
            let fits = has_only_type(&child) && child.enum_values.is_none() && table.pairs.iter().all(|(_, new)| fits_type(&child, new));
            return Some(if fits { Shape { default: None, ..child } } else { Shape { nullable: child.nullable, ..Shape::anything() } });
        };
        let mut results: Vec<Value> = Vec::new();
        for value in values {
            if let Ok(result) = table.look_up(&value)
                && !results.contains(&result)
            {
                results.push(result);
            }
        }
        if results.is_empty() {
            return None;
        }
        // The server refuses null under an enum, even if the enum lists it, so no enum describes these results.
        let keeps_null = child.nullable && child.enum_values.is_none();
        if keeps_null || results.iter().any(|result| result.is_object() || result.is_array()) {
            return Some(Shape { nullable: child.nullable, ..Shape::anything() });
        }
        let types: Vec<Option<Type>> = results.iter().filter(|value| !value.is_null()).map(|value| literal(value).ty).collect();
        let ty = types.first().copied().flatten().filter(|first| types.iter().all(|ty| *ty == Some(*first)));
        let default = child.default.as_ref().and_then(|default| table.look_up(default).ok());
        let preserve_unknown = ty.is_none();
        Some(Shape { ty, enum_values: Some(results), nullable: child.nullable, default, preserve_unknown, ..Shape::default() })
    }

    /// Proves that the inverse restores every value that the table changes or produces.
    fn values_survive_round_trip(&self, child: &Shape) -> Result<(), Obstacle> {
        let (at, table, inverse) = (&self.ends.from, &self.table, self.table.inverse());
        let returns =
            |value: &Value| table.look_up(value).ok().and_then(|new| inverse.look_up(&new).ok()).is_some_and(|back| back == *value);
        if table.has_null() {
            return lost(format!("null at `{at}` is lost"));
        }
        if child.nullable && table.otherwise == Otherwise::Error {
            return lost(format!("`{at}` may be null, which `values` doesn't list"));
        }
        let values = match all_values(child) {
            Some(values) => values.into_iter().filter(|value| !value.is_null()).collect(),
            None if table.otherwise == Otherwise::Error => {
                return lost(format!("`{at}` may have values that `values` doesn't list"));
            }
            None => table.pairs.iter().flat_map(|(old, new)| [old.clone(), new.clone()]).collect::<Vec<_>>(),
        };
        match values.into_iter().find(|value| !returns(value)) {
            None => Ok(()),
            Some(value) => {
                let reason = format!("`values` doesn't restore {value} at `{at}`");
                lost_by(at, value, reason)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::output_schema::output_schema;
    use crate::find::conversion::schema_endpoint::SchemaEndpoint;
    use crate::find::conversion::testing::{PRESERVE, both_ways, check_laws, conversions, endpoint, object};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways("- mapValues: {path: spec.m, values: {true: Enabled, false: Disabled}}", "", json!({"m": true}), json!({"m": "Enabled"}));
        both_ways("- mapValues: {path: 'spec.modes[]', values: {A: B}}", "", json!({"modes": ["A", "C"]}), json!({"modes": ["B", "C"]}));
    }

    #[test]
    fn lost_values_are_preserved() {
        both_ways("- mapValues: {path: spec.m, values: {A: X, B: X}}", PRESERVE, json!({"m": "B"}), json!({"m": "X"}));
    }

    #[test]
    fn results_may_be_null_where_the_field_may() {
        let conversions = conversions("- mapValues: {path: spec.a, values: {true: false}}", "");
        let field = endpoint("{a: {type: boolean, nullable: true}}", "v1");
        let results = output_schema(&conversions.manifests[0].steps[0].op, field.shape.clone()).unwrap();
        let results = SchemaEndpoint::new(results, "shop.example.com", "v1", "Widget");
        assert!(results.accepts(&object("v1", json!({"a": null}))));
    }

    #[test]
    fn values_by_a_table() {
        let (old, new) = ("{m: {type: string, enum: [Never, Auto, Full]}}", "{m: {type: string, enum: [Disabled, Auto, Full]}}");
        check_laws(old, new, "- mapValues: {path: spec.m, values: {Never: Disabled}}", "", "pppppp");
        // Two values become one.
        check_laws(old, "{m: {type: string, enum: [Auto, Full]}}", "- mapValues: {path: spec.m, values: {Never: Auto}}", "", "ppxppp");
        // After a swap, a value has two meanings.
        check_laws(old, old, "- mapValues: {path: spec.m, values: {Auto: Full, Full: Auto}}", "", "ppppxx");
        // The new version refuses a value, and no step converts it.
        check_laws(old, new, "", "", "xxpppp");
    }
}
