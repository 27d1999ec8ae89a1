//! Checks a version besides its schema: the scale subresource, printer columns, selectable fields.

use std::collections::HashSet;

use crate::input::yaml::Node;
use crate::model::FactCollector;
use crate::model::fact::{Aspect, Effect, Subject, Word};
use crate::model::kubernetes::Feature;
use crate::model::schema::Schema;

use super::json_path;
use super::server_checks::ServerChecks;
use super::version_list::{VersionEntry, VersionList};

const SELECTABLE_MAX: usize = 8;
const COLUMN_TYPES: &[&str] = &["boolean", "date", "integer", "number", "string"];
const COLUMN_FORMATS: &[&str] = &["byte", "date", "date-time", "double", "float", "int32", "int64", "password"];

pub(super) fn check<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>, checks: &ServerChecks) {
    for version in &versions.entries {
        scale(collector, versions, version);
        columns(collector, versions, version);
        selectable(collector, versions, version, checks);
    }
}

fn scale<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>, version: &VersionEntry<'t>) {
    let Some(entry) = version.subresources.and_then(|node| node.entry("scale")).filter(|entry| !entry.value.is_null()) else { return };
    let paths: [(&str, &[&str], bool, &str); 3] = [
        ("specReplicasPath", &[".spec."], true, "should be a json path under .spec"),
        ("statusReplicasPath", &[".status."], true, "should be a json path under .status"),
        ("labelSelectorPath", &[".spec.", ".status."], false, "should be a json path under either .spec or .status"),
    ];
    for (name, prefixes, required, elsewhere) in paths {
        let node = entry.value.get(name);
        let text = node.and_then(Node::as_str).unwrap_or_default();
        let (effect, reason) = match text {
            "" if required => (Effect::Missing, "Required value"),
            "" => continue,
            text if !text.starts_with('.') => (Effect::Invalid, "must be a simple json path starting with ."),
            text if !prefixes.iter().any(|prefix| text.starts_with(prefix)) => (Effect::Invalid, elsewhere),
            _ => continue,
        };
        let field = format!("{}.scale.{name}", versions.subresources_field(version));
        let fact = collector.refuse((Subject::Version, Aspect::ScaleSubresource, effect), node.unwrap_or(entry.key), field, reason);
        fact.version = Some(version.name.to_owned());
        fact.key = Some(name.to_owned());
        fact.words.insert(Word::Name, name.to_owned());
        fact.words.insert(Word::Value, text.to_owned());
    }
}

fn columns<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>, version: &VersionEntry<'t>) {
    for (index, column) in version.columns.into_iter().flat_map(Node::items).enumerate() {
        let text = |key: &str| column.text(key).unwrap_or_default();
        let label = text("name");
        let anchor = column.entry_at(0).map_or(column, |entry| entry.key);
        let mut refuse = |effect, key: &str, theirs: &str, reason: String| {
            let field = format!("{}[{index}].{theirs}", versions.columns_field(version));
            let node = column.get(key).unwrap_or(anchor);
            let fact = collector.refuse((Subject::Version, Aspect::PrinterColumn, effect), node, field, reason);
            fact.version = Some(version.name.to_owned());
            fact.key = Some(format!("{label}/{key}"));
            fact.words.insert(Word::Name, if label.is_empty() { format!("number {}", index + 1) } else { label.to_owned() });
            fact.words.insert(Word::Part, key.to_owned());
        };
        if label.is_empty() {
            refuse(Effect::Missing, "name", "name", "Required value".into());
        }
        let types = format!("must be one of {}", COLUMN_TYPES.join(","));
        match text("type") {
            "" => refuse(Effect::Missing, "type", "type", types),
            ty if !COLUMN_TYPES.contains(&ty) => refuse(Effect::Invalid, "type", "type", types),
            _ => {}
        }
        let format = text("format");
        if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
            refuse(Effect::Invalid, "format", "format", format!("must be one of {}", COLUMN_FORMATS.join(",")));
        }
        let path = text("jsonPath");
        if path.is_empty() {
            refuse(Effect::Missing, "jsonPath", "JSONPath", "Required value".into());
        } else if !path.starts_with('.') {
            refuse(Effect::Invalid, "jsonPath", "JSONPath", "must be a simple json path starting with .".into());
        }
    }
}

fn selectable<'t>(collector: &mut FactCollector<'t>, versions: &VersionList<'t>, version: &VersionEntry<'t>, checks: &ServerChecks) {
    let Some(list) = version.selectable.filter(|list| !list.is_empty()) else { return };
    let field = versions.selectable_field(version);
    let key = version.key("selectableFields");
    let kubernetes = collector.crd.kubernetes;
    let mut refuse = |effect, node: Node<'t>, field: String, path: &str, reason: String| {
        let fact = collector.refuse((Subject::Version, Aspect::SelectableField, effect), node, field, reason);
        fact.version = Some(version.name.to_owned());
        fact.key = Some(path.to_owned());
        fact.words.insert(Word::Name, path.to_owned());
    };
    // The server looks for the schema on the same level as the selectable fields: both shared, or both in the version.
    let Some(schema) = version.schema.as_ref().filter(|_| versions.shared_schema == versions.shared_selectable) else {
        let reason = if versions.shared_selectable {
            "selectableFields that all versions share need a schema that they all share"
        } else {
            "selectableFields that differ between versions need schemas that differ between them"
        };
        let reason = if version.schema.is_none() { "selectableFields need a schema" } else { reason };
        refuse(Effect::Misplaced, key, field, "", reason.into());
        return;
    };
    let mut seen: HashSet<String> = HashSet::new();
    for (index, item) in list.items().enumerate() {
        let node = item.get("jsonPath").unwrap_or_else(|| item.entry_at(0).map_or(item, |entry| entry.key));
        let path = item.text("jsonPath").unwrap_or_default();
        let field = format!("{field}[{index}].jsonPath");
        if path.is_empty() {
            refuse(Effect::Missing, node, field, path, "Required value".into());
            continue;
        }
        match json_path::resolve(path, schema, false) {
            Err(fault) => {
                refuse(Effect::Unresolved, node, field, path, format!("is an invalid path: {fault}"));
                continue;
            }
            Ok((canonical, found)) => {
                if canonical == ".metadata" || canonical.starts_with(".metadata.") {
                    refuse(Effect::Invalid, node, field.clone(), path, "must not point to fields in metadata".into());
                }
                if !matches!(found.as_ref().and_then(Schema::ty), Some("string" | "boolean" | "integer")) {
                    let reason = "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";
                    refuse(Effect::Mismatched, node, field.clone(), path, reason.into());
                }
                if !seen.insert(canonical) {
                    refuse(Effect::Duplicate, node, field, path, "Duplicate value".into());
                }
            }
        }
    }
    let tolerated = || checks.unchanged_selectable.contains(version.name) && kubernetes.has(Feature::UnchangedSelectableFields);
    if seen.len() > SELECTABLE_MAX && !tolerated() {
        let reason = format!("must have at most {SELECTABLE_MAX} items");
        refuse(Effect::Excessive, key, field, "", reason);
    }
}
