//! What the server drops before anything else: unknown fields, then nulls that nobody can take.

use serde_json::Value;

use crate::model::schema::is_meta;

use super::node::{Extra, Node};
use super::path::{ObjectPath, Trail};

/// Drops unknown fields. The root keeps its `apiVersion`, `kind` and `metadata`, as an embedded resource does.
pub(super) fn unknown(value: &mut Value, root: &Node, is_resource: bool) -> Vec<ObjectPath> {
    let mut dropped = Vec::new();
    Pruner { dropped: &mut dropped, resource_root: is_resource }.prune(value, Some(root), &Trail::Root);
    dropped
}

struct Pruner<'d> {
    dropped: &'d mut Vec<ObjectPath>,
    resource_root: bool,
}

impl Pruner<'_> {
    fn keeps_meta(&self, node: &Node, trail: &Trail<'_>) -> bool {
        node.shape.embedded || self.resource_root && trail.is_root()
    }

    /// `None` is what `additionalProperties: true` says about its values: nothing is known in them.
    fn prune(&mut self, value: &mut Value, node: Option<&Node>, trail: &Trail<'_>) {
        match value {
            Value::Object(map) => {
                let keeps_meta = node.is_some_and(|node| self.keeps_meta(node, trail));
                map.retain(|name, value| {
                    if keeps_meta && is_meta(name) {
                        return true;
                    }
                    let Some(node) = node else {
                        self.dropped.push(Trail::Key(trail, name).path());
                        return false;
                    };
                    match (node.properties.get(name.as_str()), &node.extra) {
                        (Some(property), _) => self.prune(value, Some(property), &Trail::Key(trail, name)),
                        (None, Extra::Values(values)) => self.prune(value, Some(values), &Trail::Entry(trail, name)),
                        (None, Extra::Any | Extra::Refused) => self.prune(value, None, &Trail::Entry(trail, name)),
                        (None, Extra::Closed) if node.shape.preserve_unknown => {}
                        (None, Extra::Closed) => {
                            self.dropped.push(Trail::Key(trail, name).path());
                            return false;
                        }
                    }
                    true
                });
            }
            Value::Array(items) => {
                let preserve = node.is_some_and(|node| node.shape.preserve_unknown);
                let item_node = node.and_then(|node| node.items.as_deref());
                for (index, item) in items.iter_mut().enumerate() {
                    let trail = Trail::Index(trail, index);
                    match item_node {
                        // Under a list that preserves, its items do so too, and so on down to the next declared property.
                        Some(node) if preserve => self.skip(item, node, &trail),
                        None if preserve => {}
                        node => self.prune(item, node, &trail),
                    }
                }
            }
            _ => {}
        }
    }

    /// Prunes only below declared properties and map values.
    fn skip(&mut self, value: &mut Value, node: &Node, trail: &Trail<'_>) {
        match value {
            Value::Object(map) => {
                let keeps_meta = self.keeps_meta(node, trail);
                for (name, value) in map.iter_mut() {
                    if keeps_meta && is_meta(name) {
                        continue;
                    }
                    match (node.properties.get(name.as_str()), &node.extra) {
                        (Some(property), _) => self.prune(value, Some(property), &Trail::Key(trail, name)),
                        (None, Extra::Values(values)) => self.prune(value, Some(values), &Trail::Entry(trail, name)),
                        (None, Extra::Any | Extra::Refused) => self.prune(value, None, &Trail::Entry(trail, name)),
                        (None, Extra::Closed) => {}
                    }
                }
            }
            Value::Array(items) => {
                let Some(node) = node.items.as_deref() else { return };
                for (index, item) in items.iter_mut().enumerate() {
                    self.skip(item, node, &Trail::Index(trail, index));
                }
            }
            _ => {}
        }
    }
}

/// Drops fields that are null where null is not allowed and no default can take its place. Items of lists stay.
pub(super) fn nulls(value: &mut Value, node: &Node, trail: &Trail<'_>, dropped: &mut Vec<ObjectPath>) {
    match value {
        Value::Object(map) => map.retain(|name, value| {
            let (child, trail) = match (node.properties.get(name.as_str()), &node.extra) {
                (Some(property), _) => (property, Trail::Key(trail, name)),
                (None, Extra::Values(values)) => (&**values, Trail::Entry(trail, name)),
                // Nothing is declared below, so no null there has a schema to offend.
                _ => return true,
            };
            if value.is_null() && !child.shape.nullable && child.default().is_none() {
                dropped.push(trail.path());
                return false;
            }
            nulls(value, child, &trail, dropped);
            true
        }),
        Value::Array(items) => {
            let Some(child) = node.items.as_deref() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                nulls(item, child, &Trail::Index(trail, index), dropped);
            }
        }
        _ => {}
    }
}
