//! `mapToList`: turns a map into a list whose items contain their key. Its inverse is `listToMap`.

use std::sync::Arc;

use serde_json::Value;

use crate::find::conversion::address::{NamePath, take};
use crate::find::conversion::generate::{GoStep, quoted};
use crate::find::conversion::lossless::{Obstacle, lost};
use crate::find::conversion::output_schema::{without_absence, without_conditions};
use crate::find::conversion::path_through_steps::rebased;
use crate::find::conversion::shape_edit::{is_closed_object, open};
use crate::model::FieldPath;
use crate::model::schema::Shape;
use crate::model::schema::shape::{Extra, ListType, Type};

use super::keyed_list::ItemFields;
use super::list_to_map::ListToMap;
use super::parse::StepNode;
use super::put_value::put_value;
use super::value_change::{change_schema, lossless_if, may_be_null, noop_if, only_type, succeeds_if};
use super::{Conflict, Ends, Op, OperationFields, StepFailure, StepKind};

#[derive(Debug)]
pub(super) struct MapToList {
    pub ends: Ends,
    pub item: ItemFields,
}

pub(super) fn parse(step: &mut StepNode<'_, '_>) -> Option<Op> {
    Some(Arc::new(MapToList { ends: step.ends()?, item: ItemFields::parse(step)? }))
}

/// The step in Go.
const GO: &str = r#"
func mapToList(c any, inner []path, conflict conflictRule, key, valueField string) (any, error) {
	from, to := inner[0], inner[len(inner)-1]
	value, ok := take(c, from)
	if !ok || value == nil {
		return c, nil
	}
	if list, isList := value.([]any); isList && reflect.DeepEqual(from, to) {
		return putValue(c, to, list, conflict)
	}
	object, isObject := value.(map[string]any)
	if !isObject {
		return nil, fmt.Errorf("expected an object, found %v", value)
	}
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	sort.Strings(names)
	list := []any{}
	for _, name := range names {
		item, isObject := object[name].(map[string]any)
		if valueField != "" {
			item = map[string]any{valueField: object[name]}
		} else if !isObject {
			return nil, fmt.Errorf("expected an object, found %v", object[name])
		}
		if _, taken := item[key]; taken {
			return nil, fmt.Errorf("duplicate key %q", key)
		}
		item[key] = name
		list = append(list, item)
	}
	return putValue(c, to, list, conflict)
}
"#;

impl StepKind for MapToList {
    fn fields(&self) -> OperationFields<'_> {
        OperationFields::Value(&self.ends)
    }

    fn inverse(&self) -> Option<Op> {
        Some(Arc::new(ListToMap { ends: self.ends.swapped(), item: self.item.clone() }))
    }

    /// Creates the items in the order of their keys.
    fn apply(&self, container: &mut Value, inner: &[NamePath], conflict: Conflict) -> Result<(), StepFailure> {
        let (Some(from), Some(to)) = (inner.first(), inner.last()) else { return Ok(()) };
        match take(container, from) {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Object(map)) => {
                let items: Result<Vec<Value>, StepFailure> = map.into_iter().map(|(key, value)| self.item.item(key, value)).collect();
                put_value(container, to, Value::Array(items?), conflict)
            }
            Some(list @ Value::Array(_)) if from == to => put_value(container, to, list, conflict),
            Some(other) => Err(StepFailure::ty("an object", &other)),
        }
    }

    fn origin(&self, path: &FieldPath) -> Option<FieldPath> {
        let Ends { from, to } = &self.ends;
        rebased(path, &to.items(), &from.values()).or_else(|| rebased(path, to, from))
    }

    fn go(&self) -> Result<GoStep, String> {
        Ok(GoStep {
            source: GO,
            call: format!(
                "mapToList(c, INNER, CONFLICT, {}, {})",
                quoted(&self.item.key),
                quoted(self.item.value.as_deref().unwrap_or_default())
            ),
        })
    }

    fn output_schema(&self, shape: &mut Shape, container: usize) -> Option<()> {
        change_schema(&self.ends, shape, container, |map| {
            let sure = !map.nullable;
            if self.ends.in_place() && map.ty == Some(Type::Array) {
                return Some((without_absence(map), sure));
            }
            let Extra::Values(values) = &map.extra else { return None };
            if map.ty != Some(Type::Object) || !map.properties.is_empty() || map.embedded {
                return None;
            }
            let key = Shape { ty: Some(Type::String), ..Shape::default() };
            let mut item = match &self.item.value {
                Some(field) => {
                    let mut item = Shape { ty: Some(Type::Object), ..Shape::default() };
                    item.properties.insert(field.clone(), Arc::new(Shape { default: None, ..(**values).clone() }));
                    item.required.insert(field.clone());
                    item
                }
                None if is_closed_object(values) => without_conditions(values),
                None => return None,
            };
            item.properties.insert(self.item.key.clone(), Arc::new(key));
            item.required.insert(self.item.key.clone());
            let list = Shape {
                ty: Some(Type::Array),
                item_count: map.property_count,
                items: Some(Arc::new(item)),
                list_type: ListType::Map,
                map_keys: vec![self.item.key.clone()],
                ..Shape::default()
            };
            Some((list, sure))
        })
    }

    fn lossless(&self, shape: &Shape, container: usize) -> Result<(), Obstacle> {
        lossless_if(&self.ends, shape, container, |map| self.entries_survive_round_trip(map))
    }

    fn never_fails(&self, shape: &Shape, _container: usize, conflict: Conflict) -> Result<(), String> {
        succeeds_if(&self.ends, shape, conflict, |map| map.is_some_and(|map| self.entries_survive_round_trip(map).is_ok()))
    }

    fn is_noop(&self, shape: &Shape) -> bool {
        noop_if(&self.ends, shape, |child| only_type(child) == Some(Type::Array) && !may_be_null(child))
    }
}

impl MapToList {
    /// Proves that every entry survives becoming a list item and an entry again.
    fn entries_survive_round_trip(&self, map: &Shape) -> Result<(), Obstacle> {
        let at = &self.ends.from;
        let Extra::Values(values) = &map.extra else { return lost(format!("`{at}` is not a map")) };
        if map.ty != Some(Type::Object) || map.embedded {
            return lost(format!("`{at}` is not a map"));
        }
        if map.nullable || values.nullable || !map.properties.is_empty() {
            return lost(format!("`{at}` may be or hold null"));
        }
        let key = &self.item.key;
        let apart = values.ty == Some(Type::Object) && !open(values) && !values.properties.contains_key(key);
        if self.item.value.is_some() || apart { Ok(()) } else { lost(format!("a value of `{at}` may already have `{key}`")) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::find::conversion::testing::{both_ways, check_laws};

    #[test]
    fn it_is_applied_and_undone() {
        both_ways(
            "- mapToList: {from: spec.m, to: spec.l, key: name}",
            "",
            json!({"m": {"a": {"x": 1}, "b": {}}}),
            json!({"l": [{"name": "a", "x": 1}, {"name": "b"}]}),
        );
    }

    #[test]
    fn maps_and_keyed_lists() {
        let map = "{m: {type: object, additionalProperties: {type: object, properties: {x: {type: integer}}}}}";
        let list = "{m: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], \
                    properties: {name: {type: string}, x: {type: integer}}}}}";
        check_laws(map, list, "- mapToList: {from: spec.m, to: spec.m, key: name}", "", "pppppp");
        check_laws(list, map, "- listToMap: {from: spec.m, to: spec.m, key: name}", "", "pppppp");
        let atomic = "{m: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, x: {type: integer}}}}}";
        check_laws(atomic, map, "- listToMap: {from: spec.m, to: spec.m, key: name}", "", "xpxppp");
    }
}
