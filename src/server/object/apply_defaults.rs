//! Applies defaults: if the parent object exists and the field is absent, or null although null isn't allowed.

use serde_json::Value;

use crate::model::schema::shape::Extra;
use crate::server::key_fate::PruneNode;
use crate::server::null_fate::{NullFate, NullPosition};

use super::path::{ObjectPath, Trail};

/// A schema node as seen by defaulting and by the dropping of nulls.
pub(crate) trait DefaultNode: PruneNode {
    fn is_nullable(&self) -> bool;

    /// The default; null counts as none.
    fn default(&self) -> Option<&Value>;

    fn properties(&self) -> impl Iterator<Item = (&str, Self)>;

    fn null_fate(&self, position: NullPosition) -> NullFate {
        NullFate::of(self.is_nullable(), self.default().is_some(), position)
    }

    /// Whether the node or anything below it may have a default, so that the rest can be skipped.
    fn has_defaults(&self) -> bool {
        true
    }
}

/// Applies defaults, and adds the paths of defaulted fields to `filled`, except those inside another default.
pub(super) fn defaults<N: DefaultNode>(value: &mut Value, node: &N, trail: &Trail<'_>, mut filled: Option<&mut Vec<ObjectPath>>) {
    if !node.has_defaults() {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, property) in node.properties().filter(|(_, property)| property.has_defaults()) {
                let trail = Trail::Key(trail, name);
                let is_replaced = |value: &Value| value.is_null() && property.null_fate(NullPosition::Key) == NullFate::Defaulted;
                let is_filled = map.get(name).is_none_or(is_replaced);
                let fresh = match property.default() {
                    Some(default) if is_filled => {
                        map.insert(name.to_string(), default.clone());
                        if let Some(filled) = filled.as_deref_mut() {
                            filled.push(trail.path());
                        }
                        true
                    }
                    _ => false,
                };
                if let Some(value) = map.get_mut(name) {
                    defaults(value, &property, &trail, if fresh { None } else { filled.as_deref_mut() });
                }
            }
            if let Extra::Values(values) = node.extra() {
                for (name, value) in map.iter_mut().filter(|(name, _)| node.property(name).is_none()) {
                    replace_null(value, &values, NullPosition::Key, &Trail::Entry(trail, name), filled.as_deref_mut());
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = node.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                replace_null(item, &node, NullPosition::Item, &Trail::Index(trail, index), filled.as_deref_mut());
            }
        }
        _ => {}
    }
}

/// A map value or list item is never absent, so only its null can be replaced.
fn replace_null<N: DefaultNode>(
    value: &mut Value,
    node: &N,
    position: NullPosition,
    trail: &Trail<'_>,
    mut filled: Option<&mut Vec<ObjectPath>>,
) {
    match node.default() {
        Some(default) if value.is_null() && node.null_fate(position) == NullFate::Defaulted => {
            *value = default.clone();
            if let Some(filled) = filled.as_deref_mut() {
                filled.push(trail.path());
            }
            defaults(value, node, trail, None);
        }
        _ => defaults(value, node, trail, filled),
    }
}
