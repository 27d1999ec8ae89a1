//! `listToMap`: turns a list whose items contain a key into a map. Its inverse is `mapToList`.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::find::conversion::address::{NamePath, take};
use crate::find::conversion::generate::{GoStep, quoted};
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::find::conversion::output_schema::{without_absence, without_conditions};
use crate::find::conversion::path_through_steps::rebased;
use crate::find::conversion::shape_edit::{never_exists, open};
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::model::schema::shape::{Extra, ListType, Type};

use super::keyed_list::ItemFields;
use super::map_to_list::MapToList;
use super::parse::StepNode;
use super::put_value::put_value;
use super::value_change::{change_schema, lossless_if, may_be_null, noop_if, only_type, succeeds_if};
use super::{Conflict, Ends, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct ListToMap {
    pub ends: Ends,
    pub item: ItemFields,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(ListToMap { ends: step.ends()?, item: ItemFields::parse(step)? }))
}

/// The step in Go.
const GO: &str = r#"
func listToMap(c any, inner []path, conflict conflictRule, key, valueField string) (any, error) {
	from, to := inner[0], inner[len(inner)-1]
	value, ok := take(c, from)
	if !ok || value == nil {
		return c, nil
	}
	if object, isObject := value.(map[string]any); isObject && reflect.DeepEqual(from, to) {
		return putValue(c, to, object, conflict)
	}
	list, isList := value.([]any)
	if !isList {
		return nil, fmt.Errorf("expected a list, found %v", value)
	}
	object := map[string]any{}
	for _, one := range list {
		item, isObject := one.(map[string]any)
		if !isObject {
			return nil, fmt.Errorf("expected an object, found %v", one)
		}
		name, isString := item[key].(string)
		if !isString {
			return nil, fmt.Errorf("an item has no string in its key field %q", key)
		}
		delete(item, key)
		if _, taken := object[name]; taken {
			return nil, fmt.Errorf("duplicate key %q", name)
		}
		if valueField == "" {
			object[name] = item
			continue
		}
		object[name] = item[valueField]
		delete(item, valueField)
		if len(item) > 0 {
			return nil, fmt.Errorf("an item has other fields than %q and %q", key, valueField)
		}
	}
	return putValue(c, to, object, conflict)
}
"#;

impl StepKind for ListToMap {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(MapToList { ends: self.ends.swapped(), item: self.item.clone() }))
    }

    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let (Some(from), Some(to)) = (inner.first(), inner.last()) else { return Ok(()) };
        match take(container, from) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Array(items)) => {
                let mut map = Map::new();
                for item in items {
                    let (key, value) = self.item.entry(item)?;
                    if map.contains_key(&key) {
                        return Err(StepFailure::Duplicate(key));
                    }
                    map.insert(key, value);
                }
                put_value(container, to, Value::Object(map), conflict)
            }
            Some(map @ Value::Object(_)) if from == to => put_value(container, to, map, conflict),
            Some(other) => Err(StepFailure::ty("a list", &other)),
        }
    }

    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        let Ends { from, to } = &self.ends;
        rebased(path, &to.values(), &from.items()).or_else(|| rebased(path, to, from))
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep {
            source: GO,
            call: format!(
                "listToMap(c, INNER, CONFLICT, {}, {})",
                quoted(&self.item.key),
                quoted(self.item.value.as_deref().unwrap_or_default())
            ),
        })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |list| {
            let sure = !list.nullable;
            if self.ends.in_place() && list.ty == Some(Type::Object) {
                return Some((without_absence(list), sure));
            }
            let item = list.items.as_deref().filter(|_| list.ty == Some(Type::Array))?;
            let value = match &self.item.value {
                Some(field) => {
                    let always = item.required.contains(field);
                    let value = item.property(field).filter(|_| item.ty == Some(Type::Object))?;
                    // A missing value becomes null.
                    Shape { default: None, nullable: value.nullable || value.default.is_some() || !always, ..value.clone() }
                }
                None => {
                    let mut value = without_conditions(item);
                    value.properties.remove(&self.item.key);
                    value.required.remove(&self.item.key);
                    value
                }
            };
            let extra = Extra::Values(Arc::new(value));
            Some((Shape { ty: Some(Type::Object), extra, property_count: list.item_count, ..Shape::default() }, sure))
        })
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        lossless_if(&self.ends, shape, container, |list| self.items_survive_round_trip(list))
    }

    /// The list comes back in the order of its keys.
    fn restores_exactly(&self, shape: &Shape) -> bool {
        never_exists(shape, &self.ends.from)
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        succeeds_if(&self.ends, shape, conflict, |child| match child {
            Some(list) if list.ty == Some(Type::Array) => self.items_survive_round_trip(list).is_ok(),
            other => self.ends.in_place() && only_type(other) == Some(Type::Object),
        })
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        noop_if(&self.ends, shape, |child| only_type(child) == Some(Type::Object) && !may_be_null(child))
    }
}

impl ListToMap {
    /// Proves that every item survives becoming a map entry and an item again.
    fn items_survive_round_trip(&self, list: &Shape) -> Result<(), Obstacle> {
        let (at, key) = (&self.ends.from, &self.item.key);
        let keyed = list.list_type == ListType::Map && list.map_keys == [key.clone()] && !list.nullable;
        let Some(item) = list.items.as_deref().filter(|_| keyed) else {
            return lost(format!("the order of `{at}` is lost, and two items may have the same key"));
        };
        let text = item.required.contains(key)
            && item.property(key).is_some_and(|key| key.ty == Some(Type::String) && key.default.is_none() && !key.nullable);
        let closed = item.ty == Some(Type::Object) && !open(item) && !item.nullable && text;
        let fields = match &self.item.value {
            None => true,
            Some(field) => {
                item.required.contains(field)
                    && item.property(field).is_some_and(|value| !value.nullable && value.default.is_none())
                    && item.properties.keys().all(|name| name == key || name == field)
            }
        };
        if closed && fields { Ok(()) } else { lost(format!("an item of `{at}` may hold more than a map can")) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{because, both_ways, laws};

    #[test]
    fn values_that_are_not_lists_are_refused() {
        let map = "{c: {type: object, additionalProperties: {type: object}}}";
        let laws = laws("{c: {type: boolean}}", map, "- listToMap: {from: spec.c, to: spec.c, key: a}", "");
        assert!(because(&laws.valid).contains("a list"), "{}", because(&laws.valid));
    }

    #[test]
    fn it_is_applied_and_undone() {
        both_ways(
            "- listToMap: {from: spec.env, to: spec.env, key: name, value: value}",
            "",
            json!({"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}),
            json!({"env": {"A": "1", "B": "2"}}),
        );
    }
}
