//! Defaults: put where the parent object exists and the field is absent, or null where null is not allowed.

use serde_json::Value;

use super::node::{Extra, Node};
use super::path::{ObjectPath, Trail};

/// Fills in defaults; the places that got one go to `filled`, those inside of another default left out.
pub(super) fn defaults(value: &mut Value, node: &Node, trail: &Trail<'_>, filled: &mut Vec<ObjectPath>) {
    fill(value, node, trail, Some(filled));
}

fn fill(value: &mut Value, node: &Node, trail: &Trail<'_>, mut filled: Option<&mut Vec<ObjectPath>>) {
    if !node.below.defaults {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, property) in node.properties.iter().filter(|(_, property)| property.below.defaults) {
                let trail = Trail::Key(trail, name);
                let missing = map.get(name).is_none_or(|value| value.is_null() && !property.shape.nullable);
                let fresh = match property.default() {
                    Some(default) if missing => {
                        map.insert(name.to_string(), default.clone());
                        if let Some(filled) = filled.as_deref_mut() {
                            filled.push(trail.path());
                        }
                        true
                    }
                    _ => false,
                };
                if let Some(value) = map.get_mut(name) {
                    fill(value, property, &trail, if fresh { None } else { filled.as_deref_mut() });
                }
            }
            if let Extra::Values(values) = &node.extra {
                for (name, value) in map.iter_mut().filter(|(name, _)| !node.properties.contains(name)) {
                    replace(value, values, &Trail::Entry(trail, name), filled.as_deref_mut());
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = node.items.as_deref() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                replace(item, node, &Trail::Index(trail, index), filled.as_deref_mut());
            }
        }
        _ => {}
    }
}

/// A map value or list item is never absent: only its null can be replaced.
fn replace(value: &mut Value, node: &Node, trail: &Trail<'_>, mut filled: Option<&mut Vec<ObjectPath>>) {
    match node.default() {
        Some(default) if value.is_null() && !node.shape.nullable => {
            *value = default.clone();
            if let Some(filled) = filled.as_deref_mut() {
                filled.push(trail.path());
            }
            fill(value, node, trail, None);
        }
        _ => fill(value, node, trail, filled),
    }
}
