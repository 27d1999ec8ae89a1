//! Checks `x-kubernetes-list-type`, `-list-map-keys` and `-map-type`: their values, and what they require of the schema, its items
//! and its keys.

use std::collections::HashSet;

use crate::input::yaml::Entry;
use crate::model::fact::{Aspect, Effect, Word};
use crate::model::schema::{Keyword, Schema};

use super::schema_position::{SchemaPosition, SchemaStep};
use super::schema_walk::CrdSchemaWalk;

const LIST_TYPE: &str = ".x-kubernetes-list-type";
const MAP_TYPE: &str = ".x-kubernetes-map-type";
const MAP_KEYS: &str = ".x-kubernetes-list-map-keys";

pub(super) fn check<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    if let Some(entry) = schema.entry(Keyword::MapType) {
        map_type(walk, schema, position, entry);
    }
    let keys = schema.entry(Keyword::ListMapKeys).filter(|entry| !entry.value.is_empty());
    let list_type = schema.entry(Keyword::ListType);
    if let Some(entry) = keys
        && schema.text(Keyword::ListType) != Some("map")
    {
        let reason = "must be map if x-kubernetes-list-map-keys is non-empty";
        walk.refuse((Aspect::MapKeys, Effect::Misplaced), entry.key, position, LIST_TYPE, reason);
    }
    let Some(entry) = list_type else { return };
    let kind = entry.value.as_str().unwrap_or_default();
    if schema.ty() != Some("array") {
        let at = schema.entry(Keyword::Type).map_or(entry.key, |ty| ty.value);
        walk.refuse((Aspect::ListType, Effect::Mismatched), at, position, ".type", "must be array if x-kubernetes-list-type is specified");
    } else if kind == "set" && walk.checks.atomic_sets {
        set_items(walk, schema, position);
    }
    match kind {
        "atomic" | "set" => {}
        "map" => map_list(walk, schema, position, entry, keys),
        other => {
            let reason = "supported values: \"atomic\", \"set\", \"map\"";
            let fact = walk.refuse((Aspect::ListType, Effect::Unknown), entry.value, position, LIST_TYPE, reason);
            fact.words.insert(Word::Name, other.to_owned());
        }
    }
    if walk.checks.map_keys && matches!(kind, "set" | "map") {
        presence(walk, schema, position, kind);
    }
}

fn map_type<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, entry: Entry<'t>) {
    if schema.ty() != Some("object") {
        let at = schema.entry(Keyword::Type).map_or(entry.key, |ty| ty.value);
        walk.refuse((Aspect::MapType, Effect::Mismatched), at, position, ".type", "must be object if x-kubernetes-map-type is specified");
    }
    let kind = entry.value.as_str().unwrap_or_default();
    if !matches!(kind, "atomic" | "granular") {
        let reason = "supported values: \"atomic\", \"granular\"";
        let fact = walk.refuse((Aspect::MapType, Effect::Unknown), entry.value, position, MAP_TYPE, reason);
        fact.words.insert(Word::Name, kind.to_owned());
    }
}

/// Elements of a set are compared as a whole, so they must be atomic.
fn set_items<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>) {
    let (Some(items), Some(entry)) = (schema.items(), schema.entry(Keyword::Items)) else { return };
    let below = match items.ty() {
        Some("array") if items.text(Keyword::ListType).is_some_and(|kind| kind != "atomic") => LIST_TYPE,
        Some("object") if items.text(Keyword::MapType) != Some("atomic") => MAP_TYPE,
        _ => return,
    };
    let inner = position.child(SchemaStep::Items, entry.key);
    let reason = "must be atomic as item of a list with x-kubernetes-list-type=set";
    walk.refuse((Aspect::ListType, Effect::Forbidden), entry.key, &inner, below, reason);
}

fn map_list<'t>(
    walk: &mut CrdSchemaWalk<'_, 't>,
    schema: &Schema<'t>,
    position: &SchemaPosition<'_, 't>,
    kind: Entry<'t>,
    keys: Option<Entry<'t>>,
) {
    if keys.is_none() {
        walk.refuse((Aspect::MapKeys, Effect::Missing), kind.key, position, MAP_KEYS, "must not be empty if x-kubernetes-list-type is map");
    }
    let what = (Aspect::Items, Effect::Mismatched);
    let Some(entry) = schema.entry(Keyword::Items) else {
        // In a structural schema, missing items are reported by the structural check.
        if schema.ty() != Some("array") || !walk.structural {
            walk.refuse(what, kind.key, position, ".items", "must have a schema if x-kubernetes-list-type is map");
        }
        return;
    };
    let Some(items) = schema.items() else {
        walk.refuse(what, entry.key, position, ".items", "must only have a single schema if x-kubernetes-list-type is map");
        return;
    };
    let inner = position.child(SchemaStep::Items, entry.key);
    if items.ty() != Some("object") {
        let at = items.entry(Keyword::Type).map_or(entry.key, |ty| ty.value);
        walk.refuse(what, at, &inner, ".type", "must be object if parent array's x-kubernetes-list-type is map");
        return;
    }
    let mut seen: HashSet<&str> = HashSet::new();
    for node in keys.into_iter().flat_map(|keys| keys.value.items()) {
        // A null decodes to the empty name.
        let name = node.as_str().unwrap_or_default();
        match items.property(name) {
            Some((property, child)) if matches!(child.ty(), Some("array" | "object")) => {
                let at = inner.child(SchemaStep::Property(property.name()), property.key);
                let type_at = child.entry(Keyword::Type).map_or(property.key, |ty| ty.value);
                let reason = "must be a scalar type if parent array's x-kubernetes-list-type is map";
                let fact = walk.refuse((Aspect::MapKeys, Effect::Mismatched), type_at, &at, ".type", reason);
                fact.words.insert(Word::Name, name.to_owned());
            }
            Some(_) => {}
            None => {
                let reason = "entries must all be names of item properties";
                let fact = walk.refuse((Aspect::MapKeys, Effect::Unresolved), node, position, MAP_KEYS, reason);
                fact.key = Some(name.to_owned());
                fact.words.insert(Word::Name, name.to_owned());
            }
        }
        if !seen.insert(name) {
            let fact = walk.refuse((Aspect::MapKeys, Effect::Duplicate), node, position, MAP_KEYS, "must not contain duplicate entries");
            fact.key = Some(name.to_owned());
            fact.words.insert(Word::Name, name.to_owned());
        }
    }
}

/// Items of sets and map lists must not be nullable, and keys of map lists must always be present.
fn presence<'t>(walk: &mut CrdSchemaWalk<'_, 't>, schema: &Schema<'t>, position: &SchemaPosition<'_, 't>, kind: &str) {
    let (Some(items), Some(entry)) = (schema.items(), schema.entry(Keyword::Items)) else { return };
    let inner = position.child(SchemaStep::Items, entry.key);
    if let Some(nullable) = items.entry(Keyword::Nullable).filter(|entry| entry.value.as_bool() == Some(true)) {
        let reason = format!("cannot be nullable when x-kubernetes-list-type is {kind}");
        walk.refuse((Aspect::Items, Effect::Invalid), nullable.key, &inner, ".nullable", reason);
    }
    if kind != "map" {
        return;
    }
    let mut done: HashSet<&str> = HashSet::new();
    for name in schema.names(Keyword::ListMapKeys) {
        let Some((property, child)) = items.property(name).filter(|_| done.insert(name)) else { continue };
        let at = inner.child(SchemaStep::Property(property.name()), property.key);
        if !items.is_required(name) && child.default().is_none() {
            let reason = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
            let fact = walk.refuse((Aspect::MapKeys, Effect::Invalid), property.key, &at, ".default", reason);
            fact.words.insert(Word::Name, name.to_owned());
        }
        if let Some(nullable) = child.entry(Keyword::Nullable).filter(|entry| entry.value.as_bool() == Some(true)) {
            let reason = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
            let fact = walk.refuse((Aspect::MapKeys, Effect::Forbidden), nullable.key, &at, ".nullable", reason);
            fact.words.insert(Word::Name, name.to_owned());
        }
    }
}
