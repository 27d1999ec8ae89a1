//! Drops unknown fields, then nulls that aren't allowed.
//!
//! `server/key_fate.rs` decides what happens to a key and `server/null_fate.rs` what happens to a null; this applies it to values.

use serde_json::Value;

use crate::model::schema::is_meta;
use crate::server::key_fate::{KeyFate, PruneNode, Pruning};
use crate::server::null_fate::{NullFate, NullPosition};

use super::apply_defaults::DefaultNode;
use super::declared::child;
use super::node::CompiledNode;
use super::path::{ObjectPath, Trail};

/// Drops unknown fields. The root keeps its `apiVersion`, `kind` and `metadata`, as an embedded resource does.
pub(super) fn unknown(value: &mut Value, root: &CompiledNode, is_resource: bool) -> Vec<ObjectPath> {
    let mut dropped = Vec::new();
    prune(value, &Pruning::of(root), &Trail::Root, is_resource, &mut |trail, _| dropped.push(trail.path()));
    dropped
}

/// Drops keys by their fate, and calls `dropped` with each one. A resource keeps the fields that every resource has.
pub(super) fn prune<N: PruneNode>(
    value: &mut Value,
    by: &Pruning<N>,
    trail: &Trail<'_>,
    is_resource: bool,
    dropped: &mut impl FnMut(&Trail<'_>, &Value),
) {
    match value {
        _ if matches!(by, Pruning::Nothing) => {}
        Value::Object(map) => map.retain(|name, value| {
            if is_resource && is_meta(name) {
                return true;
            }
            let fate = by.key_fate(name);
            let trail = match fate {
                KeyFate::MapValue(_) | KeyFate::Emptied | KeyFate::Refused => Trail::Entry(trail, name),
                KeyFate::Declared(_) | KeyFate::Meta | KeyFate::Kept | KeyFate::Pruned => Trail::Key(trail, name),
            };
            let Some(below) = fate.below() else {
                dropped(&trail, value);
                return false;
            };
            prune(value, &below, &trail, false, dropped);
            true
        }),
        Value::Array(items) => {
            let by = by.items();
            for (index, item) in items.iter_mut().enumerate() {
                prune(item, &by, &Trail::Index(trail, index), false, dropped);
            }
        }
        _ => {}
    }
}

/// Drops null fields if null isn't allowed and no default can replace it. Items of lists stay.
pub(super) fn nulls<N: DefaultNode>(value: &mut Value, node: &N, trail: &Trail<'_>, dropped: &mut impl FnMut(&Trail<'_>)) {
    match value {
        Value::Object(map) => map.retain(|name, value| {
            // Where nothing is declared, nulls are allowed.
            let Some((child, trail)) = child(node, name, trail) else { return true };
            if value.is_null() && child.null_fate(NullPosition::Key) == NullFate::Dropped {
                dropped(&trail);
                return false;
            }
            nulls(value, &child, &trail, dropped);
            true
        }),
        Value::Array(items) => {
            let Some(child) = node.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                nulls(item, &child, &Trail::Index(trail, index), dropped);
            }
        }
        _ => {}
    }
}
