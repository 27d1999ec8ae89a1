//! Applies defaults: if the parent object exists and the field is absent, or null although null isn't allowed.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::server::key_fate::{PruneNode, Pruning};
use crate::server::null_fate::{NullFate, NullPosition};

use super::path::{ObjectPath, Trail};
use super::prune;

/// A schema node as seen by defaulting and by the dropping of nulls.
pub(crate) trait DefaultNode: PruneNode {
    fn is_nullable(&self) -> bool;

    /// The default; null counts as none.
    fn default(&self) -> Option<&Value>;

    /// The declared keys that have a default.
    fn defaulted(&self) -> impl Iterator<Item = (&str, Self)>;

    fn null_fate(&self, position: NullPosition) -> NullFate {
        NullFate::of(self.is_nullable(), self.default().is_some(), position)
    }

    /// Whether the node or anything below it may have a default, so that the rest can be skipped.
    fn has_defaults(&self) -> bool {
        true
    }
}

/// The defaults applied to one object.
pub(super) struct Filled {
    /// The paths of defaulted fields, except those inside another default; `None` if they aren't needed.
    pub paths: Option<Vec<ObjectPath>>,
    /// How many values may still be filled in.
    left: usize,
}

/// How many values may be filled into one object. The server can store 1.5 MB.
const MAX_FILLED: usize = 2_000_000;

impl Filled {
    /// Collects the paths.
    pub fn listed() -> Self {
        Filled { paths: Some(Vec::new()), left: MAX_FILLED }
    }

    pub fn unlisted() -> Self {
        Filled { paths: None, left: MAX_FILLED }
    }

    /// Whether defaults were left out because there are too many.
    pub fn is_cut(&self) -> bool {
        self.left == 0
    }

    /// Copies the default of a node for this place, if there is room for it. The server prunes defaults when it reads the CRD: those
    /// below `additionalProperties` are accepted with unknown fields.
    fn take<N: DefaultNode>(&mut self, node: &N, trail: &Trail<'_>) -> Option<Value> {
        let default = node.default()?;
        self.left = self.left.saturating_sub(value_count(default));
        if self.is_cut() {
            return None;
        }
        if let Some(paths) = &mut self.paths {
            paths.push(trail.path());
        }
        let mut default = default.clone();
        prune::prune(&mut default, &Pruning::of(node.clone()), trail, false, &mut |_, _| {});
        Some(default)
    }
}

/// How many values a value contains, including itself.
pub(crate) fn value_count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(value_count).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(value_count).sum::<usize>(),
        _ => 1,
    }
}

/// Applies defaults.
pub(super) fn defaults<N: DefaultNode>(value: &mut Value, node: &N, trail: &Trail<'_>, filled: &mut Filled) {
    if !node.has_defaults() || filled.is_cut() {
        return;
    }
    match value {
        Value::Object(map) => {
            let mut fresh = BTreeSet::new();
            for (name, property) in node.defaulted() {
                let is_replaced = |value: &Value| value.is_null() && property.null_fate(NullPosition::Key) == NullFate::Defaulted;
                if map.get(name).is_none_or(is_replaced)
                    && let Some(default) = filled.take(&property, &Trail::Key(trail, name))
                {
                    map.insert(name.to_string(), default);
                    fresh.insert(name);
                }
            }
            let values = node.extra().values();
            for (name, value) in map.iter_mut() {
                match (node.property(name), &values) {
                    (Some(property), _) => below(value, &property, &Trail::Key(trail, name), fresh.contains(name.as_str()), filled),
                    (None, Some(values)) => replace_null(value, values, NullPosition::Key, &Trail::Entry(trail, name), filled),
                    (None, None) => {}
                }
            }
        }
        Value::Array(items) => {
            let Some(node) = node.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                replace_null(item, &node, NullPosition::Item, &Trail::Index(trail, index), filled);
            }
        }
        _ => {}
    }
}

/// Applies defaults below a value; the paths inside a `fresh` default aren't collected.
fn below<N: DefaultNode>(value: &mut Value, node: &N, trail: &Trail<'_>, fresh: bool, filled: &mut Filled) {
    let paths = if fresh { filled.paths.take() } else { None };
    defaults(value, node, trail, filled);
    filled.paths = paths.or(filled.paths.take());
}

/// A map value or list item is never absent, so only its null can be replaced.
fn replace_null<N: DefaultNode>(value: &mut Value, node: &N, position: NullPosition, trail: &Trail<'_>, filled: &mut Filled) {
    let is_replaced = value.is_null() && node.null_fate(position) == NullFate::Defaulted;
    let default = is_replaced.then(|| filled.take(node, trail)).flatten();
    let fresh = default.is_some();
    if let Some(default) = default {
        *value = default;
    }
    below(value, node, trail, fresh, filled);
}
